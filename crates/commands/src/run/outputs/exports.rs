//! Sends the numbers of a run to other systems while it goes on: `--out KIND=WHERE` and the plan's Backend Listeners.

use crate::terminal::format::counted;
use std::sync::{Arc, Mutex};

use drumfire_authorities::Authorities;
use drumfire_engine::AgentTick;
use drumfire_health::Grade;
use drumfire_platform::secrets;
use drumfire_results::{CollectorSet, Recording, SampleQueue, ThreadCounts};
use drumfire_sinks::{AgentMetrics, Delivery, Exporter, RequestedOutput, RunInfo, Sink, Users};
use jiff::Timestamp;

use crate::engine::{BackendSpec, Event, Mark, Subscriber};
use crate::refusal::{Refusal, UsageError};
use crate::run::arguments::ExportOptions;
use crate::run::outputs::backends;
use crate::run::outputs::collectors::Collectors;
use crate::settings::profiles::{OUT, TAGS};
use crate::settings::properties::RunProperties;

/// Data that was not delivered: a message for each sink that lost some.
#[derive(Debug, Default)]
pub struct Undelivered {
    /// Outputs that the user asked for.
    pub outputs: Vec<String>,
    /// Backend Listeners of the plan.
    pub listeners: Vec<String>,
}

/// The running outputs of a run.
#[derive(Default)]
pub struct Exports {
    sinks: Vec<Sink>,
    /// The exporters of the plan's Backend Listeners, by number; `None` where one could not be started.
    listeners: Vec<Option<Exporter>>,
    /// Queues of samples that are sent individually, each with the name of its listener.
    queues: Vec<(String, SampleQueue)>,
    collectors: Option<Collectors>,
    users: Users,
    authorities: Authorities,
}

