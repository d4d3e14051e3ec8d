//! What goes into a [`Lifecycle`](super::Lifecycle) and what comes out.

use quorate_protocol::messages::{
    BrokerHeartbeatRequest, BrokerHeartbeatResponse, BrokerRegistrationRequest,
    BrokerRegistrationResponse,
};
use quorate_types::{BrokerEpoch, DirectoryId, ErrorCode, Offset};

use crate::call::{CallFailure, CallId};

/// Where a broker is on its way; see the module's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BrokerState {
    /// Not started.
    NotRunning,
    /// Registering, then catching up with the metadata log.
    Starting,
    /// Caught up, fenced.
    Recovery,
    /// Was unfenced; serves.
    Running,
    /// Waits until it leads nothing.
    PendingControlledShutdown,
    /// Over.
    ShuttingDown,
}

/// Why a broker goes to [`BrokerState::ShuttingDown`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShutdownReason {
    /// It was asked to, and had nothing to wait for.
    Asked,
    /// The controller let it go.
    Granted,
    /// The controller did not let it go within the controlled shutdown's time.
    NotGranted,
    /// Its registration is gone, so there is nothing to hand over.
    NotRegistered,
    /// Its first registration did not succeed in time.
    NeverRegistered,
    /// No controller could be told in time that this directory failed.
    DirectoryNotReported(DirectoryId),
}

/// What happens to a broker.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The node is up and follows the metadata log.
    Start,
    /// Time has passed.
    Tick,
    /// A request was answered, or will not be.
    Answer {
        /// Which request.
        call: CallId,
        /// What came of it.
        answer: Answer,
    },
    /// An image was published.
    Published {
        /// The end of what it contains.
        end: Offset,
        /// The epoch of our id's registration in it.
        registered: Option<BrokerEpoch>,
    },
    /// The registration in the log lacks what this broker has to say by now (its directories, after
    /// an upgrade of `metadata.version`): register again with the same epoch.
    RegisterAgain,
    /// The broker can serve: from here on it wants to be unfenced.
    ReadyToUnfence,
    /// A log directory failed, for good.
    DirectoryFailed(DirectoryId),
    /// Shut down in order: hand leaderships over first.
    ShutDown,
    /// Stop now.
    Stop,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The answer to a registration.
    Registration(BrokerRegistrationResponse),
    /// The answer to a heartbeat.
    Heartbeat(BrokerHeartbeatResponse),
    /// None.
    Failed(CallFailure),
}

/// A request to the active controller.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Version 4.
    Register(BrokerRegistrationRequest),
    /// Version 1.
    Heartbeat(BrokerHeartbeatRequest),
}

/// What a broker wants done or known.
#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    /// Send this to the active controller. The request is given up here when its time is over; an
    /// answer that comes later is ignored.
    Send {
        /// Names the request in [`Input::Answer`].
        call: CallId,
        /// What to send.
        request: Request,
    },
    /// The state changed.
    State {
        /// From this one.
        from: BrokerState,
        /// To this one.
        to: BrokerState,
    },
    /// A registration succeeded; its answer named this epoch.
    Registered {
        /// The epoch to use in every request to the controller from now on.
        epoch: BrokerEpoch,
    },
    /// A heartbeat's answer told that the broker is fenced, or no longer is.
    Fenced(bool),
    /// The controller refused a registration; it will be tried again.
    RegistrationRefused(ErrorCode),
    /// The broker is over; comes with the change to [`BrokerState::ShuttingDown`].
    ShutDown(ShutdownReason),
}
