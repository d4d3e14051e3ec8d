//! What one connection may cost, and that it costs nobody else.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use bytes::Bytes;
use common::*;
use quorate_node::{Limits, NodeHandle};
use quorate_protocol::messages::{ApiVersionsRequest, Request, RequestHeader};
use quorate_server::frames;
use quorate_storage::vfs::MemVfs;
use quorate_types::ErrorCode;

fn running(limits: Limits) -> (Site, NodeHandle) {
    let mut site = Site::new(1);
    site.limits = limits;
    let node = site.start_in_memory(0, &MemVfs::new());
    site.next_active();
    (site, node)
}

fn connect(site: &Site) -> TcpStream {
    let stream = TcpStream::connect(site.members[0].address).unwrap();
    stream.set_read_timeout(Some(SOON)).unwrap();
    stream.set_write_timeout(Some(SOON)).unwrap();
    stream
}

/// Whether the peer closes the connection without another word.
fn is_closed(stream: &mut TcpStream) -> bool {
    let mut byte = [0];
    match stream.read(&mut byte) {
        Ok(read) => read == 0,
        Err(error) => error.kind() == ErrorKind::ConnectionReset,
    }
}

fn framed(version: i16, correlation_id: i32, request: &Request) -> Bytes {
    let header = RequestHeader {
        api_key: request.key().code(),
        api_version: version,
        correlation_id,
        ..Default::default()
    };
    let frame = frames::encode_request(&header, request).unwrap();
    let length = (frame.len() as u32).to_be_bytes();
    [&length[..], &frame].concat().into()
}

fn versions(correlation_id: i32) -> Bytes {
    let request = Request::from(ApiVersionsRequest {
        client_software_name: "test".into(),
        client_software_version: "1".into(),
        ..Default::default()
    });
    framed(4, correlation_id, &request)
}

/// Reads an answer; its correlation id.
fn answer(stream: &mut TcpStream) -> i32 {
    let mut prefix = [0; 4];
    stream.read_exact(&mut prefix).unwrap();
    let mut frame = vec![0; u32::from_be_bytes(prefix) as usize];
    stream.read_exact(&mut frame).unwrap();
    i32::from_be_bytes(frame[..4].try_into().unwrap())
}

#[test]
fn an_impossible_length_closes_the_connection_before_its_bytes_come() {
    let (site, _node) = running(Limits {
        frame_bytes: 1000,
        ..Limits::default()
    });
    for length in [1001, i32::MAX, -1, i32::MIN] {
        let mut stream = connect(&site);
        stream.write_all(&length.to_be_bytes()).unwrap();
        assert!(is_closed(&mut stream), "{length}");
    }
    let mut stream = connect(&site);
    stream.write_all(&versions(1)).unwrap();
    assert_eq!(answer(&mut stream), 1);
}

#[test]
fn a_frame_as_long_as_it_may_be_is_taken() {
    let whole = framed(1, 5, &change(&"9".repeat(500)));
    let fits = whole.len() - 4;
    for (limit, taken) in [(fits, true), (fits - 1, false)] {
        let (site, _node) = running(Limits {
            frame_bytes: limit,
            ..Limits::default()
        });
        let mut stream = connect(&site);
        stream.write_all(&whole).unwrap();
        if taken {
            assert_eq!(answer(&mut stream), 5);
        } else {
            assert!(is_closed(&mut stream));
        }
    }
}

#[test]
fn connections_that_say_nothing_or_half_of_it_keep_nobody_waiting() {
    let (site, _node) = running(Limits::default());
    let request = versions(1);
    let idle: Vec<TcpStream> = (0..100)
        .map(|number| {
            let mut stream = connect(&site);
            // Nothing, half a length, a length, and so on.
            stream
                .write_all(&request[..number % request.len()])
                .unwrap();
            stream
        })
        .collect();
    let mut client = site.client(site.members[0].id);
    for number in 0..50 {
        assert_eq!(
            set(&mut client, &number.to_string()).unwrap(),
            ErrorCode::None
        );
    }
    // The rest of a frame is as good as a whole one.
    for (number, mut stream) in idle.into_iter().enumerate() {
        stream
            .write_all(&request[number % request.len()..])
            .unwrap();
        assert_eq!(answer(&mut stream), 1);
    }
}

#[test]
fn more_requests_than_may_be_in_flight_are_all_answered_in_order() {
    let (site, _node) = running(Limits {
        in_flight: 3,
        in_flight_bytes: 600,
        ..Limits::default()
    });
    let mut stream = connect(&site);
    let mut reader = stream.try_clone().unwrap();
    let expected: Vec<i32> = (0..300).collect();
    let writer = std::thread::Builder::new()
        .spawn(move || {
            for number in 0..300 {
                // Some are larger than all that may be in flight.
                let frame = match number % 10 {
                    0 => framed(1, number, &change(&"1".repeat(1000))),
                    5 => framed(1, number, &change("5")),
                    _ => versions(number),
                };
                stream.write_all(&frame).unwrap();
            }
            stream
        })
        .unwrap();
    let answered: Vec<i32> = expected.iter().map(|_| answer(&mut reader)).collect();
    assert_eq!(answered, expected);
    writer.join().unwrap();
}

#[test]
fn what_cannot_be_understood_ends_its_connection_only() {
    let (site, _node) = running(Limits::default());
    let mut good = connect(&site);
    let mut bad = connect(&site);
    let nonsense = [0, 0, 0, 6, 0x7f, 0xff, 0, 0, 0, 1];
    // What was asked before is answered, what comes after is not read any more.
    let both = [&versions(1)[..], &nonsense, &versions(2)].concat();
    bad.write_all(&both).unwrap();
    assert_eq!(answer(&mut bad), 1);
    assert!(is_closed(&mut bad));
    good.write_all(&versions(3)).unwrap();
    assert_eq!(answer(&mut good), 3);
}
