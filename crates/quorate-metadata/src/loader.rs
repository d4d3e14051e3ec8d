//! Turns committed batches and snapshots into images that may be shown.
//!
//! Every broker has one; on a controller the engine does this.

use std::convert::Infallible;

use quorate_engine::{ApplyError, Batch, Bracket, Machine, Replica};
use quorate_protocol::records::VersionedRecord;
use quorate_types::{Epoch, Offset, OffsetAndEpoch, WallTime};

use crate::{KafkaMetadata, LoadedSnapshot, MetadataImage, Misfit, Provenance};

/// Follows the committed log and says when there is a new image to show.
///
/// - Nothing is shown before the node has *caught up* for the first time: the high watermark is
///   known, everything below it is applied, and it held at least one metadata record. So the first
///   image that is shown is at or past the high watermark.
/// - What an open transaction did is held back; what stands before it is not.
/// - A record that does not fit is counted and passed over, and from then on no snapshot is made.
///
/// ```
/// use quorate_engine::Batch;
/// use quorate_metadata::Loader;
/// use quorate_protocol::records::{FeatureLevelRecord, VersionedRecord};
/// use quorate_types::{Epoch, Offset, WallTime};
///
/// let level = FeatureLevelRecord {
///     name: "metadata.version".into(),
///     feature_level: 29,
///     ..Default::default()
/// };
/// let records = vec![VersionedRecord::new(0, level)];
/// let mut loader = Loader::new();
/// loader.commit(&[Batch::data(Offset(0), Epoch(1), WallTime(0), records)])?;
/// assert!(loader.poll().is_none(), "the high watermark is not known yet");
/// loader.high_watermark(Offset(1));
/// let (image, from) = loader.poll().unwrap();
/// assert_eq!(image.features().metadata_version().level(), 29);
/// assert_eq!(from.end.offset, Offset(1));
/// # Ok::<(), quorate_engine::ApplyError<std::convert::Infallible>>(())
/// ```
#[derive(Debug, Default)]
pub struct Loader {
    replica: Replica<Tolerant>,
    high_watermark: Option<Offset>,
    seen_record: bool,
    caught_up: bool,
    /// Of the last record that may be shown.
    stamp: (Epoch, WallTime),
    from_snapshot: bool,
    shown: Option<Offset>,
}

impl Loader {
    /// At the start of the log.
    pub fn new() -> Loader {
        Loader::default()
    }

    /// Takes committed batches, which follow on those before; one call, at most one new image.
    ///
    /// # Errors
    /// When the batches do not continue the log, or a transaction record is out of place. Nothing
    /// has been applied then.
    pub fn commit(
        &mut self,
        batches: &[Batch<VersionedRecord>],
    ) -> Result<(), ApplyError<Infallible>> {
        let (_, before) = self.replica.stable();
        self.replica.apply_batches(batches)?;
        self.seen_record |= batches.iter().any(|batch| !batch.records.is_empty());
        let (_, end) = self.replica.stable();
        if end == before {
            return Ok(());
        }
        self.from_snapshot = false;
        let holds_last = |batch: &&Batch<_>| batch.base < end && end <= batch.end;
        if let Some(batch) = batches.iter().find(holds_last) {
            self.stamp = (batch.epoch, batch.at);
        }
        Ok(())
    }

    /// Starts over from a snapshot.
    pub fn load(&mut self, snapshot: LoadedSnapshot) {
        let at = snapshot.header.last_contained;
        self.seen_record = snapshot.image != MetadataImage::default();
        self.stamp = (snapshot.id.epoch, at);
        self.from_snapshot = true;
        let state = Counted {
            image: snapshot.image,
            ..Counted::default()
        };
        self.replica.install(state, snapshot.id, at);
    }

    /// The high watermark is known to be there.
    pub fn high_watermark(&mut self, end: Offset) {
        self.high_watermark = Some(end);
    }

    /// The next image to show, if there is one: it differs from the last at least in its end.
    pub fn poll(&mut self) -> Option<(MetadataImage, Provenance)> {
        let (image, from) = self.current()?;
        if self.shown == Some(from.end.offset) {
            return None;
        }
        self.shown = Some(from.end.offset);
        Some((image, from))
    }

    /// The image to show to whoever is new, `None` while catching up.
    pub fn current(&mut self) -> Option<(MetadataImage, Provenance)> {
        if !self.is_caught_up() {
            return None;
        }
        let (state, offset) = self.replica.stable();
        let (epoch, at) = self.stamp;
        let provenance = Provenance {
            end: OffsetAndEpoch { offset, epoch },
            at,
            from_snapshot: self.from_snapshot,
        };
        Some((state.image.clone(), provenance))
    }

    /// The end of the last image that [`poll`](Self::poll) gave: what heartbeats report as applied.
    pub fn shown_end(&self) -> Option<Offset> {
        self.shown
    }

    /// Whether the node has caught up, once and for ever.
    pub fn is_caught_up(&mut self) -> bool {
        let (_, end) = self.replica.stable();
        self.caught_up |= self.seen_record && self.high_watermark.is_some_and(|hw| hw <= end);
        self.caught_up
    }

    /// The offset after the last batch applied, shown or not: where to read on.
    pub fn end(&self) -> Offset {
        self.replica.end()
    }

    /// What a snapshot made now would hold. `None` within a transaction and after a misfit.
    pub fn snapshot(&self) -> Option<(&MetadataImage, OffsetAndEpoch, WallTime)> {
        let (state, end, at) = self.replica.snapshot()?;
        (state.misfits == 0).then_some((&state.image, end, at))
    }

    /// How many records did not fit, and the last of them.
    pub fn misfits(&self) -> (u64, Option<&Misfit>) {
        let (state, _) = self.replica.stable();
        (state.misfits, state.last_misfit.as_ref())
    }
}

/// [`KafkaMetadata`], but that it counts and passes over what does not fit.
#[derive(Debug)]
struct Tolerant;

#[derive(Debug, Clone, Default)]
struct Counted {
    image: MetadataImage,
    misfits: u64,
    last_misfit: Option<Misfit>,
}

impl Machine for Tolerant {
    type State = Counted;
    type Record = VersionedRecord;
    type Misfit = Infallible;

    fn apply(state: &mut Counted, record: &VersionedRecord, at: Offset) -> Result<(), Infallible> {
        if let Err(misfit) = KafkaMetadata::apply(&mut state.image, record, at) {
            state.misfits += 1;
            state.last_misfit = Some(misfit);
        }
        Ok(())
    }

    fn bracket(record: &VersionedRecord) -> Bracket {
        KafkaMetadata::bracket(record)
    }
}
