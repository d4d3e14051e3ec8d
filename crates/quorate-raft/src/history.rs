//! Voter sets and `kraft.version`s by the offsets of their records.
//!
//! The last one in the log is in force, committed or not, and a truncation brings back the one
//! before. Records of a snapshot count as written at its end − 1, so the set of a `0-0` checkpoint
//! stands at offset −1.

use quorate_types::{ControlRecord, KRaftVersion, Offset, VoterSet};

/// What the log says about membership, and since where.
#[derive(Debug, Clone, Default)]
pub(crate) struct History {
    fallback: VoterSet,
    voters: Vec<(Offset, VoterSet)>,
    versions: Vec<(Offset, KRaftVersion)>,
    revision: u64,
}

impl History {
    /// A history whose set is `fallback` while the log names none.
    pub(crate) fn new(fallback: VoterSet, records: &[(Offset, ControlRecord)]) -> History {
        let mut history = History {
            fallback,
            ..History::default()
        };
        for (at, record) in records {
            history.note(*at, record);
        }
        history
    }

    /// Takes in a control record.
    pub(crate) fn note(&mut self, at: Offset, record: &ControlRecord) {
        match record {
            ControlRecord::Voters(voters) => self.voters.push((at, voters.clone())),
            ControlRecord::KRaftVersion(version) => self.versions.push((at, *version)),
            _ => return,
        }
        self.revision += 1;
    }

    /// Forgets the records from `end` on.
    pub(crate) fn truncate(&mut self, end: Offset) {
        let cut = |at: Option<Offset>| at >= Some(end);
        if cut(self.voters_at()) || cut(self.versions.last().map(|(at, _)| *at)) {
            self.revision += 1;
        }
        self.voters.retain(|(at, _)| *at < end);
        self.versions.retain(|(at, _)| *at < end);
    }

    /// Starts over from what a snapshot that ends at `end` holds.
    pub(crate) fn install(&mut self, end: Offset, voters: Option<VoterSet>, version: KRaftVersion) {
        self.voters = voters.map(|set| (end - 1, set)).into_iter().collect();
        self.versions = vec![(end - 1, version)];
        self.revision += 1;
    }

    /// Changes whenever the members in force may have.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// The set in force.
    pub(crate) fn voters(&self) -> &VoterSet {
        self.voters.last().map_or(&self.fallback, |(_, set)| set)
    }

    /// The set that would be in force without the last one.
    pub(crate) fn voters_before(&self) -> &VoterSet {
        let before = self.voters.len().checked_sub(2);
        before.map_or(&self.fallback, |at| &self.voters[at].1)
    }

    /// The version and the set that were in force for a log that ended at `end`.
    pub(crate) fn before(&self, end: Offset) -> (KRaftVersion, &VoterSet) {
        let version = self.versions.iter().rev().find(|(at, _)| *at < end);
        let voters = self.voters.iter().rev().find(|(at, _)| *at < end);
        (
            version.map_or(KRaftVersion::STATIC, |(_, version)| *version),
            voters.map_or(&self.fallback, |(_, set)| set),
        )
    }

    /// The offset of the last voter set in log or snapshot.
    pub(crate) fn voters_at(&self) -> Option<Offset> {
        self.voters.last().map(|(at, _)| *at)
    }

    /// The version in force.
    pub(crate) fn version(&self) -> KRaftVersion {
        self.versions
            .last()
            .map_or(KRaftVersion::STATIC, |(_, version)| *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_set_is_in_force_and_a_truncation_brings_back_the_one_before() {
        let records = [
            (Offset(-1), ControlRecord::KRaftVersion(KRaftVersion(1))),
            (Offset(-1), ControlRecord::Voters(VoterSet::of_ids([1, 2]))),
            (
                Offset(7),
                ControlRecord::Voters(VoterSet::of_ids([1, 2, 3])),
            ),
        ];
        let mut history = History::new(VoterSet::of_ids([9]), &records);
        assert_eq!(history.voters(), &VoterSet::of_ids([1, 2, 3]));
        assert_eq!(history.voters_at(), Some(Offset(7)));
        let dynamic = KRaftVersion::DYNAMIC;
        assert_eq!(
            history.before(Offset(7)),
            (dynamic, &VoterSet::of_ids([1, 2]))
        );
        assert_eq!(
            history.before(Offset(8)),
            (dynamic, &VoterSet::of_ids([1, 2, 3]))
        );
        history.truncate(Offset(7));
        assert_eq!(history.voters(), &VoterSet::of_ids([1, 2]));
        assert_eq!(history.version(), KRaftVersion::DYNAMIC);
        history.install(Offset(50), None, KRaftVersion::STATIC);
        assert_eq!(history.voters(), &VoterSet::of_ids([9]));
        assert_eq!(history.version(), KRaftVersion::STATIC);
    }
}
