//! Records visits for the editor, by the recorder and the importers of `drumfire record`.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use drumfire_edit::protocol::record_messages::{RecordOffer, RecordRow, RecordSettings};
use drumfire_edit::refused::{FILE, NO_RUN, PARAMETERS};
use drumfire_edit::{
    ProposedVariable, RecordEvent, RecordListener, RecordOrder, RecordedElements, Refused,
    RunningRecording,
};
use drumfire_import::correlate::{self, Constant, Finding, Wishes, correlate_as};
use drumfire_import::like::{Grouping, Insertion, Naming, Recorder, samplers};
use drumfire_import::{Address, Draft, ImportError, ImportOptions, Watch};
use drumfire_jmx::{Node, Tree};
use drumfire_platform::causes::cause;
use drumfire_recorder::{
    Order, Proxy, ProxyTraffic, RecordError, Seen, SeenExchange, Stage, Visit,
};
use serde_json::Value;

use crate::import::uploads::Uploads;
use crate::import::verify::{self, Proof, ReplayState};
use crate::record::sources::{USUAL_PORT, site_of};
use crate::record::{certificate, first_server};
use crate::refusal::Refusal;

/// Each grouping with its name in messages.
const GROUPINGS: [(Grouping, &str); 6] = [
    (Grouping::Pages, "pages"),
    (Grouping::None, "none"),
    (Grouping::Separators, "separators"),
    (Grouping::SimpleControllers, "controllers"),
    (Grouping::FirstOnly, "first"),
    (Grouping::TransactionControllers, "transactions"),
];
/// The names of JMeter's ways to name requests, in the order of its numbers.
const NAMINGS: [&str; 4] = ["prefix", "transaction", "suffix", "format"];
/// The name of the way in which `drumfire record` names requests.
const OWN_NAMING: &str = "request";

/// The settings of a plan's recorder, or the usual ones.
pub fn offer(tree: &Tree) -> RecordOffer {
    let element = Recorder::element(tree);
    let recorder = element.map(Recorder::of).unwrap_or_else(Recorder::usual);
    RecordOffer {
        settings: shown(&recorder),
        from: element.map(|element| element.name.to_string()),
        browser: !cfg!(windows) && drumfire_recorder::installed_browser().is_some(),
    }
}

fn shown(own: &Recorder) -> RecordSettings {
    let grouping = GROUPINGS.iter().find(|(one, _)| *one == own.grouping);
    let naming = own.naming.as_ref();
    let mode = naming.map(|naming| {
        let mode = usize::try_from(naming.mode).ok();
        mode.and_then(|mode| NAMINGS.get(mode))
            .unwrap_or(&NAMINGS[0])
    });
    RecordSettings {
        port: own.port().unwrap_or(USUAL_PORT),
        domains: own.domains.clone(),
        all_domains: own.all_domains,
        include: own.include.clone(),
        exclude: own.exclude.clone(),
        content_include: own.content_include.clone(),
        content_exclude: own.content_exclude.clone(),
        keep_resources: own.keeps_resources,
        grouping: grouping
            .map(|(_, name)| *name)
            .unwrap_or("pages")
            .to_owned(),
        pause_ms: own.pause_ms,
        naming: mode.copied().unwrap_or(OWN_NAMING).to_owned(),
        prefix: naming
            .map(|naming| naming.prefix.clone())
            .unwrap_or_default(),
        format: naming
            .map(|naming| naming.format.clone())
            .unwrap_or_default(),
        headers: own.captures_headers,
        assertions: own.adds_assertion,
        think_times: own.keeps_pauses,
        embedded: own.downloads_images,
        follow_redirects: own.follows_redirects,
        auto_redirects: own.redirects_automatically,
        keep_alive: own.keeps_alive,
        regex_match: own.matches_words,
    }
}

