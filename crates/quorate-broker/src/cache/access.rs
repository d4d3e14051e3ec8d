//! What a client may see, as far as answers from the cache depend on it.

/// Stands in an answer's "authorized operations" when the client did not ask for them.
pub const NOT_ASKED: i32 = i32::MIN;

/// Sets of operations as answers carry them: bit *n* stands for the operation of code *n*.
pub mod operations {
    /// Everything that can be allowed on a topic: read, write, create, delete, alter, describe,
    /// describe configs, alter configs.
    pub const TOPIC: i32 = bits(&[3, 4, 5, 6, 7, 8, 10, 11]);
    /// Everything that can be allowed on the cluster: create, alter, describe, cluster action,
    /// describe configs, alter configs, idempotent write.
    pub const CLUSTER: i32 = bits(&[5, 7, 8, 9, 10, 11, 12]);

    const fn bits(codes: &[u32]) -> i32 {
        let mut set = 0;
        let mut index = 0;
        while index < codes.len() {
            set |= 1 << codes[index];
            index += 1;
        }
        set
    }
}

/// Decides for one client. Each method has a default that allows, as a cluster without authorizer
/// does.
pub trait Access {
    /// DESCRIBE on the topic. Without it the topic does not exist for this client.
    fn may_describe_topic(&self, _topic: &str) -> bool {
        true
    }

    /// CREATE on the topic or on the cluster.
    fn may_create_topic(&self, _topic: &str) -> bool {
        true
    }

    /// DESCRIBE on the cluster.
    fn may_describe_cluster(&self) -> bool {
        true
    }

    /// What the client may do with the topic; bits of [`operations`].
    fn topic_operations(&self, _topic: &str) -> i32 {
        operations::TOPIC
    }

    /// What the client may do with the cluster; bits of [`operations`].
    fn cluster_operations(&self) -> i32 {
        operations::CLUSTER
    }
}

/// No authorizer: everything is allowed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Everything;

impl Access for Everything {}
