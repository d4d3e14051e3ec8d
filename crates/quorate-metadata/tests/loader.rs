//! What a node shows of the log, to whom, and what it writes into snapshots.

mod common;

use std::sync::{Arc, Mutex};

use common::*;
use quorate_engine::{Batch, Machine};
use quorate_metadata::{
    Delta, KafkaMetadata, LoadedSnapshot, Loader, MetadataImage, MetadataVersion, Provenance,
    PublishError, Publisher, Publishers, SnapshotFile, SnapshotLoadError, SnapshotLoader,
    SnapshotRecords,
};
use quorate_protocol::records::*;
use quorate_protocol::snapshot::{SnapshotHeader, SnapshotWriter};
use quorate_types::{Epoch, NodeId, Offset, OffsetAndEpoch, TopicId, Uuid, WallTime};

fn batch(base: i64, records: Vec<MetadataRecord>) -> Batch<VersionedRecord> {
    let records = records.into_iter().map(versioned).collect();
    Batch::data(Offset(base), Epoch(1), WallTime(base), records)
}

fn shown(loader: &mut Loader) -> Option<(Vec<String>, i64)> {
    let (image, from) = loader.poll()?;
    Some((names(image.topics().iter()), from.end.offset.0))
}

#[test]
fn a_transaction_is_shown_whole_and_never_in_a_snapshot() {
    let mut loader = Loader::new();
    loader.high_watermark(Offset(0));
    loader
        .commit(&[batch(0, vec![topic("a", 1), begin(), topic("b", 2)])])
        .unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into()], 1)));
    assert!(loader.snapshot().is_none());
    let end = EndTransactionRecord::default().into();
    loader
        .commit(&[batch(3, vec![topic("c", 3), end, topic("d", 4)])])
        .unwrap();
    let all = ["a", "b", "c", "d"].map(String::from).to_vec();
    assert_eq!(shown(&mut loader), Some((all, 6)));
    assert!(loader.snapshot().is_some());
    assert_eq!(shown(&mut loader), None, "nothing new");
}

#[test]
fn an_aborted_transaction_leaves_nothing_however_it_is_cut() {
    let records = || {
        let abort = AbortTransactionRecord::default().into();
        vec![
            topic("a", 1),
            begin(),
            topic("b", 2),
            topic("c", 3),
            abort,
            topic("d", 4),
        ]
    };
    for cut in 1..6 {
        let mut tail = records();
        let head: Vec<_> = tail.drain(..cut).collect();
        let batches = [batch(0, head), batch(cut as i64, tail)];
        let mut together = Loader::new();
        together.high_watermark(Offset(6));
        together.commit(&batches).unwrap();
        let expected = Some((vec!["a".to_owned(), "d".to_owned()], 6));
        assert_eq!(shown(&mut together), expected, "cut at {cut}, one commit");

        let mut apart = Loader::new();
        apart.high_watermark(Offset(6));
        for batch in batches {
            apart.commit(&[batch]).unwrap();
        }
        assert_eq!(shown(&mut apart), expected, "cut at {cut}, two commits");
    }
}

#[test]
fn nothing_is_shown_before_the_high_watermark_is_reached_with_a_record() {
    let mut loader = Loader::new();
    let control = Batch::control(Offset(0), Offset(1), Epoch(1), WallTime(0));
    loader.commit(&[control]).unwrap();
    loader.high_watermark(Offset(1));
    assert_eq!(shown(&mut loader), None, "only control records were seen");
    loader.high_watermark(Offset(3));
    loader.commit(&[batch(1, vec![topic("a", 1)])]).unwrap();
    assert_eq!(shown(&mut loader), None, "the high watermark is ahead");
    loader.commit(&[batch(2, vec![topic("b", 2)])]).unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into(), "b".into()], 3)));
    assert_eq!(loader.shown_end(), Some(Offset(3)));
    loader.high_watermark(Offset(9));
    loader.commit(&[batch(3, vec![topic("c", 3)])]).unwrap();
    assert!(
        shown(&mut loader).is_some(),
        "caught up once is caught up for ever"
    );
}

#[test]
fn a_snapshot_that_holds_something_counts_as_a_record() {
    let loaded = |image: MetadataImage| LoadedSnapshot {
        image,
        id: OffsetAndEpoch::new(10, 2),
        header: SnapshotHeader {
            last_contained: WallTime(77),
            quorum: None,
        },
    };
    let mut loader = Loader::new();
    loader.high_watermark(Offset(10));
    loader.load(loaded(MetadataImage::default()));
    assert!(loader.poll().is_none());
    loader.load(loaded(image([topic("a", 1)])));
    let (_, from) = loader.poll().unwrap();
    let expected = Provenance {
        end: OffsetAndEpoch::new(10, 2),
        at: WallTime(77),
        from_snapshot: true,
    };
    assert_eq!(from, expected);
}

