//! The lines of JMeter's summarisers, from a run's events.

use drumfire_results::{Summariser, SummariserSettings, SummaryDelta};

use crate::run::events::Event;
use crate::run::program::Program;

/// Makes the lines of all summarisers of a plan, and writes them to the log if the properties say so.
#[derive(Debug, Default)]
pub struct SummaryLines {
    names: Vec<String>,
    settings: SummariserSettings,
    summarisers: Vec<Summariser>,
}

impl SummaryLines {
    /// The summarisers of this plan.
    pub fn of(program: &Program) -> SummaryLines {
        let properties = &program.settings.properties;
        SummaryLines {
            names: program.summarisers.clone(),
            settings: SummariserSettings::from_properties(&crate::base::properties::lookup(
                properties,
            )),
            summarisers: Vec::new(),
        }
    }

    /// The lines for standard output that are due with this event.
    pub fn receive(&mut self, event: &Event) -> Vec<String> {
        let mut lines = Vec::new();
        match event {
            Event::Started(started) => {
                let interval_s = self.settings.interval_s;
                let names = self.names.iter();
                self.summarisers = names
                    .map(|name| Summariser::new(name.as_str(), interval_s, started.at_ms))
                    .collect();
            }
            Event::Tick(tick) => {
                for (summariser, samples) in self.summarisers.iter_mut().zip(&tick.summaries) {
                    summariser.tick(tick.at_ms, samples, tick.users, |line| {
                        lines.push(line.to_owned());
                    });
                }
            }
            Event::Ended(outcome) => {
                for summariser in self.summarisers.drain(..) {
                    let nothing = SummaryDelta::EMPTY;
                    summariser.finish(outcome.ended_ms, &nothing, outcome.users, |line| {
                        lines.push(line.to_owned());
                    });
                }
            }
            Event::Increment(_)
            | Event::Heard(..)
            | Event::Line(_)
            | Event::Warning(_)
            | Event::Mark(_) => {}
        }
        if self.settings.log {
            lines.iter().for_each(|line| tracing::info!("{line}"));
        }
        if self.settings.out { lines } else { Vec::new() }
    }
}
