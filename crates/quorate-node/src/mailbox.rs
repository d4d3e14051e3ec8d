//! The one queue into a node's core thread.

use std::sync::mpsc;

use quorate_server::disk::DiskDone;

use crate::net::NetInput;

/// A message to the core thread.
pub(crate) enum Mail {
    Net(NetInput),
    Disk(DiskDone),
    /// Stop in good order.
    Shutdown,
    /// Stop as a crash would: no flush, no goodbye.
    Crash,
}

/// The sending side; clones share the queue.
#[derive(Clone)]
pub(crate) struct Mailbox {
    queue: mpsc::Sender<Mail>,
}

impl Mailbox {
    pub(crate) fn new() -> (Mailbox, mpsc::Receiver<Mail>) {
        let (queue, mail) = mpsc::channel();
        (Mailbox { queue }, mail)
    }

    pub(crate) fn net(&self, input: NetInput) {
        self.send(Mail::Net(input));
    }

    /// Mail to a node that is gone is dropped: nobody is left to care.
    pub(crate) fn send(&self, mail: Mail) {
        let _ = self.queue.send(mail);
    }
}
