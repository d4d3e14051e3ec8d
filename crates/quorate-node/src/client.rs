//! A small blocking client for tools and tests: one connection, one call at a time.
//!
//! It speaks to brokers and controllers alike and picks the newest version that both sides know.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use bytes::Bytes;
use quorate_protocol::messages::{ApiKey, ApiVersionsRequest, Request, RequestHeader, Response};
use quorate_server::frames;
use quorate_types::{ErrorCode, VersionRange};

/// Answers larger than this are not taken.
const ANSWER_BYTES_MAX: usize = 256 * 1024 * 1024;

/// So much of an answer is made room for at first.
const PIECE: usize = 32 * 1024;

/// Why a call of a [`Client`] came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The connection could not be made, broke, or gave no answer in time.
    #[error("{address}: {source}")]
    Connection {
        /// The server.
        address: String,
        /// What happened.
        source: io::Error,
    },
    /// The server and this client have no version of the API in common.
    #[error("{address} speaks no version of {api} that is known here")]
    Unsupported {
        /// The server.
        address: String,
        /// The API.
        api: ApiKey,
    },
    /// The answer made no sense.
    #[error("{address} answered {api} with something that cannot be read: {reason}")]
    Malformed {
        /// The server.
        address: String,
        /// The API.
        api: ApiKey,
        /// What is wrong with it.
        reason: String,
    },
}

/// A connection to a broker or a controller.
#[derive(Debug)]
pub struct Client {
    address: String,
    stream: TcpStream,
    timeout: Duration,
    correlation: i32,
    versions: BTreeMap<i16, VersionRange>,
}

impl Client {
    /// Connects and asks what the server speaks. No answer takes longer than `timeout`.
    ///
    /// # Errors
    /// If the server cannot be reached or does not answer ApiVersions.
    pub fn connect(address: &str, timeout: Duration) -> Result<Client, ClientError> {
        let failed = |source| ClientError::Connection {
            address: address.to_owned(),
            source,
        };
        let mut refused = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        let mut connected = None;
        for target in address.to_socket_addrs().map_err(failed)? {
            match TcpStream::connect_timeout(&target, timeout) {
                Ok(stream) => {
                    connected = Some(stream);
                    break;
                }
                Err(error) => refused = error,
            }
        }
        let Some(stream) = connected else {
            return Err(failed(refused));
        };
        stream.set_nodelay(true).map_err(failed)?;
        stream.set_write_timeout(Some(timeout)).map_err(failed)?;
        let mut client = Client {
            address: address.to_owned(),
            stream,
            timeout,
            correlation: 0,
            versions: BTreeMap::from([(18, VersionRange { min: 0, max: 3 })]),
        };
        client.greet()?;
        Ok(client)
    }

    /// The versions of an API that the server offers.
    pub fn versions(&self, api: ApiKey) -> Option<VersionRange> {
        self.versions.get(&api.code()).copied()
    }

    /// Sends a request in the newest common version and waits for its answer.
    ///
    /// # Errors
    /// If there is no common version, no answer, or none that can be read. After an error the
    /// connection is of no use any more.
    pub fn call(&mut self, request: &Request) -> Result<Response, ClientError> {
        let api = request.key();
        let version = api
            .versions()
            .zip(self.versions(api))
            .map(|(ours, theirs)| (ours.min.max(theirs.min), ours.max.min(theirs.max)))
            .filter(|(min, max)| min <= max)
            .map(|(_, max)| max);
        let Some(version) = version else {
            return Err(ClientError::Unsupported {
                address: self.address.clone(),
                api,
            });
        };
        self.correlation = self.correlation.wrapping_add(1);
        let header = RequestHeader {
            api_key: api.code(),
            api_version: version,
            correlation_id: self.correlation,
            client_id: Some("quorate".into()),
            ..Default::default()
        };
        let frame = frames::encode_request(&header, request)
            .map_err(|error| self.malformed(api, error.to_string()))?;
        let answer = self
            .exchange(&frame)
            .map_err(|source| ClientError::Connection {
                address: self.address.clone(),
                source,
            })?;
        frames::decode_response(api, version, self.correlation, &answer)
            .map_err(|error| self.malformed(api, error.to_string()))
    }

    fn greet(&mut self) -> Result<(), ClientError> {
        let request = Request::from(ApiVersionsRequest {
            client_software_name: "quorate".into(),
            client_software_version: env!("CARGO_PKG_VERSION").into(),
            ..Default::default()
        });
        match self.call(&request)? {
            Response::ApiVersions(answer) if answer.error_code == ErrorCode::None => {
                self.versions = answer
                    .api_keys
                    .iter()
                    .map(|api| {
                        let range = VersionRange {
                            min: api.min_version,
                            max: api.max_version,
                        };
                        (api.api_key, range)
                    })
                    .collect();
                Ok(())
            }
            other => Err(self.malformed(ApiKey::ApiVersions, format!("{other:?}"))),
        }
    }

    #[allow(clippy::disallowed_methods)]
    fn exchange(&mut self, frame: &[u8]) -> io::Result<Bytes> {
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        let mut message = Vec::with_capacity(4 + frame.len());
        message.extend_from_slice(&length.to_be_bytes());
        message.extend_from_slice(frame);
        let by = Instant::now() + self.timeout;
        self.stream.write_all(&message)?;
        let mut prefix = [0; 4];
        self.fill(&mut prefix, by)?;
        let length = usize::try_from(i32::from_be_bytes(prefix)).unwrap_or(usize::MAX);
        if length > ANSWER_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "an impossible length",
            ));
        }
        // It grows with what arrives, not with what was announced.
        let mut answer = Vec::new();
        while answer.len() < length {
            let filled = answer.len();
            answer.resize(length.min(filled.max(PIECE) * 2), 0);
            self.fill(&mut answer[filled..], by)?;
        }
        Ok(answer.into())
    }

    /// Reads until the buffer is full or the time is over, however slowly the bytes come.
    #[allow(clippy::disallowed_methods)]
    fn fill(&mut self, into: &mut [u8], by: Instant) -> io::Result<()> {
        let mut filled = 0;
        while filled < into.len() {
            let left = by.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(&mut into[filled..]) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn malformed(&self, api: ApiKey, reason: String) -> ClientError {
        ClientError::Malformed {
            address: self.address.clone(),
            api,
            reason,
        }
    }
}
