//! The page of a run that is under way (`--ui`): feeds it the numbers of the run and carries out its orders.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_engine::{
    AgentTick, Control, Event, Inbox, Mailbox, Stopping, Subscriber, Tick, mailbox,
};
use drumfire_health::Second;
use drumfire_probes::View;
use drumfire_report::{Mark, RunAgent, RunFile, ThresholdResult};
use drumfire_results::Recording;
use drumfire_serve::{
    Facts, GroupOrders, KnownRun, ListenAddress, Live, LiveOptions, Order, Refused, RegisteredRun,
    RunPhase, RunStanding, Server, Steering,
};

use crate::console::Console;
use crate::run::criteria::guards::Board;
use crate::run::recent;
use crate::run::run_file::facts::{health, run_verdict};
use crate::signals;

/// How often a page that stays is asked whether it was closed.
const LOOK_PAUSE: Duration = Duration::from_millis(100);
/// How many events may wait for the page.
const ROOM: usize = 64;
/// How often the verdict, the thresholds and the generator's health are sent.
const FACTS_PAUSE: Duration = Duration::from_secs(2);
/// How often the state of the run is sent when nothing changes.
const STANDING_PAUSE: Duration = Duration::from_secs(1);
/// Up to this many agents get charts of their own.
const FEW_AGENTS: usize = 16;
/// The most agents in the page's table, which lists them by number.
const MOST_AGENTS: usize = 200;
/// The most seconds of the generator's health on the page. In a longer run, they are merged in pairs.
const MOST_SECONDS: usize = 600;

/// A running page.
pub struct Ui {
    /// None once the run has ended.
    mailbox: Option<Mailbox>,
    live: Live,
    thread: Option<JoinHandle<()>>,
    server: Server,
    stays: bool,
    _entry: Option<RegisteredRun>,
}

/// The page of a run that has ended.
pub struct StayingPage {
    server: Server,
    live: Live,
}

impl StayingPage {
    /// Waits until somebody closes the page, or a signal.
    pub fn wait(&self, console: &mut Console<'_>) {
        console.line(&format!(
            "the page stays until you close it or press Ctrl-C: {}",
            self.server.url()
        ));
        let is_over = Arc::new(AtomicBool::new(false));
        let over_flag = is_over.clone();
        let listening = signals::listen(None, move |_| over_flag.store(true, Ordering::Relaxed));
        // Without a listener, only a closed page would end the program, and a signal still does.
        let _listening = listening.ok();
        while !is_over.load(Ordering::Relaxed) && !self.live.is_closed() {
            std::thread::sleep(LOOK_PAUSE);
        }
    }
}

/// Steers the run of this process.
pub struct OwnRun(Control);

impl OwnRun {
    /// Steers the run that belongs to this control.
    pub fn new(control: Control) -> OwnRun {
        OwnRun(control)
    }
}

impl Steering for OwnRun {
    fn carry_out(&self, order: &Order) -> Result<(), Refused> {
        let control = &self.0;
        let done = match order {
            Order::Stop => {
                control.shutdown_soon();
                Ok(())
            }
            Order::StopNow => {
                control.stop_now();
                Ok(())
            }
            Order::Pause => {
                control.pause();
                Ok(())
            }
            Order::Resume => {
                control.resume();
                Ok(())
            }
            Order::Users {
                group,
                users,
                anyway,
            } => if *anyway {
                Ok(())
            } else {
                control.check_users(group, *users)
            }
            .and_then(|()| control.set_users(group, *users)),
            Order::Rate { factor } => control.set_rate(*factor),
            Order::Mark { text } => {
                control.mark(text);
                Ok(())
            }
            Order::Set { name, value } => control.set_property(name, value),
        };
        done.map_err(|error| error.to_string().into())
    }
}

