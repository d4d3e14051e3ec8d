//! Snapshot files: what stock Kafka wrote is read and written again to the same bytes, and what is no
//! snapshot is not taken for one.

use bytes::Bytes;
use proptest::prelude::*;
use quorate_protocol::batch::split_batches;
use quorate_protocol::records::VersionedRecord;
use quorate_protocol::snapshot::{
    SnapshotError, SnapshotHeader, SnapshotPart, SnapshotReader, SnapshotWriter,
};
use quorate_types::{ControlRecord, Epoch, KRaftVersion, VoterSet, WallTime};

const FILES: [(&str, &[u8]); 4] = [
    (
        "bootstrap",
        include_bytes!("data/disk/bootstrap.checkpoint"),
    ),
    ("0-0", include_bytes!("data/disk/dynamic-0-0.checkpoint")),
    (
        "487-3",
        include_bytes!("data/disk/dynamic-487-3.checkpoint"),
    ),
    ("252-1", include_bytes!("data/disk/static-252-1.checkpoint")),
];

fn parts(bytes: Bytes, piece: usize) -> Result<Vec<SnapshotPart>, SnapshotError> {
    let mut reader = SnapshotReader::new();
    let mut parts = Vec::new();
    for piece in bytes.chunks(piece.max(1)) {
        reader.feed(Bytes::copy_from_slice(piece));
        while let Some(part) = reader.next_part()? {
            parts.push(part);
        }
    }
    assert_eq!(
        reader.is_complete(),
        parts.last() == Some(&SnapshotPart::Footer)
    );
    Ok(parts)
}

#[test]
fn kafkas_snapshots_are_read_and_written_again_to_the_same_bytes() {
    for (name, file) in FILES {
        let file = Bytes::from_static(file);
        // Kafka's three kinds of batches have times of their own.
        let times: Vec<WallTime> = split_batches(file.clone())
            .map(|batch| batch.unwrap().timestamp())
            .collect();
        let epoch = split_batches(file.clone()).next().unwrap().unwrap().epoch();
        let parts = parts(file.clone(), file.len()).unwrap();
        let Some(SnapshotPart::Header(header)) = parts.first() else {
            panic!("{name} starts with {:?}", parts.first());
        };
        let (mut writer, bytes) = SnapshotWriter::new(epoch, header, times[0]).unwrap();
        let mut written = bytes.to_vec();
        for (part, at) in parts.iter().zip(&times) {
            if let SnapshotPart::Data(batch) = part {
                let values: Vec<Bytes> = batch.records().collect::<Result<_, _>>().unwrap();
                for value in &values {
                    VersionedRecord::decode_frame(value).unwrap();
                }
                written.extend(writer.data(*at, &values).unwrap());
            }
        }
        written.extend(writer.finish(*times.last().unwrap()).unwrap());
        assert_eq!(written, file, "{name}");
    }
}

#[test]
fn headers_say_what_stood_at_the_end() {
    let header = |index: usize| {
        let (_, file) = FILES[index];
        match parts(Bytes::from_static(file), file.len())
            .unwrap()
            .swap_remove(0)
        {
            SnapshotPart::Header(header) => header,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(header(0).last_contained, WallTime(0));
    assert_eq!(header(0).quorum, None);
    let (version, voters) = header(1).quorum.unwrap();
    assert_eq!(version, KRaftVersion::DYNAMIC);
    assert_eq!(voters.ids().map(|id| id.0).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(voters.keys().all(|key| key.directory.is_some()));
    assert_eq!(header(3).quorum, None, "a static quorum");
}

#[test]
fn a_snapshot_may_come_in_pieces_of_any_size() {
    let (_, file) = FILES[2];
    let whole = parts(Bytes::from_static(file), file.len()).unwrap();
    for piece in [1, 7, 60, 61, 1000, 5000] {
        assert_eq!(
            parts(Bytes::from_static(file), piece).unwrap(),
            whole,
            "{piece}"
        );
    }
}

#[test]
fn without_its_footer_a_file_is_never_complete() {
    for (name, file) in FILES {
        for len in (0..file.len()).step_by(13).chain([file.len() - 1]) {
            let parts = parts(Bytes::from_static(&file[..len]), file.len()).unwrap();
            assert_ne!(parts.last(), Some(&SnapshotPart::Footer), "{name} to {len}");
        }
    }
}

#[test]
fn batches_out_of_place_are_refused() {
    let header = SnapshotHeader {
        last_contained: WallTime(1),
        quorum: None,
    };
    let start = |epoch| SnapshotWriter::new(Epoch(epoch), &header, WallTime(1)).unwrap();
    let value = [Bytes::from_static(b"value")];
    let (mut writer, head) = start(3);
    let data = writer.data(WallTime(1), &value).unwrap();
    let foot = writer.finish(WallTime(1)).unwrap();
    let (mut other, _) = start(4);
    let other_epoch = other.data(WallTime(1), &value).unwrap();
    let refused: [(&str, Vec<&Bytes>); 6] = [
        ("no header", vec![&data]),
        ("a footer alone", vec![&foot]),
        ("two headers", vec![&head, &head]),
        ("data missing", vec![&head, &foot]),
        ("another epoch", vec![&head, &other_epoch]),
        ("more after the footer", vec![&head, &data, &foot, &data]),
    ];
    for (what, pieces) in refused {
        let bytes = pieces.into_iter().flatten().copied().collect::<Vec<u8>>();
        let error = parts(Bytes::from(bytes), usize::MAX).unwrap_err();
        assert!(
            matches!(error, SnapshotError::Form { .. }),
            "{what}: {error}"
        );
    }
}

#[test]
fn a_quorum_without_recorded_voters_comes_back() {
    let header = SnapshotHeader {
        last_contained: WallTime(1),
        quorum: Some((KRaftVersion::DYNAMIC, VoterSet::default())),
    };
    let (writer, head) = SnapshotWriter::new(Epoch(1), &header, WallTime(1)).unwrap();
    let batch = split_batches(head.clone()).next().unwrap().unwrap();
    let records = batch.control_records().unwrap();
    assert!(
        !records
            .iter()
            .any(|record| matches!(record, ControlRecord::Voters(_)))
    );
    let bytes = [&head[..], &writer.finish(WallTime(1)).unwrap()[..]].concat();
    let read = parts(Bytes::from(bytes), 100).unwrap();
    assert_eq!(read, [SnapshotPart::Header(header), SnapshotPart::Footer]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_flipped_bit_is_found(at: prop::sample::Index, bit in 0..8_u8) {
        let (_, file) = FILES[1];
        let mut bytes = file.to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let whole = parts(Bytes::from_static(file), file.len()).unwrap();
        match parts(Bytes::from(bytes), file.len()) {
            Err(_) => {}
            // A length that grew leaves a batch that is cut off. The epoch is under no checksum.
            Ok(parts) => prop_assert!(parts.len() < whole.len() || (12..16).contains(&at)),
        }
    }

    #[test]
    fn arbitrary_bytes_are_no_panic(bytes: Vec<u8>) {
        let _ = parts(Bytes::from(bytes), 50);
    }
}
