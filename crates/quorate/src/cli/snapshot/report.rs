//! An image as text for people, and as JSON.

use std::fmt::Write;

use quorate::metadata::{BrokerRegistration, Listener, MetadataImage, Topic};
use quorate::types::NodeId;
use serde_json::{Value, json};

use super::read::Found;
use crate::remote::table;

/// The whole report as text.
pub fn text(found: &Found) -> String {
    let image = &found.image;
    let mut text = String::new();
    // Writing into a string does not fail.
    let _ = writeln!(
        text,
        "{}: metadata up to offset {}, epoch {}{}",
        found.dir.display(),
        found.end.offset,
        found.end.epoch,
        match found.snapshot {
            Some(id) => format!(" (snapshot {id} and the log behind it)"),
            None => String::new(),
        }
    );
    let features: Vec<String> = image
        .features()
        .iter()
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    let _ = writeln!(text, "\nFeatures: {}", features.join(", "));
    if let Some(voters) = &found.voters {
        let ids: Vec<String> = voters.ids().map(|id| id.to_string()).collect();
        let _ = writeln!(text, "Voters: {}", ids.join(", "));
    }
    text.push_str(&nodes(image));
    text.push_str(&topics(image));
    let _ = writeln!(text, "\nBesides: {}", besides(image).join(", "));
    text
}

fn nodes(image: &MetadataImage) -> String {
    let mut rows = vec![["  Controller", "Endpoints"].map(str::to_owned).to_vec()];
    rows.extend(image.controllers().map(|controller| {
        let id = format!("  {}", controller.id);
        vec![id, endpoints(&controller.endpoints).join(" ")]
    }));
    let mut text = String::from("\nControllers\n") + &table(&rows);
    let head = [
        "  Broker",
        "State",
        "Leads",
        "Replicas",
        "Rack",
        "Endpoints",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(image.brokers().map(|broker| {
        let counts = image.topics().counts(broker.id);
        vec![
            format!("  {}", broker.id),
            state(broker).to_owned(),
            counts.leads.to_string(),
            counts.replicas.to_string(),
            broker.rack.as_deref().unwrap_or("–").to_owned(),
            endpoints(&broker.endpoints).join(" "),
        ]
    }));
    text.push_str("\nBrokers\n");
    text + &table(&rows)
}

fn topics(image: &MetadataImage) -> String {
    let head = [
        "  Topic",
        "Id",
        "Partitions",
        "Replicas",
        "Leaderless",
        "Configs",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(image.topics().iter().map(|topic| {
        vec![
            format!("  {}", topic.name()),
            topic.id().to_string(),
            topic.partition_count().to_string(),
            factor(topic).to_string(),
            leaderless(topic).to_string(),
            configs(image, topic)
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        ]
    }));
    format!(
        "\nTopics: {}, with {} partitions\n{}",
        image.topics().len(),
        image.topics().partition_count(),
        table(&rows)
    )
}

/// What is only counted.
fn besides(image: &MetadataImage) -> Vec<String> {
    let next = match image.producer_ids().next {
        Some(next) => format!("next producer id {next}"),
        None => "no producer ids yet".into(),
    };
    vec![
        format!("{} configs", image.configs().iter().count()),
        format!("{} access rules", image.acls().len()),
        format!("{} SCRAM credentials", image.scram().iter().count()),
        format!("{} quotas", image.client_quotas().entities().count()),
        format!(
            "{} delegation tokens",
            image.delegation_tokens().iter().count()
        ),
        next,
    ]
}

/// The whole report as JSON. Secrets are left out.
pub fn json(found: &Found) -> Value {
    let image = &found.image;
    let features: serde_json::Map<String, Value> = image
        .features()
        .iter()
        .map(|(name, level)| (name.to_owned(), level.into()))
        .collect();
    let controllers = image.controllers().map(
        |controller| json!({ "id": controller.id.0, "endpoints": endpoints(&controller.endpoints) }),
    );
    json!({
        "end": found.end.offset.0,
        "epoch": found.end.epoch.0,
        "snapshot": found.snapshot.map(|id| json!({ "end": id.offset.0, "epoch": id.epoch.0 })),
        "features": features,
        "voters": found.voters.as_ref().map(|voters| voters.ids().map(|id| id.0).collect::<Vec<_>>()),
        "controllers": Value::from_iter(controllers),
        "brokers": Value::from_iter(image.brokers().map(|broker| broker_json(image, broker))),
        "topics": Value::from_iter(image.topics().iter().map(|topic| topic_json(image, topic))),
        "counts": {
            "configs": image.configs().iter().count(),
            "accessRules": image.acls().len(),
            "scramCredentials": image.scram().iter().count(),
            "quotas": image.client_quotas().entities().count(),
            "delegationTokens": image.delegation_tokens().iter().count(),
        },
        "nextProducerId": image.producer_ids().next,
    })
}

fn broker_json(image: &MetadataImage, broker: &BrokerRegistration) -> Value {
    let counts = image.topics().counts(broker.id);
    json!({
        "id": broker.id.0,
        "epoch": broker.epoch.0,
        "state": state(broker),
        "rack": broker.rack.as_deref(),
        "endpoints": endpoints(&broker.endpoints),
        "leads": counts.leads,
        "replicas": counts.replicas,
    })
}

fn topic_json(image: &MetadataImage, topic: Topic<'_>) -> Value {
    let ids = |nodes: &[NodeId]| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
    let partitions = topic.partitions().map(|(index, partition)| {
        json!({
            "partition": index,
            "leader": partition.leader.map(|leader| leader.0),
            "leaderEpoch": partition.leader_epoch.0,
            "partitionEpoch": partition.partition_epoch.0,
            "replicas": ids(&partition.replicas),
            "isr": ids(&partition.isr),
            "eligibleLeaderReplicas": ids(&partition.elr),
        })
    });
    let configs: serde_json::Map<String, Value> = configs(image, topic)
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    json!({
        "name": topic.name().as_ref(),
        "id": topic.id().to_string(),
        "configs": configs,
        "partitions": Value::from_iter(partitions),
    })
}

fn state(broker: &BrokerRegistration) -> &'static str {
    match (broker.in_controlled_shutdown, broker.fenced) {
        (_, true) => "fenced",
        (true, false) => "shutting down",
        (false, false) => "active",
    }
}

fn endpoints(listeners: &[Listener]) -> Vec<String> {
    let shown = listeners
        .iter()
        .map(|it| format!("{}://{}:{}", it.name, it.host, it.port));
    shown.collect()
}

fn factor(topic: Topic<'_>) -> usize {
    topic
        .partition(0)
        .map_or(0, |partition| partition.replicas.len())
}

fn leaderless(topic: Topic<'_>) -> usize {
    let partitions = topic.partitions();
    partitions.filter(|(_, it)| it.leader.is_none()).count()
}

fn configs<'a>(
    image: &'a MetadataImage,
    topic: Topic<'_>,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let name = topic.name().clone();
    let all = image.configs().iter();
    all.filter(move |(resource, ..)| {
        resource.kind == quorate::metadata::ConfigKind::TOPIC && resource.name == name
    })
    .map(|(_, name, value)| (name, value))
}
