//! Reduces a recording to the steps that a plan needs: only requests to the site itself, without the browser's own
//! additions, in the user's order and with the user's pauses.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use crate::cookies;
use crate::draft::{Draft, DraftStep, TO_HOST, Transaction};
use crate::exchange::{Exchange, Redirect, Request, RequestBody, Response};
use crate::names;
use crate::options::ImportOptions;
use crate::text::PlanText;
use crate::url::Address;

/// The exchanges that a browser or a proxy recorded.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    /// The name of the plan.
    pub name: String,
    /// The exchanges, in the order of the input.
    pub exchanges: Vec<Exchange>,
    /// Titles of pages or user actions by their key.
    pub pages: HashMap<String, String>,
    /// The number of exchanges left out, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// The entries that were left out, with the reason.
    pub omitted: BTreeMap<usize, String>,
    /// The parts that could not be carried over, one line each.
    pub warnings: Vec<String>,
}

impl Recording {
    /// Counts an exchange that was left out.
    pub fn leave_out(&mut self, reason: &str) {
        *self.left_out.entry(reason.to_owned()).or_default() += 1;
    }

    /// Counts an entry of a recording that was left out.
    pub fn omit(&mut self, entry: usize, reason: &str) {
        self.omitted.insert(entry, reason.to_owned());
        self.leave_out(reason);
    }
}

/// A gap of this length starts a new transaction, like `proxy.pause` of JMeter's recorder.
const NEW_TRANSACTION_MS: i64 = 5_000;
/// Shorter pauses are not think time.
const SHORTEST_THINK_MS: i64 = 200;
/// Longer pauses are breaks.
const LONGEST_THINK_MS: i64 = 120_000;

/// Header fields that the plan's managers or the connection set, and those that a browser sends for its own purposes.
const OWN_FIELDS: [&str; 20] = [
    "cookie",
    "content-length",
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "proxy-authorization",
    "transfer-encoding",
    "te",
    "upgrade",
    "accept-encoding",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "cache-control",
    "pragma",
    "priority",
    "dnt",
    "upgrade-insecure-requests",
    "traceparent",
];

/// Extensions of files that pages load as resources.
const STATIC: [&str; 21] = [
    "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp",
    "woff", "woff2", "ttf", "otf", "eot", "mp4", "webm", "mp3",
];

/// The draft of a recording.
pub fn draft(mut recording: Recording, options: &ImportOptions) -> Draft {
    let mut draft = Draft::new(std::mem::take(&mut recording.name));
    draft.left_out = std::mem::take(&mut recording.left_out);
    draft.omitted = std::mem::take(&mut recording.omitted);
    draft.warnings = std::mem::take(&mut recording.warnings);
    // Some programs write entries in the order in which they ended. Without times, keep the order of the file.
    if recording
        .exchanges
        .iter()
        .all(|exchange| exchange.started_ms.is_some())
    {
        recording
            .exchanges
            .sort_by_key(|exchange| exchange.started_ms);
    }
    let site = OwnSite::of(&recording.exchanges, options);
    let own_exchanges = recording
        .exchanges
        .iter()
        .filter(|exchange| site.has(&host(&exchange.request.address)));
    cookies::bring(own_exchanges, options, &mut draft);
    let mut exchanges = worth_keeping(recording.exchanges, &site, &mut draft);
    if !options.keep_redirects {
        exchanges = without_followed_redirects(exchanges, &mut draft);
    }
    draft.transactions = transactions(exchanges, &recording.pages, options);
    if options.first_of_group {
        leave_first_of_group(&mut draft);
    }
    draft.cookies = true;
    draft
}

/// The registered domain of a site, approximated without the list of public suffixes: the last two labels, or three if the
/// last two are as short as in `co.uk`.
pub fn site(host: &str) -> String {
    let is_address = host.starts_with('[')
        || host
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_address {
        return host.to_owned();
    }
    let labels: Vec<&str> = host.split('.').collect();
    let count = match labels.as_slice() {
        [.., second, last] if last.len() == 2 && second.len() <= 3 => 3,
        _ => 2,
    };
    labels[labels.len().saturating_sub(count)..]
        .join(".")
        .to_ascii_lowercase()
}

fn host(address: &Address) -> String {
    address.host.literal().unwrap_or("").to_ascii_lowercase()
}

/// The reason for requests that pages send again by themselves.
const RESOURCES: &str = "images, scripts and style sheets, which pages load as embedded resources";

/// The hosts whose requests a plan sends.
pub(crate) struct OwnSite<'o> {
    /// The registered domain of the first page.
    site: Option<String>,
    options: &'o ImportOptions,
}

