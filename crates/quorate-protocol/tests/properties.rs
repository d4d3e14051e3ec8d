//! What holds for every message, whatever the bytes.

mod common;

use bytes::Bytes;
use common::{Codec, Vector, codecs, own_vectors};
use proptest::prelude::*;
use quorate_protocol::codec::{DecodeProblem, EncodeError, RawTag};
use quorate_protocol::messages::create_topics::CreatableTopic;
use quorate_protocol::messages::{CreateTopicsRequest, Request, Response};
use quorate_protocol::records::VersionedRecord;
use quorate_protocol::types::Rng;
use quorate_protocol::{codec::Message, control};

/// Reads bytes that may be anything; what could be read must survive being written.
fn survives(codec: &Codec, version: i16, bytes: &Bytes) -> bool {
    let Ok(message) = (codec.read)(version, bytes) else {
        return false;
    };
    let context = || format!("{} {version}: {bytes:02x?}", codec.name);
    let written =
        (message.encode)(version).unwrap_or_else(|error| panic!("{error}, {}", context()));
    let again =
        (codec.read)(version, &written).unwrap_or_else(|error| panic!("{error}, {}", context()));
    assert_eq!(again.debug, message.debug, "{}", context());
    assert_eq!(again.left, 0, "{}", context());
    assert_eq!((message.size)(version), Ok(written.len()), "{}", context());
    true
}

/// Changes, cuts, doubles or inserts a few bytes.
fn mutate(rng: &mut Rng, bytes: &[u8]) -> Bytes {
    let mut bytes = bytes.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.index(bytes.len() + 1);
        match rng.below(5) {
            0 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
            1 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            2 => bytes.insert(at, [0, 1, 0x7f, 0xff][rng.index(4)]),
            3 if at < bytes.len() => drop(bytes.remove(at)),
            _ => bytes.truncate(at),
        }
    }
    bytes.into()
}

#[test]
fn damaged_messages_are_read_whole_or_refused() {
    let mut rng = Rng::new(1);
    let vectors = own_vectors();
    let mut read = 0;
    for Vector {
        codec,
        version,
        bytes,
        ..
    } in &vectors
    {
        for _ in 0..16 {
            read += usize::from(survives(codec, *version, &mutate(&mut rng, bytes)));
        }
    }
    assert!(
        read > vectors.len(),
        "only {read} damaged messages could be read at all"
    );
}

#[test]
fn a_message_that_is_cut_off_is_refused() {
    let mut rng = Rng::new(2);
    for Vector {
        codec,
        version,
        bytes,
        place,
    } in own_vectors()
    {
        let cut = bytes.slice(..rng.index(bytes.len().max(1)));
        if !bytes.is_empty() {
            assert!(
                (codec.read)(version, &cut).is_err(),
                "{place}, cut at {}",
                cut.len()
            );
        }
    }
}

