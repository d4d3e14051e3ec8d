//! Every message by name, and the recorded vectors.
#![allow(dead_code)] // each test target uses its part

use bytes::Bytes;
use quorate_protocol::codec::{DecodeError, EncodeError, Message, Reader};
use quorate_protocol::control::*;
use quorate_protocol::messages::*;
use quorate_protocol::records::*;
use quorate_protocol::types::VersionRange;
use quorate_protocol::{DefaultPrincipalData, QuorumStateData};
use serde_json::Value;

/// What a message does, whatever its type.
#[derive(Clone, Copy)]
pub struct Codec {
    pub name: &'static str,
    pub versions: VersionRange,
    pub flexible_from: Option<i16>,
    pub read: fn(i16, &Bytes) -> Result<Decoded, DecodeError>,
    pub default: fn() -> Decoded,
    /// Reads and drops, and does nothing besides.
    pub raw: fn(i16, &Bytes) -> Result<(), DecodeError>,
}

/// A message that was read, with its type forgotten.
pub struct Decoded {
    pub encode: Box<dyn Fn(i16) -> Result<Bytes, EncodeError>>,
    pub size: Box<dyn Fn(i16) -> Result<usize, EncodeError>>,
    /// Its fields as text; NaN equals NaN there.
    pub debug: String,
    /// How many bytes of the frame it did not take.
    pub left: usize,
}

impl Codec {
    fn of<M: Message + 'static>() -> Codec {
        Codec {
            name: M::NAME,
            versions: M::VERSIONS,
            flexible_from: M::FLEXIBLE_FROM,
            read: |version, bytes| {
                let mut reader = Reader::of(bytes);
                let message = M::decode(version, &mut reader)?;
                Ok(decoded(message, reader.remaining()))
            },
            default: || decoded(M::default(), 0),
            raw: |version, bytes| M::decode(version, &mut Reader::of(bytes)).map(drop),
        }
    }

    pub fn flexible(&self, version: i16) -> bool {
        self.flexible_from.is_some_and(|first| version >= first)
    }
}

fn decoded<M: Message + 'static>(message: M, left: usize) -> Decoded {
    let debug = format!("{message:?}");
    let other = message.clone();
    Decoded {
        encode: Box::new(move |version| message.to_bytes(version)),
        size: Box::new(move |version| other.size(version)),
        debug,
        left,
    }
}

macro_rules! codecs {
    ($($message:ident,)*) => {
        /// Every message there is.
        pub fn codecs() -> Vec<Codec> {
            vec![$(Codec::of::<$message>(),)*]
        }
    };
}

#[rustfmt::skip]
codecs! {
    AddRaftVoterRequest, AddRaftVoterResponse, AllocateProducerIdsRequest,
    AllocateProducerIdsResponse, AlterClientQuotasRequest, AlterClientQuotasResponse,
    AlterConfigsRequest, AlterConfigsResponse, AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse, AlterPartitionRequest, AlterPartitionResponse,
    AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, ApiVersionsRequest,
    ApiVersionsResponse, AssignReplicasToDirsRequest, AssignReplicasToDirsResponse,
    BeginQuorumEpochRequest, BeginQuorumEpochResponse, BrokerHeartbeatRequest,
    BrokerHeartbeatResponse, BrokerRegistrationRequest, BrokerRegistrationResponse,
    ControllerRegistrationRequest, ControllerRegistrationResponse, CreateAclsRequest,
    CreateAclsResponse, CreateDelegationTokenRequest, CreateDelegationTokenResponse,
    CreatePartitionsRequest, CreatePartitionsResponse, CreateTopicsRequest,
    CreateTopicsResponse, DeleteAclsRequest, DeleteAclsResponse, DeleteTopicsRequest,
    DeleteTopicsResponse, DescribeAclsRequest, DescribeAclsResponse,
    DescribeClientQuotasRequest, DescribeClientQuotasResponse, DescribeClusterRequest,
    DescribeClusterResponse, DescribeConfigsRequest, DescribeConfigsResponse,
    DescribeDelegationTokenRequest, DescribeDelegationTokenResponse, DescribeLogDirsRequest,
    DescribeLogDirsResponse, DescribeQuorumRequest, DescribeQuorumResponse,
    DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse,
    DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse,
    ElectLeadersRequest, ElectLeadersResponse, EndQuorumEpochRequest,
    EndQuorumEpochResponse, EnvelopeRequest, EnvelopeResponse, ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse, FetchRequest, FetchResponse, FetchSnapshotRequest,
    FetchSnapshotResponse, FindCoordinatorRequest, FindCoordinatorResponse,
    IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
    ListConfigResourcesRequest, ListConfigResourcesResponse, ListOffsetsRequest,
    ListOffsetsResponse, ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse, MetadataRequest, MetadataResponse,
    OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, ProduceRequest,
    ProduceResponse, RemoveRaftVoterRequest, RemoveRaftVoterResponse,
    RenewDelegationTokenRequest, RenewDelegationTokenResponse, SaslAuthenticateRequest,
    SaslAuthenticateResponse, SaslHandshakeRequest, SaslHandshakeResponse,
    UnregisterBrokerRequest, UnregisterBrokerResponse, UpdateFeaturesRequest,
    UpdateFeaturesResponse, UpdateRaftVoterRequest, UpdateRaftVoterResponse, VoteRequest,
    VoteResponse,
    AbortTransactionRecord, AccessControlEntryRecord, BeginTransactionRecord,
    BrokerRegistrationChangeRecord, ClearElrRecord, ClientQuotaRecord, ConfigRecord,
    DelegationTokenRecord, EndTransactionRecord, FeatureLevelRecord, FenceBrokerRecord,
    NoOpRecord, PartitionChangeRecord, PartitionRecord, ProducerIdsRecord,
    RegisterBrokerRecord, RegisterControllerRecord, RemoveAccessControlEntryRecord,
    RemoveDelegationTokenRecord, RemoveTopicRecord, RemoveUserScramCredentialRecord,
    TopicRecord, UnfenceBrokerRecord, UnregisterBrokerRecord, UserScramCredentialRecord,
    ZkMigrationStateRecord,
    DefaultPrincipalData, KRaftVersionRecord, LeaderChangeMessage, QuorumStateData,
    RequestHeader, ResponseHeader, SnapshotFooterRecord, SnapshotHeaderRecord, VotersRecord,
}