/// The recorder with the settings of a request. The plan's recorder gives its timers.
fn recorder(own: &RecordSettings, tree: &Tree) -> Result<Recorder, Refused> {
    let grouping = GROUPINGS.iter().find(|(_, name)| *name == own.grouping);
    let (grouping, _) = grouping.ok_or_else(|| {
        let names = GROUPINGS.map(|(_, name)| name).join("`, `");
        let message = format!("`{}` is none of `{names}`", own.grouping);
        Refused::new(PARAMETERS, message)
    })?;
    let mode = NAMINGS.iter().position(|name| *name == own.naming);
    if mode.is_none() && own.naming != OWN_NAMING {
        let names = NAMINGS.join("`, `");
        let message = format!("`{}` is none of `{OWN_NAMING}`, `{names}`", own.naming);
        return Err(Refused::new(PARAMETERS, message));
    }
    let recorder_of_plan = Recorder::find(tree);
    let shortest_value = recorder_of_plan
        .as_ref()
        .unwrap_or(&Recorder::usual())
        .shortest_value;
    let domains = trimmed_lines(&own.domains)
        .into_iter()
        .map(|domain| match domain.as_str() {
            drumfire_recorder::ANY_DOMAIN => domain,
            _ => domain.trim_start_matches("*.").to_ascii_lowercase(),
        });
    Ok(Recorder {
        port: own.port.to_string(),
        domains: domains.collect(),
        all_domains: own.all_domains,
        include: trimmed_lines(&own.include),
        exclude: trimmed_lines(&own.exclude),
        content_include: own.content_include.clone(),
        content_exclude: own.content_exclude.clone(),
        keeps_resources: own.keep_resources,
        captures_headers: own.headers,
        adds_assertion: own.assertions,
        grouping: *grouping,
        follows_redirects: own.follow_redirects,
        redirects_automatically: own.auto_redirects,
        keeps_alive: own.keep_alive,
        downloads_images: own.embedded,
        matches_words: own.regex_match,
        shortest_value,
        naming: mode.map(|mode| Naming {
            mode: i32::try_from(mode).unwrap_or_default(),
            format: own.format.clone(),
            prefix: own.prefix.clone(),
        }),
        pause_ms: own.pause_ms,
        keeps_pauses: own.think_times,
        timers: recorder_of_plan.map(|own| own.timers).unwrap_or_default(),
    })
}

/// The lines without blanks around them; empty ones are left out.
fn trimmed_lines(list: &[String]) -> Vec<String> {
    let lines = list.iter().map(|line| line.trim().to_owned());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>()
}

/// A visit that is recorded in a thread. Dropping it ends the recording.
struct VisitRecording {
    plan: PathBuf,
    recorder: Recorder,
    options: ImportOptions,
    address: Option<SocketAddr>,
    certificate: Option<(String, bool)>,
    orders: Mutex<Sender<Order>>,
    stop: Arc<AtomicBool>,
    /// Whether a replay ends before its time.
    gives_up: AtomicBool,
    taken: Arc<Mutex<Taken>>,
    found: Mutex<Found>,
}

/// The result of the thread.
#[derive(Default)]
struct Taken {
    /// The entries of the HAR by the numbers of their requests.
    numbers: Vec<usize>,
    /// Requests while the recording was paused.
    paused: Vec<usize>,
    /// The recording, once it is over.
    har: Option<String>,
    notes: Vec<String>,
}

