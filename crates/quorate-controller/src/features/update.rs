//! UpdateFeatures: finalized levels change, all that a request names or none.

use std::collections::BTreeMap;

use quorate_engine::Halt;
use quorate_metadata::{ConfigKind, ConfigResource, Features, MetadataImage, MetadataVersion};
use quorate_protocol::messages::update_features::{
    FeatureUpdateKey, UpdatableFeatureResult, UpdateFeaturesRequest, UpdateFeaturesResponse,
};
use quorate_types::{ErrorCode, NodeId, VersionRange};

use super::table::needed_metadata_version;
use crate::configs::{MIN_INSYNC_REPLICAS, static_min_insync_replicas};
use crate::controller::{Desk, KafkaController};
use crate::error::ApiError;
use crate::records;

/// Takes the change of `kraft.version` out of a request: the quorum decides it, not this crate.
///
/// Whoever routes requests asks the quorum about it, and sends on what is left.
pub fn take_kraft_version(request: &mut UpdateFeaturesRequest) -> Option<FeatureUpdateKey> {
    let updates = &mut request.feature_updates;
    let at = updates
        .iter()
        .position(|update| update.feature == Features::KRAFT)?;
    Some(updates.remove(at))
}

/// In which direction a level may move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Direction {
    Upgrade,
    Downgrade,
}

/// Changes the levels; `version` is the request's.
pub(crate) fn update(
    controller: &KafkaController,
    draft: &mut Desk<'_>,
    request: &UpdateFeaturesRequest,
    version: i16,
) -> Result<UpdateFeaturesResponse, Halt> {
    if request.validate_only {
        draft.dry_run();
    }
    let levels = match check(controller, draft.state(), request, version) {
        Ok(levels) => levels,
        Err(error) => {
            return Ok(UpdateFeaturesResponse {
                error_code: error.code,
                error_message: error.message,
                ..Default::default()
            });
        }
    };
    if levels
        .iter()
        .any(|(name, level)| *name == Features::ELR && *level > 0)
    {
        prepare_elr(controller, draft)?;
    }
    for (name, level) in &levels {
        draft.push(records::feature_level(name, *level))?;
    }
    let results = if version <= 1 {
        let result = |(name, _): &(&str, i16)| UpdatableFeatureResult {
            feature: name.to_string(),
            ..Default::default()
        };
        levels.iter().map(result).collect()
    } else {
        Vec::new()
    };
    Ok(UpdateFeaturesResponse {
        results,
        ..Default::default()
    })
}

/// What must hold before ELR is on: the whole cluster agrees on `min.insync.replicas`.
pub(crate) fn prepare_elr(controller: &KafkaController, draft: &mut Desk<'_>) -> Result<(), Halt> {
    let configs = draft.state().configs();
    let own: Vec<ConfigResource> = configs
        .resources_of(ConfigKind::BROKER)
        .filter(|broker| !broker.name.is_empty())
        .filter(|broker| configs.get(broker, MIN_INSYNC_REPLICAS).is_some())
        .cloned()
        .collect();
    if configs.cluster(MIN_INSYNC_REPLICAS).is_none() {
        let value = static_min_insync_replicas(&controller.config().node_settings);
        let cluster = ConfigResource::cluster();
        draft.push(records::config(&cluster, MIN_INSYNC_REPLICAS, Some(&value)))?;
    }
    for broker in own {
        draft.push(records::config(&broker, MIN_INSYNC_REPLICAS, None))?;
    }
    Ok(())
}

/// The levels that are to be written, in the order of the request.
fn check<'a>(
    controller: &KafkaController,
    image: &MetadataImage,
    request: &'a UpdateFeaturesRequest,
    version: i16,
) -> Result<Vec<(&'a str, i16)>, ApiError> {
    let mut proposed: BTreeMap<&str, i16> = image.features().iter().collect();
    let current = image.features().metadata_version();
    proposed.insert(MetadataVersion::FEATURE, current.level());
    for update in &request.feature_updates {
        proposed.insert(&update.feature, update.max_version_level);
    }
    let mut levels = Vec::with_capacity(request.feature_updates.len());
    for update in &request.feature_updates {
        let fault = check_one(controller, image, update, version, &proposed);
        fault.map_err(|message| {
            let (name, level) = (&update.feature, update.max_version_level);
            let message = format!("{name} cannot become {level}: {message}");
            ApiError::new(ErrorCode::InvalidUpdateVersion, message)
        })?;
        levels.push((update.feature.as_str(), update.max_version_level));
    }
    Ok(levels)
}

