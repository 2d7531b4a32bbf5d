//! A plan before it is written: transactions of requests, and a record of what the importer left out.

use std::collections::BTreeMap;

use crate::exchange::{FormPart, Request, RequestBody, Response};
use crate::extractor::Extractor;
use crate::options::ImportError;
use crate::text::PlanText;

/// Begins the reason for requests to hosts that are not the site's.
pub(crate) const TO_HOST: &str = "requests to ";

/// The result of an importer.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// The name of the plan.
    pub name: String,
    /// User Defined Variables: name, value, description.
    pub variables: Vec<(String, PlanText, String)>,
    /// The requests, in their order.
    pub transactions: Vec<Transaction>,
    /// Whether cookies are stored and sent back.
    pub cookies: bool,
    /// The cookies that users have from the start.
    pub brought_cookies: Vec<BroughtCookie>,
    /// Whether a browser's cache is simulated.
    pub cache: bool,
    /// Whether pages load their embedded resources; unless the expression is empty, only from hosts that
    /// match it.
    pub embedded: Option<String>,
    /// Whether any certificate of a server is accepted. Plans always accept all, so only the command line that runs the draft
    /// honours it.
    pub insecure: bool,
    /// Whether variables stand for the servers and a factor for the pauses, as a plan needs that is kept.
    pub is_kept: bool,
    /// The load.
    pub load: DraftLoad,
    /// The number of requests left out, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// The entries of a recording that were left out, by their index, with the reason.
    pub omitted: BTreeMap<usize, String>,
    /// The parts that could not be carried over, one line each.
    pub warnings: Vec<String>,
    /// The CSV file beside the plan; empty if there is none.
    pub data: Data,
    /// Texts that the site gives to all visitors alike, such as its scripts.
    pub shared: Vec<String>,
}

/// A CSV file beside the plan: its columns are variables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Data {
    /// The variables, a column each.
    pub names: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
    /// Whether the plan ends with the last row instead of starting over.
    pub is_used_once: bool,
}

/// The load of the plan's one thread group.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum DraftLoad {
    /// One user and one pass, for a first look at the plan. The properties `users`, `ramp_up` and `loops`
    /// change it.
    #[default]
    Trial,
    /// Requests at the rate of a log: pairs of a rate per second and a duration in seconds.
    Pace(Vec<(f64, u64)>),
    /// `users` users for a fixed time, or for a number of iterations shared by all users.
    Users {
        /// How many there are.
        users: u32,
        /// The duration in seconds; `None` to run for the iterations.
        duration_s: Option<u64>,
        /// Iterations of all users together.
        iterations: u64,
        /// Iterations per second, over all users.
        rate: Option<f64>,
    },
    /// New users at a fixed arrival rate, regardless of the users already running.
    Arrivals {
        /// New users per second.
        rate: f64,
        /// The duration in seconds.
        duration_s: u64,
    },
}

/// Requests that belong together: a page, a user action, a folder.
#[derive(Debug, Clone, Default)]
pub struct Transaction {
    /// Without a name, the steps stand directly in the thread group.
    pub name: Option<String>,
    /// Whether the name comes from the user or from the page's title.
    pub is_typed: bool,
    /// Whether its duration is measured. A folder is not; it only groups requests.
    pub is_measured: bool,
    /// The requests.
    pub steps: Vec<DraftStep>,
}

/// One request with what surrounds it.
#[derive(Debug, Clone, Default)]
pub struct DraftStep {
    /// The request.
    pub request: Request,
    /// The response, where the input has one.
    pub response: Option<Response>,
    /// Its index among the recorded requests, from 1; 0 if it was not recorded.
    pub number: usize,
    /// Its index among the entries of the recording.
    pub entry: usize,
    /// The user's think time before it.
    pub think_ms: u64,
    /// Variables that are set before it is sent, and their values.
    pub assigned: Vec<(String, PlanText)>,
    /// Values of the response that later requests send.
    pub extractors: Vec<Extractor>,
    /// The expected response codes, as a regular expression; empty if none are given.
    pub expected_code: String,
    /// Texts that the response must contain.
    pub expected_texts: Vec<String>,
    /// Whether its embedded resources are loaded with it.
    pub loads_resources: bool,
    /// When it was sent, in milliseconds since 1970.
    pub sent_at_ms: Option<i64>,
}

impl From<Request> for DraftStep {
    fn from(request: Request) -> DraftStep {
        DraftStep {
            request,
            ..DraftStep::default()
        }
    }
}