#[test]
fn defaults_come_back_in_every_version() {
    for codec in codecs() {
        for version in codec.versions.min..=codec.versions.max {
            let default = (codec.default)();
            let bytes = (default.encode)(version).unwrap_or_else(|error| panic!("{error}"));
            let read = (codec.read)(version, &bytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(read.debug, default.debug, "{} {version}", codec.name);
        }
    }
}

#[test]
fn versions_outside_the_range_are_refused_both_ways() {
    for codec in codecs() {
        for version in [
            codec.versions.min - 1,
            codec.versions.max + 1,
            i16::MIN,
            i16::MAX,
        ] {
            let default = (codec.default)();
            assert!(matches!(
                (default.encode)(version),
                Err(EncodeError::UnsupportedVersion { .. })
            ));
            let error = (codec.read)(version, &Bytes::from_static(&[0; 64])).err();
            assert!(matches!(
                error.map(|error| error.problem()),
                Some(DecodeProblem::UnsupportedVersion { .. })
            ));
        }
    }
}

#[test]
fn unknown_tagged_fields_survive_in_every_flexible_version() {
    for codec in codecs() {
        for version in codec.versions.min..=codec.versions.max {
            if !codec.flexible(version) {
                continue;
            }
            let mut bytes = (codec.default)().encode.as_ref()(version).unwrap().to_vec();
            assert_eq!(bytes.pop(), Some(0), "a default ends without tagged fields");
            // Two fields: tag 999 with three bytes, tag 70,000 with none.
            bytes.extend([2, 0xe7, 0x07, 3, 1, 2, 3, 0xf0, 0xa2, 0x04, 0]);
            let bytes = Bytes::from(bytes);
            let read = (codec.read)(version, &bytes).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(
                (read.encode)(version),
                Ok(bytes),
                "{} {version}",
                codec.name
            );
        }
    }
}

#[test]
fn unknown_tagged_fields_survive_inside_and_are_not_lost_silently() {
    let field = RawTag {
        tag: 9,
        data: Bytes::from_static(b"later"),
    };
    let topic = CreatableTopic {
        name: "t".into(),
        unknown_tags: [field].into_iter().collect(),
        ..CreatableTopic::default()
    };
    let request = CreateTopicsRequest {
        topics: vec![topic],
        ..CreateTopicsRequest::default()
    };
    let bytes = request.to_bytes(7).unwrap();
    let mut reader = quorate_protocol::codec::Reader::of(&bytes);
    assert_eq!(
        CreateTopicsRequest::decode(7, &mut reader),
        Ok(request.clone())
    );
    assert_eq!(
        request.to_bytes(4),
        Err(EncodeError::FieldNotInVersion {
            field: "CreatableTopic.unknown_tags",
            version: 4
        })
    );
}

#[test]
fn what_a_version_cannot_say_is_an_error_unless_it_may_be_ignored() {
    use quorate_protocol::messages::{FetchRequest, VoteRequest, vote};
    let pre_vote = vote::RequestPartitionData {
        pre_vote: true,
        ..Default::default()
    };
    let topic = vote::RequestTopicData {
        partitions: vec![pre_vote],
        ..Default::default()
    };
    let request = VoteRequest {
        topics: vec![topic],
        ..Default::default()
    };
    assert!(request.to_bytes(2).is_ok());
    assert_eq!(
        request.to_bytes(1),
        Err(EncodeError::FieldNotInVersion {
            field: "RequestPartitionData.pre_vote",
            version: 1
        })
    );
    let racked = FetchRequest {
        rack_id: "a".into(),
        ..Default::default()
    };
    assert_eq!(racked.to_bytes(10), FetchRequest::default().to_bytes(10));
    assert_ne!(racked.to_bytes(11), FetchRequest::default().to_bytes(11));
}

#[test]
fn null_where_a_version_knows_none_is_refused_both_ways() {
    use quorate_protocol::messages::MetadataRequest;
    let all = MetadataRequest {
        topics: None,
        ..Default::default()
    };
    assert!(all.to_bytes(1).is_ok());
    assert_eq!(
        all.to_bytes(0),
        Err(EncodeError::NullInVersion {
            field: "MetadataRequest.topics",
            version: 0
        })
    );
    let null = Bytes::from_static(&[0xff; 4]);
    let error = MetadataRequest::decode(0, &mut quorate_protocol::codec::Reader::of(&null));
    let error = error.unwrap_err();
    assert_eq!(error.problem(), DecodeProblem::UnexpectedNull);
    assert_eq!(error.field(), Some("MetadataRequest.topics"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn arbitrary_bytes_are_read_whole_or_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..256),
    ) {
        let bytes = Bytes::from(bytes);
        for codec in codecs() {
            for version in codec.versions.min..=codec.versions.max {
                survives(&codec, version, &bytes);
            }
        }
        let _ = VersionedRecord::decode_frame(&bytes);
        for kind in 0..8 {
            let _ = control::decode(&Bytes::copy_from_slice(&[0, 0, 0, kind]), &bytes);
        }
    }

    /// Mostly zeros: counts are small, so that more of it makes sense.
    #[test]
    fn sparse_bytes_are_read_whole_or_refused(
        bytes in prop::collection::vec(prop_oneof![4 => Just(0u8), 2 => 1u8..4, 1 => any::<u8>()], 0..400),
    ) {
        let bytes = Bytes::from(bytes);
        for codec in codecs() {
            for version in codec.versions.min..=codec.versions.max {
                survives(&codec, version, &bytes);
            }
        }
    }

    #[test]
    fn any_key_and_version_is_taken_without_a_panic(
        key: i16,
        version: i16,
        bytes in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        use quorate_protocol::codec::Reader;
        let known = key.rem_euclid(84);
        for key in [key, known] {
            for version in [version, version.rem_euclid(20)] {
                let _ = Request::decode(key, version, &mut Reader::new(&bytes));
                let _ = Response::decode(key, version, &mut Reader::new(&bytes));
            }
        }
    }
}
