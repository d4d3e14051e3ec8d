//! What a controller starts from: directories that stock Kafka left, and snapshots.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use common::*;
use quorate_metadata::{Loader, MetadataImage, SnapshotLoader, decode_batch};
use quorate_server::io::Address;
use quorate_storage::vfs::{MemVfs, OpenMode, Vfs};
use quorate_storage::{LogConfig, MetadataLog};
use quorate_types::{
    ControlRecord, DirectoryId, ErrorCode, NodeId, Offset, OffsetAndEpoch, Uuid, VersionRange,
    Voter, VoterSet,
};

fn put(disk: &MemVfs, from: &Path, to: &Path) {
    disk.create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            put(disk, &entry.path(), &target);
        } else {
            let file = disk.open(&target, OpenMode::Truncate).unwrap();
            file.write_at(0, &fs::read(entry.path()).unwrap()).unwrap();
            file.sync().unwrap();
        }
    }
    disk.sync_dir(to).unwrap();
}

/// A disk with a copy of a directory that stock Kafka left.
fn stock(name: &str) -> MemVfs {
    let fixtures: PathBuf =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../quorate-storage/tests/fixtures");
    let disk = MemVfs::new();
    put(&disk, &fixtures.join(name), Path::new(DIR));
    disk
}

/// What a disk's log says, applied from its newest snapshot on.
fn image_of(disk: &MemVfs) -> (MetadataImage, Offset) {
    let config = LogConfig::default();
    let (log, recovered) =
        MetadataLog::open(Arc::new(disk.clone()), Path::new(DIR), config).unwrap();
    let reader = log.reader();
    let mut loader = Loader::new();
    let snapshot = recovered.latest_snapshot().unwrap();
    let mut file = SnapshotLoader::new(snapshot);
    let bytes = reader
        .snapshot(snapshot)
        .unwrap()
        .chunk(0, u64::MAX)
        .unwrap();
    file.feed(bytes).unwrap();
    loader.load(file.finish().unwrap());
    let mut from = snapshot.offset;
    while from < reader.end() {
        let batches = reader.read(from, usize::MAX).unwrap();
        let decoded: Vec<_> = batches
            .iter()
            .map(|batch| decode_batch(batch).unwrap())
            .collect();
        from = decoded.last().unwrap().end;
        loader.commit(&decoded).unwrap();
    }
    loader.high_watermark(from);
    let (image, _) = loader.poll().unwrap();
    (image, from)
}

/// Controllers on copies of stock directories of one cluster; they find each other where the log
/// says that they are.
fn stock_quorum(cluster: &str, ids: &[i32]) -> Lab {
    let mut lab = Lab::empty();
    for id in ids {
        let id = controller(*id);
        lab.add(id, stock(&format!("{cluster}/node-{id}")), true);
    }
    know_voters(&mut lab, controller(ids[0]));
    lab
}

/// Makes every voter of a machine's log known under the address that the log names.
fn know_voters(lab: &mut Lab, id: NodeId) {
    let disk = Arc::new(lab.machine(id).disk.clone());
    let (_, found) = MetadataLog::open(disk, Path::new(DIR), LogConfig::default()).unwrap();
    let voters = found
        .control
        .iter()
        .rev()
        .find_map(|(_, record)| match record {
            ControlRecord::Voters(voters) => Some(voters.clone()),
            _ => None,
        });
    for (id, voter) in voters.unwrap().iter() {
        if lab.machines.contains_key(&id) {
            lab.add_address(id, Address::from(&voter.endpoints[0]));
        }
    }
}

/// All that a machine has published, in order.
fn publications(lab: &Lab, id: NodeId) -> Vec<(Offset, MetadataImage)> {
    lab.done
        .iter()
        .filter(|(node, _)| *node == id)
        .filter_map(|(_, did)| match did {
            Did::Publish(published) => Some((published.end, published.image.clone())),
            _ => None,
        })
        .collect()
}

/// Where two machines published the same end they published equal images; there is such an end.
fn assert_agree(lab: &Lab, one: NodeId, other: NodeId) {
    let (ones, others) = (publications(lab, one), publications(lab, other));
    let mut common = 0;
    for (end, image) in &ones {
        for (_, same) in others.iter().filter(|(other, _)| other == end) {
            assert_eq!(image, same, "{one} and {other} at {end}");
            common += 1;
        }
    }
    assert!(common > 0, "{one} and {other} published no common end");
}

fn agree_in_the_end(lab: &mut Lab, one: NodeId, other: NodeId) {
    let ends = |lab: &Lab, id: NodeId| lab.machines[&id].published.as_ref().map(|p| p.end);
    let caught_up = lab.run_until(Duration::from_secs(30), |lab| {
        ends(lab, one).is_some() && ends(lab, one) == ends(lab, other)
    });
    assert!(caught_up, "{other} does not catch up with {one}");
    assert_agree(lab, one, other);
}

