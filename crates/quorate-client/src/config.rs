//! How eager a client is.

use std::time::Duration;

/// A host and a port, as in `bootstrap.servers`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// Host name or address.
    pub host: String,
    /// TCP port.
    pub port: u16,
}

impl Address {
    /// Joins a host and a port.
    pub fn new(host: &str, port: u16) -> Address {
        Address {
            host: host.to_owned(),
            port,
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.host, self.port)
    }
}

/// A client's settings, with Kafka's defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConfig {
    /// `bootstrap.servers`: whom to ask when nobody is known.
    pub bootstrap: Vec<Address>,
    /// `metadata.max.age.ms`: how old a full answer may become.
    pub max_age: Duration,
    /// `metadata.max.idle.ms`: after how long a topic that nobody asks for is dropped; `None` keeps
    /// topics for ever, as consumers do.
    pub max_idle: Option<Duration>,
    /// `retry.backoff.ms`: the first wait between requests.
    pub backoff: Duration,
    /// `retry.backoff.max.ms`: the longest wait between requests.
    pub longest_backoff: Duration,
    /// `request.timeout.ms`: how long to wait for an answer.
    pub request_timeout: Duration,
    /// `metadata.recovery.rebootstrap.trigger.ms`: after how long without any answer to start again
    /// from the bootstrap servers; `None` never does (`metadata.recovery.strategy=none`).
    pub rebootstrap_after: Option<Duration>,
    /// `allow.auto.create.topics`: whether asking for a topic may create it.
    pub auto_create_topics: bool,
}

impl ClientConfig {
    /// Kafka's defaults, and these servers to start from.
    pub fn new(bootstrap: impl IntoIterator<Item = Address>) -> ClientConfig {
        ClientConfig {
            bootstrap: bootstrap.into_iter().collect(),
            max_age: Duration::from_secs(300),
            max_idle: Some(Duration::from_secs(300)),
            backoff: Duration::from_millis(100),
            longest_backoff: Duration::from_secs(1),
            request_timeout: Duration::from_secs(30),
            rebootstrap_after: Some(Duration::from_secs(300)),
            auto_create_topics: true,
        }
    }
}