/// The requests of the recording, and the values that were found in them.
#[derive(Default)]
struct Found {
    draft: Draft,
    insertion: Option<Insertion>,
    /// Names of variables that the plan has.
    taken: Vec<String>,
    /// The recording of another user.
    other: Option<Draft>,
    /// Each value with its proof.
    findings: Vec<(Finding, &'static str)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: &RecordError) -> Refused {
    let refused = Refused::new(NO_RUN, error.to_string());
    match error {
        RecordError::Address(..) => refused.hint("choose another port, or 0 for a free one"),
        RecordError::NoBrowser => {
            Refused::new(NO_RUN, "there is no Chromium or Chrome on the path")
                .hint("record through the proxy")
        }
        _ => refused,
    }
}

fn refused(refusal: &Refusal) -> Refused {
    let line = refusal.err.lines().next().unwrap_or_default();
    Refused::new(FILE, line.trim_start_matches("error: "))
}

fn import_refused(error: ImportError) -> Refused {
    let message = error.message.replace(&format!("`{SOURCE}`: "), "");
    let refused = Refused::unfit(message);
    match error.hint {
        Some(hint) => refused.hint(hint),
        None => refused,
    }
}

/// How often the end of a replay is looked for.
const PAUSE: Duration = Duration::from_millis(20);

/// The name of the recording for the importer.
const SOURCE: &str = "the recording";

/// A place from which a visit is recorded.
enum Source {
    Proxy(Proxy),
    Browser(Visit),
}

/// Begins to record a visit.
///
/// # Errors
/// The proxy cannot listen, or there is no browser.
pub fn start(
    order: RecordOrder,
    listener: RecordListener,
) -> Result<Arc<dyn RunningRecording>, Refused> {
    let recorder = recorder(&order.settings, &order.tree)?;
    let mut notes = Vec::new();
    let options = recorder.options(
        ImportOptions {
            domains: recorder.domains.clone(),
            all_domains: recorder.all_domains,
            no_think_time: !recorder.keeps_pauses && recorder.timers.is_empty(),
            ..ImportOptions::default()
        },
        &mut notes,
    );
    if let Some(url) = &order.url
        && Address::parse(url).is_none()
    {
        let message = format!("`{url}` is not an address of HTTP");
        return Err(Refused::new(PARAMETERS, message).hint("begin it with `https://`"));
    }
    let source = source(&order, &recorder)?;
    let (address, certificate) = match &source {
        Source::Browser(_) => (None, None),
        Source::Proxy(proxy) => {
            let address = proxy.address().map_err(|error| failed(&error.into()))?;
            let certificate = proxy.certificate();
            let certificate_told = certificate.map(|own| (certificate::told(&own), proxy.is_new()));
            (Some(address), certificate_told)
        }
    };
    let (orders, given) = channel();
    let recording = Arc::new(VisitRecording {
        plan: order.plan,
        recorder,
        options: options.clone(),
        address,
        certificate,
        orders: Mutex::new(orders),
        stop: Arc::default(),
        gives_up: AtomicBool::new(false),
        taken: Arc::default(),
        found: Mutex::default(),
    });
    for note in notes {
        listener(RecordEvent::Note(note));
    }
    let thread = RecordingThread {
        stop: recording.stop.clone(),
        taken: recording.taken.clone(),
        watch: Watch::new(options),
        listener,
    };
    let builder = std::thread::Builder::new().name("record a visit".to_owned());
    let spawned = builder.spawn(move || thread.run(source, &given));
    spawned.map_err(|error| Refused::new(NO_RUN, cause(&error)))?;
    Ok(recording)
}

fn source(order: &RecordOrder, recorder: &Recorder) -> Result<Source, Refused> {
    if order.in_browser {
        let url = order.url.clone().ok_or_else(|| {
            Refused::new(PARAMETERS, "there is no page to open").hint("give its address")
        })?;
        return Ok(Source::Browser(Visit {
            url,
            browser: None,
            headless: order.headless,
            actions: order.scripts.clone(),
        }));
    }
    let of_url = order.url.as_deref().and_then(site_of);
    let domains: Vec<String> = of_url.into_iter().chain(recorder.domains.clone()).collect();
    let folder = certificate::folder(&|name: &str| std::env::var_os(name))
        .map_err(|refusal| refused(&refusal))?;
    let address = SocketAddr::from(([127, 0, 0, 1], order.settings.port));
    let proxy = Proxy::bind(address, &folder, &domains);
    Ok(Source::Proxy(proxy.map_err(|error| failed(&error))?))
}

/// The thread that records.
struct RecordingThread {
    stop: Arc<AtomicBool>,
    taken: Arc<Mutex<Taken>>,
    watch: Watch,
    listener: RecordListener,
}

impl RecordingThread {
    fn run(mut self, source: Source, orders: &Receiver<Order>) {
        let stop = self.stop.clone();
        let recorded = match source {
            Source::Proxy(proxy) => proxy.record(&stop, orders, &mut |seen| self.see(seen)),
            Source::Browser(visit) => {
                let har = drumfire_recorder::record(&visit, &stop, orders, &mut |seen| {
                    self.see(seen);
                });
                har.map(|har| ProxyTraffic {
                    har,
                    unread: Vec::new(),
                    untrusted: Vec::new(),
                })
            }
        };
        let message = match recorded {
            Ok(traffic) => {
                self.keep(&traffic);
                None
            }
            Err(error) => Some(failed(&error).message),
        };
        (self.listener)(RecordEvent::Ended(message));
    }

