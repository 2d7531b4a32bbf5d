//! What a run shows while it goes on: the live view or JMeter's lines, and what ends it from outside.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use drumfire_results::Recording;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::console::Console;
use crate::engine::{Control, Event, Stopping, Subscriber, SummaryLines};
use crate::messages::{self, Closed, MessagePort};
use crate::options::Progress;
use crate::properties::Settings;
use crate::signals::{self, Listening};
use crate::terminal::feed::Feed;
use crate::terminal::live::{LiveView, terminal_size};
use crate::terminal::milestones;
use crate::terminal::snapshot::Snapshot;

/// What a run shows while it goes on, and what may end it early.
pub(super) struct Screen<'a, 'b> {
    console: &'a mut Console<'b>,
    progress: Progress,
    zone: TimeZone,
    view: Option<LiveView<io::Stdout>>,
    feed: Feed,
    pub(super) summary_lines: SummaryLines,
    signals: Option<Listening>,
    port: Option<MessagePort>,
    /// How many signals came.
    told: Arc<AtomicU32>,
    /// The name of the first one.
    signal: Arc<OnceLock<&'static str>>,
}

impl<'a, 'b> Screen<'a, 'b> {
    pub(super) fn new(
        plan: &Path,
        progress: Progress,
        zone: TimeZone,
        console: &'a mut Console<'b>,
    ) -> Self {
        let is_live =
            progress == Progress::Live || (progress == Progress::Auto && console.is_terminal);
        let name = plan.file_name().map_or_else(
            || plan.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        );
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
            signals: None,
            port: None,
            told: Arc::default(),
            signal: Arc::default(),
        }
    }

    /// Listens to signals and to JMeter's messages, which stop the run.
    pub(super) fn start(&mut self, settings: &Settings, control: &Control) {
        self.line(&milestones::starting(
            Timestamp::now().as_millisecond(),
            &self.zone,
        ));
        match messages::open(&settings.properties, control.clone()) {
            Ok(port) => {
                self.line(&milestones::waiting_for_messages(port.port));
                self.port = Some(port);
            }
            Err(Closed::NoPort) => self.line("Failed to create UDP port"),
            Err(Closed::Off) => {}
        }
        let (told, first) = (Arc::clone(&self.told), Arc::clone(&self.signal));
        let control = control.clone();
        let listening = signals::listen(move |number, signal| {
            told.store(number, Ordering::Relaxed);
            if number == 1 {
                let _ = first.set(signal);
                tracing::info!("{signal}: users finish the sample at hand");
                control.shutdown_soon();
            } else {
                tracing::info!("{signal} again: samples are broken off");
                control.stop_now();
            }
        });
        match listening {
            Ok(listening) => self.signals = Some(listening),
            Err(error) => self
                .console
                .warn(&format!("Ctrl-C cannot be handled: {error}")),
        }
    }

    fn line(&mut self, line: &str) {
        if self.progress != Progress::Quiet {
            if let Some(view) = &mut self.view {
                let _ = view.clear();
            }
            self.console.line(line);
        }
    }

    fn show(&mut self, mut snapshot: Snapshot) {
        snapshot.stopping = snapshot
            .stopping
            .max(match self.told.load(Ordering::Relaxed) {
                0 => Stopping::No,
                1 => Stopping::Shutdown,
                _ => Stopping::Now,
            });
        if let Some(view) = &mut self.view {
            // A terminal that has gone away does not stop the run.
            let _ = view.show(&snapshot);
        }
    }

    /// The last user has ended and the results are written.
    pub(super) fn tidying_up(&mut self) {
        self.line(&milestones::tidying_up(
            Timestamp::now().as_millisecond(),
            &self.zone,
        ));
    }

    /// Ends listening and gives the terminal back; gives the signal that stopped the run.
    pub(super) fn end(self) -> Option<&'static str> {
        self.signal.get().copied()
    }
}

impl Subscriber for Screen<'_, '_> {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        let lines = self.summary_lines.receive(event);
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
            Event::Line(_)
            | Event::Started(_)
            | Event::Increment(_)
            | Event::Heard(..)
            | Event::Tick(_)
            | Event::Mark(_)
            | Event::Ended(_) => {}
        }
    }
}
