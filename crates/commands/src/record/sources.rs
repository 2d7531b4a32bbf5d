//! The sources of recordings: a browser over the DevTools protocol, or the proxy.

use std::io::BufRead as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};

use drumfire_import::Address;
use drumfire_import::like::Recorder;
use drumfire_recorder::{ANY_DOMAIN, Order, Proxy, Seen, Visit};
use serde_json::Value;

use super::arguments::RecordArguments;
use super::certificate;
use crate::console::Console;
use crate::refusal::Refusal;
use crate::signals;

/// The port of JMeter's recorder (`ProxyControl.DEFAULT_PORT`).
pub const USUAL_PORT: u16 = 8888;

/// A finished recording.
pub struct Recorded {
    /// The name of the source in messages.
    pub name: String,
    pub har: Value,
    /// Hosts whose HTTPS was not decrypted, with their number of connections.
    pub unread: Vec<(String, usize)>,
}

/// Records until the browser is closed or a signal arrives. Lines that the user types meanwhile name
/// the transactions.
pub fn recorded(
    arguments: &RecordArguments,
    like: Option<&Recorder>,
    console: &mut Console<'_>,
) -> Result<Recorded, Refusal> {
    let like_port = like.map(|like| like.port().unwrap_or(USUAL_PORT).to_string());
    let address = if arguments.browser || arguments.headless {
        None
    } else {
        arguments.proxy.clone().or(like_port)
    };
    let proxy = match address {
        Some(address) => Some(proxy(&address, arguments, like, console)?),
        None if arguments.url.is_none() => {
            let message = "there is no page to open: name its address";
            return Err(Refusal::usage(message.to_owned()));
        }
        None => None,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let listening = signals::listen(None, move |_| stopped.store(true, Ordering::SeqCst));
    let _listening = listening.map_err(Refusal::failed)?;
    let orders = typed(arguments.headless);
    match proxy {
        Some(proxy) => through_proxy(proxy, &stop, &orders, console),
        None => in_browser(arguments, &stop, &orders, console),
    }
}

fn failed(why: impl std::fmt::Display) -> Refusal {
    Refusal::run_failed(why.to_string())
}

/// Receives the lines that the user types, which name transactions.
fn typed(is_headless: bool) -> Receiver<Order> {
    let (order, orders) = channel();
    if !is_headless {
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                let line = line.trim().to_owned();
                if !line.is_empty() && order.send(Order::Name(line)).is_err() {
                    return;
                }
            }
        });
    }
    orders
}

fn in_browser(
    arguments: &RecordArguments,
    stop: &AtomicBool,
    orders: &Receiver<Order>,
    console: &mut Console<'_>,
) -> Result<Recorded, Refusal> {
    if !arguments.headless {
        console.line("recording  close the browser or press Ctrl-C to end; type a name and Enter to begin a transaction");
    }
    let url = arguments.url.clone().unwrap_or_default();
    let visit = Visit {
        url: url.clone(),
        browser: arguments.browser_path.clone(),
        headless: arguments.headless,
        actions: arguments.actions.clone(),
    };
    let har = drumfire_recorder::record(&visit, stop, orders, &mut |seen| show(&seen, console));
    Ok(Recorded {
        name: url,
        har: har.map_err(failed)?,
        unread: Vec::new(),
    })
}

/// Shows a request when its response begins.
fn show(seen: &Seen, console: &mut Console<'_>) {
    if let Some(line) = seen.line() {
        console.line(&format!("  {line}"));
    }
}

fn proxy(
    address: &str,
    arguments: &RecordArguments,
    like: Option<&Recorder>,
    console: &mut Console<'_>,
) -> Result<Proxy, Refusal> {
    let full = match address.parse::<u16>() {
        Ok(port) => format!("127.0.0.1:{port}"),
        Err(_) => address.replacen("localhost:", "127.0.0.1:", 1),
    };
    let address: SocketAddr = full.parse().map_err(|_| {
        let message =
            format!("`{address}` is no address to listen on: write it as `--proxy 127.0.0.1:8888`");
        Refusal::usage(message)
    })?;
    let domains = decrypted(arguments, like);
    let proxy =
        Proxy::bind(address, &certificate::folder(console.variable)?, &domains).map_err(failed)?;
    let bound = proxy.address().map_err(failed)?;
    console.print(&format!(
        "recording    proxy {bound} for HTTP and HTTPS; press Ctrl-C to end; type a name and Enter to begin a transaction\n"
    ));
    if !bound.ip().is_loopback() {
        console.warn(&format!("anyone who can reach {bound} can use the proxy"));
    }
    match proxy.certificate() {
        Some(certificate) => console.print(&format!(
            "certificate  {}\n",
            certificate::told(&certificate)
        )),
        None => console.warn(
            "the proxy passes HTTPS on without reading it: name the site with its address or `--domain shop.example`",
        ),
    }
    if proxy.is_new() {
        console.print(&format!(
            "import       it is new: import it in the browser as an authority for websites, or open http://{bound}/ca.pem there\n"
        ));
    }
    Ok(proxy)
}

/// The domains whose HTTPS the proxy decrypts.
fn decrypted(arguments: &RecordArguments, like: Option<&Recorder>) -> Vec<String> {
    if arguments.all_domains {
        return vec![ANY_DOMAIN.to_owned()];
    }
    let of_url = arguments.url.as_deref().and_then(site_of);
    let named = arguments.domain.iter().map(|domain| {
        let domain = domain.trim_start_matches("*.").trim_start_matches('.');
        domain.to_ascii_lowercase()
    });
    let of_plan = like
        .map(|like| &like.domains[..])
        .unwrap_or(&[])
        .iter()
        .cloned();
    of_url.into_iter().chain(named).chain(of_plan).collect()
}

/// The domain of the site that an address belongs to.
pub fn site_of(url: &str) -> Option<String> {
    let address = Address::parse(url)?;
    Some(drumfire_import::site(&address.host.template()))
}

fn through_proxy(
    proxy: Proxy,
    stop: &AtomicBool,
    orders: &Receiver<Order>,
    console: &mut Console<'_>,
) -> Result<Recorded, Refusal> {
    let taken = proxy
        .record(stop, orders, &mut |seen| show(&seen, console))
        .map_err(failed)?;
    for (host, why) in &taken.untrusted {
        console.warn(&format!(
            "the certificate of `{host}` is not trusted ({why}); it was recorded all the same"
        ));
    }
    Ok(Recorded {
        name: "the recording".to_owned(),
        har: taken.har,
        unread: taken.unread,
    })
}