impl Exports {
    /// Starts the outputs of the command line and of the properties.
    ///
    /// # Errors
    /// Which output is wrong, or why it cannot be started.
    pub fn start(
        options: &ExportOptions,
        settings: &RunProperties,
        authorities: Authorities,
        run_id: &str,
    ) -> Result<Exports, Refusal> {
        let listed = |name| list(settings.properties.get(name).unwrap_or_default());
        let outs = options.out.iter().cloned().chain(listed(OUT));
        let outs = outs
            .map(|text| RequestedOutput::parse(&text))
            .collect::<Result<Vec<_>, _>>();
        let tags = options.tags.iter().cloned().chain(listed(TAGS));
        let tags = tags
            .map(|text| tag(&text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(Refusal::usage)?;
        let run = RunInfo {
            id: run_id.to_owned(),
            tags,
        };
        let sinks = outs
            .map_err(|error| Refusal::usage(error.to_string()))?
            .iter()
            .map(|out| out.start(&run, &authorities, || Timestamp::now().as_millisecond()))
            .collect::<Result<_, _>>()
            .map_err(|error| {
                Refusal::run_failed(error.to_string())
                    .hint("nothing was sent; name another place, or make room for this")
            })?;
        Ok(Exports {
            sinks,
            listeners: Vec::new(),
            queues: Vec::new(),
            collectors: None,
            users: Users::default(),
            authorities,
        })
    }

    /// Starts the plan's Backend Listeners. Returns a message for each that cannot be started; the run goes on without
    /// it.
    pub fn start_listeners(
        &mut self,
        specs: &[BackendSpec],
        settings: &RunProperties,
    ) -> Vec<String> {
        let mut problems = Vec::new();
        for spec in specs {
            let started = backends::start(spec, settings, &self.authorities).map_err(|why| {
                problems.push(format!(
                    "Backend Listener `{}` sends nothing: {why}",
                    spec.name
                ));
            });
            self.listeners.push(started.ok());
            let queue = spec.samples.iter();
            self.queues
                .extend(queue.map(|queue| (spec.name.clone(), queue.clone())));
        }
        problems
    }

    /// Serves the collectors of the plan's Prometheus Listeners, if there are any. Returns a message if they cannot be
    /// served.
    pub fn start_collectors(
        &mut self,
        sets: Vec<Arc<Mutex<CollectorSet>>>,
        settings: &RunProperties,
    ) -> Option<String> {
        if sets.is_empty() {
            return None;
        }
        match Collectors::start(sets, &|name: &str| {
            settings.properties.get(name).map(str::to_owned)
        }) {
            Ok(collectors) => {
                self.collectors = Some(collectors);
                None
            }
            Err(why) => Some(format!("Prometheus Listeners show nothing: {why}")),
        }
    }

    /// Ends all outputs within five seconds.
    pub fn end(self) -> Undelivered {
        // They are all closed first, so that they share the same five seconds.
        self.sinks.iter().for_each(Sink::close);
        self.exporters().for_each(Exporter::close);
        let outputs = self.sinks.into_iter().map(Sink::end);
        let listeners = self
            .listeners
            .into_iter()
            .flatten()
            .map(Exporter::end)
            .filter_map(|delivery| lost("Backend Listener", &delivery));
        let queues = self.queues.iter().filter_map(|(name, queue)| {
            let dropped = queue.dropped();
            (dropped > 0).then(|| {
                format!(
                    "Backend Listener {name}: not sent, because too many were waiting: {}",
                    counted(dropped, "sample")
                )
            })
        });
        let listeners = listeners.collect::<Vec<_>>().into_iter().chain(queues);
        Undelivered {
            outputs: outputs
                .filter_map(|delivery| lost("output", &delivery))
                .collect(),
            listeners: listeners
                .chain(self.collectors.and_then(Collectors::end))
                .collect(),
        }
    }

    fn exporters(&self) -> impl Iterator<Item = &Exporter> {
        self.listeners.iter().flatten()
    }

    fn tell_agents(&self, agents: &[AgentTick]) {
        if !agents.is_empty() {
            let agents: Vec<_> = agents.iter().map(shown).collect();
            self.sinks.iter().for_each(|sink| sink.set_agents(&agents));
        }
    }

    fn tick(&self, verdict: Option<u8>) {
        let dropped: Vec<_> = self
            .sinks
            .iter()
            .map(Sink::delivery)
            .map(|delivery| (delivery.sink, delivery.dropped))
            .collect();
        for sink in &self.sinks {
            sink.tick(self.users, verdict, &dropped);
        }
        if let Some(collectors) = &self.collectors {
            collectors.tick(self.users);
        }
        for listener in self.exporters() {
            listener.feed().tick(self.users, verdict);
        }
    }
}

fn shown(agent: &AgentTick) -> AgentMetrics {
    AgentMetrics {
        name: agent.name.to_string(),
        state: agent.phase.to_string(),
        users: agent.users,
        samples: agent.samples,
        undelivered: None,
    }
}

impl Subscriber for Exports {
    fn receive(&mut self, event: &Event, _: &Recording) {
        match event {
            Event::Increment(increment) => {
                for sink in &self.sinks {
                    sink.add((**increment).clone());
                }
            }
            Event::Heard(number, heard) => {
                if let Some(Some(listener)) = self.listeners.get(usize::from(*number)) {
                    listener.feed().add((**heard).clone());
                }
            }
            Event::Tick(tick) => {
                self.users = users(tick.users);
                self.tick(None);
                self.tell_agents(&tick.agents);
            }
            Event::Mark(Mark { at_ms, text, .. }) => {
                for sink in &self.sinks {
                    sink.mark(*at_ms, text);
                }
            }
            Event::Ended(outcome) => {
                self.users = users(outcome.users);
                let verdict = outcome.verdict.as_ref();
                self.tick(verdict.and_then(|verdict| number(verdict.grade)));
            }
            Event::Started(_) | Event::Line(_) | Event::Warning(_) => {}
        }
    }
}

/// The number of a grade in metrics; `None` for a run that was too short to judge.
fn number(grade: Grade) -> Option<u8> {
    match grade {
        Grade::Valid => Some(0),
        Grade::TooShort => None,
        Grade::Degraded => Some(1),
        Grade::Invalid => Some(2),
    }
}

/// A message on what a sink lost, if anything.
fn lost(kind: &str, delivery: &Delivery) -> Option<String> {
    let Delivery {
        sink,
        address,
        delivered,
        dropped,
        problem,
    } = delivery;
    let all = delivered + dropped;
    let why = problem
        .iter()
        .map(|problem| format!(": {problem}"))
        .collect::<String>();
    (*dropped > 0).then(|| {
        format!("{kind} {sink} at `{address}`: {dropped} of {all} batches were not delivered{why}")
    })
}

fn users(counts: ThreadCounts) -> Users {
    Users {
        active: counts.active,
        started: counts.started,
        ended: counts.finished,
    }
}

fn list(text: &str) -> Vec<String> {
    let parts = text.split(';').map(str::trim);
    parts
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn tag(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => {
            Ok((name.to_owned(), secrets::shown(name, value).into_owned()))
        }
        _ => Err(format!("`{text}` is not NAME=VALUE, such as --tag team=shop").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_at_semicolons_and_tags_at_the_first_equals_sign() {
        assert_eq!(list(" a=b ;; c=d;"), ["a=b", "c=d"]);
        assert_eq!(tag("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(tag("=b").is_err() && tag("a").is_err());
    }
}
