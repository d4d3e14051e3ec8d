//! What the metadata log says: record frames and control records.
//!
//! `cargo +nightly fuzz run log` in `crates/quorate-protocol`.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use quorate_protocol::control;
use quorate_protocol::records::VersionedRecord;

fuzz_target!(|data: &[u8]| {
    let frame = Bytes::copy_from_slice(data);
    if let Ok(record) = VersionedRecord::decode_frame(&frame) {
        let written = record.encode_frame().expect("what was read can be written");
        let again = VersionedRecord::decode_frame(&written).expect("what was written can be read");
        // As text, since NaN does not equal itself.
        assert_eq!(format!("{again:?}"), format!("{record:?}"));
    }
    let Some((kind, value)) = data.split_first() else {
        return;
    };
    let key = Bytes::copy_from_slice(&[0, 0, 0, kind % 8]);
    if let Ok(record) = control::decode(&key, &Bytes::copy_from_slice(value)) {
        let written = control::encode(&record).expect("what was read can be written");
        assert_eq!(control::decode(&written.key, &written.value), Ok(record));
    }
});