#[test]
fn a_misfit_is_counted_passed_over_and_stops_snapshots() {
    let mut loader = Loader::new();
    loader.high_watermark(Offset(3));
    loader
        .commit(&[batch(0, vec![topic("a", 1), remove(9), topic("b", 2)])])
        .unwrap();
    assert_eq!(shown(&mut loader), Some((vec!["a".into(), "b".into()], 3)));
    let (count, last) = loader.misfits();
    assert_eq!((count, last.map(|misfit| misfit.at)), (1, Some(Offset(1))));
    assert!(loader.snapshot().is_none());
}

/// Remembers which topics each delta created.
#[derive(Default)]
struct Seen {
    created: Vec<Vec<String>>,
    leaders: Vec<Option<NodeId>>,
    busy: bool,
    fails: bool,
}

#[derive(Clone, Default)]
struct Watcher(Arc<Mutex<Seen>>);

impl Publisher for Watcher {
    fn name(&self) -> &str {
        "watcher"
    }

    fn publish(&mut self, delta: &Delta, _: &Provenance) -> Result<(), PublishError> {
        let mut seen = self.0.lock().unwrap();
        if seen.fails {
            return Err("no".into());
        }
        seen.created.push(names(delta.topics_created()));
        Ok(())
    }

    fn leader(&mut self, _: Epoch, leader: Option<NodeId>) {
        self.0.lock().unwrap().leaders.push(leader);
    }

    fn is_ready(&self) -> bool {
        !self.0.lock().unwrap().busy
    }
}

#[test]
fn new_slow_and_failing_publishers_all_get_what_they_lack() {
    let to = Provenance {
        end: OffsetAndEpoch::new(1, 1),
        at: WallTime(0),
        from_snapshot: false,
    };
    let one = image([topic("a", 1)]);
    let two = more(&one, [topic("b", 2), topic("gone", 3)]);
    let three = more(&two, [remove(3), topic("c", 4)]);
    let (steady, slow, failing, late) = (
        Watcher::default(),
        Watcher::default(),
        Watcher::default(),
        Watcher::default(),
    );
    let mut publishers = Publishers::new();
    for watcher in [&failing, &steady, &slow] {
        publishers.add(Box::new(watcher.clone()));
    }
    publishers.leader(Epoch(1), Some(NodeId(1)));
    assert!(publishers.publish(&one, &to).is_empty());

    slow.0.lock().unwrap().busy = true;
    failing.0.lock().unwrap().fails = true;
    let faults = publishers.publish(&two, &to);
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].publisher, "watcher");
    publishers.leader(Epoch(2), None);

    slow.0.lock().unwrap().busy = false;
    failing.0.lock().unwrap().fails = false;
    publishers.add(Box::new(late.clone()));
    assert!(publishers.has_new());
    assert!(publishers.publish(&three, &to).is_empty());
    assert!(!publishers.has_new());

    let created = |watcher: &Watcher| {
        watcher
            .0
            .lock()
            .unwrap()
            .created
            .join(&"|".to_owned())
            .join("")
    };
    assert_eq!(created(&steady), "a|bgone|c");
    assert_eq!(created(&slow), "a|bc");
    assert_eq!(created(&failing), "a|bc");
    assert_eq!(created(&late), "abc");
    let leaders = |watcher: &Watcher| watcher.0.lock().unwrap().leaders.clone();
    assert_eq!(leaders(&steady), [Some(NodeId(1)), None]);
    assert_eq!(leaders(&late), [None]);
}

#[test]
fn an_older_metadata_version_says_what_it_would_lose() {
    use quorate_metadata::Loss;
    let image = image([
        feature(MetadataVersion::FEATURE, 29),
        RegisterControllerRecord::default().into(),
        RegisterBrokerRecord {
            log_dirs: vec![Uuid([9; 16])],
            ..broker(1, 1)
        }
        .into(),
        DelegationTokenRecord::default().into(),
        UserScramCredentialRecord::default().into(),
    ]);
    let refused = SnapshotRecords::at_version(&image, MetadataVersion::MINIMUM).unwrap_err();
    let lost = [
        Loss::Controllers,
        Loss::BrokerDirectories,
        Loss::Scram,
        Loss::DelegationTokens,
    ];
    assert_eq!(refused.lost, lost);
    assert!(SnapshotRecords::at_version(&image, MetadataVersion::V3_7_IV2).is_ok());

    let records = SnapshotRecords::at_version_lossy(&image, MetadataVersion::MINIMUM);
    let records: Vec<_> = records.flatten().collect();
    let keys: Vec<_> = records.iter().map(|r| (r.data.key(), r.version)).collect();
    assert_eq!(keys, [(12, 0), (0, 1)]);
    for record in records {
        record.encode_frame().unwrap();
    }
}

