//! The thread that owns a node's files.
//!
//! It takes everything that is queued, writes it, syncs once and reports: what arrives while a sync
//! runs shares the next one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;

use quorate_server::disk::{DiskJob, DiskWorker};

use crate::mailbox::{Mail, Mailbox};

/// Runs until the queue is closed, then closes the files; `crashed` makes it leave both what is
/// queued and the files as they are.
pub(crate) fn run(
    mut worker: DiskWorker,
    jobs: Receiver<DiskJob>,
    mailbox: Mailbox,
    crashed: Arc<AtomicBool>,
) {
    while let Ok(first) = jobs.recv() {
        let mut round = vec![first];
        round.extend(jobs.try_iter());
        if crashed.load(Ordering::Acquire) {
            return;
        }
        for done in worker.run(round) {
            mailbox.send(Mail::Disk(done));
        }
    }
    if !crashed.load(Ordering::Acquire)
        && let Err(error) = worker.close()
    {
        tracing::error!(%error, "the log was not closed in good order; the next start checks it");
    }
}
