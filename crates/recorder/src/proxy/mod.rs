//! The recording proxy. It handles HTTP and CONNECT, and has certificates from its own authority for the recorded domains.
//!
//! It speaks HTTP/1.1 to the client and to the server. Bodies are streamed. Connections to other domains pass through
//! undecrypted.

mod forward;
mod request_line;
mod upstream;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Builder;

use crate::RecordError;
use crate::authority::{Authority, Certificate};
use crate::seen::{Order, Seen};
use crate::tape::Tape;
use forward::ProxyState;
use upstream::Connector;

const TICK: Duration = Duration::from_millis(50);

/// A proxy that is listening but not yet serving.
pub struct Proxy {
    listener: TcpListener,
    /// `None` if nothing is decrypted.
    authority: Option<Arc<Authority>>,
    domains: Vec<String>,
    is_new: bool,
}

/// The traffic through a proxy.
#[derive(Debug)]
pub struct ProxyTraffic {
    /// The exchanges as HAR.
    pub har: Value,
    /// Hosts whose connections were not decrypted, with the number of connections.
    pub unread: Vec<(String, usize)>,
    /// Servers whose certificate is not trusted, with the reason.
    pub untrusted: Vec<(String, String)>,
}

impl Proxy {
    /// Listens on an address. HTTPS to these domains and their subdomains is decrypted; `*` stands for all domains.
    ///
    /// # Errors
    /// The address is taken, or the authority in `folder` can be neither read nor created.
    pub fn bind(
        address: SocketAddr,
        folder: &Path,
        domains: &[String],
    ) -> Result<Proxy, RecordError> {
        let listener =
            TcpListener::bind(address).map_err(|error| RecordError::Address(address, error))?;
        let opened = if domains.is_empty() {
            None
        } else {
            Some(Authority::open(folder, domains)?)
        };
        Ok(Proxy {
            listener,
            is_new: opened.as_ref().is_some_and(|(_, is_new)| *is_new),
            authority: opened.map(|(authority, _)| Arc::new(authority)),
            domains: domains.to_vec(),
        })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// The operating system does not report the address.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Its authority's certificate; `None` if nothing is decrypted.
    pub fn certificate(&self) -> Option<Certificate> {
        self.authority
            .as_ref()
            .map(|authority| authority.certificate())
    }

    /// Whether the authority is new, so that no browser trusts it yet.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Serves until `stop` is set. `seen` receives the requests as they come.
    ///
    /// # Errors
    /// No thread or socket is available.
    pub fn record(
        self,
        stop: &AtomicBool,
        orders: &Receiver<Order>,
        seen: &mut dyn FnMut(Seen),
    ) -> Result<ProxyTraffic, RecordError> {
        let tape = Arc::new(Mutex::new(Tape::default()));
        let (sender, messages) = channel();
        let connector = Connector::new(Arc::clone(&tape))
            .map_err(|error| RecordError::Trust(error.to_string()))?;
        let shared = ProxyState {
            tape: Arc::clone(&tape),
            authority: self.authority,
            domains: self.domains.into(),
            connector,
            seen: sender,
        };
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            self.listener.set_nonblocking(true)?;
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            while !stop.load(Ordering::SeqCst) {
                match tokio::time::timeout(TICK, listener.accept()).await {
                    Ok(Ok((stream, _))) => {
                        tokio::spawn(forward::serve(stream, None, shared.clone()));
                    }
                    // For example, too many open files.
                    Ok(Err(_)) => tokio::time::sleep(TICK).await,
                    Err(_) => {}
                }
                for order in orders.try_iter() {
                    let mut tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
                    tape.obey(order.clone());
                    drop(tape);
                    seen(Seen::Done(order));
                }
                messages.try_iter().for_each(&mut *seen);
            }
            Ok::<_, std::io::Error>(())
        });
        served?;
        // Connections that are still open are dropped.
        drop(runtime);
        messages.try_iter().for_each(seen);
        let tape = tape.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ProxyTraffic {
            har: tape.har(),
            unread: tape.unread.clone().into_iter().collect(),
            untrusted: tape.untrusted.clone().into_iter().collect(),
        })
    }
}
