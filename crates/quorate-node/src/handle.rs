//! A running node, seen from outside: its metadata, its end.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use quorate_server::disk::DiskWorker;
use quorate_server::events::NodeEvent;
use quorate_server::io::{Node, Published};
use tokio::runtime::Handle;
use tokio::sync::watch;

use crate::clock::Clock;
use crate::core_thread::{CoreThread, End};
use crate::disk_thread;
use crate::mailbox::{Mail, Mailbox};
use crate::net::{Limits, Net, Stage};

/// Called on the node's core thread with each event; it must not block.
pub type OnEvent = Box<dyn FnMut(NodeEvent) + Send>;

/// What a node needs of the machine.
pub struct Machine<'a> {
    /// Where the sockets' tasks run.
    pub tokio: &'a Handle,
    /// The clock that all nodes of a process share.
    pub clock: Clock,
    /// What one connection may cost.
    pub limits: Limits,
}

/// The newest metadata that a node published; clones see the same.
#[derive(Clone, Default)]
pub struct PublishedMetadata {
    newest: Arc<RwLock<Option<Published>>>,
}

impl PublishedMetadata {
    /// The newest metadata, if any was published yet.
    pub fn get(&self) -> Option<Published> {
        self.newest
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, metadata: Published) {
        *self.newest.write().unwrap_or_else(PoisonError::into_inner) = Some(metadata);
    }
}

/// A node that could not go on, or did not end well.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeFault {
    /// It met something it could not go on with.
    #[error("the node could not go on: {0}")]
    Failed(String),
    /// One of its threads panicked, which is a defect of quorate.
    #[error("a thread of the node panicked; this is a defect of quorate")]
    Panicked,
}

/// A running node. Dropping it is a crash.
pub struct NodeHandle {
    address: SocketAddr,
    mailbox: Mailbox,
    stage: watch::Sender<Stage>,
    crashed: Arc<AtomicBool>,
    published: PublishedMetadata,
    core: Option<JoinHandle<End>>,
    disk: Option<JoinHandle<()>>,
    tokio: Handle,
}

impl NodeHandle {
    /// Starts a node that listens on `listener` and keeps its files through `worker`.
    ///
    /// # Errors
    /// If the listener cannot be used or a thread cannot be started.
    #[allow(clippy::disallowed_methods)]
    pub fn start<N>(
        name: &str,
        node: N,
        worker: DiskWorker,
        listener: TcpListener,
        machine: &Machine<'_>,
        on_event: OnEvent,
    ) -> io::Result<NodeHandle>
    where
        N: Node + Send + 'static,
    {
        let address = listener.local_addr()?;
        listener.set_nonblocking(true)?;
        let (mailbox, mail) = Mailbox::new();
        let (stage, stage_seen) = watch::channel(Stage::Running);
        let net = Net {
            mailbox: mailbox.clone(),
            limits: machine.limits,
            stage: stage_seen,
        };
        let accepting = {
            let _entered = machine.tokio.enter();
            tokio::net::TcpListener::from_std(listener)?
        };
        machine.tokio.spawn(net.clone().accept(accepting));

        let crashed = Arc::new(AtomicBool::new(false));
        let published = PublishedMetadata::default();
        let (disk_queue, jobs) = mpsc::channel();
        let disk = {
            let (mailbox, crashed) = (mailbox.clone(), crashed.clone());
            thread::Builder::new()
                .name(format!("{name}-disk"))
                .spawn(move || disk_thread::run(worker, jobs, mailbox, crashed))?
        };
        let at_end = stage.clone();
        let core = CoreThread {
            node,
            clock: machine.clock,
            mail,
            disk: disk_queue,
            net,
            tokio: machine.tokio.clone(),
            on_event,
            published: published.clone(),
            senders: Default::default(),
            round: 0,
        };
        let core = thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                let mut closing = CloseSockets {
                    stage: at_end,
                    to: Stage::Gone,
                };
                let end = core.run();
                if end == End::Stopped {
                    closing.to = Stage::Stopping;
                }
                end
            })?;
        Ok(NodeHandle {
            address,
            mailbox,
            stage,
            crashed,
            published,
            core: Some(core),
            disk: Some(disk),
            tokio: machine.tokio.clone(),
        })
    }

    /// Where the node listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The newest metadata that the node published.
    pub fn published(&self) -> &PublishedMetadata {
        &self.published
    }

    /// Whether the node has ended by itself.
    pub fn has_ended(&self) -> bool {
        self.core.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Stops the node in good order: leadership is handed over, a broker is shut down in a
    /// controlled way, files are closed. Blocks until that is done.
    ///
    /// # Errors
    /// If the node had failed before, or fails now.
    pub fn shutdown(mut self) -> Result<(), NodeFault> {
        self.mailbox.send(Mail::Shutdown);
        let end = self.join_core();
        self.stage.send_replace(Stage::Stopping);
        let disk = self.disk.take().map(JoinHandle::join);
        let stage = self.stage.clone();
        self.tokio.spawn(async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stage.send_replace(Stage::Gone);
        });
        match (end, disk) {
            (Some(End::Stopped | End::Crashed) | None, Some(Ok(())) | None) => Ok(()),
            (Some(End::Failed(fault)), _) => Err(NodeFault::Failed(fault)),
            (_, Some(Err(_))) => Err(NodeFault::Panicked),
        }
    }

    /// Ends the node as a crash of its process would: nothing is flushed, nobody is told.
    pub fn crash(mut self) {
        self.cut_off();
    }

    fn cut_off(&mut self) {
        self.crashed.store(true, Ordering::Release);
        self.stage.send_replace(Stage::Gone);
        self.mailbox.send(Mail::Crash);
        self.join_core();
        if let Some(disk) = self.disk.take() {
            // A panic there has been printed; a crash has nothing to add to it.
            let _ = disk.join();
        }
    }

    fn join_core(&mut self) -> Option<End> {
        let joined = self.core.take()?.join();
        Some(joined.unwrap_or_else(|_| End::Failed("its core thread panicked".into())))
    }
}

/// Closes the sockets when the core thread ends, even by a panic: a node that is gone must be seen to
/// be gone.
struct CloseSockets {
    stage: watch::Sender<Stage>,
    to: Stage,
}

impl Drop for CloseSockets {
    fn drop(&mut self) {
        self.stage.send_if_modified(|stage| {
            let later = self.to > *stage;
            *stage = (*stage).max(self.to);
            later
        });
    }
}

impl Drop for NodeHandle {
    fn drop(&mut self) {
        if self.core.is_some() {
            self.cut_off();
        }
    }
}
