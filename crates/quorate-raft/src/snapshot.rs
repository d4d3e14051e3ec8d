//! Snapshots over the wire: serving pieces of them, and fetching one in place of records that the
//! leader no longer has.
//!
//! Fetching goes (1) the leader names a snapshot in answer to a fetch; (2) piece after piece is asked
//! for and written to a partial file; (3) the whole file takes the log's place; (4) log, history and
//! listeners start over from it. Leaving the leader before (3) drops the partial file; after (3) the
//! node neither fetches nor campaigns until (4).

use quorate_types::{Epoch, ErrorCode, KRaftVersion, Offset, OffsetAndEpoch, VoterSet};

use crate::answers::is_reachable;
use crate::calls::{Peer, Purpose};
use crate::role::{Partial, Role};
use crate::rpc::{Reply, Request, SnapshotAnswer, SnapshotReply, SnapshotRequest};
use crate::{CallId, DiskOp, Output, Raft, RequestId};

impl Raft {
    /// Serves a piece of a snapshot. In order: (1) is this node the leader of that epoch; (2) does
    /// the snapshot exist; (3) does the piece lie in it.
    pub(crate) fn on_fetch_snapshot(&mut self, from: RequestId, fetch: &SnapshotRequest) {
        let checked = self.check_leader(Some(fetch.epoch)).and_then(|()| {
            if fetch
                .replica
                .is_some_and(|key| key.id == self.config.local.id)
            {
                return Err(ErrorCode::UnknownServerError);
            }
            self.piece_of(fetch)
        });
        match checked {
            Ok((size, position)) => {
                self.hear(fetch.replica);
                let reply = SnapshotReply {
                    error: ErrorCode::None,
                    leadership: self.leadership(),
                    id: fetch.id,
                    size,
                    position,
                    max_bytes: u32::try_from(fetch.max_bytes)
                        .unwrap_or(0)
                        .min(self.config.max_fetch_bytes),
                };
                self.reply(from, Reply::FetchSnapshot(reply));
            }
            Err(error) => self.refuse(from, &Request::FetchSnapshot(fetch.clone()), error),
        }
    }

    fn piece_of(&self, fetch: &SnapshotRequest) -> Result<(u64, u64), ErrorCode> {
        let size = self.log.snapshot_size(fetch.id);
        let size = size.ok_or(ErrorCode::SnapshotNotFound)?;
        match u64::try_from(fetch.position) {
            Ok(position) if position < size => Ok((size, position)),
            _ => Err(ErrorCode::PositionOutOfRange),
        }
    }

    /// The leader cannot serve this log's end from its own and names a snapshot.
    pub(crate) fn on_snapshot_offered(&mut self, peer: Peer, id: OffsetAndEpoch) {
        let sane = id.offset > Offset::ZERO && is_reachable(id.offset) && id.epoch > Epoch(0);
        let behind = self.high_watermark.is_some_and(|known| id.offset < known);
        if !sane || behind || self.log.snapshot_size(id).is_some() {
            return self.pause(peer);
        }
        self.note_leader_alive();
        if let Role::Follower(following) = &mut self.role {
            following.snapshot = Some(Partial::of(id));
        }
    }

    pub(crate) fn send_chunk_request(&mut self, leader: Peer, partial: Partial) {
        if !self.disk.is_durable(partial.written) {
            return;
        }
        let request = SnapshotRequest {
            replica: Some(self.config.local),
            epoch: self.election.epoch,
            id: partial.id,
            position: i64::try_from(partial.position).unwrap_or(i64::MAX),
            max_bytes: i32::try_from(self.config.max_fetch_bytes).unwrap_or(i32::MAX),
        };
        let purpose = Purpose::Chunk {
            id: partial.id,
            position: partial.position,
        };
        self.call(leader, purpose, Request::FetchSnapshot(request));
    }

    /// A piece came, or the leader no longer has the snapshot.
    pub(crate) fn on_chunk(
        &mut self,
        call: CallId,
        peer: Peer,
        id: OffsetAndEpoch,
        position: u64,
        answer: &SnapshotAnswer,
    ) {
        let Role::Follower(following) = &mut self.role else {
            return;
        };
        let asked = |partial: &Partial| partial.id == id && partial.position == position;
        if !following.snapshot.as_ref().is_some_and(asked) {
            return;
        }
        if answer.error == ErrorCode::SnapshotNotFound || answer.id != id {
            let partial = following.snapshot.take();
            self.drop_partial_snapshot(partial);
            self.note_leader_alive();
            return self.pause(peer);
        }
        let end = position.checked_add(answer.len);
        let size = u64::try_from(answer.size).ok();
        let fits = i64::try_from(position) == Ok(answer.position) && answer.len > 0 && end <= size;
        let (Some(end), true) = (end, fits) else {
            return self.pause(peer);
        };
        self.note_leader_alive();
        self.take_chunk(call, id, position, end, Some(end) == size);
    }

    fn take_chunk(
        &mut self,
        call: CallId,
        id: OffsetAndEpoch,
        position: u64,
        end: u64,
        last: bool,
    ) {
        let written = self.disk(DiskOp::SnapshotChunk {
            id,
            from: call,
            position,
        });
        let partial = (!last).then_some(Partial {
            id,
            position: end,
            written,
        });
        if let Role::Follower(following) = &mut self.role {
            following.snapshot = partial;
        }
        if last {
            let seq = self.disk(DiskOp::InstallSnapshot { id });
            self.log.installing(seq);
            self.installing = Some(id);
        }
    }

    /// The snapshot has taken the log's place on disk: it does so here.
    pub(crate) fn on_snapshot_installed(
        &mut self,
        id: OffsetAndEpoch,
        size: u64,
        voters: Option<VoterSet>,
        version: KRaftVersion,
    ) {
        if self.installing != Some(id) {
            return;
        }
        self.installing = None;
        self.log.install(id, size);
        self.history.install(id.offset, voters, version);
        self.output(Output::ReadFrom { snapshot: id });
        self.raise_high_watermark(id.offset);
    }

    /// Deletes what is here of a snapshot that is not wanted any more.
    pub(crate) fn drop_partial_snapshot(&mut self, partial: Option<Partial>) {
        if let Some(Partial { id, position, .. }) = partial
            && position > 0
        {
            self.disk(DiskOp::DropSnapshot { id });
        }
    }
}