#[test]
fn a_quorum_on_stock_directories_goes_on_from_what_they_hold() {
    for (cluster, ids) in [
        ("dynamic-quorum", &[1, 3][..]),
        ("static-quorum", &[1, 3, 7]),
    ] {
        let mut lab = stock_quorum(cluster, ids);
        let (expected, end) = image_of(&stock(&format!("{cluster}/node-{}", ids[0])));
        ids.iter().for_each(|id| lab.start(controller(*id)));
        let active = lab.settle();
        // The first image with more in it than the disk held: only the new epoch's start came to it.
        let later = publications(&lab, active)
            .into_iter()
            .find(|(later, _)| *later > end);
        assert_eq!(later.unwrap().1, expected, "{cluster}");
        for id in ids.iter().map(|id| controller(*id)) {
            agree_in_the_end(&mut lab, active, id);
        }
    }
}

#[test]
fn the_image_of_a_stock_log_is_that_of_the_stock_snapshot_at_its_end() {
    let mut lab = stock_quorum("dynamic-quorum", &[1, 3]);
    lab.start(controller(1));
    lab.start(controller(3));
    let active = lab.settle();
    let mut snapshot = SnapshotLoader::new(OffsetAndEpoch::new(1253, 3));
    let path =
        Path::new(DIR).join("__cluster_metadata-0/00000000000000001253-0000000003.checkpoint");
    let bytes = stock("dynamic-quorum/node-1")
        .read_all(&path, u64::MAX)
        .unwrap();
    snapshot.feed(bytes.into()).unwrap();
    let expected = snapshot.finish().unwrap().image;
    let published = publications(&lab, active);
    let shown = published.iter().find(|(end, _)| *end == Offset(1253));
    assert_eq!(shown.unwrap().1, expected);
}

#[test]
fn a_log_that_starts_at_a_snapshot_is_loaded_from_it() {
    let mut lab = stock_quorum("static-quorum", &[1, 3, 7]);
    lab.add(NodeId(5), stock("static-quorum/node-5"), false);
    let bootstrap: Vec<Address> = [1, 3, 7].map(|id| address(controller(id))).to_vec();
    lab.machine(NodeId(5)).bootstrap = bootstrap;
    for id in [1, 3, 7, 5] {
        lab.start(NodeId(id));
    }
    for id in [5, 7] {
        let found = lab.machine(NodeId(id)).recovered.clone().unwrap();
        assert_eq!(found.log_start, Offset(379), "of node {id}");
    }
    let active = lab.settle();
    // Broker 5 is taken up again once the session of its former process is over.
    assert!(
        lab.image(active)
            .unwrap()
            .broker(NodeId(5))
            .is_some_and(|broker| !broker.fenced)
    );
    agree_in_the_end(&mut lab, active, controller(7));
    agree_in_the_end(&mut lab, active, NodeId(5));
}

#[test]
fn what_a_snapshot_holds_is_shown_only_once_a_leader_was_heard() {
    let mut lab = stock_quorum("static-quorum", &[7]);
    lab.add(NodeId(5), stock("static-quorum/node-5"), false);
    lab.machine(NodeId(5)).bootstrap = vec![address(controller(7))];
    for id in [5, 7] {
        lab.start(NodeId(id));
    }
    // One of three voters is no quorum: nobody can say that the snapshot is not long out of date.
    lab.run_for(Duration::from_secs(10));
    for id in [5, 7] {
        assert!(lab.image(NodeId(id)).is_none(), "node {id} shows something");
    }
}

#[test]
fn an_emptied_controller_and_a_new_broker_are_sent_the_snapshot() {
    let mut lab = stock_quorum("static-quorum", &[3, 7]);
    // Controller 2 lost its files and kept the id of its directory, controller 1 stays away.
    let cluster = "mTGiFOYvQA-l7MVmesF4UQ";
    let (second, disk) = (controller(2), MemVfs::new());
    format_disk_of(
        cluster,
        &disk,
        second,
        DirectoryId("lgMYX6PTrW0O_02sIX6Dqw".parse().unwrap()),
        None,
    );
    lab.add(second, disk, true);
    know_voters(&mut lab, controller(7));
    let (new, disk) = (NodeId(9), MemVfs::new());
    format_disk_of(
        cluster,
        &disk,
        new,
        DirectoryId("zayyNKkzRSmbJhXeNMXVPg".parse().unwrap()),
        None,
    );
    lab.add(new, disk, false);
    let bootstrap: Vec<Address> = [3, 7].map(|id| address(controller(id))).to_vec();
    lab.machine(second).bootstrap.clone_from(&bootstrap);
    lab.machine(new).bootstrap = bootstrap;
    for id in [controller(3), controller(7), second, new] {
        lab.start(id);
    }
    let active = lab.settle();
    assert_ne!(active, second, "it has nothing to lead with");
    for id in [second, new] {
        agree_in_the_end(&mut lab, active, id);
        let files = lab.machine(id).disk.files();
        let snapshot = |(path, _): &(PathBuf, Vec<u8>)| {
            path.ends_with("00000000000000000379-0000000001.checkpoint")
        };
        assert!(files.iter().any(snapshot), "{id} fetched no snapshot");
    }
    // It is there for the next start too.
    lab.kill(new);
    lab.start(new);
    assert_eq!(
        lab.machine(new).recovered.as_ref().unwrap().log_start,
        Offset(379)
    );
    agree_in_the_end(&mut lab, active, new);
}