    fn see(&mut self, seen: Seen) {
        let event = match seen {
            Seen::Note(note) => RecordEvent::Note(note),
            Seen::Done(Order::Name(name)) => RecordEvent::Named(name),
            Seen::Done(Order::Pause(is_paused)) => RecordEvent::Paused(is_paused),
            Seen::Exchange(exchange) => RecordEvent::Row(self.row(&exchange)),
        };
        (self.listener)(event);
    }

    fn row(&mut self, seen: &SeenExchange) -> RecordRow {
        let (request, response) = (&seen.entry["request"], &seen.entry["response"]);
        let complete = seen.stage == Stage::Complete;
        let left_out = if seen.is_left_out {
            Some("requests while the recording was paused".to_owned())
        } else if complete {
            self.watch.refuses(&seen.entry)
        } else {
            None
        };
        if seen.stage == Stage::Sent {
            let mut taken = lock(&self.taken);
            let numbers = if seen.is_left_out {
                &mut taken.paused
            } else {
                &mut taken.numbers
            };
            numbers.push(seen.number);
        }
        let status = response["status"].as_u64().unwrap_or_default();
        let status = u16::try_from(status).unwrap_or_default();
        RecordRow {
            number: seen.number,
            method: text_of(&request["method"]),
            url: text_of(&request["url"]),
            status: (seen.stage != Stage::Sent).then_some(status),
            elapsed_ms: seen.entry["time"].as_f64().unwrap_or_default() as u64,
            bytes: seen.bytes,
            content_type: text_of(&response["content"]["mimeType"]),
            complete,
            left_out,
        }
    }

    fn keep(&self, traffic: &ProxyTraffic) {
        let mut taken = lock(&self.taken);
        taken.har = Some(traffic.har.to_string());
        let unread = traffic.unread.iter().map(|(host, count)| {
            format!("connections to {host}, which were not decrypted: {count}; name it in HTTPS domains to record them")
        });
        let untrusted = traffic.untrusted.iter().map(|(host, why)| {
            format!(
                "the certificate of `{host}` is not trusted ({why}); it was recorded all the same"
            )
        });
        taken.notes = unread.chain(untrusted).collect();
    }
}

/// The text of a value; empty if it is none.
fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

impl VisitRecording {
    fn draft(&self, har: String) -> Result<Draft, Refused> {
        let files = [(SOURCE.to_owned(), har.into_bytes())];
        drumfire_import::import(&files, &self.options).map_err(import_refused)
    }

    fn order(&self, order: Order) {
        // A recording that is over takes none.
        let _ = lock(&self.orders).send(order);
    }
}

impl Found {
    /// The draft with variables in the places of some values, and the findings about these.
    fn with_variables(&self, names: &[(Constant, String)]) -> (Draft, Vec<Finding>) {
        let is_wanted = |own: &Finding| {
            let mut names = names.iter();
            names.any(|(value, _)| value.value == own.value && value.from == own.from)
        };
        let others = self.findings.iter().map(|(finding, _)| finding);
        let mut constants: Vec<Constant> =
            others.filter(|own| !is_wanted(own)).map(constant).collect();
        loop {
            let mut draft = self.draft.clone();
            let wishes = Wishes {
                constants: &constants,
                names,
                taken: &self.taken,
                of_responses_only: true,
            };
            let findings = correlate_as(&mut draft, self.other.as_ref(), wishes);
            // Without one variable, a value may come from another response.
            let more: Vec<Constant> = findings
                .iter()
                .filter(|own| !is_wanted(own))
                .map(constant)
                .collect();
            if more.is_empty() {
                return (draft, findings);
            }
            constants.extend(more);
        }
    }

    /// Searches for values, with those of the other recording if there is one.
    fn search(&self) -> (Draft, Vec<Finding>) {
        let mut draft = self.draft.clone();
        let names = self.findings.iter();
        let names: Vec<(Constant, String)> = names
            .map(|(own, _)| (constant(own), own.variable.clone()))
            .collect();
        let wishes = Wishes {
            names: &names,
            taken: &self.taken,
            of_responses_only: true,
            ..Wishes::default()
        };
        let findings = correlate_as(&mut draft, self.other.as_ref(), wishes);
        (draft, findings)
    }

