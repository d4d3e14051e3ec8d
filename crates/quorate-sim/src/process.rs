//! What can run on a machine: a controller, a broker, a client.

use quorate_server::broker::BrokerNode;
use quorate_server::controller::ControllerNode;
use quorate_server::io::{Input, Node, Now, Output};
use quorate_server::quorum::Quorum;
use quorate_types::MonoTime;

use crate::client::{Client, Fact};

/// A running process.
pub enum Process {
    /// A voter of the quorum.
    Controller(Box<ControllerNode>),
    /// A broker without data.
    Broker(Box<BrokerNode>),
    /// Somebody who wants topics.
    Client(Box<Client>),
}

impl Process {
    /// Its part in the quorum.
    pub fn quorum(&self) -> Option<&Quorum> {
        match self {
            Process::Controller(node) => Some(node.quorum()),
            Process::Broker(node) => Some(node.quorum()),
            Process::Client(_) => None,
        }
    }

    /// Whether it is the active controller, as it sees it.
    pub fn is_active(&self) -> bool {
        matches!(self, Process::Controller(node) if node.is_active())
    }

    /// A client does nothing any more that disturbs the quorum.
    pub fn calm(&mut self) {
        if let Process::Client(client) = self {
            client.calm();
        }
    }

    /// What a client has learnt since it was last asked.
    pub fn facts(&mut self) -> Vec<Fact> {
        match self {
            Process::Client(client) => client.facts(),
            Process::Controller(_) | Process::Broker(_) => Vec::new(),
        }
    }

    fn node(&mut self) -> &mut dyn Node {
        match self {
            Process::Controller(node) => &mut **node,
            Process::Broker(node) => &mut **node,
            Process::Client(node) => &mut **node,
        }
    }
}

impl Node for Process {
    fn handle(&mut self, now: Now, input: Input) {
        self.node().handle(now, input);
    }

    fn drive(&mut self, now: Now) {
        self.node().drive(now);
    }

    fn poll(&mut self) -> Option<Output> {
        self.node().poll()
    }

    fn deadline(&self) -> Option<MonoTime> {
        match self {
            Process::Controller(node) => node.deadline(),
            Process::Broker(node) => node.deadline(),
            Process::Client(node) => node.deadline(),
        }
    }
}
