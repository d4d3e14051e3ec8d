//! Brokers and controllers: who is registered, who is alive, who may go.

mod control_state;
mod controllers;
mod describe;
mod fence;
mod heartbeat;
mod listeners;
mod register;
mod sessions;

use quorate_metadata::MetadataImage;
use quorate_types::{BrokerEpoch, NodeId};

pub use control_state::ControlState;
pub(crate) use controllers::register_controller;
pub use describe::describe as describe_cluster;
pub(crate) use fence::{fence_stale, unregister};
pub(crate) use heartbeat::{appended as heartbeat_appended, heartbeat};
pub(crate) use register::register;
pub use sessions::{Pulse, Sessions};

/// Whether the broker is registered with that epoch.
pub(crate) fn has_epoch(image: &MetadataImage, id: NodeId, epoch: BrokerEpoch) -> bool {
    image.broker(id).is_some_and(|broker| broker.epoch == epoch)
}