impl OwnSite<'_> {
    pub(crate) fn of<'o>(exchanges: &[Exchange], options: &'o ImportOptions) -> OwnSite<'o> {
        OwnSite {
            site: first_page(exchanges).map(|exchange| site(&host(&exchange.request.address))),
            options,
        }
    }

    fn has(&self, host: &str) -> bool {
        self.options.all_domains
            || self.site.as_deref() == Some(&site(host))
            || self
                .options
                .domains
                .iter()
                .any(|domain| host == domain || host.ends_with(&format!(".{domain}")))
    }

    /// Why a request is left out.
    pub(crate) fn refuses(&self, exchange: &Exchange) -> Option<String> {
        let host = host(&exchange.request.address);
        if !self.has(&host) {
            return Some(format!("{TO_HOST}{host}"));
        }
        let filter = self.options.filter.as_ref();
        let reason = noise(exchange).or_else(|| filter?.refuses(exchange));
        let is_resource = || !self.options.keep_static && is_static(exchange);
        let reason = reason.or_else(|| is_resource().then_some(RESOURCES));
        reason.map(str::to_owned)
    }
}

/// The first page that the user opened. A recording may begin within a page, whose trackers and advertisements then load
/// frames of their own.
fn first_page(exchanges: &[Exchange]) -> Option<&Exchange> {
    let pages = || exchanges.iter().filter(is_page);
    if let Some(first) =
        pages().find(|exchange| purpose(exchange).is_some_and(|to| to == "document"))
    {
        return Some(first);
    }
    let sites: HashSet<String> = exchanges
        .iter()
        .map(|exchange| site(&host(&exchange.request.address)))
        .collect();
    // The site of the page from which a request came, if the recording has requests to it.
    let around = |exchange: &Exchange| {
        let from = Address::parse(exchange.request.header("referer")?)?;
        Some(site(&host(&from))).filter(|from| sites.contains(from))
    };
    let is_own =
        |exchange: &&Exchange| around(exchange).is_none_or(|from| from == own_site(exchange));
    let is_framed =
        |exchange: &&Exchange| purpose(exchange).is_some_and(|to| to == "iframe" || to == "frame");
    let first = pages().find(|page| is_own(page) && !is_framed(page));
    // Without a page, the page around the requests decides.
    let first = first.or_else(|| {
        let from = exchanges.iter().find_map(around)?;
        exchanges.iter().find(|exchange| own_site(exchange) == from)
    });
    first.or_else(|| pages().next()).or(exchanges.first())
}

fn is_page(exchange: &&Exchange) -> bool {
    let response = exchange.response.as_ref();
    exchange.kind == "document"
        || response.is_some_and(|response| response.mime.starts_with("text/html"))
}

fn purpose(exchange: &Exchange) -> Option<String> {
    exchange.request.header("sec-fetch-dest").map(str::to_owned)
}

fn own_site(exchange: &Exchange) -> String {
    site(&host(&exchange.request.address))
}

/// The requests to the site, except those for its pages' resources.
fn worth_keeping(exchanges: Vec<Exchange>, own: &OwnSite<'_>, draft: &mut Draft) -> Vec<Exchange> {
    let mut exchanges_kept = Vec::new();
    let mut static_hosts: Vec<String> = Vec::new();
    for mut exchange in exchanges {
        if let Some(reason) = own.refuses(&exchange) {
            draft.omit(exchange.entry, &reason);
            if reason == RESOURCES {
                let host = host(&exchange.request.address);
                if !static_hosts.contains(&host) {
                    static_hosts.push(host);
                }
                draft.shared.extend(shared(exchange.response));
            }
        } else {
            clean(&mut exchange.request);
            if let Some(operation) = names::graphql_operation(&exchange.request.body) {
                let label = names::label(&exchange.request);
                exchange.request.name = Some(format!("{label} {operation}"));
            }
            exchanges_kept.push(exchange);
        }
    }
    if !static_hosts.is_empty() {
        let hosts: Vec<String> = static_hosts
            .iter()
            .map(|host| host.replace('.', "\\."))
            .collect();
        draft.embedded = Some(format!("https?://({})[:/].*", hosts.join("|")));
        draft.cache = true;
    }
    exchanges_kept
}