/// One recorded message.
pub struct Vector {
    pub codec: Codec,
    pub version: i16,
    pub bytes: Bytes,
    /// Where it stands, for messages.
    pub place: String,
}

/// The vectors of one file's text; a line that is none is an error.
pub fn parse(file: &str, text: &str) -> Vec<Result<Vector, String>> {
    let codecs = codecs();
    let lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            let place = format!("{file}:{}", index + 1);
            vector(&codecs, line, &place).map_err(|problem| format!("{place}: {problem}"))
        })
        .collect()
}

fn vector(codecs: &[Codec], line: &str, place: &str) -> Result<Vector, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let name = value["message"].as_str().ok_or("no `message`")?;
    let codec = codecs.iter().find(|codec| codec.name == name);
    let version = value["version"].as_i64().ok_or("no `version`")?;
    let hex = value["hex"].as_str().ok_or("no `hex`")?;
    let codec = *codec.ok_or_else(|| format!("no message is called {name}"))?;
    let version = i16::try_from(version).map_err(|error| error.to_string())?;
    if let Some(flexible) = value["flexible"].as_bool()
        && flexible != codec.flexible(version)
    {
        return Err(format!("{name} {version}: flexible should be {flexible}"));
    }
    Ok(Vector {
        codec,
        version,
        bytes: unhex(hex)?,
        place: format!("{place}: {name} {version}"),
    })
}

/// The bytes that hexadecimal digits stand for.
pub fn unhex(hex: &str) -> Result<Bytes, String> {
    if !hex.is_ascii() || !hex.len().is_multiple_of(2) {
        return Err("`hex` is not hexadecimal".into());
    }
    (0..hex.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).map_err(|error| error.to_string()))
        .collect()
}

/// The crate's own vectors.
pub fn own_vectors() -> Vec<Vector> {
    own_files()
        .iter()
        .flat_map(|(name, text)| parse(name, text))
        .map(|vector| vector.unwrap_or_else(|problem| panic!("{problem}")))
        .collect()
}

/// The crate's own files of vectors: name and text.
pub fn own_files() -> [(&'static str, &'static str); 4] {
    macro_rules! file {
        ($name:literal) => {
            ($name, include_str!(concat!("../data/", $name)))
        };
    }
    [
        file!("metadata-records.jsonl"),
        file!("other.jsonl"),
        file!("requests.jsonl"),
        file!("responses.jsonl"),
    ]
}

/// Reads, writes again and compares bytes and size.
pub fn round_trip(vector: &Vector) -> Result<(), String> {
    let Vector {
        codec,
        version,
        bytes,
        ..
    } = vector;
    let message = (codec.read)(*version, bytes).map_err(|error| error.to_string())?;
    if message.left > 0 {
        return Err(format!("{} bytes are left over", message.left));
    }
    let written = (message.encode)(*version).map_err(|error| error.to_string())?;
    if written != bytes {
        return Err(format!("written as {written:02x?}\n  {}", message.debug));
    }
    match (message.size)(*version) {
        Ok(size) if size == bytes.len() => Ok(()),
        size => Err(format!("size is {size:?}, not {}", bytes.len())),
    }
}
