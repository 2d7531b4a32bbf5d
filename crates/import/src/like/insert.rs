//! Inserts recorded requests where the plan wants them: below its Recording Controller, or else below its first thread group.

use drumfire_elements::config::{cookie_manager, http_defaults, user_defined_variables};
use drumfire_elements::controllers::recording_controller;
use drumfire_elements::samplers::http_request;
use drumfire_elements::thread_groups::thread_group;
use drumfire_jmx::{Node, Prop, Tree, Value};

use super::{Grouping, Recorder, map_texts};
use crate::draft::{Draft, DraftStep};
use crate::elements;
use crate::exchange::{FormPart, Request, RequestBody};
use crate::options::ImportError;
use crate::plan;
use crate::text::PlanText;

/// The path from the roots to an element, as indices among siblings.
type Way = Vec<usize>;

/// A place of a plan into which a recorder puts requests.
#[derive(Debug, Clone)]
pub struct Insertion {
    recorder: Recorder,
    scope: InsertionScope,
}

impl Insertion {
    /// The place at the end of an element, which is found by its indices among siblings from the roots on.
    pub fn new(recorder: Recorder, tree: &Tree, way: &[usize]) -> Insertion {
        Insertion {
            recorder,
            scope: InsertionScope::of(&tree.roots, way),
        }
    }

    /// The elements of the requests of a draft.
    pub fn elements(&self, draft: &Draft) -> Vec<Node> {
        let mut nodes = Vec::new();
        self.recorder.groups(draft, &self.scope, &mut nodes);
        nodes
    }

    /// A Cookie Manager, if a response set cookies and none applies at the place.
    pub fn cookie_manager(&self, draft: &Draft) -> Option<Node> {
        let mut has_cookies = draft
            .steps()
            .filter_map(|step| step.response.as_ref())
            .filter(|response| {
                let hops = response.hops.iter().flat_map(|hop| &hop.headers);
                response
                    .headers
                    .iter()
                    .chain(hops)
                    .any(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))
            });
        let is_needed = !self.scope.has_cookies && has_cookies.next().is_some();
        is_needed.then(|| elements::cookie_manager(&[]))
    }
}

/// The samplers of recorded elements, in the order of the draft's steps.
pub fn samplers(nodes: &[Node]) -> Vec<&Node> {
    let mut all = Vec::new();
    for node in nodes {
        if node.class == http_request::CLASS {
            all.push(node);
        } else {
            all.extend(samplers(&node.children));
        }
    }
    all
}

impl Recorder {
    /// The plan with the requests of a draft inserted. `data_file` is the name of the file with [`Draft::data_text`].
    ///
    /// # Errors
    /// The plan has neither a Recording Controller nor a thread group.
    pub fn placed(&self, tree: &Tree, draft: &Draft, data_file: &str) -> Result<Tree, ImportError> {
        let way = way(&tree.roots, &is_target)
            .or_else(|| way(&tree.roots, &is_group))
            .ok_or_else(|| {
                ImportError::new("the plan has no place for the recorded requests")
                    .hint("add a Recording Controller or a thread group to it")
            })?;
        let scope = InsertionScope::of(&tree.roots, &way);
        let mut nodes = Vec::new();
        if !draft.data.names.is_empty() {
            let names = draft.data.names.join(",");
            nodes.push(elements::csv_data_set(
                data_file,
                &names,
                draft.data.is_used_once,
            ));
        }
        self.groups(draft, &scope, &mut nodes);
        let mut roots = tree.roots.to_vec();
        if let Some(target) = at(&mut roots, &way) {
            target.children.extend(nodes);
        }
        Ok(Tree {
            roots: roots.into(),
            ..tree.clone()
        })
    }

