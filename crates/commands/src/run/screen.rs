//! The display of a run while it goes on, and the signals and messages that end it early.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use drumfire_platform::causes::cause;
use drumfire_results::{RecentError, Recording};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use unicode_width::UnicodeWidthStr;

use crate::console::Console;
use crate::engine::{Control, Event, Stopping, Subscriber, SummaryLines, Tick};
use crate::mirror::server::Mirror;
use crate::run::arguments::Progress;
use crate::run::messages::{self, Closed, MessagePort};
use crate::settings::properties::RunProperties;
use crate::signals::{self, Heard, Listening};
use crate::terminal::feed::Feed;
use crate::terminal::format::{cut, cut_middle, failure};
use crate::terminal::live::{LiveView, terminal_size};
use crate::terminal::milestones;
use crate::terminal::snapshot::Snapshot;

/// The property with the port of a mirror server to run alongside; 0 means none.
const MIRROR_PORT: &str = "mirror.server.port";
/// The property for how long a run goes on after a signal, in seconds.
const GRACE: &str = "drumfire.grace_seconds";
/// The default. Kubernetes kills a pod after 30 s, and interrupting samples and running tearDown
/// groups takes some of that time.
const USUAL_GRACE: Duration = Duration::from_secs(15);

/// The screen of a run.
pub(super) struct Screen<'a, 'b> {
    console: &'a mut Console<'b>,
    progress: Progress,
    zone: TimeZone,
    view: Option<LiveView<io::Stdout>>,
    feed: Feed,
    pub summary_lines: SummaryLines,
    /// The run is one that JMeter does not have: its lines and its port for messages are left out.
    pub is_of_url: bool,
    /// JMeter's remote hosts, for a run on them.
    pub remote_hosts: Option<Vec<String>>,
    signals: Option<Listening>,
    port: Option<MessagePort>,
    /// A mirror server that runs alongside, if `mirror.server.port` asks for it.
    mirror: Option<Mirror>,
    asked: Arc<Asked>,
    /// The number of signals that a printed line has mentioned.
    signals_told: u32,
    has_failed: bool,
}

/// The signals that have come.
#[derive(Default)]
struct Asked {
    /// How many.
    count: AtomicU32,
    /// The name of the first one.
    first: OnceLock<&'static str>,
    /// When samples will be interrupted.
    deadline: Mutex<Option<Instant>>,
}

impl Asked {
    fn stopping(&self) -> Stopping {
        match self.count.load(Ordering::Relaxed) {
            0 => Stopping::No,
            1 => Stopping::Shutdown,
            _ => Stopping::Now,
        }
    }

    /// How long current samples may still take, in milliseconds.
    fn left_ms(&self) -> Option<u64> {
        let deadline = *self.deadline.lock().unwrap_or_else(PoisonError::into_inner);
        let left = deadline?.saturating_duration_since(Instant::now());
        Some(left.as_millis() as u64)
    }

    /// Ends the run as the signal demands.
    fn hear(&self, heard: Heard, grace: Duration, control: &Control) {
        match heard {
            Heard::Signal(1, name) => {
                *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
                    Some(Instant::now() + grace);
                let _ = self.first.set(name);
                self.count.store(1, Ordering::Relaxed);
                tracing::info!("{name}: users finish their current sample");
                control.shutdown_soon();
            }
            Heard::Signal(number, name) => {
                self.count.store(number, Ordering::Relaxed);
                tracing::info!("{name} again: samples are aborted");
                control.stop_now();
            }
            Heard::GraceOver => {
                tracing::warn!("{GRACE} is over: samples are aborted");
                control.stop_now();
            }
        }
    }
}

impl<'a, 'b> Screen<'a, 'b> {
    pub fn new(
        plan: &Path,
        progress: Progress,
        zone: TimeZone,
        console: &'a mut Console<'b>,
    ) -> Self {
        let is_live =
            progress == Progress::Live || (progress == Progress::Auto && console.is_terminal);
        let name = plan
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_else(|| plan.display().to_string());
        let view = if is_live {
            LiveView::start(
                io::stdout(),
                &name,
                console.style,
                zone.clone(),
                terminal_size,
            )
            .ok()
        } else {
            None
        };
        Screen {
            console,
            progress,
            zone,
            view,
            feed: Feed::default(),
            summary_lines: SummaryLines::default(),
            is_of_url: false,
            remote_hosts: None,
            signals: None,
            port: None,
            mirror: None,
            asked: Arc::default(),
            signals_told: 0,
            has_failed: false,
        }
    }

    /// Starts listening to signals and to JMeter's messages, which stop the run.
    pub fn start(&mut self, settings: &RunProperties, control: &Control) {
        if !self.is_of_url {
            self.start_as_jmeter(settings, control);
        }
        let grace = settings
            .properties
            .get(GRACE)
            .and_then(|seconds| seconds.trim().parse().ok())
            .map(Duration::from_secs)
            .unwrap_or(USUAL_GRACE);
        let (asked, control) = (Arc::clone(&self.asked), control.clone());
        match signals::listen(Some(grace), move |heard| asked.hear(heard, grace, &control)) {
            Ok(listening) => self.signals = Some(listening),
            Err(error) => self
                .console
                .warn(&format!("Ctrl-C cannot be handled: {}", cause(&error))),
        }
    }

