//! Writes a draft as the tree of a plan; all importers share it.

use std::collections::{BTreeMap, HashMap};

use drumfire_elements::samplers::http_request;
use drumfire_elements::shared::scope;
use drumfire_jmx::{Node, Prop, Tree};

use crate::draft::{Draft, DraftLoad, DraftStep, Transaction};
use crate::elements::{self, ServerFields};
use crate::exchange::{Auth, FormPart, Request, RequestBody};
use crate::extractor::{Extractor, ExtractorSource};
use crate::servers::{ServerNames, server};
use crate::text::PlanText;

impl Draft {
    /// The plan. `data_file` is the name of the file with [`Draft::data_text`], if there is any.
    pub fn tree(&self, data_file: &str) -> Tree {
        let literal = self.common_server();
        let servers = match (&literal, self.is_kept) {
            (Some(main), true) => ServerNames::of(self, main),
            _ => ServerNames::default(),
        };
        let named;
        let draft = if servers.variables.is_empty() {
            self
        } else {
            named = self.with_servers(&servers);
            &named
        };
        draft.written(&servers, data_file)
    }

    /// The draft with the servers' variables in header fields and bodies.
    fn with_servers(&self, servers: &ServerNames) -> Draft {
        let steps_only = |step: &DraftStep| {
            let mut step = DraftStep {
                // Nothing is searched for in the responses any more, and they are large.
                response: None,
                request: step.request.clone(),
                assigned: step.assigned.clone(),
                extractors: step.extractors.clone(),
                expected_code: step.expected_code.clone(),
                expected_texts: step.expected_texts.clone(),
                ..*step
            };
            step.each_text(|text| servers.put(text));
            step
        };
        let transactions = self.transactions.iter().map(|transaction| Transaction {
            name: transaction.name.clone(),
            steps: transaction.steps.iter().map(steps_only).collect(),
            ..*transaction
        });
        let own_domain = |cookie: &crate::draft::BroughtCookie| {
            let mut cookie = cookie.clone();
            if let Some(host) = servers.host(&cookie.domain) {
                cookie.domain = host.to_owned();
            }
            cookie
        };
        Draft {
            name: self.name.clone(),
            variables: servers
                .variables
                .iter()
                .chain(&self.variables)
                .cloned()
                .collect(),
            transactions: transactions.collect(),
            brought_cookies: self.brought_cookies.iter().map(own_domain).collect(),
            embedded: self
                .embedded
                .as_deref()
                .map(|hosts| servers.put_hosts(hosts)),
            load: self.load.clone(),
            left_out: self.left_out.clone(),
            omitted: BTreeMap::new(),
            warnings: self.warnings.clone(),
            data: self.data.clone(),
            shared: Vec::new(),
            ..*self
        }
    }

    fn written(&self, servers: &ServerNames, data_file: &str) -> Tree {
        let defaults = self.common_server().map(|_| self.main_server(servers));
        let headers = self.common_headers();
        let mut group: Vec<Node> = Vec::new();
        if let Some(server) = &defaults {
            group.push(elements::http_defaults(server));
        }
        if self.cookies {
            group.push(elements::cookie_manager(&self.brought_cookies));
        }
        if self.cache {
            group.push(elements::cache_manager());
        }
        if !headers.is_empty() {
            group.push(elements::header_manager(&headers));
        }
        let credentials = self.credentials(servers);
        if !credentials.is_empty() {
            group.push(elements::auth_manager(&credentials));
        }
        if !self.data.names.is_empty() {
            let names = self.data.names.join(",");
            group.push(elements::csv_data_set(
                data_file,
                &names,
                self.data.is_used_once,
            ));
        }
        let has_pauses = self.is_kept && self.steps().any(|step| step.think_ms > 0);
        let writer = PlanWriter {
            draft: self,
            servers,
            defaults: defaults.unwrap_or_default(),
            common: headers,
            pause_factor: has_pauses.then(|| self.free_name("pause_factor")),
        };
        for transaction in &self.transactions {
            writer.transaction(transaction, &mut group);
        }
        let mut variables = self.variables.clone();
        if let Some(name) = &writer.pause_factor {
            let value = PlanText::expression(format!("${{__P({name},1)}}"));
            let about = "The users' pauses are multiplied by it; 0 leaves them out";
            variables.push((name.clone(), value, about.to_owned()));
        }
        let plan = elements::test_plan(&self.name, &self.comments(), &variables);
        Tree::new(plan.above(self.load.groups(group)))
    }