    fn groups(&self, draft: &Draft, scope: &InsertionScope, nodes: &mut Vec<Node>) {
        for (place, transaction) in draft.transactions.iter().enumerate() {
            let mut samplers = Vec::new();
            for (position, step) in transaction.steps.iter().enumerate() {
                let typed = transaction.is_typed.then_some(transaction.name.as_deref());
                let named = self
                    .naming
                    .as_ref()
                    .map(|naming| naming.name(&step.request, typed.flatten(), step.number));
                let mut request = step.request.clone();
                request.name = named.or(request.name);
                // Nothing is searched for in the response any more, and it is large.
                let step = DraftStep {
                    request,
                    response: None,
                    assigned: step.assigned.clone(),
                    extractors: step.extractors.clone(),
                    expected_code: step.expected_code.clone(),
                    expected_texts: step.expected_texts.clone(),
                    ..*step
                };
                if self.keeps_pauses && step.think_ms > 0 {
                    let pause = elements::pause("Think", &step.think_ms.to_string());
                    // The time of a transaction excludes the pause before it.
                    let is_outside = position == 0 && self.grouping.is_around();
                    if is_outside {
                        &mut *nodes
                    } else {
                        &mut samplers
                    }
                    .push(pause);
                }
                let embedded = draft.embedded.clone().filter(|_| self.loads_pages());
                samplers.push(self.sampler(step, position == 0, scope, embedded));
            }
            let title = transaction.name.clone().unwrap_or_default();
            match self.grouping {
                Grouping::Pages | Grouping::TransactionControllers => {
                    nodes.push(elements::transaction(&title).above(samplers));
                }
                Grouping::SimpleControllers => {
                    nodes.push(elements::simple_controller(&title).above(samplers));
                }
                Grouping::Separators => {
                    if place > 0 {
                        nodes.push(elements::simple_controller("-------------------"));
                    }
                    nodes.extend(samplers);
                }
                Grouping::None | Grouping::FirstOnly => nodes.extend(samplers),
            }
        }
    }

    /// Whether pages load the resources that were left out.
    fn loads_pages(&self) -> bool {
        self.downloads_images && !self.keeps_resources
    }

    fn sampler(
        &self,
        mut step: DraftStep,
        is_first: bool,
        scope: &InsertionScope,
        embedded: Option<String>,
    ) -> Node {
        if !self.captures_headers {
            step.request.headers.clear();
        }
        scope.name_values(&mut step.request, self);
        let think_ms = step.think_ms;
        let only_first = self.grouping == Grouping::FirstOnly;
        let mut node = plan::lone_sampler(&step, embedded);
        let automatically = self.redirects_automatically && !only_first;
        for (property, value) in [
            ("HTTPSampler.auto_redirects", automatically),
            (
                "HTTPSampler.follow_redirects",
                self.follows_redirects || only_first,
            ),
            ("HTTPSampler.use_keepalive", self.keeps_alive),
        ] {
            node.props.put(property, value);
        }
        if !self.loads_pages() {
            let downloads = self.downloads_images || only_first;
            node.props.put("HTTPSampler.image_parser", downloads);
        }
        scope.leave_to_defaults(&mut node);
        if is_first {
            if self.adds_assertion {
                node.children.push(elements::body_assertion());
            }
            for timer in &self.timers {
                let mut timer = timer.clone();
                map_texts(&mut timer, &|text| {
                    text.replace("${T}", &think_ms.to_string())
                });
                let comment = format!("Recorded:{think_ms}ms");
                timer.props.put("TestPlan.comments", comment);
                node.children.push(timer);
            }
        }
        node
    }
}

fn is_target(node: &Node) -> bool {
    node.enabled && node.class == recording_controller::CLASS
}

fn is_group(node: &Node) -> bool {
    node.enabled && node.class.ends_with(thread_group::CLASS)
}

fn way(nodes: &[Node], wanted: &dyn Fn(&Node) -> bool) -> Option<Way> {
    for (place, node) in nodes.iter().enumerate() {
        if wanted(node) {
            return Some(vec![place]);
        }
        if let Some(mut below) = way(&node.children, wanted) {
            below.insert(0, place);
            return Some(below);
        }
    }
    None
}

fn at<'n>(nodes: &'n mut [Node], way: &[usize]) -> Option<&'n mut Node> {
    let (first, rest) = way.split_first()?;
    let node = nodes.get_mut(*first)?;
    if rest.is_empty() {
        Some(node)
    } else {
        at(&mut node.children, rest)
    }
}