/// The text of a script that caches keep, which all visitors therefore load with the same content.
fn shared(response: Option<Response>) -> Option<String> {
    let response = response?;
    let has = |name: &str| response.header(name).is_some();
    let control = response
        .header("cache-control")
        .unwrap_or("")
        .to_ascii_lowercase();
    let is_private = ["private", "no-store", "no-cache", "max-age=0"]
        .iter()
        .any(|word| control.contains(word));
    let is_kept = control.contains("max-age") || has("etag") || has("last-modified");
    let is_text = response.mime.contains("javascript") || response.mime.contains("json");
    let is_shared = is_text && is_kept && !is_private && !has("set-cookie");
    response.body.filter(|_| is_shared)
}

fn noise(exchange: &Exchange) -> Option<&'static str> {
    let path = exchange.request.address.bare_path();
    let is_preflight = exchange.request.method == "OPTIONS"
        && (exchange.kind == "preflight"
            || exchange
                .request
                .header("access-control-request-method")
                .is_some());
    if is_preflight {
        Some("CORS preflights, which only browsers send")
    } else if matches!(
        exchange.kind.as_str(),
        "ping" | "cspviolationreport" | "beacon"
    ) {
        Some("beacons")
    } else if exchange.kind == "websocket" {
        Some("WebSocket connections")
    } else if path.ends_with("/favicon.ico") {
        Some("requests for favicon.ico")
    } else {
        None
    }
}

fn is_static(exchange: &Exchange) -> bool {
    if !matches!(exchange.request.method.as_str(), "GET" | "HEAD") {
        return false;
    }
    if matches!(
        exchange.kind.as_str(),
        "image" | "stylesheet" | "script" | "font" | "media" | "manifest"
    ) {
        return true;
    }
    let mime = exchange
        .response
        .as_ref()
        .map(|response| response.mime.as_str())
        .unwrap_or("");
    if mime.contains("json") || mime.starts_with("text/html") {
        return false;
    }
    let path = exchange.request.address.bare_path();
    let file = path.rsplit('/').next().unwrap_or("");
    let extension = file
        .rsplit_once('.')
        .map(|(_, extension)| extension.to_ascii_lowercase());
    extension.is_some_and(|extension| STATIC.contains(&extension.as_str()))
        || ["image/", "font/", "video/", "audio/", "text/css"]
            .iter()
            .any(|kind| mime.starts_with(kind))
        || mime.contains("javascript")
}

/// Removes the fields that the plan sets itself, and a content type that follows from the kind of body.
fn clean(request: &mut Request) {
    let makes_own_type = matches!(
        request.body,
        RequestBody::Multipart(_) | RequestBody::Form(_)
    );
    request.headers.retain(|(name, _)| {
        let name = name.literal().unwrap_or("").to_ascii_lowercase();
        !(OWN_FIELDS.contains(&name.as_str())
            || name.starts_with("sec-")
            || name.starts_with("x-client-data")
            || (name == "content-type" && makes_own_type))
    });
}

/// Merges a followed redirect into one step, because the plan follows it again.
fn without_followed_redirects(exchanges: Vec<Exchange>, draft: &mut Draft) -> Vec<Exchange> {
    let mut unredirected: Vec<Exchange> = Vec::new();
    // The current redirect target of the last kept request, while it is being redirected.
    let mut leads_to: HashMap<String, VecDeque<usize>> = HashMap::new();
    for exchange in exchanges {
        let url = full(&exchange.request.address);
        let is_followed = exchange.request.method == "GET";
        let followed = leads_to
            .get_mut(&url)
            .filter(|_| is_followed)
            .and_then(VecDeque::pop_front);
        let redirects = exchange
            .response
            .as_ref()
            .filter(|response| response.is_redirect());
        let target = redirects
            .and_then(|response| response.header("location"))
            .and_then(|location| resolved(&exchange.request.address, location));
        match followed {
            Some(place) => {
                let reason = "redirected requests, which the plan follows by itself";
                draft.omit(exchange.entry, reason);
                if let Some(target) = target {
                    leads_to.entry(target).or_default().push_back(place);
                }
                // The response that the user finally saw.
                let first = &mut unredirected[place];
                if let (Some(response), Some(last)) = (&mut first.response, exchange.response) {
                    let mut hops = std::mem::take(&mut response.hops);
                    hops.push(Redirect {
                        status: response.status,
                        headers: std::mem::take(&mut response.headers),
                    });
                    *response = Response { hops, ..last };
                }
                first.elapsed_ms += exchange.elapsed_ms;
                first.expected_texts.extend(exchange.expected_texts);
            }
            None => {
                if let Some(target) = target {
                    leads_to
                        .entry(target)
                        .or_default()
                        .push_back(unredirected.len());
                }
                unredirected.push(exchange);
            }
        }
    }
    unredirected
}