    /// Prints JMeter's first lines and starts the servers that run beside a JMeter.
    fn start_as_jmeter(&mut self, settings: &RunProperties, control: &Control) {
        let now_ms = Timestamp::now().as_millisecond();
        let starting = match &self.remote_hosts {
            Some(hosts) => milestones::starting_remote(hosts, now_ms, &self.zone),
            None => milestones::starting(now_ms, &self.zone),
        };
        self.line(&starting);
        match messages::open(&settings.properties, control.clone()) {
            Ok(port) => {
                self.line(&milestones::waiting_for_messages(port.port));
                self.port = Some(port);
            }
            Err(Closed::NoPort) => self.line("Failed to create UDP port"),
            Err(Closed::Off) => {}
        }
        self.start_mirror(settings);
    }

    /// Starts JMeter's mirror server alongside the run (`JMeter#startOptionalServers`), on loopback
    /// only.
    fn start_mirror(&mut self, settings: &RunProperties) {
        let port: u16 = settings
            .properties
            .get(MIRROR_PORT)
            .and_then(|port| port.trim().parse().ok())
            .unwrap_or(0);
        if port == 0 {
            return;
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        match Mirror::start(address, |line| tracing::info!("mirror: {line}")) {
            Ok(mirror) => self.mirror = Some(mirror),
            Err(error) => self.console.warn(&format!(
                "the mirror server cannot listen on {address}: {}; set `{MIRROR_PORT}` to a free port",
                cause(&error)
            )),
        }
    }

    pub fn line(&mut self, line: &str) {
        if self.progress != Progress::Quiet {
            if let Some(view) = &mut self.view {
                let _ = view.clear();
            }
            self.console.line(line);
        }
    }

    fn show(&mut self, mut snapshot: Snapshot) {
        snapshot.stopping = snapshot.stopping.max(self.asked.stopping());
        snapshot.grace_left_ms = self.asked.left_ms();
        if let Some(view) = &mut self.view {
            // The run goes on if the terminal has gone away.
            let _ = view.show(&snapshot);
        }
    }

    /// Prints once what a signal does, if no live view shows it.
    fn tell_signal(&mut self) {
        let count = self.asked.count.load(Ordering::Relaxed);
        if self.view.is_some() || count <= self.signals_told {
            return;
        }
        self.signals_told = count;
        let signal = self.asked.first.get().unwrap_or(&"signal");
        let line = match (count, self.asked.left_ms()) {
            (1, Some(left_ms)) => format!(
                "{signal}: users finish their sample, for {} s at most; another signal ends the run now",
                left_ms.div_ceil(1000)
            ),
            _ => format!("{signal}: samples are aborted"),
        };
        self.line(&line);
    }

    /// Prints the reason of the first failed sample as soon as it is known.
    fn tell_first_failure(&mut self, tick: &Tick) {
        let Some(first) = tick.recent_errors.first() else {
            return;
        };
        if self.has_failed || self.view.is_some() {
            return;
        }
        self.has_failed = true;
        let room = self.console.columns().unwrap_or(usize::MAX);
        self.line(&first_failure(first, room));
    }

    /// Called when the last user has ended and the results are written.
    pub fn tidying_up(&mut self) {
        if self.is_of_url {
            return;
        }
        self.line(&milestones::tidying_up(
            Timestamp::now().as_millisecond(),
            &self.zone,
        ));
    }

    /// Stops listening and restores the terminal. Returns the signal that stopped the run.
    pub fn end(self) -> Option<&'static str> {
        self.asked.first.get().copied()
    }
}

/// The line about the first failed sample in at most this many columns.
fn first_failure(first: &RecentError, columns: usize) -> String {
    let label = cut_middle(&first.label, columns / 3);
    let head = format!("first failure: {label}: ");
    let reason = failure(
        &first.code,
        &first.message,
        columns.saturating_sub(head.width()),
    );
    cut(&format!("{head}{reason}"), columns)
}

impl Subscriber for Screen<'_, '_> {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        let lines = self.summary_lines.receive(event);
        self.tell_signal();
        if self.view.is_some() {
            if let Some(snapshot) = self.feed.receive(event, so_far) {
                self.show(snapshot);
            }
        } else {
            lines.iter().for_each(|line| self.line(line));
        }
        match event {
            Event::Line(line) if self.view.is_none() => self.line(line),
            Event::Warning(text) => {
                if let Some(view) = &mut self.view {
                    let _ = view.clear();
                }
                self.console.warn(text);
            }
            Event::Tick(tick) => self.tell_first_failure(tick),
            Event::Line(_)
            | Event::Started(_)
            | Event::Increment(_)
            | Event::Heard(..)
            | Event::Mark(_)
            | Event::Ended(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_whole_in_a_pipe_and_one_line_on_a_terminal() {
        let first = RecentError {
            end_ms: 0,
            label: "/a/long/path/to/the/page".repeat(20),
            code: "Non HTTP response code: java.net.ConnectException".to_owned(),
            message: format!("Non HTTP response message: {}refused", "x".repeat(500)),
        };
        let whole = first_failure(&first, usize::MAX);
        assert!(whole.contains(&first.label) && whole.ends_with(&first.message));
        let line = first_failure(&first, 80);
        assert!(line.width() <= 80 && line.ends_with("xrefused"), "{line}");
        assert!(line.contains(": java.net.ConnectEx"), "{line}");
    }
}
