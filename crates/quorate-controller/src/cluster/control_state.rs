//! The states in which the controller keeps a broker, and how a heartbeat moves it.
//!
//! | From | Condition | To |
//! |---|---|---|
//! | fenced | wants to shut down | may stop now |
//! | fenced | wants no fence and has applied its own registration | unfenced |
//! | unfenced | wants a fence (and to shut down) | fenced (may stop now) |
//! | unfenced | wants to shut down | controlled shutdown if it leads a partition, else may stop now |
//! | controlled shutdown | leads nothing, and every active broker has seen its leaders move | may stop now |
//! | any | otherwise | the same |

/// The state of a broker as the controller sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlState {
    /// It may not lead and not join an ISR.
    Fenced,
    /// It takes part.
    Unfenced,
    /// Its leaders are being moved before it may stop.
    ControlledShutdown,
    /// It may stop.
    ShutdownNow,
}

impl ControlState {
    /// Whether a broker in this state is fenced.
    pub fn is_fenced(self) -> bool {
        matches!(self, ControlState::Fenced | ControlState::ShutdownNow)
    }
}

/// What a heartbeat asks for and what is known of its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wish {
    /// It wants to be (or stay) fenced.
    pub fence: bool,
    /// It wants to stop.
    pub shutdown: bool,
    /// It has applied its own registration.
    pub caught_up: bool,
    /// It leads a partition.
    pub leads: bool,
    /// Every active broker has applied what moved its leaders.
    pub others_caught_up: bool,
}

/// The state that follows.
pub(crate) fn next(current: ControlState, wish: Wish) -> ControlState {
    use ControlState::{ControlledShutdown, Fenced, ShutdownNow, Unfenced};
    match current {
        Fenced if wish.shutdown => ShutdownNow,
        Fenced if !wish.fence && wish.caught_up => Unfenced,
        Unfenced if wish.fence && wish.shutdown => ShutdownNow,
        Unfenced if wish.fence => Fenced,
        Unfenced if wish.shutdown && wish.leads => ControlledShutdown,
        Unfenced if wish.shutdown => ShutdownNow,
        ControlledShutdown if !wish.leads && wish.others_caught_up => ShutdownNow,
        same => same,
    }
}

#[cfg(test)]
mod tests {
    use super::ControlState::{ControlledShutdown, Fenced, ShutdownNow, Unfenced};
    use super::*;

    /// A wish by its letters: f wants fence, s wants shutdown, c caught up, l leads, o others are.
    fn wish(letters: &str) -> Wish {
        Wish {
            fence: letters.contains('f'),
            shutdown: letters.contains('s'),
            caught_up: letters.contains('c'),
            leads: letters.contains('l'),
            others_caught_up: letters.contains('o'),
        }
    }

    #[test]
    fn a_heartbeat_moves_a_broker_as_the_table_says() {
        let table = [
            (Fenced, "fs", ShutdownNow),
            (Fenced, "s", ShutdownNow),
            (Fenced, "sc", ShutdownNow),
            (Fenced, "c", Unfenced),
            (Fenced, "", Fenced),
            (Fenced, "fc", Fenced),
            (Unfenced, "f", Fenced),
            (Unfenced, "fl", Fenced),
            (Unfenced, "fs", ShutdownNow),
            (Unfenced, "fsl", ShutdownNow),
            (Unfenced, "sl", ControlledShutdown),
            (Unfenced, "slo", ControlledShutdown),
            (Unfenced, "s", ShutdownNow),
            (Unfenced, "c", Unfenced),
            (Unfenced, "", Unfenced),
            (ControlledShutdown, "slo", ControlledShutdown),
            (ControlledShutdown, "s", ControlledShutdown),
            (ControlledShutdown, "so", ShutdownNow),
            (ControlledShutdown, "f", ControlledShutdown),
            (ControlledShutdown, "o", ShutdownNow),
            (ShutdownNow, "c", ShutdownNow),
        ];
        for (from, letters, to) in table {
            assert_eq!(next(from, wish(letters)), to, "{from:?} {letters}");
        }
    }
}
