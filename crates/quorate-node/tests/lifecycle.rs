//! How nodes end, and that they start again: in good order, by a crash, not at all where they must
//! not.

mod common;

use std::fs;
use std::net::TcpStream;

use common::*;
use quorate_node::StartError;
use quorate_types::ErrorCode;

fn has_indexes(log: &std::path::Path) -> bool {
    let files = fs::read_dir(log.join("__cluster_metadata-0")).unwrap();
    let mut names = files.map(|file| file.unwrap().path());
    names.any(|path| path.extension().is_some_and(|kind| kind == "index"))
}

#[test]
fn what_was_acknowledged_is_published_and_survives_shutdowns_and_crashes() {
    let data = tempfile::tempdir().unwrap();
    let mut site = Site::new(1);
    for round in 0..6 {
        let node = site.start(0, data.path());
        let id = site.next_active();
        if round > 0 {
            let last = (round * 10 - 1).to_string();
            assert!(soon(|| value_in(&node).as_ref() == Some(&last)));
        }
        let mut client = site.client(id);
        for number in round * 10..(round + 1) * 10 {
            let value = number.to_string();
            assert_eq!(set(&mut client, &value).unwrap(), ErrorCode::None);
            assert_eq!(value_in(&node), Some(value), "published before answered");
        }
        if round % 2 == 0 {
            node.crash();
            let closed_before = round > 0;
            assert_eq!(has_indexes(&directory(data.path(), 0)), closed_before);
        } else {
            node.shutdown().unwrap();
            assert!(has_indexes(&directory(data.path(), 0)));
        }
    }
}

#[test]
fn a_node_that_ended_does_not_listen_any_more() {
    let data = tempfile::tempdir().unwrap();
    let mut site = Site::new(1);
    let address = site.members[0].address;
    for in_good_order in [true, false] {
        let node = site.start(0, data.path());
        let id = site.next_active();
        let mut client = site.client(id);
        if in_good_order {
            node.shutdown().unwrap();
        } else {
            node.crash();
        }
        assert!(set(&mut client, "1").is_err(), "its connections are closed");
        assert!(soon(|| TcpStream::connect(address).is_err()));
    }
}

#[test]
fn a_dropped_handle_is_a_crash() {
    let data = tempfile::tempdir().unwrap();
    let mut site = Site::new(1);
    let node = site.start(0, data.path());
    site.next_active();
    drop(node);
    assert!(!has_indexes(&directory(data.path(), 0)));
    let _again = site.start(0, data.path());
    site.next_active();
}

#[test]
fn others_take_over_from_a_controller_that_ends() {
    for in_good_order in [true, false] {
        let data = tempfile::tempdir().unwrap();
        let mut site = Site::new(3);
        let mut nodes: Vec<_> = (0..3)
            .map(|index| Some(site.start(index, data.path())))
            .collect();
        let active = site.write("1");
        let index = active.0 as usize - 1;
        let node = nodes[index].take().unwrap();
        if in_good_order {
            node.shutdown().unwrap();
        } else {
            node.crash();
        }
        for node in nodes.iter().flatten() {
            assert!(soon(|| value_in(node).as_deref() == Some("1")));
        }
        assert_ne!(site.write("2"), active);
        // The one that ended comes back and learns what it missed.
        let back = site.start(index, data.path());
        assert!(soon(|| value_in(&back).as_deref() == Some("2")));
    }
}

#[test]
fn a_directory_in_use_is_refused_and_the_node_on_it_goes_on() {
    let data = tempfile::tempdir().unwrap();
    let mut site = Site::new(1);
    let _node = site.start(0, data.path());
    let id = site.next_active();
    let mut other = Site::new(1);
    other.members[0].directory = site.members[0].directory;
    let error = match other.try_start(0, data.path()) {
        Ok(_) => panic!("two nodes run on one directory"),
        Err(error) => error.to_string(),
    };
    assert!(
        error.contains("controller-1") && error.contains("another process"),
        "{error}"
    );
    assert_eq!(set(&mut site.client(id), "1").unwrap(), ErrorCode::None);
}

#[test]
fn a_directory_of_another_node_or_cluster_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let mut site = Site::new(1);
    site.start(0, data.path()).shutdown().unwrap();
    site.members[0].id = quorate_types::NodeId(2);
    let error = site.try_start(0, data.path()).err().unwrap();
    assert!(matches!(error, StartError::Storage(_)));
    let text = error.to_string();
    assert!(
        text.contains("meta.properties") && text.contains("node.id"),
        "{text}"
    );
}

#[test]
fn a_directory_that_was_not_formatted_is_refused() {
    let data = tempfile::tempdir().unwrap();
    let site = Site::new(1);
    let error = site.start_unformatted(data.path());
    assert!(error.to_string().contains("format"), "{error}");
    assert_eq!(
        fs::read_dir(data.path()).unwrap().count(),
        0,
        "nothing was made"
    );
}
