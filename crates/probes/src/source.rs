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
    /// `drumfire mirror`.
    Mirror,
}

impl SourceKind {
    const ALL: [SourceKind; 6] = [
        SourceKind::Node,
        SourceKind::Prometheus,
        SourceKind::Apache,
        SourceKind::Nginx,
        SourceKind::Agent,
        SourceKind::Mirror,
    ];

    /// The name that users write.
    fn name(self) -> &'static str {
        match self {
            SourceKind::Node => "node",
            SourceKind::Prometheus => "prometheus",
            SourceKind::Apache => "apache",
            SourceKind::Nginx => "nginx",
            SourceKind::Agent => "agent",
            SourceKind::Mirror => "mirror",
        }
    }

    fn names() -> [&'static str; 6] {
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
            SourceKind::Node
            | SourceKind::Prometheus
            | SourceKind::Apache
            | SourceKind::Nginx
            | SourceKind::Mirror => {
                if !is_url {
                    Some("a URL that begins with http:// or https://")
                } else {
                    bad_port(target).map(|_| "a URL with a port from 1 to 65535")
                }
            }
        }
    }
}

/// How a source counts the requests of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counting {
    /// It does not.
    No,
    /// The server itself tells, and counts the polls, too.
    WithPolls,
    /// The server itself tells, and leaves out the polls.
    WithoutPolls,
    /// Prometheus tells what the server had counted at the last scrape.
    Scraped,
}

/// The ends of the names of counters of requests, as servers' libraries call them.
const REQUEST_COUNTERS: [&str; 4] = [
    "requests_total",
    "request_total",
    "requests_count",
    "request_duration_seconds_count",
];
/// Functions of a query that turn a counter into its growth.
const GROWTH: [&str; 4] = ["rate(", "increase(", "delta(", "deriv("];

/// Whether the query of a URL gives a counter of requests.
fn queries_requests(url: &str) -> bool {
    let query = url.split_once("query=").map_or("", |(_, query)| query);
    let query = query.split('&').next().unwrap_or_default();
    let is_growth = GROWTH.iter().any(|function| query.contains(function));
    let mut names = query.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | ':'));
    !is_growth && names.any(|name| REQUEST_COUNTERS.iter().any(|end| name.ends_with(end)))
}

/// How a source is polled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Polled {
    Named(SourceKind),
    /// A machine that runs commands over SSH, which elements of a plan ask for.
    Ssh(Box<SshWatch>),
}
/// How long the load waits for a first poll: a little longer than the timeout of a poll.
const FIRST_POLL: Duration = Duration::from_secs(3);
/// How long the end of a run waits for Prometheus to scrape the last requests: a little longer than its usual pause of 15 s.
const SCRAPE: Duration = Duration::from_secs(20);
/// The pause between polls meanwhile.
const SCRAPE_PAUSE: Duration = Duration::from_millis(500);
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

    fn counting(&self) -> Counting {
        match self.polled {
            Polled::Named(SourceKind::Apache | SourceKind::Nginx) => Counting::WithPolls,
            Polled::Named(SourceKind::Mirror) => Counting::WithoutPolls,
            Polled::Named(SourceKind::Prometheus) if queries_requests(&self.target) => {
                Counting::Scraped
            }
            Polled::Named(_) | Polled::Ssh(_) => Counting::No,
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
            SourceKind::Prometheus => MetricsFormat::Prometheus {
                counts_requests: self.counting() == Counting::Scraped,
            },
            SourceKind::Mirror => MetricsFormat::Mirror,
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
    /// The requests that were sent, once the run is over.
    sent: u64,
}

/// The requests that a server has counted since the first response.
#[derive(Clone, Copy)]
struct RequestCount {
    last: f64,
    grown: f64,
}

impl RequestCount {
    /// Adds the counter of another response. It may have grown by the poll itself, which is not part of the load; a server that was
    /// started again counts from 0.
    fn after(self, now: f64, counting: Counting) -> RequestCount {
        let polls = match counting {
            Counting::WithPolls => 1.0,
            Counting::No | Counting::WithoutPolls | Counting::Scraped => 0.0,
        };
        let grown = if now >= self.last {
            now - self.last
        } else {
            now
        };
        RequestCount {
            last: now,
            grown: self.grown + (grown - polls).max(0.0),
        }
    }
}

struct SharedSource {
    state: Mutex<SourceState>,
    /// Wakes those that wait for the first poll, or for the end.
    changed: Condvar,
    counting: Counting,
}

impl SharedSource {
    fn lock(&self) -> MutexGuard<'_, SourceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether Prometheus has not scraped as many requests as were sent.
    fn lacks_scrapes(&self) -> bool {
        let state = self.lock();
        let is_behind = |count: RequestCount| count.grown < state.sent as f64;
        self.counting == Counting::Scraped && state.requests.is_some_and(is_behind)
    }
}

/// The requests that a server has counted since the first poll, without those of the polls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedRequests {
    /// The source's kind and host.
    pub source: String,
    /// The requests.
    pub requests: u64,
    /// Whether Prometheus told them, which knows them only as of its last scrape.
    pub is_scraped: bool,
}

