//! DescribeCluster on a broker's listener, versions 0 to 2.

use quorate_protocol::messages::describe_cluster::DescribeClusterBroker;
use quorate_protocol::messages::{DescribeClusterRequest, DescribeClusterResponse};
use quorate_types::{ErrorCode, NodeId, Rng};

use super::partitions::View;
use super::{Asker, MetadataCache, NOT_ASKED};

/// The endpoint type of brokers; 2 is the controllers', who answer that on their own listeners.
const BROKERS: i8 = 1;
const CONTROLLERS: i8 = 2;

impl MetadataCache {
    /// Answers DescribeCluster with the brokers that have the client's listener; the fenced ones only
    /// if asked for (KIP-1073). `rng` chooses the broker that is named as controller.
    pub fn describe_cluster(
        &self,
        asker: &Asker<'_>,
        request: &DescribeClusterRequest,
        rng: &mut Rng,
    ) -> DescribeClusterResponse {
        if request.endpoint_type != BROKERS {
            return wrong_endpoint_type(asker.version, request.endpoint_type);
        }
        let view = View {
            image: self.image(),
            listener: asker.listener,
        };
        let brokers: Vec<DescribeClusterBroker> = view
            .brokers()
            .filter(|(broker, _)| !broker.fenced || request.include_fenced_brokers)
            .map(|(broker, listener)| DescribeClusterBroker {
                broker_id: broker.id.0,
                host: listener.host.clone(),
                port: i32::from(listener.port),
                rack: broker.rack.as_deref().map(str::to_owned),
                is_fenced: broker.fenced,
                ..Default::default()
            })
            .collect();
        let is_listed = |id: &NodeId| brokers.iter().any(|broker| broker.broker_id == id.0);
        let controller = self.any_broker(rng).filter(is_listed);
        DescribeClusterResponse {
            endpoint_type: BROKERS,
            cluster_id: self.cluster_id().to_owned(),
            controller_id: NodeId::to_wire(controller),
            brokers,
            cluster_authorized_operations: match (
                request.include_cluster_authorized_operations,
                asker.access.may_describe_cluster(),
            ) {
                (false, _) => NOT_ASKED,
                (true, true) => asker.access.cluster_operations(),
                (true, false) => 0,
            },
            ..Default::default()
        }
    }
}

fn wrong_endpoint_type(version: i16, endpoint_type: i8) -> DescribeClusterResponse {
    let error_code = match (version, endpoint_type) {
        (0, _) => ErrorCode::InvalidRequest,
        (_, CONTROLLERS) => ErrorCode::MismatchedEndpointType,
        _ => ErrorCode::UnsupportedEndpointType,
    };
    DescribeClusterResponse {
        error_code,
        error_message: Some(format!(
            "this listener describes brokers (endpoint type {BROKERS}), not endpoint type {endpoint_type}"
        )),
        ..Default::default()
    }
}
