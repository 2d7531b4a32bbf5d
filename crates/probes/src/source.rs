//! Parses `--watch KIND=WHERE`, and runs a thread for each source.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_authorities::Authorities;
use drumfire_platform::message_error;
use drumfire_platform::ports::{bad_port, is_host_and_port};
use drumfire_platform::spelling::one_of;
use drumfire_report::HealthGroup;
use thiserror::Error;

use crate::agent::AgentSource;
use crate::http::{HttpSource, MetricsFormat};
use crate::series::{MetricReading, Series};
use crate::ssh::{SshSource, SshWatch};

/// A kind of source that users name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SourceKind {
    /// Prometheus's node_exporter.
    Node,
    /// A query to Prometheus.
    Prometheus,
    /// Apache's mod_status.
    Apache,
    /// nginx's stub_status.
    Nginx,
    /// PerfMon's ServerAgent.
    Agent,
}

impl SourceKind {
    const ALL: [SourceKind; 5] = [
        SourceKind::Node,
        SourceKind::Prometheus,
        SourceKind::Apache,
        SourceKind::Nginx,
        SourceKind::Agent,
    ];

    /// The name that users write.
    fn name(self) -> &'static str {
        match self {
            SourceKind::Node => "node",
            SourceKind::Prometheus => "prometheus",
            SourceKind::Apache => "apache",
            SourceKind::Nginx => "nginx",
            SourceKind::Agent => "agent",
        }
    }

    fn names() -> [&'static str; 5] {
        SourceKind::ALL.map(SourceKind::name)
    }

    /// The correct form of this target, if it is wrong.
    fn objection(self, target: &str) -> Option<&'static str> {
        let is_url = target.starts_with("http://") || target.starts_with("https://");
        match self {
            SourceKind::Agent if !is_host_and_port(target) => {
                Some("HOST:PORT, such as 10.0.0.5:4444")
            }
            SourceKind::Agent => None,
            SourceKind::Prometheus if !is_url || !target.contains("query=") => {
                Some("a URL with a query, such as http://10.0.0.5:9090/api/v1/query?query=up")
            }
            SourceKind::Node | SourceKind::Prometheus | SourceKind::Apache | SourceKind::Nginx => {
                if !is_url {
                    Some("a URL that begins with http:// or https://")
                } else {
                    bad_port(target).map(|_| "a URL with a port from 1 to 65535")
                }
            }
        }
    }
}

/// The kinds of servers that count requests.
const COUNTING: [SourceKind; 2] = [SourceKind::Apache, SourceKind::Nginx];

/// How a source is polled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Polled {
    Named(SourceKind),
    /// A machine that runs commands over SSH, which elements of a plan ask for.
    Ssh(Box<SshWatch>),
}
/// How long the load waits for a first poll: a little longer than the timeout of a poll.
const FIRST_POLL: Duration = Duration::from_secs(3);
/// The polling interval.
const PAUSE: Duration = Duration::from_secs(1);
/// The name of the threads that poll over SSH. They notice the end of a run within milliseconds.
const SSH_THREAD: &str = "watch ssh";

/// A source of metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    polled: Polled,
    target: String,
}

/// Why a source is invalid.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SourceError {
    /// It is not `KIND=WHERE`.
    #[error("`{0}` is not KIND=WHERE\nhint: write `node=http://10.0.0.5:9100/metrics`, or another of {kinds}", kinds = SourceKind::names().join(", "))]
    Form(String),
    /// There is no such kind.
    #[error("`{0}` is not a kind of source\nhint: {hint}", hint = one_of(.0, &SourceKind::names()))]
    Kind(String),
    /// The part behind the kind is wrong.
    #[error("`{0}` is not a source\nhint: write {1}")]
    Target(String, &'static str),
}

enum Asked {
    Http(HttpSource),
    Agent(AgentSource),
    Ssh(Box<SshSource>),
}

