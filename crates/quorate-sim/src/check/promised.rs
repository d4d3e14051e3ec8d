//! Law: a vote is on the voter's disk before anybody hears of it.
//!
//! This one reads the frames: what was promised is what left the node.

use std::collections::BTreeMap;

use bytes::Bytes;
use quorate_protocol::codec::Reader;
use quorate_protocol::messages::{ApiKey, Request, RequestHeader, Response};
use quorate_server::frames;
use quorate_types::{Epoch, NodeId};

use super::one_vote::OneVote;
use crate::net::LinkId;
use crate::violation::{Verdict, Violation};

/// A vote that was asked for.
#[derive(Debug)]
struct Asked {
    version: i16,
    epoch: Epoch,
    candidate: NodeId,
}

/// The votes that were asked for and are not answered.
#[derive(Debug, Default)]
pub(super) struct Promised {
    asked: BTreeMap<(LinkId, i32), Asked>,
}

impl Promised {
    /// A request leaves for the other side of a connection.
    pub(super) fn asks(&mut self, link: LinkId, frame: &Bytes) {
        let vote = ApiKey::Vote.code();
        if frame.first_chunk::<2>() != Some(&vote.to_be_bytes()) {
            return;
        }
        let mut reader = Reader::of(frame);
        let Ok(header) = RequestHeader::read_from(&mut reader) else {
            return;
        };
        let version = header.api_version;
        let Ok(Request::Vote(vote)) = Request::decode(ApiKey::Vote, version, &mut reader) else {
            return;
        };
        let mut partitions = vote.topics.iter().flat_map(|topic| &topic.partitions);
        if let Some(partition) = partitions.next().filter(|partition| !partition.pre_vote) {
            let asked = Asked {
                version,
                epoch: Epoch(partition.replica_epoch),
                candidate: NodeId(partition.replica_id),
            };
            self.asked.insert((link, header.correlation_id), asked);
        }
    }

    /// An answer leaves a voter.
    pub(super) fn answers(
        &mut self,
        id: NodeId,
        link: LinkId,
        frame: &Bytes,
        votes: &OneVote,
    ) -> Verdict {
        let Some(correlation) = frame
            .first_chunk::<4>()
            .map(|bytes| i32::from_be_bytes(*bytes))
        else {
            return Ok(());
        };
        let Some(asked) = self.asked.remove(&(link, correlation)) else {
            return Ok(());
        };
        let answer = frames::decode_response(ApiKey::Vote, asked.version, correlation, frame);
        let Ok(Response::Vote(answer)) = answer else {
            return Ok(());
        };
        let mut partitions = answer.topics.iter().flat_map(|topic| &topic.partitions);
        let granted = partitions.any(|partition| partition.vote_granted);
        let Asked {
            epoch, candidate, ..
        } = asked;
        if granted && votes.of(id, epoch) != Some(candidate) {
            let detail = format!("{id} grants {candidate} its vote of epoch {epoch}");
            return Err(Violation::new(
                "a vote is on the disk before it is given",
                detail,
            ));
        }
        Ok(())
    }
}
