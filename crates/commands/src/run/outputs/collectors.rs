//! Serves the collectors of the plan's Prometheus Listeners at `/metrics` (jmeter-prometheus-plugin,
//! `PrometheusServer`).

use super::backends::OutputError;
use crate::terminal::format::counted;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use drumfire_platform::causes::cause;
use drumfire_results::CollectorSet;
use drumfire_sinks::{MetricsServer, MetricsText, Users};
use jiff::Timestamp;

const PORT: &str = "prometheus.port";
const ADDRESS: &str = "prometheus.ip";
const DELAY: &str = "prometheus.delay";
const THREADS: &str = "prometheus.save.threads";
const THREADS_NAME: &str = "prometheus.save.threads.name";

/// The collectors of a plan and the server that Prometheus scrapes.
pub struct Collectors {
    sets: Vec<Arc<Mutex<CollectorSet>>>,
    users: Arc<Mutex<Users>>,
    delay: Duration,
    _server: MetricsServer,
}

impl Collectors {
    /// Serves the collectors at the address that the plugin's properties name.
    ///
    /// # Errors
    /// Why they cannot be served. The run goes on without them.
    pub fn start(
        sets: Vec<Arc<Mutex<CollectorSet>>>,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Collectors, OutputError> {
        let ip = property::<IpAddr>(lookup, ADDRESS, "127.0.0.1")?;
        let address = SocketAddr::new(ip, property(lookup, PORT, "9270")?);
        let threads = property::<bool>(lookup, THREADS, "true")?;
        let threads_name = lookup(THREADS_NAME).unwrap_or_else(|| "jmeter_threads".to_owned());
        let threads_name = threads.then_some(threads_name);
        let users = Arc::new(Mutex::new(Users::default()));
        let (shown, counted) = (sets.clone(), users.clone());
        let text: MetricsText = Arc::new(move |_| {
            let now_ms = Timestamp::now().as_millisecond();
            let sets = shown.iter().map(|set| {
                set.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .text(now_ms)
            });
            let mut text: String = sets.collect();
            if let Some(name) = &threads_name {
                let users = *counted.lock().unwrap_or_else(PoisonError::into_inner);
                text.push_str(&threads_text(name, users));
            }
            text
        });
        let server = MetricsServer::listen(address, text)
            .map_err(|error| format!("{address}: {}", cause(&error)))?;
        tracing::info!(
            "Prometheus Listeners are shown at http://{}/metrics",
            server.address()
        );
        Ok(Collectors {
            sets,
            users,
            delay: Duration::from_secs(property(lookup, DELAY, "0")?),
            _server: server,
        })
    }

    /// Notes how many users run.
    pub fn tick(&self, users: Users) {
        *self.users.lock().unwrap_or_else(PoisonError::into_inner) = users;
    }

    /// Ends the server after the plugin's delay. Returns a message if samples were not counted.
    pub fn end(self) -> Option<String> {
        std::thread::sleep(self.delay);
        let sets = self.sets.iter();
        let dropped: u64 = sets
            .map(|set| set.lock().unwrap_or_else(PoisonError::into_inner).dropped())
            .sum();
        (dropped > 0).then(|| {
            format!(
                "Prometheus Listener: not counted, since there are too many different labels: {}",
                counted(dropped, "value")
            )
        })
    }
}

/// The text of `JMeterCollectorRegistry.ThreadCollector`.
fn threads_text(name: &str, users: Users) -> String {
    format!(
        "# HELP {name} Gauge for jmeter threads\n# TYPE {name} gauge\n{name}{{state=\"active\"}} {}\n{name}{{state=\"finished\"}} {}\n{name}{{state=\"started\"}} {}\n",
        users.active, users.ended, users.started
    )
}

fn property<T: FromStr>(
    lookup: &dyn Fn(&str) -> Option<String>,
    name: &str,
    default: &str,
) -> Result<T, OutputError> {
    let property = lookup(name).unwrap_or_else(|| default.to_owned());
    let text = property.trim();
    text.parse()
        .map_err(|_| format!("the property {name} is `{text}`").into())
}
