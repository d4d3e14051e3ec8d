//! Kafka's binary format: RPC messages, metadata and control records, record batches, snapshots.
//!
//! Every message is a plain struct with public fields in wire order, and every version of it that
//! Kafka 4.2 speaks is read and written byte by byte as Kafka does. This crate knows bytes and nothing
//! else: no socket, no file, no clock, and not what a message is good for.
//!
//! - [`codec`]: how values become bytes and back, and the derive macros, which are there for the
//!   records of other domains as well;
//! - [`messages`]: the requests and responses of 50 APIs, their headers and frames;
//! - [`records`]: the 26 metadata records and their frame;
//! - [`control`]: the control records of raft;
//! - [`batch`]: record batches, version 2;
//! - [`snapshot`]: snapshot files.
//!
//! Bytes from outside never make it panic, and never allocate more than eight times their size (and
//! 16 KiB). What is not known survives: error codes, values outside an enumeration, tagged fields.
//!
//! # Example
//!
//! A node asks another one which versions it speaks, and reads the answer:
//!
//! ```
//! use quorate_protocol::messages::{
//!     ApiKey, ApiVersionsRequest, ApiVersionsResponse, RequestHeader, api_versions::ApiVersion,
//!     decode_response, encode_request, encode_response,
//! };
//! use quorate_protocol::types::ErrorCode;
//!
//! let header = RequestHeader {
//!     api_key: ApiKey::ApiVersions.code(),
//!     api_version: 4,
//!     correlation_id: 1,
//!     client_id: Some("raft-client-1".into()),
//!     ..Default::default()
//! };
//! let body = ApiVersionsRequest {
//!     client_software_name: "quorate".into(),
//!     client_software_version: "0.1.0".into(),
//!     ..Default::default()
//! };
//! let frame = encode_request(&header, &body)?;
//! assert_eq!(frame[..8], [0, 18, 0, 4, 0, 0, 0, 1]);
//!
//! let vote = ApiVersion { api_key: 52, min_version: 0, max_version: 2, ..Default::default() };
//! let answer = ApiVersionsResponse { api_keys: vec![vote], ..Default::default() };
//! let frame = encode_response(ApiKey::ApiVersions, 4, 1, &answer)?;
//! let (header, read) = decode_response::<ApiVersionsResponse>(4, &frame)?;
//! assert_eq!((header.correlation_id, read.error_code), (1, ErrorCode::None));
//! assert_eq!(read, answer);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Defaults
//!
//! `Default` gives every field the default that Kafka gives it, with one exception: a nullable string
//! or byte string is null, where Kafka has some of them empty. Nullable arrays are as in Kafka, mostly
//! empty.
#![warn(missing_docs)]
#![forbid(unsafe_code)]

// The derive macros name this crate by its outer name, also inside it.
extern crate self as quorate_protocol;

pub mod batch;
pub mod codec;
pub mod control;
pub mod messages;
pub mod records;
pub mod snapshot;

mod principal;
mod quorum_state;

pub use principal::DefaultPrincipalData;
pub use quorum_state::{QuorumStateData, QuorumStateVoter};

/// The vocabulary that messages are written in: [`quorate_types`].
pub use quorate_types as types;