fn full(address: &Address) -> String {
    let port = address.port.template();
    let port = if port.is_empty() {
        port
    } else {
        format!(":{port}")
    };
    format!(
        "{}://{}{port}{}",
        address.scheme.template(),
        address.host.template(),
        address.path.template()
    )
}

/// Resolves a `Location` as the browser does.
fn resolved(base: &Address, location: &str) -> Option<String> {
    if location.contains("://") {
        return Address::parse(location).map(|address| full(&address));
    }
    let scheme = base.scheme.template();
    if location.starts_with("//") {
        return Address::parse(&format!("{scheme}:{location}")).map(|address| full(&address));
    }
    let path = base.bare_path();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = match location.chars().next() {
        Some('/') => location.to_owned(),
        Some('?') => format!("{path}{location}"),
        _ => format!("{folder}/{location}"),
    };
    let root = Address {
        path: PlanText::default(),
        ..base.clone()
    };
    Address::parse(&format!("{}{path}", full(&root))).map(|address| full(&address))
}

/// Groups requests of one page, or requests without a long pause between them.
fn transactions(
    exchanges: Vec<Exchange>,
    pages: &HashMap<String, String>,
    options: &ImportOptions,
) -> Vec<Transaction> {
    let mut all: Vec<Transaction> = Vec::new();
    let mut names = TransactionNames::default();
    let mut last_page: Option<String> = None;
    let mut last_end: Option<i64> = None;
    for (place, exchange) in exchanges.into_iter().enumerate() {
        let gap = match (exchange.started_ms, last_end) {
            (Some(start), Some(end)) => start.saturating_sub(end),
            _ => 0,
        };
        let is_document = exchange.kind == "document"
            || exchange
                .response
                .as_ref()
                .is_some_and(|response| response.mime.starts_with("text/html"));
        let is_new = match (&exchange.page, &last_page) {
            (page, last) if let Some(longest) = options.pause_ms => page != last || gap > longest,
            (Some(page), Some(last)) => page != last,
            (None, None) => gap >= NEW_TRANSACTION_MS || is_document,
            _ => true,
        };
        if is_new || all.is_empty() {
            let title = exchange
                .page
                .as_ref()
                .and_then(|page| pages.get(page))
                .cloned()
                .unwrap_or_default();
            all.push(Transaction {
                is_typed: !title.is_empty(),
                name: Some(names.take(if title.is_empty() {
                    exchange.request.label()
                } else {
                    title.clone()
                })),
                is_measured: true,
                steps: Vec::new(),
            });
        }
        last_page.clone_from(&exchange.page);
        let end = exchange
            .started_ms
            .map(|start| start.saturating_add(exchange.elapsed_ms));
        last_end = last_end.max(end);
        if let Some(transaction) = all.last_mut() {
            let think = if options.no_think_time || gap < SHORTEST_THINK_MS {
                0
            } else {
                gap.min(LONGEST_THINK_MS)
            };
            transaction.steps.push(DraftStep {
                number: place + 1,
                entry: exchange.entry,
                think_ms: u64::try_from(think).unwrap_or(0),
                loads_resources: is_document,
                sent_at_ms: exchange.started_ms,
                expected_code: expected(&exchange),
                expected_texts: exchange.expected_texts,
                request: exchange.request,
                response: exchange.response,
                ..DraftStep::default()
            });
        }
    }
    all
}

/// Keeps the first request of each group, which loads the others as embedded resources or through redirects.
fn leave_first_of_group(draft: &mut Draft) {
    let mut others = Vec::new();
    for transaction in &mut draft.transactions {
        let rest = transaction.steps.drain(1.min(transaction.steps.len())..);
        others.extend(rest.map(|step| step.entry));
    }
    for entry in others {
        draft.omit(entry, "requests after the first of their group");
    }
}

/// The expected code. A page that returned an error when recorded may return the same error again.
fn expected(exchange: &Exchange) -> String {
    let status = exchange
        .response
        .as_ref()
        .map(|response| response.status)
        .unwrap_or(0);
    match status {
        400.. => status.to_string(),
        _ => String::new(),
    }
}

/// The names of transactions. A number distinguishes equal ones.
#[derive(Default)]
struct TransactionNames {
    taken: HashSet<String>,
    /// The last number of each name.
    numbers: HashMap<String, usize>,
}

impl TransactionNames {
    fn take(&mut self, name: String) -> String {
        if self.taken.insert(name.clone()) {
            return name;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let numbered = format!("{name} ({number})");
            if self.taken.insert(numbered.clone()) {
                return numbered;
            }
        }
    }
}