/// The settings that apply where the recorded requests are inserted.
#[derive(Debug, Clone, Default)]
struct InsertionScope {
    /// Whether a Cookie Manager is among them.
    has_cookies: bool,
    /// Variables by value, nearest first.
    variables: Vec<(String, String)>,
    /// Default settings, nearest first.
    defaults: Vec<Node>,
}

impl InsertionScope {
    fn of(roots: &[Node], way: &[usize]) -> InsertionScope {
        let mut scope = InsertionScope::default();
        let mut level = roots;
        let mut above = Vec::new();
        for place in way {
            let Some(node) = level.get(*place) else { break };
            above.push(node);
            level = &node.children;
        }
        for node in above.into_iter().rev() {
            for child in node.children.iter().filter(|child| child.enabled) {
                match child.class.as_str() {
                    cookie_manager::CLASS => scope.has_cookies = true,
                    http_defaults::CLASS => scope.defaults.push(child.clone()),
                    user_defined_variables::CLASS => {
                        scope.define(child.props.list("Arguments.arguments"))
                    }
                    _ => {}
                }
            }
            let variables = node.props.element("TestPlan.user_defined_variables");
            if let Some(variables) = variables {
                scope.define(variables.props.list("Arguments.arguments"));
            }
        }
        scope
    }

    fn define(&mut self, items: &[Prop]) {
        for item in items {
            let Value::Element(argument) = &item.value else {
                continue;
            };
            let name = argument.props.str("Argument.name").into_owned();
            let value = argument.props.str("Argument.value").into_owned();
            let is_known = self.variables.iter().any(|(own, _)| *own == name);
            if !name.is_empty() && !value.is_empty() && !value.contains("${") && !is_known {
                self.variables.push((name, value));
            }
        }
    }

    /// Replaces values with the variables that hold them (`ValueReplacer.reverseReplace`).
    fn name_values(&self, request: &mut Request, recorder: &Recorder) {
        let is_short = |value: &str| value.len() < recorder.shortest_value;
        let address = &mut request.address;
        for part in [&mut address.scheme, &mut address.host, &mut address.port] {
            let mut variables = self.variables.iter();
            let variable = variables.find(|(_, value)| part.literal() == Some(value.as_str()));
            if let Some((name, _)) = variable.filter(|(_, value)| is_short(value)) {
                *part = PlanText::variable(name);
            }
        }
        for text in texts(request) {
            for (name, value) in self.variables.iter().filter(|(_, value)| !is_short(value)) {
                let expression = format!("${{{name}}}");
                if recorder.matches_words {
                    text.replace_words(value, &expression)
                } else {
                    text.replace(value, &expression)
                };
            }
        }
    }

    /// Empties the settings that the defaults already supply.
    fn leave_to_defaults(&self, node: &mut Node) {
        let given: Vec<String> = node
            .props
            .iter()
            .filter(|prop| {
                let value = prop.value.as_str();
                let default = self
                    .defaults
                    .iter()
                    .map(|element| element.props.str(&prop.name))
                    .find(|default| !default.is_empty());
                !value.is_empty() && default.is_some_and(|default| default == value)
            })
            .map(|prop| prop.name.to_string())
            .collect();
        for name in given {
            node.props.put(&name, "");
        }
    }
}

/// All texts of a request that may hold a value.
fn texts(request: &mut Request) -> Vec<&mut PlanText> {
    let address = &mut request.address;
    let mut all = vec![
        &mut address.scheme,
        &mut address.host,
        &mut address.port,
        &mut address.path,
    ];
    for (_, value) in &mut request.headers {
        all.push(value);
    }
    match &mut request.body {
        RequestBody::None => {}
        RequestBody::Raw(text) => all.push(text),
        RequestBody::Form(fields) => all.extend(fields.iter_mut().map(|(_, value)| value)),
        RequestBody::Multipart(parts) => all.extend(parts.iter_mut().map(|part| match part {
            FormPart::Field { value, .. } => value,
            FormPart::File { path, .. } => path,
        })),
        RequestBody::File { path, .. } => all.push(path),
    }
    all
}