    /// The findings as the editor shows them. `draft` has their extractors.
    fn proposals(&self, draft: &Draft) -> Vec<ProposedVariable> {
        let steps: Vec<_> = draft.steps().collect();
        let proposals = self.findings.iter().map(|(own, proof)| {
            let used = steps.get(own.from);
            let used = used.and_then(|step| correlate::used(step, &own.variable));
            ProposedVariable {
                variable: own.variable.clone(),
                value: own.value.clone(),
                kind: used.as_ref().map_or("", |used| used.kind()).to_owned(),
                expression: used
                    .as_ref()
                    .map(|used| used.expression())
                    .unwrap_or_default(),
                found: used.as_ref().map(|used| used.number()).unwrap_or(1),
                matches: used.as_ref().map(|used| used.matches).unwrap_or(1),
                from: own.from,
                used_in: own.used_in.clone(),
                proof: (*proof).to_owned(),
            }
        });
        proposals.collect()
    }

    /// Takes what two replays have proved.
    fn take_proof(&mut self, proof: &Proof) {
        for (finding, own) in &mut self.findings {
            *own = match proof.outcome(finding) {
                Some(ReplayState::Proved) => "replays",
                Some(ReplayState::Changes) => "changes",
                Some(ReplayState::Constant) => "same",
                Some(ReplayState::Unreached) => "unreached",
                Some(ReplayState::Missed) => "missed",
                None => own,
            };
        }
    }

    /// Takes what the recording of another user shows. Further values may differ in it.
    fn take_pair(&mut self, found: Vec<Finding>) {
        for (finding, proof) in &mut self.findings {
            let confirmed = found.iter().find(|one| is_same_value(one, finding));
            *proof = match confirmed {
                Some(own) if own.is_confirmed => "users",
                Some(_) => "recording",
                None => "same",
            };
        }
        for own in found {
            if !self
                .findings
                .iter()
                .any(|(known, _)| is_same_value(known, &own))
            {
                let proof = if own.is_confirmed {
                    "users"
                } else {
                    "recording"
                };
                self.findings.push((own, proof));
            }
        }
    }
}

/// Whether both findings are about the same value of the same request.
fn is_same_value(one: &Finding, other: &Finding) -> bool {
    one.value == other.value && one.from == other.from
}

fn constant(finding: &Finding) -> Constant {
    Constant {
        value: finding.value.clone(),
        from: finding.from,
    }
}

/// Replays a plan in a process of its own, which ends early once `gives_up` is set.
fn replay(words: &[String], gives_up: &AtomicBool) -> Result<(), Refusal> {
    let program = std::env::current_exe().map_err(Refusal::failed)?;
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(Refusal::failed)?;
    // Failed requests are no failure of the replay; a missing result file is.
    while child.try_wait().map_err(Refusal::failed)?.is_none() {
        if gives_up.load(Ordering::SeqCst) {
            // It may have ended meanwhile.
            let _ = child.kill();
        }
        std::thread::sleep(PAUSE);
    }
    if gives_up.load(Ordering::SeqCst) {
        Err(Refusal::run_failed("the replay was ended"))
    } else {
        Ok(())
    }
}

impl RunningRecording for VisitRecording {
    fn address(&self) -> Option<String> {
        self.address.map(|address| address.to_string())
    }

    fn certificate(&self) -> Option<(String, bool)> {
        self.certificate.clone()
    }

    fn pause(&self, paused: bool) {
        self.order(Order::Pause(paused));
    }

