//! UpdateFeatures where it names `kraft.version`, which the quorum itself has to agree on.
//!
//! 1. The quorum says whether it could; if not, that is the answer and nothing is changed.
//! 2. The engine decides about the other features, all or none.
//! 3. If that went well, the quorum writes version and voters into its log.
//! 4. Once that is committed the request is answered. A leader that is deposed before does not know.

use std::collections::BTreeMap;

use quorate_controller::features::take_kraft_version;
use quorate_controller::{ApiError, Operation};
use quorate_engine::Ticket;
use quorate_protocol::messages::Response;
use quorate_protocol::messages::update_features::{
    FeatureUpdateKey, UpdatableFeatureResult, UpdateFeaturesRequest, UpdateFeaturesResponse,
};
use quorate_raft::UpgradeError;
use quorate_types::{Epoch, ErrorCode, KRaftVersion, Offset};

use super::ControllerNode;
use crate::io::Now;
use crate::replies::ReplyTo;

/// The type of an update that may only raise a level.
const UPGRADE: i8 = 1;

/// An upgrade that waits for what the engine says of the rest of its request.
#[derive(Debug, Clone, Copy)]
struct Upgrade {
    epoch: Epoch,
    to: KRaftVersion,
    validate_only: bool,
}

/// An answer that waits for its commit.
#[derive(Debug)]
struct Held {
    end: Offset,
    to: ReplyTo,
    response: UpdateFeaturesResponse,
}

/// The upgrades that are under way.
#[derive(Debug, Default)]
pub(super) struct Upgrades {
    asked: BTreeMap<Ticket, Upgrade>,
    held: Vec<Held>,
}

impl ControllerNode {
    /// Takes the quorum's part out of a request, to be carried out when the engine has answered
    /// `ticket`; says no if the quorum does.
    pub(super) fn begin_upgrade(
        &mut self,
        now: Now,
        ticket: Ticket,
        request: &mut UpdateFeaturesRequest,
    ) -> Result<(), UpdateFeaturesResponse> {
        // Who is not active refuses all of it.
        let Some(epoch) = self.engine.active() else {
            return Ok(());
        };
        let Some(update) = take_kraft_version(request) else {
            return Ok(());
        };
        let to = KRaftVersion(update.max_version_level);
        let upgrade = Upgrade {
            epoch,
            to,
            validate_only: request.validate_only,
        };
        self.check_upgrade(now, upgrade, &update)?;
        self.upgrades.asked.insert(ticket, upgrade);
        Ok(())
    }

    /// The engine has answered: carries out the quorum's part, if there is one. Returns the answer
    /// unless it is held back.
    pub(super) fn go_on_upgrading(
        &mut self,
        now: Now,
        ticket: Ticket,
        to: &ReplyTo,
        response: Response,
    ) -> Option<Response> {
        let Some(upgrade) = self.upgrades.asked.remove(&ticket) else {
            return Some(response);
        };
        let Response::UpdateFeatures(mut response) = response else {
            return Some(response);
        };
        if !response.error_code.is_none() {
            return Some(response.into());
        }
        if to.version() <= 1 {
            response.results.push(UpdatableFeatureResult {
                feature: "kraft.version".to_owned(),
                ..Default::default()
            });
        }
        if upgrade.validate_only || self.quorum.raft().kraft_version() == upgrade.to {
            return Some(response.into());
        }
        let Upgrade {
            epoch, to: version, ..
        } = upgrade;
        let upgraded = self
            .quorum
            .upgrade_kraft(now, &mut self.names, epoch, version, false);
        if let Err(error) = upgraded {
            return Some(refusal(&error).into());
        }
        self.upgrades.held.push(Held {
            end: self.quorum.raft().log_end(),
            to: to.clone(),
            response,
        });
        None
    }

    /// The engine did not decide about the rest of that request.
    pub(super) fn forget_upgrade(&mut self, ticket: Ticket) {
        self.upgrades.asked.remove(&ticket);
    }

    /// Everything before that offset is committed.
    pub(super) fn answer_upgrades(&mut self, high_watermark: Offset) {
        for held in self
            .upgrades
            .held
            .extract_if(.., |held| held.end <= high_watermark)
        {
            let response = Response::from(held.response);
            held.to
                .send(&response, &mut self.inbound, &mut self.scratch);
        }
    }

    /// The leadership has changed: whether what is held back will be committed is not known.
    pub(super) fn give_up_upgrades(&mut self) {
        for held in std::mem::take(&mut self.upgrades.held) {
            let operation = Operation::from(UpdateFeaturesRequest::default());
            let error = ApiError::from(ErrorCode::NotController);
            let bare = Response::from(operation.refused(&error));
            held.to
                .not_controller(&bare, &mut self.inbound, &mut self.scratch);
        }
    }

    fn check_upgrade(
        &mut self,
        now: Now,
        upgrade: Upgrade,
        update: &FeatureUpdateKey,
    ) -> Result<(), UpdateFeaturesResponse> {
        let Upgrade { epoch, to, .. } = upgrade;
        let from = self.quorum.raft().kraft_version();
        if to > from && update.upgrade_type != UPGRADE {
            return Err(refusal(&UpgradeError::Unreachable { from, to }));
        }
        self.quorum
            .upgrade_kraft(now, &mut self.names, epoch, to, true)
            .map_err(|error| refusal(&error))
    }
}

fn refusal(error: &UpgradeError) -> UpdateFeaturesResponse {
    let error_code = match error {
        UpgradeError::NotLeader => ErrorCode::NotController,
        _ => ErrorCode::InvalidUpdateVersion,
    };
    UpdateFeaturesResponse {
        error_code,
        error_message: Some(format!("kraft.version: {error}")),
        ..Default::default()
    }
}