    /// A comment for the reader of the plan that lists what was left out.
    fn comments(&self) -> String {
        let left_out = self
            .left_out
            .iter()
            .map(|(reason, count)| format!("Left out: {count} {reason}"));
        let lines: Vec<String> = left_out.chain(self.warnings.iter().cloned()).collect();
        lines.join("\n")
    }

    /// The text of the CSV file: a header line and the rows.
    pub fn data_text(&self) -> Option<String> {
        if self.data.names.is_empty() {
            return None;
        }
        let quoted = |value: &String| {
            if value.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", value.replace('"', "\"\""))
            } else {
                value.clone()
            }
        };
        let mut text = self.data.names.join(",");
        for row in &self.data.rows {
            let row: Vec<String> = row.iter().map(quoted).collect();
            text.push('\n');
            text.push_str(&row.join(","));
        }
        text.push('\n');
        Some(text)
    }

    /// A name that no variable has.
    fn free_name(&self, wish: &str) -> String {
        let mut names = VariableNames::default();
        let extractors = self.steps().flat_map(|step| &step.extractors);
        let taken = extractors
            .map(|extractor| &extractor.variable)
            .chain(self.variables.iter().map(|(name, _, _)| name))
            .chain(&self.data.names);
        taken.for_each(|name| drop(names.take(name)));
        names.take(wish)
    }

    /// The fields of the server that most requests go to.
    fn main_server(&self, servers: &ServerNames) -> ServerFields {
        let main = self.common_server().unwrap_or_default();
        let mut addresses = self.steps().map(|step| &step.request.address);
        let address = addresses.find(|address| server(address) == main);
        address.map_or(main, |address| servers.fields(address))
    }

    /// The server that most requests go to.
    fn common_server(&self) -> Option<ServerFields> {
        let mut counts: Vec<(ServerFields, usize)> = Vec::new();
        for step in self.steps() {
            let server = server(&step.request.address);
            match counts.iter_mut().find(|(known, _)| *known == server) {
                Some((_, count)) => *count += 1,
                None => counts.push((server, 1)),
            }
        }
        // Of several servers with the same count, take the first.
        let most = counts.iter().map(|(_, count)| *count).max()?;
        counts
            .into_iter()
            .find(|(_, count)| *count == most)
            .map(|(server, _)| server)
    }

    /// Header fields that every request sends with the same value.
    fn common_headers(&self) -> Vec<(PlanText, PlanText)> {
        let mut steps = self.steps();
        let Some(first) = steps.next() else {
            return Vec::new();
        };
        let mut common: Vec<(PlanText, PlanText)> = first.request.headers.clone();
        let mut count = 1;
        for step in steps {
            common.retain(|field| step.request.headers.contains(field));
            count += 1;
        }
        if count < 2 { Vec::new() } else { common }
    }

    /// Credentials by server.
    fn credentials(&self, servers: &ServerNames) -> Vec<(String, Auth)> {
        let mut all: Vec<(String, Auth)> = Vec::new();
        for step in self.steps() {
            if let Some(auth) = &step.request.auth {
                let ServerFields { scheme, host, port } = servers.fields(&step.request.address);
                let port = if port.is_empty() {
                    port
                } else {
                    format!(":{port}")
                };
                let entry = (format!("{scheme}://{host}{port}/"), auth.clone());
                if !all.contains(&entry) {
                    all.push(entry);
                }
            }
        }
        all
    }
}

