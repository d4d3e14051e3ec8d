//! What an older `metadata.version` could not say.

use std::fmt;

use quorate_types::DirectoryId;

use crate::{MetadataImage, MetadataVersion};

/// Something in an image that cannot be written for a `metadata.version`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Loss {
    /// Registrations of controllers.
    Controllers,
    /// The online directories of brokers.
    BrokerDirectories,
    /// The directories of replicas.
    ReplicaDirectories,
    /// SCRAM credentials.
    Scram,
    /// Delegation tokens.
    DelegationTokens,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::Controllers => "controller registrations",
            Loss::BrokerDirectories => "directories of brokers",
            Loss::ReplicaDirectories => "directories of replicas",
            Loss::Scram => "SCRAM credentials",
            Loss::DelegationTokens => "delegation tokens",
        })
    }
}

/// All that would be lost.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("metadata.version {version} cannot say: {}", list(.lost))]
pub struct Losses {
    /// The version that was to be written for.
    pub version: MetadataVersion,
    /// What it cannot say, at least one thing.
    pub lost: Vec<Loss>,
}

fn list(lost: &[Loss]) -> String {
    let names: Vec<String> = lost.iter().map(Loss::to_string).collect();
    names.join(", ")
}

impl MetadataImage {
    /// What would be lost if the image were written for that version.
    pub fn losses(&self, version: MetadataVersion) -> Vec<Loss> {
        let replica_directories = || {
            self.topics().iter().any(|topic| {
                topic.partitions().any(|(_, partition)| {
                    let known = |directory: &DirectoryId| *directory != DirectoryId::MIGRATING;
                    partition.directories.iter().any(known)
                })
            })
        };
        let mut lost = Vec::new();
        if !version.has_controller_registration() && self.controllers().next().is_some() {
            lost.push(Loss::Controllers);
        }
        if !version.has_directories() {
            if self.brokers().any(|broker| !broker.directories.is_empty()) {
                lost.push(Loss::BrokerDirectories);
            }
            if replica_directories() {
                lost.push(Loss::ReplicaDirectories);
            }
        }
        if !version.has_scram() && !self.scram().is_empty() {
            lost.push(Loss::Scram);
        }
        if !version.has_delegation_tokens() && !self.delegation_tokens().is_empty() {
            lost.push(Loss::DelegationTokens);
        }
        lost
    }
}