fn check_one(
    controller: &KafkaController,
    image: &MetadataImage,
    update: &FeatureUpdateKey,
    version: i16,
    proposed: &BTreeMap<&str, i16>,
) -> Result<(), String> {
    let direction = direction(update, version)?;
    let (name, level) = (update.feature.as_str(), update.max_version_level);
    if level < 0 {
        return Err("a level is not negative".to_string());
    }
    check_support(controller, image, name, level)?;
    if name == Features::KRAFT {
        return Err("the quorum changes its own version, not the metadata log".to_string());
    }
    let current = match name {
        MetadataVersion::FEATURE => image.features().metadata_version().level(),
        other => image.features().level(other),
    };
    match direction {
        Direction::Upgrade if level < current => {
            return Err(format!(
                "it is {current}, and a downgrade was not asked for"
            ));
        }
        Direction::Downgrade if level > current => {
            return Err(format!("it is {current}, which would be an upgrade"));
        }
        _ => {}
    }
    if name == MetadataVersion::FEATURE {
        return check_metadata_version(image, level);
    }
    let metadata_version = proposed.get(MetadataVersion::FEATURE).copied().unwrap_or(0);
    match needed_metadata_version(name, level) {
        Some(needed) if metadata_version < needed.level() => {
            Err(format!("it needs metadata.version {}", needed.level()))
        }
        _ => Ok(()),
    }
}

fn direction(update: &FeatureUpdateKey, version: i16) -> Result<Direction, String> {
    if version == 0 {
        let downgrade = update.allow_downgrade;
        return Ok(if downgrade {
            Direction::Downgrade
        } else {
            Direction::Upgrade
        });
    }
    match update.upgrade_type {
        1 => Ok(Direction::Upgrade),
        2 | 3 => Ok(Direction::Downgrade),
        other => Err(format!("{other} is no type of upgrade")),
    }
}

/// A downgrade that loses records is refused, also an unsafe one, as in Kafka 4.2.
fn check_metadata_version(image: &MetadataImage, level: i16) -> Result<(), String> {
    let current = image.features().metadata_version();
    let wanted = MetadataVersion::from_level(level)
        .ok_or_else(|| "no such metadata.version is known".to_string())?;
    if wanted < current && current.records_differ(wanted) {
        return Err(format!(
            "records changed between it and {current}, so it would lose metadata"
        ));
    }
    Ok(())
}

/// Whether this controller and every other node supports the level.
fn check_support(
    controller: &KafkaController,
    image: &MetadataImage,
    name: &str,
    level: i16,
) -> Result<(), String> {
    const NONE: VersionRange = VersionRange { min: 0, max: 0 };
    let config = controller.config();
    let covers = |features: &BTreeMap<String, VersionRange>, who: &str, id: NodeId| {
        let range = features.get(name).copied().unwrap_or(NONE);
        if (range.min..=range.max).contains(&level) {
            Ok(())
        } else {
            Err(format!(
                "{who} {id} supports {} to {}",
                range.min, range.max
            ))
        }
    };
    covers(&config.supported_features, "controller", config.node_id)?;
    for broker in image.brokers() {
        covers(&broker.features, "broker", broker.id)?;
    }
    if !image
        .features()
        .metadata_version()
        .has_controller_registration()
    {
        return Ok(());
    }
    for other in image
        .controllers()
        .filter(|other| other.id != config.node_id)
    {
        covers(&other.features, "controller", other.id)?;
    }
    let unregistered = |id: &&NodeId| **id != config.node_id && image.controller(**id).is_none();
    match config.quorum.iter().find(unregistered) {
        Some(id) => Err(format!(
            "controller {id} has not registered, and may not support it"
        )),
        None => Ok(()),
    }
}