/// A final pause. The Open Model Thread Group interrupts requests that are still running at the end
/// of its schedule.
pub(crate) const LAST_PAUSE: &str = "pause(5 sec)";

impl DraftLoad {
    /// The thread groups with this content.
    fn groups(&self, content: Vec<Node>) -> Vec<Node> {
        match self {
            DraftLoad::Trial => {
                let group = elements::thread_group(
                    "Users",
                    "${__P(users,1)}",
                    "${__P(ramp_up,1)}",
                    "${__P(loops,1)}",
                    "",
                );
                vec![new_user_each_time(group).above(content)]
            }
            DraftLoad::Arrivals { rate, duration_s } => {
                vec![elements::arrivals("Arrivals", *rate, *duration_s).above(content)]
            }
            DraftLoad::Pace(stretches) => {
                let parts: Vec<String> = stretches
                    .iter()
                    .map(|(rate, seconds)| format!("rate({rate}/sec) even_arrivals({seconds} sec)"))
                    .collect();
                let schedule = format!("{} {LAST_PAUSE}", parts.join(" "));
                vec![elements::open_model("Arrivals", &schedule).above(content)]
            }
            DraftLoad::Users {
                users,
                duration_s,
                iterations,
                rate,
            } => {
                let mut content = content;
                if let Some(rate) = rate {
                    content.insert(0, elements::throughput_timer(rate * 60.0));
                }
                let count = format!("${{__P(users,{users})}}");
                let group = |loops: &str, duration: &str| {
                    elements::thread_group("Users", &count, "${__P(ramp_up,0)}", loops, duration)
                };
                if let Some(seconds) = duration_s {
                    let seconds = format!("${{__P(seconds,{seconds})}}");
                    return vec![group("${__P(loops,-1)}", &seconds).above(content)];
                }
                let each = iterations / u64::from(*users);
                let rest = iterations % u64::from(*users);
                let mut groups = Vec::new();
                if each > 0 {
                    let loops = format!("${{__P(loops,{each})}}");
                    groups.push(group(&loops, "").above(content.clone()));
                }
                if rest > 0 {
                    let rest = rest.to_string();
                    let once = elements::thread_group("Users", &rest, "0", "1", "");
                    groups.push(once.above(content));
                }
                groups
            }
        }
    }
}

/// Starts each iteration as a new user, because a recorded session begins with a visitor who is
/// unknown to the server.
fn new_user_each_time(mut group: Node) -> Node {
    group
        .props
        .put("ThreadGroup.same_user_on_next_iteration", false);
    group
}

struct PlanWriter<'d> {
    draft: &'d Draft,
    servers: &'d ServerNames,
    defaults: ServerFields,
    common: Vec<(PlanText, PlanText)>,
    /// The variable by which pauses are multiplied.
    pause_factor: Option<String>,
}