#[test]
fn a_snapshot_that_cannot_be_read_stops_the_node() {
    let mut lab = stock_quorum("static-quorum", &[7]);
    let id = controller(7);
    lab.start(id);
    lab.machine(id).disk.fail_reads_of(Some(".checkpoint"));
    assert!(lab.run_until(SOON, |lab| lab.machines[&id].stopped.is_some()));
    let fault = lab.machine(id).fault().unwrap().to_owned();
    assert!(
        fault.contains("00000000000000000379-0000000001.checkpoint"),
        "{fault}"
    );
}

#[test]
fn a_controller_that_lost_its_vote_does_not_start() {
    let mut lab = stock_quorum("dynamic-quorum", &[1]);
    let path = Path::new(DIR).join("__cluster_metadata-0/quorum-state");
    lab.machine(controller(1)).disk.remove(&path).unwrap();
    let error = lab.try_start(controller(1)).unwrap_err();
    assert!(
        error.contains("quorum-state is missing") && error.contains("epoch 3"),
        "{error}"
    );
}

#[test]
fn a_broker_that_lost_its_vote_goes_on_for_it_never_votes() {
    let (mut lab, active) = Lab::up(3, 1);
    lab.kill(broker(1));
    let path = Path::new(DIR).join("__cluster_metadata-0/quorum-state");
    lab.machine(broker(1)).disk.remove(&path).unwrap();
    lab.start(broker(1));
    lab.call(active, &creation(&["orders"])).unwrap();
    assert!(lab.run_until(SOON, |lab| lab.has_topic(broker(1), "orders")));
}

#[test]
fn a_static_quorum_comes_up_and_comes_back() {
    let mut lab = Lab::empty();
    let ids = [1, 2, 3].map(controller);
    let voter = |id: &NodeId| {
        let voter = Voter {
            directory: None,
            endpoints: vec![endpoint(*id, "CONTROLLER")],
            kraft_versions: VersionRange { min: 0, max: 1 },
        };
        (*id, voter)
    };
    let voters: VoterSet = ids.iter().map(voter).collect();
    for id in ids.into_iter().chain([broker(1)]) {
        let disk = MemVfs::new();
        format_disk(&disk, id, DirectoryId(Uuid([id.0 as u8; 16])), None);
        lab.add(id, disk, id != broker(1));
        lab.machine(id).static_voters = Some(voters.clone());
        lab.machine(id).bootstrap = ids.iter().map(|id| address(*id)).collect();
        lab.start(id);
    }
    let active = lab.settle();
    let answer = lab.call(active, &creation(&["orders"])).unwrap();
    assert_eq!(created(&answer), ErrorCode::None);
    ids.into_iter().for_each(|id| lab.kill(id));
    ids.into_iter().for_each(|id| lab.start(id));
    let active = lab.settle();
    assert!(lab.has_topic(active, "orders"));
}

#[test]
fn a_cut_bootstrap_file_is_refused_by_name() {
    let mut lab = Lab::new(1, 0);
    let id = controller(1);
    lab.kill(id);
    let path = Path::new(DIR).join("bootstrap.checkpoint");
    let file = lab.machine(id).disk.open(&path, OpenMode::Write).unwrap();
    file.truncate(file.len().unwrap() - 10).unwrap();
    let error = lab.try_start(id).unwrap_err();
    assert!(error.contains("/data/bootstrap.checkpoint"), "{error}");
}

#[test]
fn what_a_controller_alone_has_acknowledged_is_there_after_every_start() {
    let (mut lab, only) = Lab::up(1, 1);
    for round in 0..5 {
        let topic = format!("topic-{round}");
        let answer = lab.call(only, &creation(&[&topic])).unwrap();
        assert_eq!(created(&answer), ErrorCode::None);
        lab.kill(only);
        lab.start(only);
        lab.settle();
        for earlier in 0..=round {
            assert!(lab.has_topic(only, &format!("topic-{earlier}")));
        }
    }
}
