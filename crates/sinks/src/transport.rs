//! Connections to a destination. Each attempt has a deadline.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use drumfire_authorities::{Authorities, told};
use drumfire_platform::causes;
use drumfire_platform::files::claim;
use thiserror::Error;
use ureq::Agent;

/// The timeout of an attempt.
const ATTEMPT: Duration = Duration::from_secs(3);
/// How long the end waits for the destination to close a TCP connection.
const LAST_WORD: Duration = Duration::from_secs(1);
/// How long the refusal of a batch may take after the destination has closed the connection.
const REFUSAL: Duration = Duration::from_millis(200);
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

/// The state of a batch after it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receipt {
    /// The destination has it, or the protocol does not tell.
    Delivered,
    /// Only [`Transport::confirm`] or [`Transport::close`] tells whether it has arrived.
    Sent,
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
    pub fn send(&mut self, batch: &[u8]) -> Result<Receipt, TransportError> {
        match self {
            Transport::Http {
                url,
                headers,
                agent,
            } => post(agent, url, headers, batch).map(|()| Receipt::Delivered),
            Transport::Tcp { address, stream } => {
                let sent = write_tcp(address, stream, batch);
                if sent.is_err() {
                    *stream = None;
                }
                sent.map(|()| Receipt::Sent).map_err(unreachable)
            }
            Transport::Udp { address, socket } => {
                let sent = send_udp(address, socket, batch);
                if sent.is_err() {
                    *socket = None;
                }
                sent.map(|()| Receipt::Delivered).map_err(unreachable)
            }
            Transport::File { path, file } => {
                let sent = append(path, file, batch);
                sent.map(|()| Receipt::Delivered).map_err(unreachable)
            }
        }
    }

    /// Checks whether all batches that were sent some time ago have arrived.
    ///
    /// # Errors
    /// The destination has closed the connection before it took them.
    pub fn confirm(&mut self) -> Result<(), TransportError> {
        let Transport::Tcp { stream, .. } = self else {
            return Ok(());
        };
        let Some(open) = stream else { return Ok(()) };
        let checked = is_open(open);
        if !matches!(checked, Ok(true)) {
            *stream = None;
        }
        checked.map(drop).map_err(unreachable)
    }

    /// Ends the connection, and waits for a moment until the destination has taken everything.
    ///
    /// # Errors
    /// The destination has closed the connection before it took everything.
    pub fn close(&mut self) -> Result<(), TransportError> {
        match self {
            Transport::Tcp { stream, .. } => stream
                .take()
                .map_or(Ok(()), |open| end_tcp(&open))
                .map_err(unreachable),
            _ => Ok(()),
        }
    }

    /// The destination for messages, without user, password and query.
    pub fn address(&self) -> String {
        match self {
            Transport::Http { url, .. } => url.split(['?', '#']).next().unwrap_or(url).to_owned(),
            Transport::Tcp { address, .. } | Transport::Udp { address, .. } => address.clone(),
            Transport::File { path, .. } => path.display().to_string(),
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
            let target = address.to_socket_addrs()?.next().ok_or_else(|| {
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

/// Whether the destination keeps a connection open. The bytes that it sends are ignored.
///
/// # Errors
/// It has closed the connection although it was sent more.
fn is_open(mut stream: &TcpStream) -> std::io::Result<bool> {
    stream.set_nonblocking(true)?;
    let mut ignored = [0; 512];
    let is_open = loop {
        match stream.read(&mut ignored) {
            Ok(0) => break false,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break true,
            Err(error) => return Err(error),
        }
    };
    stream.set_nonblocking(false)?;
    // If it closed its side before the last batch, its system refuses that batch, or is about to.
    let until = Instant::now() + REFUSAL;
    loop {
        if stream.take_error()?.is_some() {
            return Err(ErrorKind::ConnectionReset.into());
        }
        if is_open || Instant::now() > until {
            return Ok(is_open);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn end_tcp(mut stream: &TcpStream) -> std::io::Result<()> {
    if !is_open(stream)? {
        return Ok(());
    }
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(LAST_WORD))?;
    let mut ignored = [0; 512];
    loop {
        match stream.read(&mut ignored) {
            Ok(0) => break,
            Ok(_) => {}
            // It takes its time to close the connection, or keeps it open.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                break;
            }
            Err(error) => return Err(error),
        }
    }
    match stream.take_error()? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

fn send_udp(address: &str, socket: &mut Option<UdpSocket>, batch: &[u8]) -> std::io::Result<()> {
    let socket = match socket {
        Some(socket) => socket,
        None => {
            let target = address.to_socket_addrs()?.next().ok_or_else(|| {
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