impl PlanWriter<'_> {
    fn transaction(&self, transaction: &Transaction, out: &mut Vec<Node>) {
        let mut steps = Vec::new();
        for (place, step) in transaction.steps.iter().enumerate() {
            self.step(step, place == 0 && transaction.is_measured, out, &mut steps);
        }
        match &transaction.name {
            Some(name) if transaction.is_measured => {
                out.push(elements::transaction(name).above(steps));
            }
            Some(name) => out.push(elements::simple_controller(name).above(steps)),
            None => out.extend(steps),
        }
    }

    /// Writes one step. The pause before a transaction goes outside it, so that the transaction's
    /// time excludes it.
    fn step(
        &self,
        step: &DraftStep,
        is_first: bool,
        outside: &mut Vec<Node>,
        inside: &mut Vec<Node>,
    ) {
        if step.think_ms > 0 {
            let delay = match &self.pause_factor {
                // JMeter reads a whole number here.
                Some(factor) => format!(
                    "${{__jexl3(({} * ${{{factor}}}).intValue())}}",
                    step.think_ms
                ),
                None => step.think_ms.to_string(),
            };
            let pause = elements::pause("Think", &delay);
            if is_first {
                &mut *outside
            } else {
                &mut *inside
            }
            .push(pause);
        }
        inside.push(self.sampler(step));
    }

    fn sampler(&self, step: &DraftStep) -> Node {
        let request = &step.request;
        let name = request.label();
        let mut node = Node::new(http_request::CLASS, "HttpTestSampleGui", &name);
        if !request.comment.is_empty() {
            node.props
                .put("TestPlan.comments", request.comment.as_str());
        }
        self.body(&request.body, &mut node);
        let server = self.servers.fields(&request.address);
        if server != self.defaults {
            node.props.put("HTTPSampler.domain", server.host);
            node.props.put("HTTPSampler.port", server.port);
            node.props.put("HTTPSampler.protocol", server.scheme);
        }
        for (property, value) in [
            ("HTTPSampler.connect_timeout", request.connect_timeout_ms),
            ("HTTPSampler.response_timeout", request.response_timeout_ms),
        ] {
            if let Some(value) = value {
                node.props.put(property, value.to_string());
            }
        }
        node.props
            .put("HTTPSampler.path", request.address.path.template());
        node.props
            .put("HTTPSampler.method", request.method.as_str());
        node.props
            .put("HTTPSampler.follow_redirects", request.follow_redirects);
        node.props
            .put("HTTPSampler.use_keepalive", !request.no_keep_alive);
        if let (true, Some(hosts)) = (step.loads_resources, &self.draft.embedded) {
            node.props.put("HTTPSampler.image_parser", true);
            node.props.put("HTTPSampler.concurrentDwn", true);
            node.props.put("HTTPSampler.concurrentPool", "6");
            node.props
                .put("HTTPSampler.embedded_url_re", hosts.as_str());
        }
        node.above(self.below(step))
    }

    /// Headers, extractors and assertions of one request.
    fn below(&self, step: &DraftStep) -> Vec<Node> {
        let mut nodes = Vec::new();
        let fields = step.request.headers.iter();
        let headers: Vec<_> = fields
            .filter(|field| !self.common.contains(field))
            .cloned()
            .collect();
        if !headers.is_empty() {
            nodes.push(elements::header_manager(&headers));
        }
        if !step.assigned.is_empty() {
            nodes.push(elements::user_parameters(&step.assigned));
        }
        nodes.extend(step.extractors.iter().map(extractor));
        if !step.expected_code.is_empty() {
            nodes.push(elements::code_assertion(&step.expected_code));
        }
        if !step.expected_texts.is_empty() {
            nodes.push(elements::text_assertion(&step.expected_texts));
        }
        nodes
    }

    fn body(&self, body: &RequestBody, node: &mut Node) {
        let mut files: Vec<Prop> = Vec::new();
        let (items, is_raw) = match body {
            RequestBody::None => (Vec::new(), false),
            RequestBody::Raw(text) => (
                vec![elements::http_argument("", &text.template(), false)],
                true,
            ),
            RequestBody::Form(fields) => {
                let fields = fields.iter().map(|(name, value)| {
                    elements::http_argument(&name.template(), &value.template(), true)
                });
                (fields.collect(), false)
            }
            RequestBody::Multipart(parts) => {
                let mut items = Vec::new();
                for part in parts {
                    match part {
                        FormPart::Field { name, value, mime } => {
                            let mut item =
                                elements::http_argument(&name.template(), &value.template(), false);
                            if let (false, drumfire_jmx::Value::Element(element)) =
                                (mime.is_empty(), &mut item.value)
                            {
                                element
                                    .props
                                    .put("HTTPArgument.content_type", mime.as_str());
                            }
                            items.push(item);
                        }
                        FormPart::File {
                            name, path, mime, ..
                        } => {
                            files.push(elements::http_file(
                                &path.template(),
                                &name.template(),
                                mime,
                            ));
                        }
                    }
                }
                (items, false)
            }
            RequestBody::File { path, mime } => {
                files.push(elements::http_file(&path.template(), "", mime));
                (Vec::new(), false)
            }
        };
        node.props.put("HTTPSampler.postBodyRaw", is_raw);
        node.props.put(
            "HTTPsampler.Arguments",
            elements::http_arguments(items, is_raw),
        );
        if !files.is_empty() {
            let list = drumfire_jmx::Element::new("HTTPFileArgs").with("HTTPFileArgs.files", files);
            node.props.put("HTTPsampler.Files", list);
        }
        if matches!(body, RequestBody::Multipart(_)) {
            node.props.put("HTTPSampler.DO_MULTIPART_POST", true);
        }
    }
}

