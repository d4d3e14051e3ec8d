//! The sending side of one connection.
//!
//! A frame is written by the core thread itself if the socket takes it at once: two threads less on
//! the way of every answer. What the socket does not take, what is large, and what comes in numbers
//! is queued for a task, which joins small frames into one write. As long as that task has something
//! to write nothing passes it by, so frames leave in the order they were sent.

use std::io::{self, IoSlice};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Bytes, BytesMut};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::sync::mpsc;

use crate::credit::Credit;

/// Frames up to this size are copied beside others.
const SMALL: usize = 16 * 1024;

/// About how much is copied together for one write.
const JOINED: usize = 64 * 1024;

/// How the core thread reaches one connection; dropping it closes the connection once everything is
/// out.
pub(crate) struct Sender {
    socket: Arc<OwnedWriteHalf>,
    queue: mpsc::UnboundedSender<Pending>,
    /// Frames that the task has not written yet.
    queued: Arc<AtomicUsize>,
    credit: Option<Arc<Credit>>,
    /// The round in which something was last sent.
    round: Option<u64>,
}

/// The task's side.
pub(crate) struct Writer {
    socket: Arc<OwnedWriteHalf>,
    frames: mpsc::UnboundedReceiver<Pending>,
    queued: Arc<AtomicUsize>,
    credit: Option<Arc<Credit>>,
}

/// A frame of which some bytes, its length among them, may be out already.
struct Pending {
    frame: Bytes,
    written: usize,
}

/// Both sides for a socket. Each frame that is out gives its request's credit back.
pub(crate) fn outgoing(socket: OwnedWriteHalf, credit: Option<Arc<Credit>>) -> (Sender, Writer) {
    let socket = Arc::new(socket);
    let (queue, frames) = mpsc::unbounded_channel();
    let queued = Arc::new(AtomicUsize::new(0));
    let sender = Sender {
        socket: socket.clone(),
        queue,
        queued: queued.clone(),
        credit: credit.clone(),
        round: None,
    };
    let writer = Writer {
        socket,
        frames,
        queued,
        credit,
    };
    (sender, writer)
}

impl Sender {
    /// Sends a frame, its length before it. Only the first of a round is written at once: more of
    /// them are better written together.
    pub(crate) fn send(&mut self, frame: Bytes, round: u64) {
        let first = self.round.replace(round) != Some(round);
        let idle = self.queued.load(Ordering::Acquire) == 0;
        let mut written = 0;
        if first && idle && frame.len() <= SMALL {
            // What is wrong with the socket is found again by the task, which ends the connection.
            written = self.try_write(&frame).unwrap_or(0);
            if written == 4 + frame.len() {
                if let Some(credit) = &self.credit {
                    credit.give_back(1);
                }
                return;
            }
        }
        self.queued.fetch_add(1, Ordering::AcqRel);
        // Fails only for a connection whose end is already in the mailbox.
        let _ = self.queue.send(Pending { frame, written });
    }

    fn try_write(&self, frame: &[u8]) -> io::Result<usize> {
        let length = prefix(frame)?;
        let parts = [IoSlice::new(&length), IoSlice::new(frame)];
        self.socket.try_write_vectored(&parts)
    }
}

impl Writer {
    /// Writes what is queued until the sender is dropped and everything is out, or the connection
    /// breaks.
    pub(crate) async fn run(mut self) {
        while let Some(first) = self.frames.recv().await {
            match self.write_with(first).await {
                Ok(count) => {
                    if let Some(credit) = &self.credit {
                        credit.give_back(count);
                    }
                    self.queued.fetch_sub(count, Ordering::AcqRel);
                }
                Err(_) => break,
            }
        }
        if let Some(credit) = &self.credit {
            credit.close();
        }
    }

    /// Writes a frame and those queued behind it, up to a measure; says how many.
    async fn write_with(&mut self, first: Pending) -> io::Result<usize> {
        let mut small = BytesMut::new();
        let mut count = 0;
        let mut next = Some(first);
        while let Some(Pending { frame, written }) = next {
            count += 1;
            let length = prefix(&frame)?;
            small.extend_from_slice(length.get(written..).unwrap_or_default());
            let rest = frame.get(written.saturating_sub(4)..).unwrap_or_default();
            if rest.len() <= SMALL {
                small.extend_from_slice(rest);
            } else {
                self.write_all(&small).await?;
                small.clear();
                self.write_all(rest).await?;
            }
            if small.len() > JOINED {
                break;
            }
            next = self.frames.try_recv().ok();
        }
        self.write_all(&small).await?;
        Ok(count)
    }

    async fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.socket.writable().await?;
            match self.socket.try_write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn prefix(frame: &[u8]) -> io::Result<[u8; 4]> {
    let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
    Ok(length.to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};

    /// A sender whose task runs, and the peer's socket.
    async fn connection() -> (Sender, TcpStream) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (peer, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (_, write) = accepted.unwrap().0.into_split();
        let (sender, writer) = outgoing(write, None);
        tokio::spawn(writer.run());
        (sender, peer.unwrap())
    }

    async fn read_frame(peer: &mut TcpStream) -> Vec<u8> {
        let length = peer.read_u32().await.unwrap();
        let mut frame = vec![0; length as usize];
        peer.read_exact(&mut frame).await.unwrap();
        frame
    }

    /// The n-th frame, of a size that depends on it.
    fn frame(n: usize) -> Bytes {
        let size = [10, 300, SMALL, SMALL + 1, 200_000][n % 5];
        Bytes::from(vec![n as u8; size])
    }

    #[tokio::test]
    async fn frames_leave_in_their_order_however_they_are_written() {
        let (mut sender, mut peer) = connection().await;
        // Far more than the socket takes before the peer reads; several frames a round.
        for n in 0..300 {
            sender.send(frame(n), n as u64 / 3);
        }
        for n in 0..300 {
            assert_eq!(read_frame(&mut peer).await, frame(n), "frame {n}");
        }
        sender.send(frame(1), 1000);
        assert_eq!(read_frame(&mut peer).await, frame(1));
    }

    #[tokio::test]
    async fn a_dropped_sender_closes_the_connection_once_everything_is_out() {
        let (mut sender, mut peer) = connection().await;
        for n in 0..50 {
            sender.send(frame(n), 0);
        }
        drop(sender);
        for n in 0..50 {
            assert_eq!(read_frame(&mut peer).await, frame(n), "frame {n}");
        }
        assert_eq!(peer.read(&mut [0]).await.unwrap(), 0, "then it ends");
    }

    #[tokio::test]
    async fn a_frame_that_the_socket_takes_needs_no_task() {
        let (mut sender, mut peer) = connection().await;
        // Only polling the reactor tells that a new socket can be written to.
        sender.socket.writable().await.unwrap();
        sender.send(frame(0), 0);
        assert_eq!(sender.queued.load(Ordering::Acquire), 0);
        sender.send(frame(1), 0);
        assert_eq!(
            sender.queued.load(Ordering::Acquire),
            1,
            "a second of a round is queued"
        );
        assert_eq!(read_frame(&mut peer).await, frame(0));
        assert_eq!(read_frame(&mut peer).await, frame(1));
    }
}
