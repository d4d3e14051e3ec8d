//! Fetches that found nothing new and wait in the core for an append, a high watermark, their time,
//! or the end of leadership.

use std::collections::BTreeMap;
use std::time::Duration;

use quorate_types::MonoTime;

use crate::RequestId;
use crate::rpc::FetchRequest;

/// The fetches that wait, by the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Parked {
    waiting: BTreeMap<RequestId, (MonoTime, FetchRequest)>,
}

impl Parked {
    /// Parks a fetch for at most its own time.
    pub(crate) fn park(&mut self, now: MonoTime, from: RequestId, request: FetchRequest) {
        let wait = Duration::from_millis(u64::try_from(request.max_wait_ms).unwrap_or(0));
        self.waiting.insert(from, (now + wait, request));
    }

    /// Nobody waits for that one any more.
    pub(crate) fn forget(&mut self, from: RequestId) {
        self.waiting.remove(&from);
    }

    /// Takes out all.
    pub(crate) fn take(&mut self) -> Vec<(RequestId, FetchRequest)> {
        self.take_if(|_, _| true)
    }

    /// Takes out those of which `wanted` says so.
    pub(crate) fn take_if(
        &mut self,
        wanted: impl Fn(MonoTime, &FetchRequest) -> bool,
    ) -> Vec<(RequestId, FetchRequest)> {
        let mut taken = Vec::new();
        self.waiting.retain(|from, (until, request)| {
            let take = wanted(*until, request);
            if take {
                taken.push((*from, request.clone()));
            }
            !take
        });
        taken
    }

    /// When the next one's time is over.
    pub(crate) fn next_expiry(&self) -> Option<MonoTime> {
        self.waiting.values().map(|(until, _)| *until).min()
    }
}
