//! A plan before it is written: transactions of requests, and what was left out on the way.

use std::collections::BTreeMap;

use crate::correlate::Extractor;
use crate::exchange::{Body, Part, Request, Response};
use crate::text::Text;

/// The result of an importer.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The name of the plan.
    pub name: String,
    /// User Defined Variables: name, value, description.
    pub variables: Vec<(String, Text, String)>,
    /// The requests, in their order.
    pub transactions: Vec<Transaction>,
    /// Cookies are kept and sent back.
    pub cookies: bool,
    /// A browser's cache is simulated.
    pub cache: bool,
    /// Pages load their embedded resources, only from hosts that match this expression unless it is empty.
    pub embedded: Option<String>,
    /// The load.
    pub load: Load,
    /// The number of requests left out, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// The parts that could not be carried over, a line each.
    pub warnings: Vec<String>,
    /// The CSV file beside the plan; empty for none.
    pub data: Data,
}

/// A CSV file beside the plan: its columns are variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Data {
    /// The variables, a column each.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// The plan ends with the last row; else it begins again.
    pub is_used_once: bool,
}

/// The load of the plan's one thread group.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Load {
    /// One user, one pass: a plan to look at first. Properties `users`, `ramp_up` and `loops` change it.
    #[default]
    Trial,
    /// Requests at the pace of a log: a rate per second for each stretch of seconds.
    Pace(Vec<(f64, u64)>),
    /// `users` users for a time, or together so many iterations.
    Users {
        /// How many there are.
        users: u32,
        /// For how long, in seconds; else for the iterations.
        duration_s: Option<u64>,
        /// Iterations of all users together.
        iterations: u64,
        /// Per second, all users together.
        rate: Option<f64>,
    },
    /// New users at a rate, whatever the others do.
    Arrivals {
        /// New users per second.
        rate: f64,
        /// For how long, in seconds.
        duration_s: u64,
    },
}

/// Requests that belong together: a page, a user action, a folder.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// Without a name the steps stand in the thread group itself.
    pub name: Option<String>,
    /// The name comes from the user or from the page's title.
    pub is_typed: bool,
    /// Whether its time is measured; a folder only sorts.
    pub is_measured: bool,
    /// The requests.
    pub steps: Vec<Step>,
}

/// One request with what surrounds it.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// The request.
    pub request: Request,
    /// The response, where the input has one.
    pub response: Option<Response>,
    /// Its place among the recorded requests, from 1; 0 where nothing was recorded.
    pub number: usize,
    /// The user's pause before it.
    pub think_ms: u64,
    /// Values of the response that later requests send.
    pub extractors: Vec<Extractor>,
    /// Response codes that are expected, as a regular expression; empty for none.
    pub expected_code: String,
    /// Its embedded resources are loaded with it.
    pub loads_resources: bool,
}

impl Draft {
    /// An empty draft.
    pub fn new(name: impl Into<String>) -> Draft {
        Draft {
            name: name.into(),
            ..Draft::default()
        }
    }

    /// Counts a request that was left out.
    pub fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }

    /// Notes something that could not be carried over, once.
    pub fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        // the same message for each of 2,000 requests helps nobody
        if !self.warnings.contains(&message) {
            self.warnings.push(message);
        }
    }

    /// All requests.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.transactions
            .iter()
            .flat_map(|transaction| &transaction.steps)
    }

    /// All requests, to change them.
    pub fn steps_mut(&mut self) -> impl Iterator<Item = &mut Step> {
        self.transactions
            .iter_mut()
            .flat_map(|transaction| &mut transaction.steps)
    }

    /// The files that requests send, each with its content where the input has it.
    pub fn files_mut(&mut self) -> impl Iterator<Item = (&mut Text, Option<&str>)> {
        self.steps_mut().flat_map(|step| {
            let files: Vec<(&mut Text, Option<&str>)> = match &mut step.request.body {
                Body::File { path, .. } => vec![(path, None)],
                Body::Multipart(parts) => {
                    let files = parts.iter_mut().filter_map(|part| match part {
                        Part::File { path, content, .. } => Some((path, content.as_deref())),
                        Part::Field { .. } => None,
                    });
                    files.collect()
                }
                Body::None | Body::Raw(_) | Body::Form(_) => Vec::new(),
            };
            files
        })
    }

    /// Sets a variable; the first value of a name stays.
    pub fn variable(&mut self, name: &str, value: impl Into<Text>, description: &str) {
        if !self.variables.iter().any(|(own, _, _)| own == name) {
            self.variables
                .push((name.to_owned(), value.into(), description.to_owned()));
        }
    }
}
