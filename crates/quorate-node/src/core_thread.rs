//! The thread that owns a node: mail and time in, outputs to sockets and disk.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as Queue};
use std::time::Duration;

use bytes::Bytes;
use quorate_server::disk::DiskJob;
use quorate_server::events::NodeEvent;
use quorate_server::io::{ConnId, Input, Node, Output};
use tokio::runtime::Handle;

use crate::clock::Clock;
use crate::handle::{OnEvent, PublishedMetadata};
use crate::mailbox::Mail;
use crate::net::{Net, NetInput};
use crate::outgoing::Sender;

/// Inputs taken in before the node is driven: enough to share one flush among many, few enough
/// that nobody waits long.
const ROUND: usize = 4096;

/// How a node came to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum End {
    /// It stopped in good order.
    Stopped,
    /// It could not go on.
    Failed(String),
    /// It was cut off.
    Crashed,
}

pub(crate) struct CoreThread<N> {
    pub(crate) node: N,
    pub(crate) clock: Clock,
    pub(crate) mail: Receiver<Mail>,
    pub(crate) disk: Queue<DiskJob>,
    pub(crate) net: Net,
    pub(crate) tokio: Handle,
    pub(crate) on_event: OnEvent,
    pub(crate) published: PublishedMetadata,
    pub(crate) senders: BTreeMap<ConnId, Sender>,
    /// Counts the rounds.
    pub(crate) round: u64,
}

impl<N: Node> CoreThread<N> {
    pub(crate) fn run(mut self) -> End {
        loop {
            let now = self.clock.now();
            self.node.drive(now);
            if let Some(end) = self.carry_out() {
                return end;
            }
            let wait = match self.node.deadline() {
                Some(deadline) => deadline.since(self.clock.mono()),
                None => Duration::from_secs(3600),
            };
            let first = match self.mail.recv_timeout(wait) {
                Ok(first) => first,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return End::Crashed,
            };
            let mut next = Some(first);
            let mut taken = 0;
            while let Some(mail) = next {
                if matches!(mail, Mail::Crash) {
                    return End::Crashed;
                }
                self.take_in(mail);
                taken += 1;
                next = if taken < ROUND {
                    self.mail.try_recv().ok()
                } else {
                    None
                };
            }
        }
    }

    fn take_in(&mut self, mail: Mail) {
        let input = match mail {
            Mail::Net(NetInput::Open {
                conn,
                sender,
                input,
            }) => {
                self.senders.insert(conn, sender);
                input
            }
            Mail::Net(NetInput::Plain(input)) => {
                if let Input::Closed { conn } = &input {
                    self.senders.remove(conn);
                }
                input
            }
            Mail::Disk(done) => Input::Disk(done),
            Mail::Shutdown => Input::Shutdown,
            Mail::Crash => return,
        };
        self.node.handle(self.clock.now(), input);
    }

    /// Carries out the round's outputs; frames last, so that the disk works while they are written.
    fn carry_out(&mut self) -> Option<End> {
        let mut frames = Vec::new();
        let end = self.carry_out_but_frames(&mut frames);
        self.round += 1;
        for (conn, frame) in frames {
            match frame {
                Some(frame) => {
                    if let Some(sender) = self.senders.get_mut(&conn) {
                        sender.send(frame, self.round);
                    }
                }
                None => {
                    self.senders.remove(&conn);
                }
            }
        }
        end
    }

    /// What is to be sent, and with `None` what is to be closed, goes to `frames`.
    fn carry_out_but_frames(&mut self, frames: &mut Vec<(ConnId, Option<Bytes>)>) -> Option<End> {
        while let Some(output) = self.node.poll() {
            match output {
                Output::Connect { conn, to } => {
                    self.tokio.spawn(self.net.clone().dial(conn, to));
                }
                Output::Send { conn, frame } => frames.push((conn, Some(frame))),
                Output::Close { conn } => frames.push((conn, None)),
                Output::Disk(job) => {
                    if self.disk.send(job).is_err() {
                        return Some(End::Failed("the disk thread is gone".into()));
                    }
                }
                Output::Event(event) => (self.on_event)(event),
                Output::Published(metadata) => self.published.set(*metadata),
                Output::Stopped { fault: None } => return Some(End::Stopped),
                Output::Stopped { fault: Some(fault) } => {
                    (self.on_event)(NodeEvent::Warning(fault.clone()));
                    return Some(End::Failed(fault));
                }
            }
        }
        None
    }
}