/// Sources that are being polled. Dropping the value ends their threads.
#[derive(Default)]
pub struct Watching {
    sources: View,
    threads: Vec<(Counting, JoinHandle<()>)>,
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
            let counting = source.counting();
            let shared = Arc::new(SharedSource {
                state: Mutex::default(),
                changed: Condvar::new(),
                counting,
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
            self.threads.push((counting, thread));
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
        for (_, shared) in sources
            .iter()
            .filter(|(_, shared)| shared.counting != Counting::No)
        {
            let waiting = |state: &mut SourceState| !state.has_polled;
            let waited = shared
                .changed
                .wait_timeout_while(shared.lock(), FIRST_POLL, waiting);
            drop(waited);
        }
    }

    /// Ends the polls. Servers that count requests are polled once more, for [`Watching::requests`]; if Prometheus counts them, until
    /// it has scraped as many as were sent, or for 20 s.
    pub fn end(&mut self, sent: u64) {
        for (_, shared) in self.sources.lock().iter() {
            let mut state = shared.lock();
            (state.is_over, state.sent) = (true, sent);
            shared.changed.notify_all();
        }
        let counting = self
            .threads
            .extract_if(.., |(counting, _)| *counting != Counting::No);
        for (_, thread) in counting {
            // The timeout of a poll bounds this wait. If a thread panicked, its curves so far remain.
            let _ = thread.join();
        }
    }

    /// The servers that count requests, with the counts since the first poll.
    pub fn requests(&self) -> Vec<CountedRequests> {
        let sources = self.sources.lock();
        let counts = sources.iter().filter_map(|(name, shared)| {
            let counted = shared.lock().requests?;
            Some(CountedRequests {
                source: name.clone(),
                requests: counted.grown.round() as u64,
                is_scraped: shared.counting == Counting::Scraped,
            })
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
        let leaving = leaving.filter(|(_, thread)| thread.thread().name() == Some(SSH_THREAD));
        for (_, thread) in leaving {
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
    if shared.lock().requests.is_none() {
        return;
    }
    let deadline = Instant::now() + SCRAPE;
    while let Asked::Http(source) = &mut asked {
        let read = whole(source.read());
        note(shared, &asked, read, now_ms());
        if !shared.lacks_scrapes() || Instant::now() >= deadline {
            return;
        }
        std::thread::sleep(SCRAPE_PAUSE);
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
        let counting = shared.counting;
        let count = state.requests.map(|count| count.after(now, counting));
        state.requests = Some(count.unwrap_or(first));
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
                .fold(first, |count, now| count.after(*now, Counting::WithPolls))
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
        watching.end(0);
        let polls = server.requests().len() as u64;
        assert!(polls >= 2, "the end polls once more");
        assert_eq!(
            watching.requests(),
            [CountedRequests {
                source: format!("nginx {}", server.address()),
                requests: 7 * (polls - 1),
                is_scraped: false,
            }]
        );
    }

    #[test]
    fn a_query_for_a_counter_of_requests_counts() {
        let counts =
            |query: &str| queries_requests(&format!("http://p/api/v1/query?query={query}"));
        for counter in [
            "http_requests_total",
            "sum(http_requests_total{job=%22shop%22})",
            "http_server_request_duration_seconds_count&time=5",
        ] {
            assert!(counts(counter), "{counter}");
        }
        for other in [
            "up",
            "rate(http_requests_total[1m])",
            "process_cpu_seconds_total",
        ] {
            assert!(!counts(other), "{other}");
        }
    }

    #[test]
    fn the_end_waits_until_prometheus_has_scraped_the_last_requests() {
        let asked = std::sync::atomic::AtomicU64::new(0);
        let server = Server::start(move |_| {
            // Each series gains 10 requests at every third poll.
            let all = 10 * (asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) / 3);
            let series = format!(r#"{{"metric":{{}},"value":[1,"{all}"]}}"#);
            vec![ResponseStep::Send(ok(&format!(
                r#"{{"data":{{"resultType":"vector","result":[{series},{series}]}}}}"#
            )))]
        });
        let text = format!(
            "prometheus=http://{}/api/v1/query?query=http_requests_total",
            server.address()
        );
        let mut watching = Watching::default();
        let source = Source::parse(&text).expect("a source");
        watching.add(&[source], || 5_000).expect("a thread");
        watching.await_first_counts();
        watching.end(35);
        let counted = watching.requests().remove(0);
        assert_eq!((counted.requests, counted.is_scraped), (40, true));
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