impl Source {
    /// Parses `KIND=WHERE`.
    ///
    /// # Errors
    /// [`SourceError`], which states what was expected.
    pub fn parse(text: &str) -> Result<Source, SourceError> {
        let (kind, target) = text
            .split_once('=')
            .ok_or_else(|| SourceError::Form(text.to_owned()))?;
        let known = SourceKind::ALL
            .into_iter()
            .find(|known| known.name() == kind);
        let kind = known.ok_or_else(|| SourceError::Kind(kind.to_owned()))?;
        match kind.objection(target) {
            Some(expected) => Err(SourceError::Target(text.to_owned(), expected)),
            None => Ok(Source {
                polled: Polled::Named(kind),
                target: target.to_owned(),
            }),
        }
    }

    /// A source that runs commands on another machine.
    #[must_use]
    pub fn ssh(watch: SshWatch) -> Source {
        Source {
            target: watch.place(),
            polled: Polled::Ssh(Box::new(watch)),
        }
    }

    fn kind(&self) -> &'static str {
        match &self.polled {
            Polled::Named(kind) => kind.name(),
            Polled::Ssh(_) => "ssh",
        }
    }

    /// The name of its charts: its kind and its host.
    fn name(&self) -> String {
        let rest = self.target.split("://").last().unwrap_or_default();
        // Hide a password in the URL.
        let host = rest.split(['/', '?']).next().unwrap_or_default();
        let host = host.rsplit('@').next().unwrap_or_default();
        format!("{} {host}", self.kind())
    }

    fn asked(&self, authorities: &Authorities) -> Asked {
        let kind = match &self.polled {
            Polled::Named(kind) => kind,
            Polled::Ssh(watch) => return Asked::Ssh(Box::new(SshSource::new((**watch).clone()))),
        };
        let form = match kind {
            SourceKind::Agent => return Asked::Agent(AgentSource::new(self.target.clone())),
            SourceKind::Node => MetricsFormat::Node,
            SourceKind::Prometheus => MetricsFormat::Prometheus,
            SourceKind::Apache => MetricsFormat::Apache,
            SourceKind::Nginx => MetricsFormat::Nginx,
        };
        Asked::Http(HttpSource::new(self.target.clone(), form, authorities))
    }
}

#[derive(Default)]
struct SourceState {
    series: Series,
    requests: Option<RequestCount>,
    problem: Option<String>,
    has_polled: bool,
    is_over: bool,
}

/// The requests that a server has counted since the first response.
#[derive(Clone, Copy)]
struct RequestCount {
    last: f64,
    grown: f64,
}

impl RequestCount {
    /// Adds the counter of another response. It has grown by the poll itself, which is not part of the load; a server that was
    /// started again counts from 0.
    fn after(self, now: f64) -> RequestCount {
        let grown = if now >= self.last {
            now - self.last
        } else {
            now
        };
        RequestCount {
            last: now,
            grown: self.grown + (grown - 1.0).max(0.0),
        }
    }
}

#[derive(Default)]
struct SharedSource {
    state: Mutex<SourceState>,
    /// Wakes those that wait for the first poll, or for the end.
    changed: Condvar,
    /// Whether it is a server that counts requests.
    is_counting: bool,
}

