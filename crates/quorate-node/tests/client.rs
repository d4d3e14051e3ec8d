//! The blocking client: what it makes of good servers, and of bad ones.

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread::Builder;
use std::time::Duration;

use common::*;
use quorate_node::{Client, ClientError};
use quorate_protocol::messages::{ApiKey, ProduceRequest};
use quorate_storage::vfs::MemVfs;
use quorate_types::ErrorCode;

/// A server that reads a request and then does as it is told; its address.
fn server(acts: impl FnOnce(TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serve = move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut prefix = [0; 4];
        stream.read_exact(&mut prefix).unwrap();
        let mut frame = vec![0; u32::from_be_bytes(prefix) as usize];
        stream.read_exact(&mut frame).unwrap();
        acts(stream);
    };
    Builder::new().spawn(serve).unwrap();
    address
}

fn connect(address: &str) -> ClientError {
    Client::connect(address, Duration::from_millis(300)).unwrap_err()
}

#[test]
fn calls_are_answered_one_after_the_other() {
    let mut site = Site::new(1);
    let node = site.start_in_memory(0, &MemVfs::new());
    let id = site.next_active();
    let mut client = site.client(id);
    let offered = client.versions(ApiKey::CreateTopics).unwrap();
    assert_eq!(Some(offered), ApiKey::CreateTopics.versions());
    for number in 0..20 {
        let value = number.to_string();
        assert_eq!(set(&mut client, &value).unwrap(), ErrorCode::None);
        assert_eq!(value_in(&node), Some(value));
    }
}

#[test]
fn an_api_that_the_server_does_not_offer_is_not_sent() {
    let mut site = Site::new(1);
    let _node = site.start_in_memory(0, &MemVfs::new());
    let id = site.next_active();
    let mut client = site.client(id);
    let error = client.call(&ProduceRequest::default().into()).unwrap_err();
    assert!(
        matches!(
            &error,
            ClientError::Unsupported {
                api: ApiKey::Produce,
                ..
            }
        ),
        "{error}"
    );
    // The connection is as good as before.
    assert_eq!(set(&mut client, "1").unwrap(), ErrorCode::None);
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap().to_string();
    drop(listener);
    let error = connect(&address);
    assert!(matches!(&error, ClientError::Connection { .. }));
    assert!(error.to_string().contains(&address), "{error}");
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for_for_ever() {
    let address = server(|stream| {
        let _ = stream.set_read_timeout(Some(SOON));
        // Until the client has gone.
        let _ = (&stream).read(&mut [0]);
    });
    assert!(matches!(connect(&address), ClientError::Connection { .. }));
}

#[test]
fn an_answer_that_comes_drop_by_drop_is_not_waited_for_for_ever() {
    let (done, finished) = std::sync::mpsc::channel();
    let address = server(move |mut stream| {
        // It would take ten seconds, and no pause is longer than the client's patience.
        let _ = stream.write_all(&[0, 0, 0, 100]);
        while stream.write_all(&[0]).is_ok() {
            if finished.recv_timeout(Duration::from_millis(100)).is_ok() {
                break;
            }
        }
    });
    let error = connect(&address);
    let _ = done.send(());
    match error {
        ClientError::Connection { source, .. } => {
            let kinds = [ErrorKind::TimedOut, ErrorKind::WouldBlock];
            assert!(kinds.contains(&source.kind()), "{source}");
        }
        other => panic!("{other}"),
    }
}

#[test]
fn a_large_answer_is_taken_whole() {
    let address = server(|mut stream| {
        let body = vec![7; 1_000_000];
        let head = [&1_000_004_u32.to_be_bytes()[..], &[0, 0, 0, 1]].concat();
        stream.write_all(&head).unwrap();
        // The client does not like it, and may be gone before all of it is out.
        let _ = stream.write_all(&body);
    });
    // It was read, and makes no sense.
    let error = connect(&address);
    assert!(matches!(error, ClientError::Malformed { .. }), "{error}");
}

#[test]
fn answers_that_make_no_sense_are_errors() {
    let short: &[u8] = &[0, 0, 0, 10, 0, 0];
    let huge: &[u8] = &[0x7f, 0xff, 0xff, 0xff, 0];
    let negative: &[u8] = &[0xff, 0xff, 0xff, 0xff];
    for bytes in [short, huge, negative, &[]] {
        let address = server(move |mut stream| stream.write_all(bytes).unwrap());
        let error = connect(&address);
        assert!(
            matches!(error, ClientError::Connection { .. }),
            "{bytes:?}: {error}"
        );
    }
    let other_request: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 99];
    let cut: &[u8] = &[0, 0, 0, 6, 0, 0, 0, 1, 0, 0];
    let refusal: &[u8] = &[0, 0, 0, 10, 0, 0, 0, 1, 0, 35, 0, 0, 0, 0];
    for bytes in [other_request, cut, refusal] {
        let address = server(move |mut stream| stream.write_all(bytes).unwrap());
        let error = connect(&address);
        assert!(
            matches!(error, ClientError::Malformed { .. }),
            "{bytes:?}: {error}"
        );
    }
}