/// An image of which every part takes more than one batch.
fn large() -> MetadataImage {
    let topics = (0..1500u16).flat_map(|n| {
        let id = |n: u16| {
            TopicId(Uuid([
                (n >> 8) as u8,
                n as u8,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
                1,
            ]))
        };
        let topic = TopicRecord {
            name: format!("t{n}"),
            topic_id: id(n).0,
            ..Default::default()
        };
        let partitions = (0..if n == 700 { 3000 } else { 1 }).map(move |index| {
            MetadataRecord::from(PartitionRecord {
                topic_id: id(n).0,
                ..partition(0, index, &[1, 2, 3], 1)
            })
        });
        let config = ConfigRecord {
            resource_type: 2,
            resource_name: format!("t{n}"),
            name: "k".into(),
            value: Some("v".repeat(30_000)),
            ..Default::default()
        };
        std::iter::once(topic.into())
            .chain(partitions)
            .chain([config.into()])
    });
    let others = (0..1500u16).flat_map(|n| {
        let acl = AccessControlEntryRecord {
            id: Uuid([
                (n >> 8) as u8,
                n as u8,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
            ]),
            ..Default::default()
        };
        let quota = ClientQuotaRecord {
            entity: vec![EntityData {
                entity_type: "user".into(),
                entity_name: Some(format!("u{n}")),
                ..Default::default()
            }],
            key: "k".into(),
            ..Default::default()
        };
        let credential = UserScramCredentialRecord {
            name: format!("u{n}"),
            mechanism: 1,
            ..Default::default()
        };
        let token = DelegationTokenRecord {
            token_id: format!("t{n}"),
            ..Default::default()
        };
        [
            acl.into(),
            quota.into(),
            credential.into(),
            MetadataRecord::from(token),
        ]
    });
    let version = feature(MetadataVersion::FEATURE, 29);
    image(std::iter::once(version).chain(topics).chain(others))
}

#[test]
fn a_large_image_is_written_in_pieces_and_read_back_whole() {
    let image = large();
    let batches: Vec<_> = SnapshotRecords::new(image.clone()).unwrap().collect();
    assert!(batches.iter().all(|batch| (1..1100).contains(&batch.len())));
    let mut copy = MetadataImage::default();
    for record in batches.iter().flatten() {
        KafkaMetadata::apply(&mut copy, record, Offset(0)).unwrap();
    }
    assert_eq!(copy, image);

    let id = OffsetAndEpoch::new(9, 3);
    let header = SnapshotHeader {
        last_contained: WallTime(5),
        quorum: None,
    };
    let mut file = SnapshotFile::new(image.clone(), &header, id.epoch, WallTime(6)).unwrap();
    let mut loader = SnapshotLoader::new(id);
    let mut count = 0;
    while let Some(batch) = file.next_batch().unwrap() {
        assert!(batch.len() < 2 * 1024 * 1024, "{} bytes", batch.len());
        count += 1;
        loader.feed(batch).unwrap();
    }
    assert!(count > 40, "{count} batches");
    let loaded = loader.finish().unwrap();
    assert_eq!(
        (loaded.image, loaded.id, loaded.header),
        (image, id, header)
    );
}

#[test]
fn a_snapshot_without_its_footer_or_with_a_misfit_is_refused() {
    let id = OffsetAndEpoch::new(9, 3);
    let header = SnapshotHeader {
        last_contained: WallTime(5),
        quorum: None,
    };
    let mut file =
        SnapshotFile::new(image([topic("a", 1)]), &header, id.epoch, WallTime(6)).unwrap();
    let mut loader = SnapshotLoader::new(id);
    for _ in 0..2 {
        loader.feed(file.next_batch().unwrap().unwrap()).unwrap();
    }
    assert!(matches!(
        loader.finish(),
        Err(SnapshotLoadError::Incomplete { .. })
    ));

    let (mut writer, first) = SnapshotWriter::new(id.epoch, &header, WallTime(6)).unwrap();
    let value = versioned(remove(1)).encode_frame().unwrap();
    let mut loader = SnapshotLoader::new(id);
    loader.feed(first).unwrap();
    let refused = loader
        .feed(writer.data(WallTime(6), &[value]).unwrap())
        .unwrap_err();
    assert!(
        refused.to_string().contains("there is no topic"),
        "{refused}"
    );
}
