//! DescribeCluster on a controller: where the controllers are. A read.

use quorate_metadata::MetadataImage;
use quorate_protocol::messages::describe_cluster::{
    DescribeClusterBroker, DescribeClusterRequest, DescribeClusterResponse,
};
use quorate_types::{ErrorCode, NodeId};

/// The endpoint type that stands for brokers.
const BROKERS: i8 = 1;
/// The endpoint type that stands for controllers.
const CONTROLLERS: i8 = 2;

/// Answers with the registered controllers, at their listener named `listener`.
///
/// `leader` is who leads the quorum as far as this node knows.
pub fn describe(
    image: &MetadataImage,
    cluster_id: &str,
    listener: &str,
    leader: Option<NodeId>,
    request: &DescribeClusterRequest,
    version: i16,
) -> DescribeClusterResponse {
    if !image
        .features()
        .metadata_version()
        .has_controller_registration()
    {
        return refused(
            ErrorCode::UnsupportedVersion,
            "controllers are not registered at this metadata.version",
        );
    }
    if request.endpoint_type != CONTROLLERS {
        let error_code = match request.endpoint_type {
            _ if version == 0 => ErrorCode::InvalidRequest,
            BROKERS => ErrorCode::MismatchedEndpointType,
            _ => ErrorCode::UnsupportedEndpointType,
        };
        return refused(error_code, "this is a controller's listener");
    }
    let brokers: Vec<DescribeClusterBroker> = image
        .controllers()
        .filter_map(|controller| {
            let endpoint = controller.endpoint(listener)?;
            Some(DescribeClusterBroker {
                broker_id: controller.id.0,
                host: endpoint.host.clone(),
                port: i32::from(endpoint.port),
                rack: None,
                is_fenced: false,
                ..Default::default()
            })
        })
        .collect();
    let leader = leader.filter(|leader| brokers.iter().any(|node| node.broker_id == leader.0));
    DescribeClusterResponse {
        endpoint_type: CONTROLLERS,
        cluster_id: cluster_id.to_string(),
        controller_id: NodeId::to_wire(leader),
        brokers,
        ..Default::default()
    }
}

fn refused(error_code: ErrorCode, message: &str) -> DescribeClusterResponse {
    DescribeClusterResponse {
        error_code,
        error_message: Some(message.to_string()),
        ..Default::default()
    }
}