impl DraftStep {
    /// Changes every text that is sent.
    pub fn each_text(&mut self, mut change: impl FnMut(&mut PlanText)) {
        let request = &mut self.request;
        let address = &mut request.address;
        let parts = [
            &mut address.scheme,
            &mut address.host,
            &mut address.port,
            &mut address.path,
        ];
        parts.into_iter().for_each(&mut change);
        for (_, value) in &mut request.headers {
            change(value);
        }
        if let Some(auth) = &mut request.auth {
            change(&mut auth.user);
            change(&mut auth.password);
        }
        for (_, value) in &mut self.assigned {
            change(value);
        }
        match &mut request.body {
            RequestBody::Raw(text) | RequestBody::File { path: text, .. } => change(text),
            RequestBody::Form(fields) => fields.iter_mut().for_each(|(_, value)| change(value)),
            RequestBody::Multipart(parts) => {
                for part in parts {
                    match part {
                        FormPart::Field { value, .. } => change(value),
                        FormPart::File { path, .. } => change(path),
                    }
                }
            }
            RequestBody::None => {}
        }
    }
}

impl Draft {
    /// An empty draft.
    pub fn new(name: impl Into<String>) -> Draft {
        Draft {
            name: name.into(),
            ..Draft::default()
        }
    }

    /// Completes an import whose requests one user with cookies sends one after the other. `nothing` is the message and the remedy
    /// for an import without a request.
    ///
    /// # Errors
    /// There is no step.
    pub fn with_steps(
        mut self,
        steps: Vec<DraftStep>,
        nothing: (&str, &str),
    ) -> Result<Draft, ImportError> {
        if steps.is_empty() {
            return Err(ImportError::nothing(nothing.0, nothing.1, &self));
        }
        self.cookies = true;
        self.transactions.push(Transaction {
            steps,
            ..Transaction::default()
        });
        Ok(self)
    }

    /// Counts a request that was left out.
    pub fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts an entry of a recording that was left out.
    pub(crate) fn omit(&mut self, entry: usize, reason: &str) {
        self.omitted.insert(entry, reason.to_owned());
        self.leave_out(reason);
    }

    /// Records something that could not be carried over. Repeated messages are recorded once.
    pub fn warn(&mut self, message: impl Into<String>) {
        let message = message.into();
        // Repeating the message for each of 2,000 requests would hide the others.
        if !self.warnings.contains(&message) {
            self.warnings.push(message);
        }
    }

    /// All requests.
    pub fn steps(&self) -> impl Iterator<Item = &DraftStep> {
        self.transactions
            .iter()
            .flat_map(|transaction| &transaction.steps)
    }

    /// All requests, to change them.
    pub fn steps_mut(&mut self) -> impl Iterator<Item = &mut DraftStep> {
        self.transactions
            .iter_mut()
            .flat_map(|transaction| &mut transaction.steps)
    }

    /// The files that requests send, each with its content if the input has it.
    pub fn files_mut(&mut self) -> impl Iterator<Item = (&mut PlanText, Option<&str>)> {
        self.steps_mut().flat_map(|step| {
            let files: Vec<(&mut PlanText, Option<&str>)> = match &mut step.request.body {
                RequestBody::File { path, .. } => vec![(path, None)],
                RequestBody::Multipart(parts) => {
                    let files = parts.iter_mut().filter_map(|part| match part {
                        FormPart::File { path, content, .. } => Some((path, content.as_deref())),
                        FormPart::Field { .. } => None,
                    });
                    files.collect()
                }
                RequestBody::None | RequestBody::Raw(_) | RequestBody::Form(_) => Vec::new(),
            };
            files
        })
    }

    /// The requests that were left out, a line for each reason. The hosts with the fewest requests share a line.
    pub fn left_out_lines(&self) -> Vec<String> {
        const MOST: usize = 4;
        let (mut hosts, others): (Vec<_>, Vec<_>) = self
            .left_out
            .iter()
            .partition(|(reason, _)| reason.starts_with(TO_HOST));
        hosts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let line = |(reason, count): &(&String, &usize)| format!("{reason}: {count}");
        let mut lines: Vec<String> = others.iter().map(line).collect();
        let shown = if hosts.len() > MOST + 1 {
            MOST
        } else {
            hosts.len()
        };
        lines.extend(hosts[..shown].iter().map(line));
        if let rest @ [_, ..] = &hosts[shown..] {
            let requests: usize = rest.iter().map(|(_, count)| **count).sum();
            lines.push(format!("{TO_HOST}{} more hosts: {requests}", rest.len()));
        }
        if !hosts.is_empty() {
            let host = &hosts[0].0[TO_HOST.len()..];
            let last = lines.last_mut().expect("hosts have lines");
            last.push_str(&format!("; `--domain {host}` keeps those of a host"));
        }
        lines
    }

    /// Sets a variable. The first value of a name wins.
    pub fn variable(&mut self, name: &str, value: impl Into<PlanText>, description: &str) {
        if !self.variables.iter().any(|(own, _, _)| own == name) {
            self.variables
                .push((name.to_owned(), value.into(), description.to_owned()));
        }
    }
}

/// A cookie that users have from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtCookie {
    /// Its name.
    pub name: String,
    /// The variable that holds its value.
    pub value: PlanText,
    /// The host, or the site if several of its hosts get the cookie.
    pub domain: String,
    /// Whether it is sent over TLS only.
    pub is_secure: bool,
}
