//! Requests and responses of any API and version: what can be read must survive being written.
//!
//! `cargo +nightly fuzz run rpc` in `crates/quorate-protocol`.
#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use quorate_protocol::codec::{Reader, Writer};
use quorate_protocol::messages::{ApiKey, Request, Response, decode_request};

fuzz_target!(|data: &[u8]| {
    let frame = Bytes::copy_from_slice(data);
    let _ = decode_request(&frame);
    // The first three bytes choose API, version and direction, so that every body is reached.
    let [api, version, direction, body @ ..] = data else {
        return;
    };
    let key = ApiKey::ALL[usize::from(*api) % ApiKey::ALL.len()];
    let version = i16::from(*version % 20);
    if direction % 2 == 0 {
        request(key, version, body);
    } else {
        response(key, version, body);
    }
});

macro_rules! round_trip {
    ($name:ident, $message:ident) => {
        fn $name(key: ApiKey, version: i16, body: &[u8]) {
            let Ok(message) = $message::decode(key, version, &mut Reader::new(body)) else {
                return;
            };
            let mut writer = Writer::default();
            message
                .encode(version, &mut writer)
                .expect("what was read can be written");
            assert_eq!(message.size(version), Ok(writer.len()));
            let again = $message::decode(key, version, &mut Reader::new(&writer.freeze()))
                .expect("what was written can be read");
            // As text, since NaN does not equal itself.
            assert_eq!(format!("{again:?}"), format!("{message:?}"));
        }
    };
}

round_trip!(request, Request);
round_trip!(response, Response);
