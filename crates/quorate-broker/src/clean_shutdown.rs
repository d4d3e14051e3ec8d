//! The note that a clean shutdown leaves in each log directory, `.kafka_cleanshutdown`.
//!
//! It carries the broker's epoch, so that at the next registration the controller can tell a clean
//! shutdown from a crash and keep the broker among the eligible leaders (KIP-966).

use quorate_types::BrokerEpoch;

/// The name of the file in each log directory.
pub const FILE_NAME: &str = ".kafka_cleanshutdown";

/// What to write into each log directory, after everything else there is closed.
pub fn render(epoch: BrokerEpoch) -> String {
    format!("{{\"version\":0,\"brokerEpoch\":{epoch}}}")
}

/// The epoch of the process before, from the notes in all log directories (`None`: that directory
/// has none, or is offline). It counts only if every directory agrees.
///
/// ```
/// use quorate_broker::clean_shutdown::{previous_epoch, render};
/// use quorate_types::BrokerEpoch;
///
/// let note = render(BrokerEpoch(42));
/// assert_eq!(previous_epoch([Some(note.as_bytes())]), Some(BrokerEpoch(42)));
/// assert_eq!(previous_epoch([Some(note.as_bytes()), None]), None);
/// ```
pub fn previous_epoch<'a>(
    notes: impl IntoIterator<Item = Option<&'a [u8]>>,
) -> Option<BrokerEpoch> {
    let mut agreed = None;
    for note in notes {
        let epoch = parse(note?)?;
        if *agreed.get_or_insert(epoch) != epoch {
            return None;
        }
    }
    agreed
}

fn parse(note: &[u8]) -> Option<BrokerEpoch> {
    let note: serde_json::Value = serde_json::from_slice(note).ok()?;
    let epoch = note.get("brokerEpoch")?.as_i64()?;
    (epoch >= 0).then_some(BrokerEpoch(epoch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_epoch_counts_only_if_all_directories_agree() {
        let note = |text: &'static str| Some(text.as_bytes());
        type Case<'a> = (Vec<Option<&'a [u8]>>, Option<i64>);
        let four = "{\"version\":0,\"brokerEpoch\":4}";
        let five = "{ \"brokerEpoch\": 5, \"version\": 0 }";
        let cases: [Case<'_>; 8] = [
            (vec![], None),
            (vec![note(four)], Some(4)),
            (vec![note(five), note(five)], Some(5)),
            (vec![note(four), note(five)], None),
            (vec![note(four), None], None),
            (vec![note("")], None),
            (vec![note("{\"version\":0}")], None),
            (vec![note("{\"version\":0,\"brokerEpoch\":-1}")], None),
        ];
        for (notes, epoch) in cases {
            assert_eq!(
                previous_epoch(notes.clone()),
                epoch.map(BrokerEpoch),
                "{notes:?}"
            );
        }
    }
}
