//! What must never be otherwise, looked at after every step.

use quorate_raft::RoleName;
use quorate_types::{NodeId, Offset, VoterSet};

use crate::cluster::Cluster;

impl Cluster {
    pub fn on_high_watermark(&mut self, id: NodeId, end: Offset) {
        let node = self.nodes.get_mut(&id).expect("a known node");
        assert!(
            node.high_watermark < Some(end),
            "the high watermark of {id} fell to {end}"
        );
        node.high_watermark = Some(end);
        let all = node.disk.current.all();
        let durable = node.raft().durable_end();
        assert!(end <= durable, "{id} shows {end} with {durable} on disk");
        let leads = node.is(RoleName::Leader);
        let voters = node.raft().voters().clone();
        for (index, entry) in all
            .iter()
            .filter(|entry| entry.batch.end <= end)
            .enumerate()
        {
            match self.committed.get(index) {
                Some(known) => assert_eq!(known, entry, "{id} changed what was committed"),
                None => self.committed.push(entry.clone()),
            }
        }
        if leads {
            self.check_durable(end, &voters);
        }
    }

    /// What a leader commits is on the disks of a majority.
    fn check_durable(&self, end: Offset, voters: &VoterSet) {
        let has = |id: &NodeId| {
            let node = self.nodes.get(id);
            node.is_some_and(|node| {
                let all = node.disk.durable.all();
                let mine = all.iter().filter(|entry| entry.batch.end <= end);
                let theirs = self.committed.iter().filter(|entry| entry.batch.end <= end);
                mine.eq(theirs)
            })
        };
        let holders = voters.ids().filter(has).count();
        assert!(
            holders >= voters.majority(),
            "{end} is committed with {holders} of {} disks",
            voters.len()
        );
    }

    pub fn check(&mut self, id: NodeId) {
        let node = &self.nodes[&id];
        let Some(raft) = &node.raft else { return };
        if let Some(deadline) = raft.deadline() {
            assert!(deadline > self.now, "{id} asks to be woken in the past");
        }
        assert_eq!(
            raft.log_end(),
            node.disk.current.end(),
            "{id}: core and disk disagree"
        );
        assert!(raft.durable_end() <= raft.log_end());
        if node.is(RoleName::Leader) {
            let epoch = raft.epoch();
            let first = *self.leaders.entry(epoch).or_insert(id);
            assert_eq!(first, id, "two leaders in epoch {epoch}");
        }
    }
}
