//! Downloads over HTTP.

use std::io::ErrorKind;
use std::sync::OnceLock;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_authorities::{Authorities, told};
use ureq::{Agent, ProxyProtocol, Timeout};

use crate::settings::{Credentials, Proxy};

/// The timeout for connecting.
const CONNECT: Duration = Duration::from_secs(10);
/// The timeout for a whole file.
const FILE: Duration = Duration::from_secs(600);
/// The timeout for the start of a response.
const ANSWER: Duration = Duration::from_secs(60);
/// The largest jar, in bytes.
const MOST_JAR_BYTES: u64 = 1 << 30;
/// The largest POM, list of versions or checksum, in bytes.
const MOST_TEXT_BYTES: u64 = 8 << 20;
/// How often a download is tried when the server or the network fails.
const TRIES: u32 = 3;

/// The response of a repository.
pub(crate) enum RepositoryResponse {
    /// The content.
    Found(Vec<u8>),
    /// The repository has no such file.
    Absent,
}

/// HTTP connections, opened on first use.
pub(crate) struct Downloads {
    proxy: Option<Proxy>,
    /// Trusted in addition to the system's.
    pub authorities: Authorities,
    agent: OnceLock<Agent>,
}

impl Downloads {
    pub fn new(proxy: Option<Proxy>) -> Downloads {
        Downloads {
            proxy,
            authorities: Authorities::default(),
            agent: OnceLock::new(),
        }
    }

    /// Downloads a file, and retries after temporary failures.
    pub fn get(
        &self,
        url: &str,
        credentials: Option<&Credentials>,
    ) -> Result<RepositoryResponse, DownloadFailure> {
        let agent = self
            .agent
            .get_or_init(|| agent(self.proxy.as_ref(), &self.authorities));
        let mut tries = 1;
        loop {
            match once(agent, url, credentials) {
                Err(DownloadFailure { why, may_pass }) => {
                    if !may_pass || tries == TRIES {
                        return Err(DownloadFailure { why, may_pass });
                    }
                    std::thread::sleep(Duration::from_millis(300) * tries);
                    tries += 1;
                }
                Ok(answer) => return Ok(answer),
            }
        }
    }
}

/// Why a file could not be read from a repository.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct DownloadFailure {
    pub why: String,
    /// Whether another attempt may succeed.
    pub may_pass: bool,
}

fn once(
    agent: &Agent,
    url: &str,
    credentials: Option<&Credentials>,
) -> Result<RepositoryResponse, DownloadFailure> {
    let mut request = agent.get(url);
    if let Some(Credentials { user, password }) = credentials {
        let pair = STANDARD.encode(format!("{user}:{password}"));
        request = request.header("Authorization", format!("Basic {pair}"));
    }
    let mut answer = request.call().map_err(failed)?;
    match answer.status().as_u16() {
        200 => {
            let most = match url.ends_with(".jar") {
                true => MOST_JAR_BYTES,
                false => MOST_TEXT_BYTES,
            };
            let body = answer.body_mut().with_config().limit(most);
            body.read_to_vec()
                .map(RepositoryResponse::Found)
                .map_err(failed)
        }
        404 | 410 => Ok(RepositoryResponse::Absent),
        status => Err(DownloadFailure {
            why: match status {
                401 | 403 => format!("status {status}: check the credentials"),
                _ => format!("status {status}"),
            },
            may_pass: matches!(status, 408 | 429 | 500..),
        }),
    }
}

/// A server that cannot be reached is not tried again: with each file the user would wait for it anew.
fn failed(error: ureq::Error) -> DownloadFailure {
    DownloadFailure {
        may_pass: may_pass(&error),
        why: told(&error),
    }
}

/// Whether the next attempt may succeed: the server was reached, and the exchange broke off.
fn may_pass(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::UnexpectedEof
        ),
        ureq::Error::Timeout(timeout) => !matches!(timeout, Timeout::Connect | Timeout::Resolve),
        ureq::Error::Protocol(_) => true,
        _ => false,
    }
}

fn agent(proxy: Option<&Proxy>, authorities: &Authorities) -> Agent {
    let mut config = Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(ANSWER))
        .timeout_global(Some(FILE))
        .http_status_as_error(false)
        .user_agent(concat!("drumfire/", env!("CARGO_PKG_VERSION")))
        .tls_config(authorities.tls());
    // Without a proxy in the settings, `HTTPS_PROXY` and similar variables apply.
    if let Some(proxy) = proxy.and_then(through) {
        config = config.proxy(Some(proxy));
    }
    config.build().into()
}

fn through(proxy: &Proxy) -> Option<ureq::Proxy> {
    let mut builder = ureq::Proxy::builder(ProxyProtocol::Http)
        .host(&proxy.host)
        .port(proxy.port);
    if let Some(Credentials { user, password }) = &proxy.credentials {
        builder = builder.username(user).password(password);
    }
    for host in &proxy.direct {
        builder = builder.no_proxy(host);
    }
    builder.build().ok()
}
