//! `--out KIND=WHERE`: sends the numbers of a run to other systems while it goes on.

use drumfire_results::{Recording, ThreadCounts};
use drumfire_sinks::{Out, RunInfo, Sink, Users};
use jiff::Timestamp;

use crate::engine::{Event, Mark, Subscriber};
use crate::options::ExportOptions;
use crate::properties::Settings;

/// The property with outputs for JMeter's command line and `drumfire.toml`, semicolons between them.
pub const OUT: &str = "drumfire.out";
/// The property with tags of all outputs, `NAME=VALUE` with semicolons between them.
pub const TAGS: &str = "drumfire.tags";

/// The outputs of a run, at work.
pub struct Exports {
    sinks: Vec<Sink>,
    users: Users,
}

impl Exports {
    /// Starts the outputs of the command line and of the properties.
    ///
    /// # Errors
    /// What is wrong with one, or why it cannot be started.
    pub fn start(
        options: &ExportOptions,
        settings: &Settings,
        run_id: &str,
    ) -> Result<Exports, String> {
        let listed = |name| list(settings.properties.get(name).unwrap_or_default());
        let outs = options.out.iter().cloned().chain(listed(OUT));
        let outs = outs
            .map(|text| Out::parse(&text))
            .collect::<Result<Vec<_>, _>>();
        let tags = options.tags.iter().cloned().chain(listed(TAGS));
        let tags = tags.map(|text| tag(&text)).collect::<Result<Vec<_>, _>>()?;
        let run = RunInfo {
            id: run_id.to_owned(),
            tags,
        };
        let now_ms = || Timestamp::now().as_millisecond();
        let sinks = outs
            .map_err(|error| error.to_string())?
            .iter()
            .map(|out| out.start(&run, now_ms))
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        Ok(Exports {
            sinks,

            users: Users::default(),
        })
    }

    /// Ends all outputs, five seconds at most. Gives a line for each that lost something.
    pub fn end(self) -> Vec<String> {
        let ended = self.sinks.into_iter().map(Sink::end);
        ended
            .filter(|delivery| delivery.dropped > 0)
            .map(|delivery| {
                let all = delivery.delivered + delivery.dropped;
                let why = delivery
                    .problem
                    .map(|problem| format!(": {problem}"))
                    .unwrap_or_default();
                format!(
                    "output {}: {} of {all} batches were not delivered{why}",
                    delivery.sink, delivery.dropped
                )
            })
            .collect()
    }

    fn tick(&self, verdict: u8) {
        let dropped: Vec<_> = self
            .sinks
            .iter()
            .map(Sink::delivery)
            .map(|delivery| (delivery.sink, delivery.dropped))
            .collect();
        for sink in &self.sinks {
            sink.tick(self.users, verdict, &dropped);
        }
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
            Event::Tick(tick) => {
                self.users = users(tick.users);
                self.tick(0);
            }
            Event::Mark(Mark { at_ms, text, .. }) => {
                for sink in &self.sinks {
                    sink.mark(*at_ms, text);
                }
            }
            Event::Ended(outcome) => {
                self.users = users(outcome.users);
                let verdict = outcome
                    .verdict
                    .as_ref()
                    .map_or(0, |verdict| verdict.grade as u8);
                self.tick(verdict);
            }
            Event::Started(_) | Event::Line(_) | Event::Warning(_) => {}
        }
    }
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

fn tag(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!(
            "`{text}` is not NAME=VALUE, such as --tag team=shop"
        )),
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
