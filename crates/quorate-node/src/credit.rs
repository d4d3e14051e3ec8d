//! How much of a connection may be unanswered: a peer that asks faster than it reads answers, or
//! asks for much at once, is not read any further until answers are out.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Semaphore;

use crate::net::Limits;

/// The credit of one accepted connection. Small requests take one permit, large ones as many as
/// their bytes are worth, at most all. Answers leave in the order of the requests, so what the
/// oldest request took is what the next answer gives back.
#[derive(Debug)]
pub(crate) struct Credit {
    permits: Semaphore,
    most: u32,
    permit_bytes: usize,
    taken: Mutex<VecDeque<u32>>,
}

/// The connection is closed; nothing more is read.
pub(crate) struct Closed;

impl Credit {
    pub(crate) fn new(limits: &Limits) -> Credit {
        let most = u32::try_from(limits.in_flight.max(1)).unwrap_or(u32::MAX);
        Credit {
            permits: Semaphore::new(most as usize),
            most,
            permit_bytes: (limits.in_flight_bytes / most as usize).max(1),
            taken: Mutex::default(),
        }
    }

    /// Waits until a request of that size may be taken in.
    pub(crate) async fn take(&self, bytes: usize) -> Result<(), Closed> {
        let worth = u32::try_from(bytes / self.permit_bytes).unwrap_or(u32::MAX);
        let cost = worth.clamp(1, self.most);
        let permits = self.permits.acquire_many(cost).await.map_err(|_| Closed)?;
        permits.forget();
        self.taken().push_back(cost);
        Ok(())
    }

    /// That many answers are out.
    pub(crate) fn give_back(&self, answers: usize) {
        let mut taken = self.taken();
        let freed: u32 = (0..answers).filter_map(|_| taken.pop_front()).sum();
        self.permits.add_permits(freed as usize);
    }

    /// Ends whoever waits in [`take`](Credit::take).
    pub(crate) fn close(&self) {
        self.permits.close();
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, VecDeque<u32>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn credit() -> Credit {
        Credit::new(&Limits {
            in_flight: 4,
            in_flight_bytes: 4000,
            ..Limits::default()
        })
    }

    /// Whether a request of that size is let in at once.
    async fn fits(credit: &Credit, bytes: usize) -> bool {
        tokio::time::timeout(Duration::from_millis(20), credit.take(bytes))
            .await
            .is_ok_and(|taken| taken.is_ok())
    }

    #[tokio::test]
    async fn small_requests_count_by_number() {
        let credit = credit();
        for _ in 0..4 {
            assert!(fits(&credit, 10).await);
        }
        assert!(!fits(&credit, 10).await);
        credit.give_back(1);
        assert!(fits(&credit, 10).await);
    }

    #[tokio::test]
    async fn large_requests_count_by_bytes_and_the_largest_goes_alone() {
        let credit = credit();
        assert!(fits(&credit, 3000).await);
        assert!(fits(&credit, 10).await);
        assert!(!fits(&credit, 10).await);
        credit.give_back(2);
        assert!(fits(&credit, 1_000_000).await);
        assert!(!fits(&credit, 10).await);
        credit.close();
        assert!(!fits(&credit, 10).await);
    }
}
