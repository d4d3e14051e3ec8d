//! Configurations: what a topic can have, what is in force, and how it is changed.

mod alter;
mod change;
mod describe;
mod effective;
mod groups;
mod metrics;
mod table;
mod validate;
mod value;

pub(crate) use alter::{alter, alter_legacy};
pub(crate) use change::ConfigChange;
pub use describe::{DescribeContext, describe};
pub(crate) use effective::static_min_insync_replicas;
pub use effective::{ConfigSource, Layer, TopicConfigs};
pub use table::{
    ConfigKey, MIN_INSYNC_REPLICAS, Synonym, UNCLEAN_LEADER_ELECTION, Unit, topic_config,
    topic_configs,
};
pub(crate) use validate::{Existence, check};
pub use value::{Accepts, ConfigType, InvalidValue};
