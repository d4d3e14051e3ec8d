//! Topics: creating, deleting and growing them.

mod assignment;
mod create;
mod delete;
mod grow;
mod name;

pub(crate) use assignment::check_assignment;
pub(crate) use create::{create, refused as create_refused};
pub(crate) use delete::{delete, refused as delete_refused};
pub(crate) use grow::{grow, refused as grow_refused};
pub use name::{InvalidTopicName, METADATA_TOPIC, check_name};