    fn name(&self, name: &str) {
        self.order(Order::Name(name.to_owned()));
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    fn elements(
        &self,
        tree: &Tree,
        way: &[usize],
        taken: Vec<String>,
    ) -> Result<RecordedElements, Refused> {
        let (har, numbers, paused, mut notes) = {
            let recorded = lock(&self.taken);
            let har = recorded
                .har
                .clone()
                .ok_or_else(|| Refused::unfit("nothing was recorded"))?;
            (
                har,
                recorded.numbers.clone(),
                recorded.paused.clone(),
                recorded.notes.clone(),
            )
        };
        let mut draft = self.draft(har)?;
        let uploads = Uploads::put(&mut draft, &self.plan).map_err(|error| refused(&error))?;
        notes.extend(uploads.lines().lines().map(str::to_owned));
        notes.extend(draft.warnings.iter().cloned());
        let mut omitted: BTreeMap<usize, String> = BTreeMap::new();
        for (entry, reason) in &draft.omitted {
            if let Some(number) = numbers.get(*entry) {
                omitted.insert(*number, reason.clone());
            }
        }
        let while_paused = "requests while the recording was paused";
        omitted.extend(
            paused
                .iter()
                .map(|number| (*number, while_paused.to_owned())),
        );
        if !paused.is_empty() {
            draft.left_out.insert(while_paused.to_owned(), paused.len());
        }
        let insertion = Insertion::new(self.recorder.clone(), tree, way);
        let mut nodes = insertion.elements(&draft);
        if let Some(manager) = insertion.cookie_manager(&draft) {
            nodes.insert(0, manager);
        }
        let left_out = draft.left_out_lines();
        let mut correlation = Found {
            draft,
            insertion: Some(insertion),
            taken,
            ..Found::default()
        };
        let (correlated, findings) = correlation.search();
        correlation.findings = findings.into_iter().map(|own| (own, "recording")).collect();
        let proposals = correlation.proposals(&correlated);
        *lock(&self.found) = correlation;
        Ok(RecordedElements {
            nodes,
            omitted,
            left_out,
            notes,
            proposals,
        })
    }

    fn samplers(&self, variables: &[(usize, String)]) -> Result<Vec<Node>, Refused> {
        let correlation = lock(&self.found);
        let wanted: Vec<(Constant, String)> = variables
            .iter()
            .filter_map(|(number, name)| {
                let (finding, _) = correlation.findings.get(*number)?;
                Some((constant(finding), name.clone()))
            })
            .collect();
        let (draft, made) = correlation.with_variables(&wanted);
        for (value, name) in &wanted {
            if !made
                .iter()
                .any(|own| own.value == value.value && own.from == value.from)
            {
                let (why, hint) = match correlation.other {
                    Some(_) => (
                        "is the same for both users, or no extractor yields both values",
                        "leave it as it is",
                    ),
                    None => (
                        "needs another variable, which is not accepted",
                        "accept the others first",
                    ),
                };
                return Err(Refused::unfit(format!("`{name}` {why}")).hint(hint));
            }
        }
        let nodes = correlation
            .insertion
            .as_ref()
            .map(|own| own.elements(&draft))
            .unwrap_or_default();
        Ok(samplers(&nodes).into_iter().cloned().collect())
    }

    fn verify(
        &self,
        with: Option<String>,
    ) -> Result<(Vec<ProposedVariable>, Vec<String>), Refused> {
        let (correlated, findings) = {
            let mut correlation = lock(&self.found);
            if let Some(har) = with {
                let other = self.draft(har)?;
                if correlate::counterparts(&correlation.draft, &other) == 0 {
                    let message = "the other recording is of another visit: they share no request";
                    return Err(Refused::unfit(message).hint("record the same steps"));
                }
                correlation.other = Some(other);
                let (correlated, findings) = correlation.search();
                correlation.take_pair(findings);
                return Ok((correlation.proposals(&correlated), Vec::new()));
            }
            correlation.search()
        };
        let server =
            first_server(&correlated).ok_or_else(|| Refused::unfit("nothing was recorded"))?;
        let proof = verify::prove(&correlated, &findings, &server, &self.plan, &|words| {
            replay(words, &self.gives_up)
        })
        .map_err(|error| refused(&error))?;
        let steps: Vec<String> = correlated
            .steps()
            .map(|step| step.request.label())
            .collect();
        let mut correlation = lock(&self.found);
        correlation.take_proof(&proof);
        Ok((correlation.proposals(&correlated), proof.differing(&steps)))
    }

    fn give_up(&self) {
        self.gives_up.store(true, Ordering::SeqCst);
    }

    fn har(&self) -> Option<String> {
        lock(&self.taken).har.clone()
    }
}

impl Drop for VisitRecording {
    fn drop(&mut self) {
        self.stop();
    }
}
