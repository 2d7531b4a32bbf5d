//! Records a visit to a site as HAR, which the importer reads. There are two ways.
//!
//! [`record`] starts Chromium with a profile of its own and listens over the DevTools protocol. The protocol runs over a pipe
//! (`--remote-debugging-pipe`), so nothing listens on a port, and neither a proxy nor a certificate is needed. Bodies, HTTP/2
//! and pages are recorded as the browser saw them.
//!
//! [`Proxy`] stands between any client and the site. It decrypts HTTPS to the recorded domains with certificates of its own
//! authority, which the client must trust.
//!
//! Only the command line uses this crate.

#![warn(missing_docs)]

mod authority;
mod bar;
mod browser;
mod proxy;
mod seen;
mod session;
mod tape;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Receiver;

use drumfire_platform::causes::{cause, unwritable};
use serde_json::Value;

pub use authority::{ANY_DOMAIN, Certificate, remove as remove_authority, shown as authority};
pub use browser::installed_browser;
pub use proxy::{Proxy, ProxyTraffic};
pub use seen::{Order, Seen, SeenExchange, Stage};

/// Why a recording failed.
#[derive(Debug)]
pub enum RecordError {
    /// There is no browser on the path.
    NoBrowser,
    /// The browser does not start.
    Browser(PathBuf, std::io::Error),
    /// The browser opened no page.
    NoPage,
    /// A script threw an exception: its number, from 1, and the exception.
    Script(usize, String),
    /// The proxy cannot listen on the address.
    Address(SocketAddr, std::io::Error),
    /// The authority's files cannot be read or written.
    Authority(PathBuf, std::io::Error),
    /// A domain is not a valid name, or no key can be generated for a certificate.
    Certificate(rcgen::Error),
    /// The trusted certificates of this machine cannot be used.
    Trust(String),
    /// The system refuses a file, a thread or a socket.
    System(std::io::Error),
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordError::NoBrowser => f.write_str(
                "there is no Chromium or Chrome on the path: name one with `--browser-path`",
            ),
            RecordError::Browser(program, error) => {
                write!(
                    f,
                    "`{}` does not start: {}",
                    program.display(),
                    cause(error)
                )
            }
            RecordError::NoPage => f.write_str("the browser opened no page"),
            RecordError::Script(number, thrown) => {
                write!(f, "script {number} of `--do` failed: {thrown}")
            }
            RecordError::Address(address, error) => write!(f, "`{address}`: {}", cause(error)),
            RecordError::Authority(folder, error) => f.write_str(&unwritable(folder, error)),
            RecordError::Certificate(error) => error.fmt(f),
            RecordError::Trust(why) => f.write_str(why),
            RecordError::System(error) => f.write_str(&cause(error)),
        }
    }
}

impl std::error::Error for RecordError {}

impl From<std::io::Error> for RecordError {
    fn from(error: std::io::Error) -> RecordError {
        RecordError::System(error)
    }
}

/// The scope of a recording.
#[derive(Debug, Clone, Default)]
pub struct Visit {
    /// The first page.
    pub url: String,
    /// The browser's program; `None` for the first Chromium or Chrome on the path.
    pub browser: Option<PathBuf>,
    /// Whether the browser runs without a window.
    pub headless: bool,
    /// Scripts to run in the page, one after the other, each when the network is idle.
    pub actions: Vec<String>,
}

/// Records until the browser is closed, `stop` is set, or, without a window, the last script has taken effect. `seen` receives the
/// requests as they come.
///
/// # Errors
/// There is no browser, it does not start, or it opens no page.
pub fn record(
    visit: &Visit,
    stop: &AtomicBool,
    orders: &Receiver<Order>,
    seen: &mut dyn FnMut(Seen),
) -> Result<Value, RecordError> {
    let browser = browser::start(visit)?;
    session::Session::new(browser, visit).run(stop, orders, seen)
}
