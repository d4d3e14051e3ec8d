//! A disk that fills up or fails under a running controller: it acknowledges nothing, says why, and is
//! seen to be gone, so that the others take over.

mod common;

use std::net::TcpStream;

use common::*;
use quorate_node::{NodeFault, NodeHandle};
use quorate_server::events::NodeEvent;
use quorate_storage::vfs::MemVfs;
use quorate_types::ErrorCode;

/// Waits for the end of a node whose disk is ill; its fault, which it has told before.
fn fault_of(site: &Site, node: NodeHandle) -> String {
    assert!(soon(|| node.has_ended()));
    let (_, warning) = site.hear(|event| matches!(event, NodeEvent::Warning(_)));
    match node.shutdown() {
        Err(NodeFault::Failed(fault)) => {
            assert_eq!(warning, NodeEvent::Warning(fault.clone()));
            fault
        }
        other => panic!("{other:?} is no fault"),
    }
}

#[test]
fn an_active_controller_with_a_bad_disk_ends_and_the_others_take_over() {
    for full in [true, false] {
        let mut site = Site::new(3);
        let disks = [MemVfs::new(), MemVfs::new(), MemVfs::new()];
        let mut nodes: Vec<Option<NodeHandle>> = (0..3)
            .map(|index| Some(site.start_in_memory(index, &disks[index])))
            .collect();
        let active = site.write("1");
        let index = active.0 as usize - 1;
        let mut client = site.client(active);
        if full {
            disks[index].set_space_left(Some(20));
        } else {
            disks[index].fail_syncs(0, u64::MAX);
        }
        // Either it was on the others' disks before this one failed, or nobody says anything.
        if let Ok(answered) = set(&mut client, "2") {
            assert_ne!(answered, ErrorCode::None);
        }
        let fault = fault_of(&site, nodes[index].take().unwrap());
        assert!(fault.contains("/data/__cluster_metadata-0/"), "{fault}");
        assert!(
            fault.contains(if full { "space" } else { "sync" }),
            "{fault}"
        );
        assert!(soon(
            || TcpStream::connect(site.members[index].address).is_err()
        ));

        assert_ne!(site.write("3"), active);
    }
}

#[test]
fn a_controller_alone_comes_back_once_there_is_space() {
    let mut site = Site::new(1);
    let disk = MemVfs::new();
    let node = site.start_in_memory(0, &disk);
    let id = site.next_active();
    let mut client = site.client(id);
    assert_eq!(set(&mut client, "1").unwrap(), ErrorCode::None);
    disk.set_space_left(Some(20));
    assert!(set(&mut client, "2").is_err());
    let fault = fault_of(&site, node);
    assert!(fault.contains("space"), "{fault}");

    disk.set_space_left(None);
    let node = site.start_in_memory(0, &disk);
    let id = site.next_active();
    assert!(soon(|| value_in(&node).as_deref() == Some("1")));
    assert_eq!(set(&mut site.client(id), "3").unwrap(), ErrorCode::None);
}