impl SharedSource {
    fn lock(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sources that are being polled. Dropping the value ends their threads.
#[derive(Default)]
pub struct Watching {
    sources: View,
    threads: Vec<JoinHandle<()>>,
    authorities: Authorities,
}

impl Watching {
    /// Starts without sources. Those over TLS will need certificates that these authorities vouch for.
    #[must_use]
    pub fn trusting(authorities: Authorities) -> Watching {
        let mut watching = Watching::default();
        watching.authorities = authorities;
        watching
    }

    /// Adds sources and starts polling them. `now_ms` returns the time in milliseconds since the Unix epoch.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub fn add(
        &mut self,
        sources: &[Source],
        now_ms: impl Fn() -> i64 + Clone + Send + 'static,
    ) -> std::io::Result<()> {
        for source in sources {
            let is_counting = match source.polled {
                Polled::Named(kind) => COUNTING.contains(&kind),
                Polled::Ssh(_) => false,
            };
            let shared = Arc::new(SharedSource {
                is_counting,
                ..SharedSource::default()
            });
            let (told, asked, now_ms) = (
                shared.clone(),
                source.asked(&self.authorities),
                now_ms.clone(),
            );
            let thread = std::thread::Builder::new()
                .name(format!("watch {}", source.kind()))
                .spawn(move || watch(asked, &told, now_ms))?;
            self.sources.lock().push((source.name(), shared));
            self.threads.push(thread);
        }
        Ok(())
    }

    /// The curves so far.
    pub fn groups(&self) -> Vec<HealthGroup> {
        self.sources.groups()
    }

    /// Waits for the first poll of servers that count requests, so that the load begins after it. A server that does not answer
    /// delays the load by the timeout of a poll.
    pub fn await_first_counts(&self) {
        let sources = self.sources.lock();
        for (_, shared) in sources.iter().filter(|(_, shared)| shared.is_counting) {
            let waiting = |state: &mut SourceState| !state.has_polled;
            let waited = shared
                .changed
                .wait_timeout_while(shared.lock(), FIRST_POLL, waiting);
            drop(waited);
        }
    }

    /// Ends the polls. Servers that count requests are polled once more, for [`Watching::requests`].
    pub fn end(&mut self) {
        for (_, shared) in self.sources.lock().iter() {
            shared.lock().is_over = true;
            shared.changed.notify_all();
        }
        let is_counting = |thread: &JoinHandle<()>| {
            let names = COUNTING.map(|kind| format!("watch {}", kind.name()));
            let name = thread.thread().name().unwrap_or_default();
            names.iter().any(|known| known == name)
        };
        for thread in self.threads.extract_if(.., |thread| is_counting(thread)) {
            // The timeout of a poll bounds this wait. If a thread panicked, its curves so far remain.
            let _ = thread.join();
        }
    }

    /// The name of each server that counts requests, and how many it has counted since the first poll, without those of the polls.
    pub fn requests(&self) -> Vec<(String, u64)> {
        let sources = self.sources.lock();
        let counts = sources.iter().filter_map(|(name, shared)| {
            let counted = shared.lock().requests?;
            Some((name.clone(), counted.grown.round() as u64))
        });
        counts.collect()
    }

    /// A handle that reads the curves, including those of sources added later.
    pub fn view(&self) -> View {
        self.sources.clone()
    }

    /// A line for each source whose last poll failed.
    pub fn problems(&self) -> Vec<String> {
        let sources = self.sources.lock();
        let problems = sources.iter().filter_map(|(name, shared)| {
            let problem = shared.lock().problem.clone()?;
            Some(format!("{name} does not answer: {problem}"))
        });
        problems.collect()
    }
}

/// The name of a source, and its state.
type Named = (String, Arc<SharedSource>);

/// Read access to the curves of sources. Clones share the same sources.
#[derive(Clone, Default)]
pub struct View(Arc<Mutex<Vec<Named>>>);

impl View {
    /// The curves so far.
    pub fn groups(&self) -> Vec<HealthGroup> {
        let sources = self.lock();
        let groups = sources.iter();
        groups
            .flat_map(|(name, shared)| shared.lock().series.groups(name))
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Named>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        for (_, shared) in self.sources.lock().iter() {
            shared.lock().is_over = true;
            shared.changed.notify_all();
        }
        // Threads that wait for a response end with the process. Only those over SSH are joined, because they must log
        // out of a machine.
        let leaving = self.threads.drain(..);
        let leaving = leaving.filter(|thread| thread.thread().name() == Some(SSH_THREAD));
        for thread in leaving {
            let _ = thread.join();
        }
    }
}

fn watch(mut asked: Asked, shared: &SharedSource, now_ms: impl Fn() -> i64) {
    let mut due = Instant::now();
    loop {
        let (read, pause) = match &mut asked {
            Asked::Http(source) => (whole(source.read()), PAUSE),
            Asked::Agent(source) => (whole(source.read()), PAUSE),
            Asked::Ssh(source) => {
                let read = source.read(&|| shared.lock().is_over);
                (read, source.interval())
            }
        };
        note(shared, &asked, read, now_ms());
        due = (due + pause).max(Instant::now());
        let mut state = shared.lock();
        while !state.is_over {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = shared.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        if state.is_over {
            break;
        }
    }
    if let Asked::Http(source) = &mut asked
        && shared.lock().requests.is_some()
    {
        let read = whole(source.read());
        note(shared, &asked, read, now_ms());
    }
}

message_error! {
    /// Why a source gave no numbers.
    pub(crate) struct PollFailure;
}

/// The readings, and why some are missing.
type Read = (Vec<MetricReading>, Option<String>);

fn whole(read: Result<Vec<MetricReading>, PollFailure>) -> Read {
    match read {
        Ok(readings) => (readings, None),
        Err(failure) => (Vec::new(), Some(failure.into())),
    }
}

fn note(shared: &SharedSource, asked: &Asked, (readings, problem): Read, now_ms: i64) {
    let mut state = shared.lock();
    if let Asked::Http(source) = asked
        && problem.is_none()
        && let Some(now) = source.requests()
    {
        let first = RequestCount {
            last: now,
            grown: 0.0,
        };
        state.requests = Some(state.requests.map_or(first, |count| count.after(now)));
    }
    state.series.add(now_ms, readings);
    state.problem = problem;
    state.has_polled = true;
    shared.changed.notify_all();
}

#[cfg(test)]
mod tests {
    use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

    use super::*;

    #[test]
    fn wrong_sources_are_refused_with_the_expected_form() {
        let why = |text: &str| Source::parse(text).expect_err("it is wrong").to_string();
        assert!(why("node").contains("is not KIND=WHERE"));
        assert!(why("nodes=http://x").contains("hint: write `node`"));
        assert!(why("agent=http://x").contains("HOST:PORT"));
        assert!(why("prometheus=http://x").contains("with a query"));
        assert_eq!(
            why("nginx=x"),
            "`nginx=x` is not a source\nhint: write a URL that begins with http:// or https://"
        );
        let named = Source::parse("apache=http://me:pw@web:80/status").expect("a source");
        assert_eq!(named.name(), "apache web:80");
    }

    #[test]
    fn requests_are_counted_up_to_the_end_without_the_polls() {
        let count = |values: &[f64]| {
            let first = RequestCount {
                last: values[0],
                grown: 0.0,
            };
            values[1..]
                .iter()
                .fold(first, |count, now| count.after(*now))
                .grown
        };
        assert_eq!(count(&[100.0, 101.0, 152.0, 203.0]), 100.0);
        assert_eq!(
            count(&[100.0, 151.0, 11.0]),
            60.0,
            "it was started again between"
        );
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let server = Server::start(move |_| {
            // Seven requests of others between two polls.
            let all = 8 * asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            let text = format!(
                "Active connections: 1\nserver accepts handled requests\n 1 1 {all}\nReading: 0 Writing: 1 Waiting: 0\n"
            );
            vec![ResponseStep::Send(ok(&text))]
        });
        let text = format!("nginx=http://{}/status", server.address());
        let mut watching = Watching::default();
        let source = Source::parse(&text).expect("a source");
        watching.add(&[source], || 5_000).expect("a thread");
        watching.await_first_counts();
        watching.end();
        let polls = server.requests().len() as u64;
        assert!(polls >= 2, "the end polls once more");
        assert_eq!(
            watching.requests(),
            [(format!("nginx {}", server.address()), 7 * (polls - 1))]
        );
    }

    #[test]
    fn a_source_that_fails_leaves_a_gap_and_comes_back() {
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let server = Server::start(move |_| {
            let number = asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            vec![ResponseStep::Send(match number {
                1 => respond("500 Oops", "", ""),
                _ => ok("node_load1 2\n"),
            })]
        });
        let text = format!("node=http://{}/metrics", server.address());
        let source = Source::parse(&text).expect("a source");
        let mut watching = Watching::default();
        watching.add(&[source], || 5_000).expect("a thread");
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let groups = watching.view().groups();
            if groups.first().is_some_and(|group| group.at_ms.len() >= 3) {
                let values = &groups[0].lines[0].values;
                assert!(values[1].is_nan(), "{values:?}");
                assert_eq!((values[0], values[2]), (2.0, 2.0));
                break;
            }
            assert!(Instant::now() < deadline, "{groups:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(watching.problems().is_empty());
    }
}