pub(crate) fn extractor(extractor: &Extractor) -> Node {
    let variable = &extractor.variable;
    match &extractor.source {
        ExtractorSource::Json(path) => elements::json_extractor(variable, path),
        ExtractorSource::Css {
            selector,
            attribute,
            number,
        } => elements::css_extractor(variable, selector, attribute, *number),
        ExtractorSource::Boundary {
            left,
            right,
            number,
        } => elements::boundary_extractor(variable, left, right, *number),
        ExtractorSource::Body { pattern, number } => {
            elements::regex_extractor(variable, pattern, "false", *number)
        }
        ExtractorSource::Header {
            pattern,
            number,
            in_redirects,
        } => {
            let node = elements::regex_extractor(variable, pattern, "true", *number);
            if *in_redirects {
                node.with(scope::SAMPLE.name, "all")
            } else {
                node
            }
        }
        ExtractorSource::Address(pattern) => elements::regex_extractor(variable, pattern, "URL", 1),
    }
}

/// The sampler of a step with all of its settings written out, independent of any defaults. `embedded` is as in
/// [`Draft::embedded`].
pub(crate) fn lone_sampler(step: &DraftStep, embedded: Option<String>) -> Node {
    let draft = Draft {
        embedded,
        ..Draft::default()
    };
    let writer = PlanWriter {
        draft: &draft,
        servers: &ServerNames::default(),
        defaults: ServerFields::default(),
        common: Vec::new(),
        pause_factor: None,
    };
    writer.sampler(step)
}

/// The sampler of one request whose server comes from the defaults.
pub(crate) fn sampler(request: &Request) -> Node {
    let draft = Draft::default();
    let writer = PlanWriter {
        draft: &draft,
        servers: &ServerNames::default(),
        defaults: server(&request.address),
        common: Vec::new(),
        pause_factor: None,
    };
    writer.sampler(&request.clone().into())
}

/// The most characters of a wish for a variable's name that count.
const LONGEST_NAME: usize = 40;

/// Tracks which variable names are taken.
#[derive(Default)]
pub(crate) struct VariableNames(HashMap<String, usize>);

impl VariableNames {
    /// A free variable name that resembles the wanted one.
    pub fn take(&mut self, wanted: &str) -> String {
        let name = Self::plain(wanted);
        let count = self.0.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => name,
            count => format!("{name}_{count}"),
        }
    }

    /// Makes the name free again that was taken last for this wish.
    pub fn put_back(&mut self, wanted: &str) {
        if let Some(count) = self.0.get_mut(&Self::plain(wanted)) {
            *count -= 1;
        }
    }

    fn plain(wanted: &str) -> String {
        let name = wanted
            .chars()
            .take(LONGEST_NAME)
            .map(|c| if is_plain(c) { c } else { '_' })
            .collect::<String>()
            .trim_matches('_')
            .to_owned();
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
            format!("value_{name}").trim_end_matches('_').to_owned()
        } else {
            name
        }
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
