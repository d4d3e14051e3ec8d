//! BrokerRegistration: a broker joins, or says again that it is there.
//!
//! What is asked, in order; the first fault is the answer and nothing is written:
//!
//! 1. It is meant for this cluster.
//! 2. No other process lives under this id.
//! 3. It does not come from ZooKeeper.
//! 4. Its directories are real, its own, and each named once.
//! 5. Its listeners can be reached.
//! 6. Every feature it names covers the level that is finalized, and `metadata.version` is among
//!    them.
//! 7. What it does not name is not finalized either.
//!
//! A new process gets a new epoch, the first offset of the batch that registers it, after what the
//! one before left behind has been cleaned up; it starts fenced. The same process keeps its epoch
//! and its state.

use std::collections::BTreeSet;

use quorate_engine::Halt;
use quorate_metadata::{MetadataImage, MetadataVersion};
use quorate_protocol::messages::broker_registration::{
    BrokerRegistrationRequest, BrokerRegistrationResponse,
};
use quorate_types::{BrokerEpoch, ErrorCode, IncarnationId, NodeId};

use super::fence::clean_up;
use super::listeners::check_listener;
use crate::controller::{Desk, KafkaController};
use crate::error::{ApiError, Bad};
use crate::records;

/// Registers the broker, if nothing speaks against it; `version` is the request's.
pub(crate) fn register(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &BrokerRegistrationRequest,
    version: i16,
) -> Result<BrokerRegistrationResponse, Halt> {
    draft.cut_anywhere();
    let refused = |error_code| BrokerRegistrationResponse {
        error_code,
        ..Default::default()
    };
    if let Err(error) = check(controller, draft, request) {
        return Ok(refused(error.code));
    }
    match write(controller, draft, request, version) {
        Ok(epoch) => Ok(BrokerRegistrationResponse {
            broker_epoch: epoch.0,
            ..Default::default()
        }),
        Err(Bad::Item(error)) => Ok(refused(error.code)),
        Err(Bad::Halt(halt)) => Err(halt),
    }
}

fn check(
    controller: &KafkaController,
    draft: &Desk<'_>,
    request: &BrokerRegistrationRequest,
) -> Result<(), ApiError> {
    let id = NodeId(request.broker_id);
    let image = draft.state();
    let ours = &controller.config().cluster_id;
    if request.cluster_id != *ours {
        let message = format!("this is cluster {ours:?}, not {:?}", request.cluster_id);
        return Err(ApiError::new(ErrorCode::InconsistentClusterId, message));
    }
    if request.broker_id < 0 {
        return Err(ApiError::new(
            ErrorCode::InvalidRequest,
            "a negative broker id",
        ));
    }
    if let Some(existing) = image.broker(id)
        && existing.incarnation != IncarnationId(request.incarnation_id)
        && draft.soft().is_alive(id, existing.epoch, draft.now())
    {
        let message = format!("broker {id} is registered by a process that lives");
        return Err(ApiError::new(
            ErrorCode::DuplicateBrokerRegistration,
            message,
        ));
    }
    if request.is_migrating_zk_broker {
        let message = "brokers do not come from ZooKeeper any more";
        return Err(ApiError::new(ErrorCode::BrokerIdNotRegistered, message));
    }
    if image.features().metadata_version().has_directories() {
        check_directories(image, request)?;
    }
    for listener in &request.listeners {
        let protocol = listener.security_protocol;
        check_listener(&listener.name, &listener.host, listener.port, protocol)?;
    }
    check_features(image, request)
}

fn check_directories(
    image: &MetadataImage,
    request: &BrokerRegistrationRequest,
) -> Result<(), ApiError> {
    let refuse = |message: String| Err(ApiError::new(ErrorCode::InvalidRegistration, message));
    if request.log_dirs.is_empty() {
        return refuse("the broker names no directory".to_string());
    }
    let mut seen = BTreeSet::new();
    for directory in &request.log_dirs {
        if directory.is_reserved() {
            return refuse(format!("directory id {directory} is reserved"));
        }
        if !seen.insert(directory) {
            return refuse(format!("directory {directory} is named twice"));
        }
    }
    let other = |id: NodeId| id != NodeId(request.broker_id);
    for broker in image.brokers().filter(|broker| other(broker.id)) {
        if let Some(shared) = broker
            .directories
            .iter()
            .find(|known| seen.contains(&known.0))
        {
            return refuse(format!(
                "directory {shared} belongs to broker {}",
                broker.id
            ));
        }
    }
    Ok(())
}

fn check_features(
    image: &MetadataImage,
    request: &BrokerRegistrationRequest,
) -> Result<(), ApiError> {
    let mut missing: BTreeSet<&str> = image.features().iter().map(|(name, _)| name).collect();
    for feature in &request.features {
        let (min, max) = (feature.min_supported_version, feature.max_supported_version);
        check_feature(image, &feature.name, min, max)?;
        missing.remove(feature.name.as_str());
    }
    let named = |name: &str| request.features.iter().any(|feature| feature.name == name);
    if !named(MetadataVersion::FEATURE) {
        let message = "the broker does not say which metadata.version it supports";
        return Err(ApiError::new(ErrorCode::InvalidRegistration, message));
    }
    missing
        .into_iter()
        .try_for_each(|name| check_feature(image, name, 0, 0))
}

fn check_feature(image: &MetadataImage, name: &str, min: i16, max: i16) -> Result<(), ApiError> {
    let features = image.features();
    let level = match name {
        MetadataVersion::FEATURE => features.metadata_version().level(),
        other => features.level(other),
    };
    if (min..=max).contains(&level) {
        return Ok(());
    }
    let message = format!("{name} is finalized at {level}, the broker supports {min} to {max}");
    Err(ApiError::new(ErrorCode::UnsupportedVersion, message))
}

fn write(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &BrokerRegistrationRequest,
    version: i16,
) -> Result<BrokerEpoch, Bad> {
    let id = NodeId(request.broker_id);
    let existing = draft.state().broker(id);
    let again = existing
        .filter(|existing| existing.incarnation == IncarnationId(request.incarnation_id))
        .map(|existing| {
            (
                existing.epoch,
                existing.fenced,
                existing.in_controlled_shutdown,
            )
        });
    let previous = existing.map(|existing| existing.epoch);
    let (epoch, fenced, in_controlled_shutdown) = match again {
        Some(same) => same,
        None => {
            let epoch = BrokerEpoch(draft.next_offset().0);
            let clean = version >= 3
                && previous.is_some_and(|epoch| epoch.0 == request.previous_broker_epoch);
            clean_up(controller, draft, id, clean)?;
            (epoch, true, false)
        }
    };
    let metadata_version = draft.state().features().metadata_version();
    let state = records::BrokerState {
        epoch,
        fenced,
        in_controlled_shutdown,
    };
    draft.push(records::register_broker(request, state, metadata_version))?;
    Ok(epoch)
}
