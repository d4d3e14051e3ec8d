//! Sockets: frames in, frames out, and nothing else.
//!
//! - A frame's announced length is checked against a limit and never allocated ahead of its bytes.
//! - A connection with [`Limits::in_flight`] unanswered requests, or so many bytes of them, is not
//!   read further: a peer that asks faster than it reads answers holds no more memory than that.
//! - A connection that ends, for whatever reason, is told of once.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use quorate_server::io::{Address, ConnId, Input};
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{oneshot, watch};

use crate::credit::{Closed, Credit};
use crate::mailbox::Mailbox;
use crate::outgoing::{Sender, outgoing};

/// What one connection may cost.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The largest frame taken, in bytes (Kafka: `socket.request.max.bytes`).
    pub frame_bytes: usize,
    /// Requests of one connection that may be unanswered at a time.
    pub in_flight: usize,
    /// About how many bytes of them; one request may be larger, and is then alone.
    pub in_flight_bytes: usize,
    /// How long a connection may take to be made.
    pub connect: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            frame_bytes: 100 * 1024 * 1024,
            in_flight: 128,
            in_flight_bytes: 32 * 1024 * 1024,
            connect: Duration::from_secs(2),
        }
    }
}

/// What all connections of a node share.
#[derive(Clone)]
pub(crate) struct Net {
    pub(crate) mailbox: Mailbox,
    pub(crate) limits: Limits,
    pub(crate) stage: watch::Receiver<Stage>,
}

/// How far a node is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Running,
    /// Nothing is accepted or read any more; what was answered still goes out.
    Stopping,
    /// Every task ends at once.
    Gone,
}

/// Ends when the node has reached `stage`.
async fn reached(node: &mut watch::Receiver<Stage>, stage: Stage) {
    // An error means that the node's handle was dropped, which is the end too.
    let _ = node.wait_for(|now| *now >= stage).await;
}

/// What the mailbox carries from the sockets to the core thread.
pub(crate) enum NetInput {
    /// A connection stands; this is how to write to it.
    Open {
        conn: ConnId,
        sender: Sender,
        input: Input,
    },
    /// Anything that only the node wants to hear.
    Plain(Input),
}

impl Net {
    /// Accepts connections until the node is gone.
    pub(crate) async fn accept(self, listener: TcpListener) {
        let next = Arc::new(AtomicU64::new(0));
        let mut stage = self.stage.clone();
        loop {
            let accepted = tokio::select! {
                biased;
                _ = reached(&mut stage, Stage::Stopping) => return,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, from)) => {
                    let conn = ConnId::Accepted(next.fetch_add(1, Ordering::Relaxed));
                    let input = Input::Accepted {
                        conn,
                        from: octets(from),
                    };
                    self.clone().open(conn, stream, input);
                }
                // Out of file descriptors, or the peer was gone before we came: others go on.
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
            }
        }
    }

    /// Connects and reports how that went.
    pub(crate) async fn dial(self, conn: ConnId, to: Address) {
        let mut stage = self.stage.clone();
        let dialing = TcpStream::connect((to.host.as_str(), to.port));
        let outcome = tokio::select! {
            biased;
            _ = reached(&mut stage, Stage::Stopping) => return,
            outcome = tokio::time::timeout(self.limits.connect, dialing) => outcome,
        };
        match outcome {
            Ok(Ok(stream)) => self.open(conn, stream, Input::Connected { conn }),
            Ok(Err(error)) => {
                let refused = error.kind() == io::ErrorKind::ConnectionRefused;
                self.mailbox
                    .net(NetInput::Plain(Input::ConnectFailed { conn, refused }));
            }
            Err(_elapsed) => {
                self.mailbox.net(NetInput::Plain(Input::ConnectFailed {
                    conn,
                    refused: false,
                }));
            }
        }
    }

    fn open(self, conn: ConnId, stream: TcpStream, input: Input) {
        // Small frames must not wait for others.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY could not be set");
        }
        let (read, write) = stream.into_split();
        let credit = match conn {
            ConnId::Accepted(_) => Some(Arc::new(Credit::new(&self.limits))),
            ConnId::Dialed(_) => None,
        };
        let (sender, writer) = outgoing(write, credit.clone());
        self.mailbox.net(NetInput::Open {
            conn,
            sender,
            input,
        });
        let (writing, written_off) = oneshot::channel::<()>();
        let mut stage = self.stage.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                _ = reached(&mut stage, Stage::Gone) => {}
                _ = writer.run() => {}
            }
            drop(writing);
        });
        tokio::spawn(async move {
            let mut stage = self.stage.clone();
            let result = tokio::select! {
                biased;
                _ = reached(&mut stage, Stage::Stopping) => return,
                // What cannot be answered need not be read.
                _ = written_off => Ok(()),
                result = self.read_frames(conn, read, credit) => result,
            };
            if let Err(error) = result {
                tracing::debug!(%error, ?conn, "a connection ended");
            }
            self.mailbox.net(NetInput::Plain(Input::Closed { conn }));
        });
    }

    async fn read_frames(
        &self,
        conn: ConnId,
        mut read: OwnedReadHalf,
        credit: Option<Arc<Credit>>,
    ) -> io::Result<()> {
        let mut buffer = BytesMut::new();
        loop {
            while let Some(frame) = next_frame(&mut buffer, self.limits.frame_bytes)? {
                if let Some(credit) = &credit
                    && let Err(Closed) = credit.take(frame.len()).await
                {
                    return Ok(());
                }
                self.mailbox
                    .net(NetInput::Plain(Input::Frame { conn, frame }));
            }
            buffer.reserve(4096);
            if read.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
    }
}

/// Takes the next whole frame off the buffer.
fn next_frame(buffer: &mut BytesMut, limit: usize) -> io::Result<Option<Bytes>> {
    let Some(prefix) = buffer.first_chunk::<4>() else {
        return Ok(None);
    };
    let announced = i32::from_be_bytes(*prefix);
    let length = usize::try_from(announced)
        .ok()
        .filter(|length| *length <= limit);
    let Some(length) = length else {
        let what = format!("a frame of {announced} bytes was announced; up to {limit} are taken");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    };
    if buffer.len() < 4 + length {
        return Ok(None);
    }
    buffer.advance(4);
    Ok(Some(buffer.split_to(length).freeze()))
}

fn octets(from: SocketAddr) -> Vec<u8> {
    match from.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole_and_one_by_one() {
        let mut buffer = BytesMut::from(&b"\0\0\0\x02ab\0\0\0\0\0\0\0\x03c"[..]);
        assert_eq!(next_frame(&mut buffer, 100).unwrap().unwrap(), "ab");
        assert_eq!(next_frame(&mut buffer, 100).unwrap().unwrap(), "");
        assert_eq!(next_frame(&mut buffer, 100).unwrap(), None);
        buffer.extend_from_slice(b"de");
        assert_eq!(next_frame(&mut buffer, 100).unwrap().unwrap(), "cde");
    }

    #[test]
    fn impossible_lengths_are_refused_before_their_bytes_come() {
        for prefix in [i32::MIN, -1, 101, i32::MAX] {
            let mut buffer = BytesMut::from(&prefix.to_be_bytes()[..]);
            assert!(next_frame(&mut buffer, 100).is_err(), "{prefix}");
        }
    }
}
