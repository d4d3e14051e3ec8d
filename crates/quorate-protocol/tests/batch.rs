//! Record batches: what stock Kafka wrote is read and written again to the same bytes, what it
//! refuses is refused, and nothing panics.

use bytes::{BufMut, Bytes, BytesMut};
use proptest::prelude::*;
use quorate_protocol::batch::{
    BATCH_HEADER_BYTES, BatchError, BatchView, MAX_BATCH_BYTES, data_batch_size,
    encode_control_batch, encode_data_batch, split_batches, valid_prefix,
};
use quorate_protocol::records::VersionedRecord;
use quorate_types::{ControlRecord, Endpoint, Epoch, NodeId, Offset, Voter, VoterSet, WallTime};

const STATIC_0: &[u8] = include_bytes!("data/disk/static-0.log");
const STATIC_387: &[u8] = include_bytes!("data/disk/static-387.log");

fn values(texts: &[&'static str]) -> Vec<Bytes> {
    texts
        .iter()
        .map(|text| Bytes::from_static(text.as_bytes()))
        .collect()
}

fn batch(base: i64, epoch: i32, texts: &[&'static str]) -> Bytes {
    encode_data_batch(Offset(base), Epoch(epoch), WallTime(5), &values(texts)).unwrap()
}

/// A batch whose bytes were changed, with the checksum made right again.
fn forged(base: &Bytes, change: impl FnOnce(&mut BytesMut)) -> Bytes {
    let mut bytes = BytesMut::from(&base[..]);
    change(&mut bytes);
    let length = (bytes.len() - 12) as i32;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let crc = crc32c::crc32c(&bytes[21..]);
    bytes[17..21].copy_from_slice(&crc.to_be_bytes());
    bytes.freeze()
}

/// A batch of one record of those bytes.
fn with_record(record: &[u8]) -> BatchView {
    let bytes = forged(&batch(0, 1, &["x"]), |bytes| {
        bytes.truncate(BATCH_HEADER_BYTES);
        bytes.put_slice(record);
    });
    BatchView::new(bytes).unwrap()
}

fn encoded_again(batch: &BatchView) -> Bytes {
    let (base, epoch, at) = (batch.base_offset(), batch.epoch(), batch.timestamp());
    if batch.is_control() {
        encode_control_batch(base, epoch, at, &batch.control_records().unwrap()).unwrap()
    } else {
        let values: Vec<Bytes> = batch.records().collect::<Result<_, _>>().unwrap();
        encode_data_batch(base, epoch, at, &values).unwrap()
    }
}

#[test]
fn kafkas_logs_are_read_and_written_again_to_the_same_bytes() {
    for (file, start, end, batches) in [(STATIC_0, 0, 124, 53), (STATIC_387, 387, 452, 56)] {
        let prefix = valid_prefix(Bytes::from_static(file), Offset(start));
        assert_eq!(prefix.refused, None);
        assert_eq!(prefix.batches.len(), batches);
        assert_eq!(prefix.end_or(Offset(start)), Offset(end));
        let bytes: Vec<u8> = prefix
            .batches
            .iter()
            .flat_map(|batch| encoded_again(batch).to_vec())
            .collect();
        assert_eq!(bytes, file);
    }
}

#[test]
fn every_record_of_a_stock_log_is_known() {
    let batches = split_batches(Bytes::from_static(STATIC_0));
    let mut names = std::collections::BTreeSet::new();
    for batch in batches
        .map(Result::unwrap)
        .filter(|batch| !batch.is_control())
    {
        for value in batch.records() {
            let record = VersionedRecord::decode_frame(&value.unwrap()).unwrap();
            names.insert(record.data.name());
        }
    }
    assert!(names.len() > 5, "{names:?}");
}

#[test]
fn the_first_batch_of_a_stock_log_opens_the_leaders_epoch() {
    let first = split_batches(Bytes::from_static(STATIC_0))
        .next()
        .unwrap()
        .unwrap();
    assert!(first.is_control());
    let records = first.control_records().unwrap();
    let [
        ControlRecord::LeaderChange {
            leader,
            voters,
            granting,
        },
    ] = &records[..]
    else {
        panic!("{records:?}");
    };
    assert_eq!(*leader, NodeId(1));
    assert_eq!(*voters, [NodeId(1), NodeId(2), NodeId(3)]);
    assert!(granting.contains(leader));
}

#[test]
fn a_last_batch_that_is_cut_off_is_an_end() {
    let whole = batch(0, 1, &["a"]);
    for cut in 0..whole.len() {
        let mut bytes = whole.to_vec();
        bytes.extend_from_slice(&whole[..cut]);
        let mut split = split_batches(Bytes::from(bytes));
        assert_eq!(split.by_ref().count(), 1, "{cut} bytes of the second");
        assert_eq!(split.rest().len(), cut);
    }
}

#[test]
fn a_prefix_ends_before_a_gap_a_fallen_epoch_and_a_wrong_checksum() {
    let first = batch(0, 2, &["a", "b"]);
    let damaged = {
        let mut bytes = batch(2, 2, &["c"]).to_vec();
        *bytes.last_mut().unwrap() ^= 1;
        Bytes::from(bytes)
    };
    for (second, refused) in [
        (
            batch(3, 2, &["c"]),
            BatchError::Gap {
                expected: 2,
                found: 3,
            },
        ),
        (
            batch(2, 1, &["c"]),
            BatchError::EpochFell {
                before: 2,
                found: 1,
            },
        ),
        (
            damaged.clone(),
            BatchView::new(damaged).unwrap().verify_crc().unwrap_err(),
        ),
    ] {
        let bytes = [&first[..], &second[..], &batch(3, 2, &["d"])[..]].concat();
        let prefix = valid_prefix(Bytes::from(bytes), Offset(0));
        assert_eq!(prefix.end_or(Offset(0)), Offset(2));
        assert_eq!(prefix.refused, Some(refused));
    }
}

#[test]
fn records_that_kafka_refuses_are_refused() {
    let good = [16, 0, 0, 0, 1, 4, b'o', b'k', 0];
    assert_eq!(with_record(&good).records().next().unwrap().unwrap(), "ok");
    let bad: [(&str, &[u8]); 10] = [
        ("a timestamp delta", &[16, 0, 2, 0, 1, 4, b'o', b'k', 0]),
        ("another offset", &[16, 0, 0, 2, 1, 4, b'o', b'k', 0]),
        ("headers", &[16, 0, 0, 0, 1, 4, b'o', b'k', 2]),
        ("a key", &[18, 0, 0, 0, 2, b'k', 4, b'o', b'k', 0]),
        ("no value", &[12, 0, 0, 0, 1, 1, 0]),
        ("an empty value", &[12, 0, 0, 0, 1, 0, 0]),
        (
            "a value that is too long",
            &[16, 0, 0, 0, 1, 100, b'o', b'k', 0],
        ),
        (
            "a length that is too long",
            &[100, 0, 0, 0, 1, 4, b'o', b'k', 0],
        ),
        ("a negative length", &[1, 0, 0, 0, 1, 4, b'o', b'k', 0]),
        ("bytes left over", &[16, 0, 0, 0, 1, 4, b'o', b'k', 0, 0]),
    ];
    for (what, record) in bad {
        let mut records = with_record(record).records();
        assert!(
            matches!(
                records.next(),
                Some(Err(BatchError::Record { index: 0, .. }))
            ),
            "{what}"
        );
        assert_eq!(records.next(), None, "{what}: the error is the end");
    }
}

#[test]
fn control_and_data_are_not_taken_for_one_another() {
    let footer = [ControlRecord::SnapshotFooter];
    let control = encode_control_batch(Offset(0), Epoch(1), WallTime(0), &footer).unwrap();
    let control = BatchView::new(control).unwrap();
    assert!(matches!(
        control.records().next(),
        Some(Err(BatchError::Kind { .. }))
    ));
    assert_eq!(control.control_records().unwrap(), footer);
    let data = BatchView::new(batch(0, 1, &["x"])).unwrap();
    assert!(matches!(
        data.control_records(),
        Err(BatchError::Kind { .. })
    ));
}

#[test]
fn unknown_control_records_are_refused() {
    let key_and_value = [26, 0, 0, 0, 8, 0, 0, 0, 9, 6, 0, 0, 0, 0];
    let bytes = forged(with_record(&key_and_value).bytes(), |bytes| {
        bytes[22] = 0x20
    });
    let error = BatchView::new(bytes)
        .unwrap()
        .control_records()
        .unwrap_err();
    assert!(
        matches!(error, BatchError::Control { index: 0, .. }),
        "{error}"
    );
}

#[test]
fn compressed_batches_are_refused_by_name() {
    for codec in 1..=4 {
        let bytes = forged(&batch(0, 1, &["x"]), |bytes| bytes[22] = codec);
        let batch = BatchView::new(bytes).unwrap();
        batch.verify_crc().unwrap();
        let error = batch.records().next().unwrap().unwrap_err();
        assert_eq!(error, BatchError::Compressed { codec });
    }
}

#[test]
fn headers_that_contradict_themselves_are_refused() {
    let good = batch(7, 1, &["x"]);
    let fields: [(&str, usize, Vec<u8>); 7] = [
        ("base offset", 0, (-1_i64).to_be_bytes().to_vec()),
        ("end offset", 0, i64::MAX.to_be_bytes().to_vec()),
        ("epoch", 12, (-1_i32).to_be_bytes().to_vec()),
        ("magic", 16, vec![1]),
        ("last delta", 23, 1_i32.to_be_bytes().to_vec()),
        ("no records", 57, 0_i32.to_be_bytes().to_vec()),
        ("more records", 57, 2_i32.to_be_bytes().to_vec()),
    ];
    for (what, at, field) in fields {
        let bytes = forged(&good, |bytes| {
            bytes[at..at + field.len()].copy_from_slice(&field)
        });
        assert!(BatchView::new(bytes).is_err(), "{what}");
    }
    for length in [i32::MIN, -1, 0, 48, MAX_BATCH_BYTES as i32 - 11, i32::MAX] {
        let mut bytes = good.to_vec();
        bytes[8..12].copy_from_slice(&length.to_be_bytes());
        let error = BatchView::first(&Bytes::from(bytes)).unwrap_err();
        assert_eq!(error, BatchError::Length { length });
    }
}

#[test]
fn what_does_not_fit_into_a_batch_is_not_written() {
    let write = |values: &[Bytes]| encode_data_batch(Offset(0), Epoch(0), WallTime(0), values);
    let value = Bytes::from(vec![1; MAX_BATCH_BYTES / 2]);
    assert!(write(std::slice::from_ref(&value)).is_ok());
    let size = data_batch_size([value.len(); 2]);
    assert!(size > MAX_BATCH_BYTES);
    assert_eq!(
        write(&[value.clone(), value]),
        Err(BatchError::TooLarge { size })
    );
    assert_eq!(write(&[]), Err(BatchError::Empty));
    assert!(write(&[Bytes::new()]).is_err());
    let exact = MAX_BATCH_BYTES - data_batch_size([MAX_BATCH_BYTES / 2]) + MAX_BATCH_BYTES / 2;
    let largest = write(&[Bytes::from(vec![1; exact])]).unwrap();
    assert_eq!(largest.len(), MAX_BATCH_BYTES);
    assert!(BatchView::new(largest).unwrap().verify_crc().is_ok());
    assert!(write(&[Bytes::from(vec![1; exact + 1])]).is_err());
}

#[test]
fn reading_copies_no_values() {
    let bytes = batch(0, 1, &["shared"]);
    let value = BatchView::new(bytes.clone())
        .unwrap()
        .records()
        .next()
        .unwrap()
        .unwrap();
    assert!(bytes.as_ptr_range().contains(&value.as_ptr()));
}

fn any_values() -> impl Strategy<Value = Vec<Bytes>> {
    let value = prop::collection::vec(any::<u8>(), 1..200).prop_map(Bytes::from);
    prop::collection::vec(value, 1..100)
}

fn any_control() -> impl Strategy<Value = ControlRecord> {
    let endpoint = ("[A-Z]{1,9}", "[a-z.]{1,20}", any::<u16>())
        .prop_map(|(name, host, port)| Endpoint { name, host, port });
    let voter = prop::collection::vec(endpoint, 0..3).prop_map(|endpoints| Voter {
        endpoints,
        ..VoterSet::of_ids([1]).get(NodeId(1)).unwrap().clone()
    });
    let voters = prop::collection::btree_map((0..1000).prop_map(NodeId), voter, 0..9);
    prop_oneof![
        voters.prop_map(|voters| ControlRecord::Voters(voters.into_iter().collect())),
        any::<i64>().prop_map(|at| ControlRecord::SnapshotHeader {
            last_contained: WallTime(at)
        }),
        (0..9, prop::collection::vec((0..9).prop_map(NodeId), 0..9)).prop_map(
            |(leader, voters)| {
                ControlRecord::LeaderChange {
                    leader: NodeId(leader),
                    granting: voters.clone(),
                    voters,
                }
            }
        ),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn data_batches_come_back(
        base in 0..i64::MAX / 2,
        epoch in 0..i32::MAX,
        at: i64,
        values in any_values(),
    ) {
        let bytes = encode_data_batch(Offset(base), Epoch(epoch), WallTime(at), &values).unwrap();
        prop_assert_eq!(bytes.len(), data_batch_size(values.iter().map(Bytes::len)));
        let batch = BatchView::new(bytes).unwrap();
        prop_assert_eq!(batch.verify_crc(), Ok(()));
        prop_assert_eq!(batch.base_offset(), Offset(base));
        prop_assert_eq!(batch.end_offset(), Offset(base + values.len() as i64));
        prop_assert_eq!((batch.epoch(), batch.timestamp()), (Epoch(epoch), WallTime(at)));
        prop_assert!(!batch.is_control());
        let read: Vec<Bytes> = batch.records().collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read, values);
    }

    #[test]
    fn control_batches_come_back(records in prop::collection::vec(any_control(), 1..5)) {
        let bytes = encode_control_batch(Offset(3), Epoch(2), WallTime(1), &records).unwrap();
        let batch = BatchView::new(bytes).unwrap();
        prop_assert_eq!(batch.verify_crc(), Ok(()));
        prop_assert_eq!(batch.control_records(), Ok(records));
    }

    #[test]
    fn a_flipped_bit_does_not_go_unnoticed(at: prop::sample::Index, bit in 0..8_u8) {
        let mut bytes = batch(7, 1, &["a", "bc"]).to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        // Neither base offset nor epoch is under the checksum; those must continue the log.
        let prefix = valid_prefix(Bytes::from(bytes), Offset(7));
        let epoch = 12..16;
        prop_assert!(prefix.batches.is_empty() || epoch.contains(&at), "at {at}");
    }

    #[test]
    fn arbitrary_bytes_are_no_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..300),
        record: Vec<u8>,
        control: bool,
    ) {
        let _ = split_batches(Bytes::from(bytes)).count();
        let bytes = forged(with_record(&record).bytes(), |bytes| bytes[22] = u8::from(control) << 5);
        let batch = BatchView::new(bytes).unwrap();
        let _ = (batch.records().count(), batch.control_records(), batch.raw_records().count());
    }

    #[test]
    fn damaged_batches_are_no_panic(
        values in any_values(),
        at: prop::sample::Index,
        byte: u8,
    ) {
        let good = encode_data_batch(Offset(0), Epoch(0), WallTime(0), &values).unwrap();
        let at = BATCH_HEADER_BYTES + at.index(good.len() - BATCH_HEADER_BYTES);
        let batch = BatchView::new(forged(&good, |bytes| bytes[at] = byte)).unwrap();
        prop_assert!(batch.records().count() <= values.len());
    }
}
