//! Connections to a destination. Each attempt has a deadline.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::{TcpStream, ToSocketAddrs as _, UdpSocket};
use std::path::PathBuf;
use std::time::Duration;

use drumfire_authorities::{Authorities, told};
use drumfire_platform::causes;
use drumfire_platform::files::claim;
use thiserror::Error;
use ureq::Agent;

/// The timeout of an attempt.
const ATTEMPT: Duration = Duration::from_secs(3);
/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(1);

const AUTHORIZATION: &str = "Authorization";

/// Why a batch was not delivered.
#[derive(Debug, Error)]
pub enum TransportError {
    /// The destination cannot be reached or is too slow; a later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// The destination refuses this batch; another attempt would also fail.
    #[error("refused with status {0}: {1}")]
    Refused(u16, String),
}

impl TransportError {
    /// Whether a later attempt may succeed.
    pub fn is_temporary(&self) -> bool {
        matches!(self, TransportError::Unreachable(_))
    }
}

/// A connection to a destination.
pub enum Transport {
    /// HTTP POST of each batch.
    Http {
        /// The URL with its query.
        url: String,
        /// Header fields of every request.
        headers: Vec<(&'static str, String)>,
        /// Holds the connection pool.
        agent: Agent,
    },
    /// One TCP connection, reopened after an error.
    Tcp {
        /// `host:port`.
        address: String,
        /// The connection, while it is open.
        stream: Option<TcpStream>,
    },
    /// One UDP datagram for each batch.
    Udp {
        /// `host:port`.
        address: String,
        /// The socket.
        socket: Option<UdpSocket>,
    },
    /// A file to which batches are appended.
    File {
        /// The file.
        path: PathBuf,
        /// The open file.
        file: Option<File>,
    },
}

impl Transport {
    /// HTTP POST to a URL. User and password in the URL are sent as HTTP Basic unless a header overrides them. A server with TLS
    /// needs a certificate that these authorities vouch for.
    pub fn http(
        url: String,
        mut headers: Vec<(&'static str, String)>,
        authorities: &Authorities,
    ) -> Transport {
        let (url, credentials) = drumfire_authorities::without_credentials(&url);
        let is_known = headers.iter().any(|(name, _)| *name == AUTHORIZATION);
        if let Some(credentials) = credentials.filter(|_| !is_known) {
            headers.push((AUTHORIZATION, credentials));
        }
        let mut config = Agent::config_builder()
            .timeout_global(Some(ATTEMPT))
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            .http_status_as_error(false)
            .user_agent(concat!("drumfire/", env!("CARGO_PKG_VERSION")));
        if drumfire_authorities::is_tls(&url) {
            config = config.tls_config(authorities.tls());
        }
        Transport::Http {
            url,
            headers,
            agent: config.build().into(),
        }
    }

    /// TCP to `host:port`.
    pub fn tcp(address: String) -> Transport {
        Transport::Tcp {
            address,
            stream: None,
        }
    }

    /// UDP to `host:port`.
    pub fn udp(address: String) -> Transport {
        Transport::Udp {
            address,
            socket: None,
        }
    }

    /// A file, which is truncated first.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn file(path: PathBuf) -> std::io::Result<Transport> {
        let file = OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(false)
            .open(&path)?;
        claim(&file)?;
        if file.metadata()?.is_file() {
            file.set_len(0)?;
        }
        Ok(Transport::File {
            path,
            file: Some(file),
        })
    }

    /// Delivers a batch.
    ///
    /// # Errors
    /// The destination did not accept the batch in time.
    pub fn send(&mut self, batch: &[u8]) -> Result<(), TransportError> {
        match self {
            Transport::Http {
                url,
                headers,
                agent,
            } => post(agent, url, headers, batch),
            Transport::Tcp { address, stream } => {
                let sent = write_tcp(address, stream, batch);
                if sent.is_err() {
                    *stream = None;
                }
                sent.map_err(unreachable)
            }
            Transport::Udp { address, socket } => {
                let sent = send_udp(address, socket, batch);
                if sent.is_err() {
                    *socket = None;
                }
                sent.map_err(unreachable)
            }
            Transport::File { path, file } => {
                let sent = append(path, file, batch);
                sent.map_err(unreachable)
            }
        }
    }
}

fn unreachable(error: std::io::Error) -> TransportError {
    TransportError::Unreachable(causes::cause(&error))
}

fn post(
    agent: &Agent,
    url: &str,
    headers: &[(&'static str, String)],
    batch: &[u8],
) -> Result<(), TransportError> {
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut response = request
        .send(batch)
        .map_err(|error| TransportError::Unreachable(told(&error)))?;
    let status = response.status().as_u16();
    if response.status().is_success() {
        return Ok(());
    }
    let body = response
        .body_mut()
        .with_config()
        .limit(2_000)
        .read_to_string()
        .unwrap_or_default();
    let body: String = body.chars().filter(|c| !c.is_control()).take(200).collect();
    match status {
        408 | 425 | 429 | 500.. => Err(TransportError::Unreachable(format!(
            "status {status}: {body}"
        ))),
        _ => Err(TransportError::Refused(status, body)),
    }
}

fn write_tcp(address: &str, stream: &mut Option<TcpStream>, batch: &[u8]) -> std::io::Result<()> {
    let stream = match stream {
        Some(stream) => stream,
        None => {
            let target = address.to_socket_addrs()?.next();
            let target = target.ok_or_else(|| {
                std::io::Error::other(format!("`{address}` resolves to no address"))
            })?;
            let new = TcpStream::connect_timeout(&target, CONNECT)?;
            new.set_write_timeout(Some(ATTEMPT))?;
            new.set_nodelay(true)?;
            stream.insert(new)
        }
    };
    stream.write_all(batch)
}

fn send_udp(address: &str, socket: &mut Option<UdpSocket>, batch: &[u8]) -> std::io::Result<()> {
    let socket = match socket {
        Some(socket) => socket,
        None => {
            let target = address.to_socket_addrs()?.next();
            let target = target.ok_or_else(|| {
                std::io::Error::other(format!("`{address}` resolves to no address"))
            })?;
            let own = if target.is_ipv4() {
                "0.0.0.0:0"
            } else {
                "[::]:0"
            };
            let new = UdpSocket::bind(own)?;
            new.connect(target)?;
            socket.insert(new)
        }
    };
    socket.send(batch).map(|_| ())
}

fn append(path: &PathBuf, file: &mut Option<File>, batch: &[u8]) -> std::io::Result<()> {
    let file = match file {
        Some(file) => file,
        None => file.insert(OpenOptions::new().create(true).append(true).open(path)?),
    };
    file.write_all(batch)
}