impl Ui {
    /// Serves the page of a run and registers it for `drumfire ctl`. `begun` holds what is known before the first sample.
    ///
    /// # Errors
    /// If it cannot listen on the address.
    pub fn start(
        address: ListenAddress,
        options: LiveOptions,
        begun: RunFile,
        (board, watched): (Board, View),
        control: &Control,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> io::Result<Ui> {
        let host = gethostname::gethostname().to_string_lossy().into_owned();
        let name = begun.name.clone();
        let live = Live::new(begun, options);
        let steering = Arc::new(OwnRun(control.clone()));
        let server = Server::start(address, host.clone(), live.clone(), steering)?;
        let run = KnownRun {
            url: server.url().to_owned(),
            name,
            host,
        };
        let entry = recent::runs_folder(variable).and_then(|folder| note(&folder, &run));
        let (mailbox, inbox) = mailbox(ROOM);
        let teller = Teller::new(live.clone(), control.clone(), board, watched);
        let thread = std::thread::Builder::new()
            .name("live numbers".to_owned())
            .spawn(move || teller.tell(&inbox))?;
        Ok(Ui {
            live,
            mailbox: Some(mailbox),
            thread: Some(thread),
            server,
            stays: options.stays,
            _entry: entry,
        })
    }

    /// The URL of the page, including its token.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// Names the run file that is being written.
    pub fn note_run_file(&self, path: &Path) {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        self.live.note_run_file(&path.to_string_lossy());
    }

    /// Replaces the page with the report. Ends the server, unless the page stays: then it also offers these files.
    pub fn end(mut self, report: Option<&str>, files: Vec<PathBuf>) -> Option<StayingPage> {
        drop(self.mailbox.take());
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the page keeps the numbers so far.
            let _ = thread.join();
        }
        if !self.stays {
            self.server.end(report);
            return None;
        }
        self.live.note_files(files);
        self.server.stay(report);
        Some(StayingPage {
            server: self.server,
            live: self.live,
        })
    }
}

/// Registers the run for `ctl`. Without the entry, `ctl` needs the URL of the page.
fn note(folder: &Path, run: &KnownRun) -> Option<RegisteredRun> {
    let written = RegisteredRun::write(folder, run);
    written
        .map_err(|error| tracing::warn!("{} cannot be written: {error}", folder.display()))
        .ok()
}

impl Subscriber for Ui {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        let is_shown = !matches!(event, Event::Heard(..) | Event::Line(_) | Event::Warning(_));
        if let Some(mailbox) = self.mailbox.as_mut().filter(|_| is_shown) {
            mailbox.receive(event, so_far);
        }
    }
}

/// Turns events into what the page shows, on a separate thread.
struct Teller {
    live: Live,
    control: Control,
    board: Board,
    /// The target's own metrics.
    watched: View,
    seconds: Vec<Second>,
    /// The seconds of each agent, if there are few agents.
    agents: Vec<(Arc<str>, Vec<Second>)>,
    started_ms: i64,
    planned: (u64, Option<u64>),
    stood: Option<(Instant, RunStanding)>,
    learned: Instant,
}

impl Teller {
    fn new(live: Live, control: Control, board: Board, watched: View) -> Teller {
        Teller {
            live,
            control,
            board,
            watched,
            seconds: Vec::new(),
            agents: Vec::new(),
            started_ms: 0,
            planned: (0, None),
            stood: None,
            learned: Instant::now(),
        }
    }

    fn tell(mut self, inbox: &Inbox) {
        while let Some(event) = inbox.next() {
            match event {
                Event::Started(started) => {
                    self.started_ms = started.at_ms;
                    self.planned = (started.planned_users, started.planned_ms);
                    self.live.begin(started.at_ms, started.groups.clone());
                }
                Event::Increment(increment) => self.live.add(&increment),
                Event::Tick(tick) => self.tick(&tick),
                Event::Mark(mark) => self.live.mark(Mark {
                    at_ms: mark.at_ms,
                    text: mark.text,
                }),
                Event::Heard(..) | Event::Line(_) | Event::Warning(_) | Event::Ended(_) => {}
            }
        }
    }

    fn tick(&mut self, tick: &Tick) {
        let groups = self.groups();
        let standing = self.standing(tick, &groups);
        let is_news = self.stood.as_ref().is_none_or(|(at, last)| {
            let same_time = RunStanding {
                elapsed_ms: standing.elapsed_ms,
                ..last.clone()
            };
            at.elapsed() >= STANDING_PAUSE || same_time != standing
        });
        if is_news {
            self.stood = Some((Instant::now(), standing.clone()));
            self.live.stand(standing, &groups);
        }
        if let Some(second) = &tick.second {
            note_second(&mut self.seconds, second);
        }
        if tick.agents.len() <= FEW_AGENTS {
            self.note_agents(&tick.agents);
        }
        if self.learned.elapsed() >= FACTS_PAUSE {
            self.learned = Instant::now();
            self.learn(tick);
        }
    }

