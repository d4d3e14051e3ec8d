//! The thread that owns a node's files.
//!
//! It takes everything that is queued, writes it, syncs once and reports: what arrives while a sync
//! runs shares the next one. What can wait is done when the rest was reported; what an observer need
//! not sync at once is synced when it is quiet.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use quorate_server::disk::{DiskJob, DiskWorker};

use crate::mailbox::{Mail, Mailbox};

/// How long it must be quiet.
const QUIET: Duration = Duration::from_millis(200);

/// Runs until the queue is closed, then closes the files; `crashed` makes it leave both what is
/// queued and the files as they are.
pub(crate) fn run(
    mut worker: DiskWorker,
    jobs: Receiver<DiskJob>,
    mailbox: Mailbox,
    crashed: Arc<AtomicBool>,
) {
    while let Some(first) = next(&mut worker, &jobs, &mailbox) {
        let mut round = vec![first];
        round.extend(jobs.try_iter());
        if crashed.load(Ordering::Acquire) {
            return;
        }
        let (waiting, urgent) = round.into_iter().partition(DiskJob::can_wait);
        for jobs in [urgent, waiting] {
            for done in worker.run(jobs) {
                mailbox.send(Mail::Disk(done));
            }
        }
    }
    if !crashed.load(Ordering::Acquire)
        && let Err(error) = worker.close()
    {
        tracing::error!(%error, "the log was not closed in good order; the next start checks it");
    }
}

/// The next job, or nothing once the queue is closed.
fn next(worker: &mut DiskWorker, jobs: &Receiver<DiskJob>, mailbox: &Mailbox) -> Option<DiskJob> {
    if worker.is_unsettled() {
        match jobs.recv_timeout(QUIET) {
            Ok(job) => return Some(job),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => {
                if let Some(failed) = worker.settle() {
                    mailbox.send(Mail::Disk(failed));
                }
            }
        }
    }
    jobs.recv().ok()
}
