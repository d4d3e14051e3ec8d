//! Who leads a partition: the choice among its replicas, by mode.
//!
//! A replica is *acceptable* when its broker is active and its directory online; it is *valid* when
//! it is acceptable and holds everything that was acknowledged: it is in the ISR or, when the ISR is
//! empty, in the ELR (KIP-966).
//!
//! | Mode | Tries in order |
//! |---|---|
//! | [`Election::Online`] | the current leader, the first valid replica, the last known leader |
//! | [`Election::Unclean`] | the same, then the first acceptable replica |
//! | [`Election::Preferred`] | the first replica, the current leader, the first valid one of the others, the last known leader |
//!
//! The last known leader is asked only when ISR and ELR are both empty; it may lack what was
//! acknowledged, so choosing it counts as unclean.

use quorate_types::NodeId;

/// How a leader is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Election {
    /// Keep the leader that is there, else take a valid replica.
    Online,
    /// As [`Election::Online`], and any acceptable replica when there is no valid one.
    Unclean,
    /// Move to the first replica where it is valid.
    Preferred,
}

/// What a choice is made from: the partition as it is to become.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidates<'a> {
    /// Who leads now.
    pub leader: Option<NodeId>,
    /// The replicas, the preferred one first.
    pub replicas: &'a [NodeId],
    /// Who is in sync.
    pub isr: &'a [NodeId],
    /// Who may lead without loss although it is not in sync; empty where ELR is off.
    pub elr: &'a [NodeId],
    /// Who led last, for a partition that lost everyone; `None` where ELR is off.
    pub last_known: Option<NodeId>,
}

/// What an election came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Elected {
    /// The leader, if one could be found.
    pub leader: Option<NodeId>,
    /// Whether it may lack records that were acknowledged.
    pub unclean: bool,
}

/// Elects a leader among `candidates`; `acceptable` says who could lead at all.
pub(crate) fn elect(
    mode: Election,
    candidates: Candidates<'_>,
    acceptable: impl Fn(NodeId) -> bool,
) -> Elected {
    let valid = |node: NodeId| candidates.holds_all(node) && acceptable(node);
    let current = candidates.leader.filter(|node| valid(*node));
    let preferred = match mode {
        Election::Preferred => candidates
            .replicas
            .first()
            .copied()
            .filter(|node| valid(*node)),
        Election::Online | Election::Unclean => None,
    };
    let clean = preferred.or(current).or_else(|| {
        candidates
            .replicas
            .iter()
            .copied()
            .find(|node| valid(*node))
    });
    if clean.is_some() {
        return Elected {
            leader: clean,
            unclean: false,
        };
    }
    let last_known = candidates
        .last_known
        .filter(|node| candidates.isr.is_empty() && candidates.elr.is_empty() && acceptable(*node));
    let any = || match mode {
        Election::Unclean => candidates
            .replicas
            .iter()
            .copied()
            .find(|node| acceptable(*node)),
        Election::Online | Election::Preferred => None,
    };
    let leader = last_known.or_else(any);
    Elected {
        leader,
        unclean: leader.is_some(),
    }
}

impl Candidates<'_> {
    /// Whether `node` holds every record that was acknowledged.
    fn holds_all(&self, node: NodeId) -> bool {
        self.isr.contains(&node) || (self.isr.is_empty() && self.elr.contains(&node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes by their digits: `"12"` is nodes 1 and 2.
    fn nodes(digits: &str) -> Vec<NodeId> {
        digits
            .bytes()
            .map(|digit| NodeId(i32::from(digit - b'0')))
            .collect()
    }

    /// leader, replicas, ISR, ELR, last known, who is up: what each mode makes of it.
    struct Case(
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    );

    fn run(case: &Case, mode: Election) -> String {
        let Case(leader, replicas, isr, elr, last, up) = case;
        let up = nodes(up);
        let elected = elect(
            mode,
            Candidates {
                leader: nodes(leader).first().copied(),
                replicas: &nodes(replicas),
                isr: &nodes(isr),
                elr: &nodes(elr),
                last_known: nodes(last).first().copied(),
            },
            |node| up.contains(&node),
        );
        let leader = elected
            .leader
            .map_or("-".to_string(), |node| node.to_string());
        if elected.unclean {
            format!("{leader}!")
        } else {
            leader
        }
    }

    #[test]
    fn every_mode_tries_its_candidates_in_order() {
        // The expected leaders: online, unclean, preferred; "!" marks an unclean choice.
        let table = [
            (Case("2", "123", "123", "", "", "123"), ["2", "2", "1"]),
            (Case("1", "123", "123", "", "", "23"), ["2", "2", "2"]),
            (Case("3", "123", "23", "", "", "123"), ["3", "3", "3"]),
            (Case("1", "123", "1", "", "", "23"), ["-", "2!", "-"]),
            (Case("", "123", "", "23", "", "13"), ["3", "3", "3"]),
            (Case("", "123", "", "23", "2", "1"), ["-", "1!", "-"]),
            (Case("", "123", "", "", "3", "13"), ["3!", "3!", "3!"]),
            (Case("", "123", "", "", "3", "1"), ["-", "1!", "-"]),
            (Case("", "123", "", "", "", "123"), ["-", "1!", "-"]),
            (Case("", "123", "3", "12", "", "12"), ["-", "1!", "-"]),
            (Case("", "123", "123", "", "", ""), ["-", "-", "-"]),
        ];
        for (case, [online, unclean, preferred]) in &table {
            let shown = (case.0, case.1, case.2, case.3, case.4, case.5);
            assert_eq!(run(case, Election::Online), *online, "online {shown:?}");
            assert_eq!(run(case, Election::Unclean), *unclean, "unclean {shown:?}");
            assert_eq!(
                run(case, Election::Preferred),
                *preferred,
                "preferred {shown:?}"
            );
        }
    }
}