    fn groups(&self) -> Vec<GroupOrders> {
        let groups = self.control.groups().into_iter();
        groups
            .map(|group| GroupOrders {
                planned: group.planned.into(),
                ordered: group.ordered.map(u64::from),
                has_arrivals: group.has_arrivals,
            })
            .collect()
    }

    fn standing(&self, tick: &Tick, groups: &[GroupOrders]) -> RunStanding {
        let is_ordered = groups.iter().any(|group| group.ordered.is_some());
        let ordered_users = groups
            .iter()
            .map(|group| group.ordered.unwrap_or(group.planned));
        RunStanding {
            phase: match (tick.stopping, tick.paused) {
                (Stopping::No, false) => RunPhase::Running,
                (Stopping::No, true) => RunPhase::Paused,
                _ => RunPhase::Stopping,
            },
            elapsed_ms: tick.elapsed.as_millis() as u64,
            planned_ms: self.planned.1,
            planned_users: if is_ordered {
                ordered_users.sum()
            } else {
                self.planned.0
            },
            active: tick.users.active,
            started: tick.users.started,
            finished: tick.users.finished,
            rate: tick.rate,
            has_rates: self.control.has_rates(),
        }
    }

    /// Stores the seconds that agents have completed since the last tick.
    fn note_agents(&mut self, agents: &[AgentTick]) {
        for (index, agent) in agents.iter().enumerate() {
            if self.agents.len() <= index {
                self.agents.push((agent.name.clone(), Vec::new()));
            }
            let agent_seconds = &mut self.agents[index].1;
            let last_ms = agent_seconds.last().map(|last| last.to_ms);
            if let Some(second) = agent.second.as_deref()
                && last_ms.is_none_or(|last_ms| second.to_ms > last_ms)
            {
                note_second(agent_seconds, second);
            }
        }
    }

    /// Updates the verdict, the charts and the thresholds.
    fn learn(&self, tick: &Tick) {
        let verdict = tick.verdict.as_ref();
        let mut facts = Facts {
            verdict: verdict.map(|verdict| run_verdict(verdict, self.started_ms)),
            ..Facts::default()
        };
        facts.health = health(&self.seconds, self.started_ms);
        for (name, seconds) in &self.agents {
            let mut charts = health(seconds, self.started_ms);
            for chart in &mut charts {
                chart.name = format!("{name}: {}", chart.name);
            }
            facts.health.extend(charts);
        }
        facts.health.extend(self.watched.groups());
        facts.agents = tick
            .agents
            .iter()
            .take(MOST_AGENTS)
            .map(run_agent)
            .collect();
        let verdicts = self.live.read(|recording| self.board.verdicts(recording));
        facts.thresholds = verdicts.iter().map(ThresholdResult::from).collect();
        self.live.learn(facts);
    }
}

fn run_agent(agent: &AgentTick) -> RunAgent {
    RunAgent {
        name: agent.name.to_string(),
        state: agent.phase.to_string(),
        users: agent.users,
        samples: agent.samples,
        late_ms: Some(agent.late_us as f64 / 1e3),
        offset_ms: Some(agent.offset_ns as f64 / 1e6),
        bound_ms: Some(agent.bound_ns as f64 / 1e6),
        verdict: agent.grade.map(|grade| grade.to_string()),
    }
}

/// Adds a second. When there are too many, it merges them in pairs.
fn note_second(seconds: &mut Vec<Second>, second: &Second) {
    seconds.push(second.clone());
    if seconds.len() > MOST_SECONDS {
        let pairs = seconds.chunks(2).map(|pair| match pair {
            [first, next] => first.merged(next),
            _ => pair[0].clone(),
        });
        *seconds = pairs.collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_health_of_a_long_run_is_kept_in_few_seconds() {
        let mut seconds = Vec::new();
        for at in 0..8 * 3_600 {
            note_second(
                &mut seconds,
                &Second {
                    from_ms: at * 1_000,
                    to_ms: (at + 1) * 1_000,
                    samples: 3,
                    ..Second::default()
                },
            );
        }
        assert!(seconds.len() <= MOST_SECONDS);
        let samples: u64 = seconds.iter().map(|second| second.samples).sum();
        assert_eq!(samples, 3 * 8 * 3_600);
        assert_eq!(seconds.last().map(|last| last.to_ms), Some(28_800_000));
    }
}
