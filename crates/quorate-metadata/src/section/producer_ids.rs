//! The next producer id that may be given out.

use quorate_protocol::records::ProducerIdsRecord;

/// How far producer ids were given out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProducerIds {
    /// The first id that no broker was given; `None` before the first block.
    pub next: Option<i64>,
}

impl ProducerIds {
    /// Takes note of a block that was given out.
    pub(crate) fn advance(&mut self, record: &ProducerIdsRecord) {
        self.next = (record.next_producer_id >= 0).then_some(record.next_producer_id);
    }

    /// The record that says this, naming no broker.
    pub(crate) fn to_record(self) -> Option<ProducerIdsRecord> {
        Some(ProducerIdsRecord {
            broker_id: -1,
            broker_epoch: -1,
            next_producer_id: self.next?,
            ..Default::default()
        })
    }
}
