//! Records into plans: as their HTTP(S) Test Script Recorder would, with its filters, names, grouping and target, or as
//! `drumfire record` makes new plans.

mod insert;
mod naming;

pub use insert::{Insertion, samplers};
pub use naming::Naming;

use drumfire_elements::other::script_recorder;
use drumfire_jmx::{Node, Tree, Value};

use crate::filter::Filter;
use crate::options::ImportOptions;

/// The settings of a recorder: those of a `ProxyControl` element, or the usual ones.
#[derive(Debug, Clone)]
pub struct Recorder {
    /// The port as the plan has it; may be an expression.
    pub port: String,
    /// The domains whose HTTPS is decrypted.
    pub domains: Vec<String>,
    /// Whether requests to every host are kept.
    pub all_domains: bool,
    /// Patterns of addresses of which one must match.
    pub include: Vec<String>,
    /// Patterns of addresses of which none may match.
    pub exclude: Vec<String>,
    /// The pattern of content types that are kept; empty for all.
    pub content_include: String,
    /// The pattern of content types that are left out; empty for none.
    pub content_exclude: String,
    /// Whether images, scripts and style sheets are requests of their own.
    pub keeps_resources: bool,
    /// Whether the header fields are recorded.
    pub captures_headers: bool,
    /// Whether the first request of each group gets an assertion without patterns.
    pub adds_assertion: bool,
    /// How requests are grouped.
    pub grouping: Grouping,
    /// Whether samplers follow redirects.
    pub follows_redirects: bool,
    /// Whether the HTTP client of the samplers follows redirects.
    pub redirects_automatically: bool,
    /// Whether samplers keep connections.
    pub keeps_alive: bool,
    /// Whether samplers load embedded resources: all of them, or only pages if resources are left out.
    pub downloads_images: bool,
    /// Whether values become variables only where they are whole words.
    pub matches_words: bool,
    /// Shorter values of variables are replaced only where they are a whole host, port or scheme. JMeter's recorder replaces all,
    /// also the `1` in every path.
    pub shortest_value: usize,
    /// How requests are named; `None` for a method and a path.
    pub naming: Option<Naming>,
    /// A longer pause begins a new group, in milliseconds.
    pub pause_ms: i64,
    /// Whether the user's pauses become pauses of the plan.
    pub keeps_pauses: bool,
    /// Timers below the recorder, copied to the first request of each group; `${T}` in them is the user's pause.
    pub timers: Vec<Node>,
}

/// How consecutive requests are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Those of one page, or of one name that the user gave, in a Transaction Controller.
    Pages,
    /// Not at all.
    None,
    /// Those without a pause between them, with an empty controller before the next group.
    Separators,
    /// Those without a pause between them, in a Simple Controller.
    SimpleControllers,
    /// Those without a pause between them, of which only the first is kept.
    FirstOnly,
    /// Those without a pause between them, in a Transaction Controller.
    TransactionControllers,
}

/// The shortest value that names what it is, in bytes.
const SHORTEST_VALUE: usize = 4;

/// `proxy.pause` of JMeter, in milliseconds.
const USUAL_PAUSE_MS: i64 = 5_000;

impl Recorder {
    /// The settings of `drumfire record`.
    pub fn usual() -> Recorder {
        Recorder {
            port: String::new(),
            domains: Vec::new(),
            all_domains: false,
            include: Vec::new(),
            exclude: Vec::new(),
            content_include: String::new(),
            content_exclude: String::new(),
            keeps_resources: false,
            captures_headers: true,
            adds_assertion: false,
            grouping: Grouping::Pages,
            follows_redirects: true,
            redirects_automatically: false,
            keeps_alive: true,
            downloads_images: true,
            matches_words: true,
            shortest_value: SHORTEST_VALUE,
            naming: None,
            pause_ms: USUAL_PAUSE_MS,
            keeps_pauses: true,
            timers: Vec::new(),
        }
    }

    /// The first recorder of a plan; in most plans it is disabled.
    pub fn find(tree: &Tree) -> Option<Recorder> {
        Recorder::element(tree).map(Recorder::of)
    }

    /// The element of the first recorder of a plan.
    pub fn element(tree: &Tree) -> Option<&Node> {
        tree.roots.iter().find_map(find)
    }

    /// The settings of a recorder's element.
    pub fn of(node: &Node) -> Recorder {
        let text = |name: &str| {
            node.props
                .str(&format!("ProxyControlGui.{name}"))
                .into_owned()
        };
        let flag =
            |name: &str, usual: bool| node.props.bool(&format!("ProxyControlGui.{name}"), usual);
        let number = |name: &str| node.props.int(&format!("ProxyControlGui.{name}"), 0);
        let list = |name: &str| {
            let items = node.props.list(&format!("ProxyControlGui.{name}")).iter();
            items
                .map(|item| item.value.as_str().into_owned())
                .collect::<Vec<_>>()
        };
        Recorder {
            port: text("port"),
            domains: text("domains")
                .split(',')
                .map(|domain| domain.trim().trim_start_matches("*.").to_ascii_lowercase())
                .filter(|domain| !domain.is_empty())
                .collect(),
            all_domains: true,
            include: list("include_list"),
            exclude: list("exclude_list"),
            content_include: text("content_type_include"),
            content_exclude: text("content_type_exclude"),
            keeps_resources: true,
            keeps_pauses: false,
            captures_headers: flag("capture_http_headers", true),
            adds_assertion: flag("add_assertion", false),
            grouping: match number("grouping_mode") {
                1 => Grouping::Separators,
                2 => Grouping::SimpleControllers,
                3 => Grouping::FirstOnly,
                4 => Grouping::TransactionControllers,
                _ => Grouping::None,
            },
            follows_redirects: flag("sampler_follow_redirects", true),
            redirects_automatically: flag("sampler_redirect_automatically", false),
            keeps_alive: flag("use_keepalive", true),
            downloads_images: flag("sampler_download_images", false),
            shortest_value: 0,
            matches_words: flag("regex_match", false),
            naming: Some(Naming {
                mode: number("proxy_http_sampler_naming_mode"),
                format: text("proxy_http_sampler_format"),
                prefix: text("proxy_prefix_http_sampler_name"),
            }),
            pause_ms: text("proxy_pause_http_sampler")
                .trim()
                .parse()
                .unwrap_or(USUAL_PAUSE_MS),
            timers: node
                .children
                .iter()
                .filter(|child| child.enabled && child.class.ends_with("Timer"))
                .cloned()
                .collect(),
        }
    }

    /// The port that it listens on, unless the plan computes it with an expression.
    pub fn port(&self) -> Option<u16> {
        self.port.trim().parse().ok()
    }

    /// The import options that keep the requests that its patterns accept. If it keeps every host, domains that the user names
    /// limit it to these.
    pub fn options(&self, asked: ImportOptions, warnings: &mut Vec<String>) -> ImportOptions {
        let content = [self.content_include.as_str(), self.content_exclude.as_str()];
        ImportOptions {
            all_domains: asked.all_domains || self.all_domains && asked.domains.is_empty(),
            keep_static: self.keeps_resources,
            keep_redirects: !self.follows_redirects && !self.redirects_automatically,
            filter: Some(Filter::new(&self.include, &self.exclude, content, warnings)),
            pause_ms: (self.grouping != Grouping::Pages).then_some(self.pause_ms),
            first_of_group: self.grouping == Grouping::FirstOnly,
            ..asked
        }
    }
}

impl Grouping {
    /// Whether each group has an element around it.
    fn is_around(self) -> bool {
        matches!(
            self,
            Grouping::Pages | Grouping::SimpleControllers | Grouping::TransactionControllers
        )
    }
}

fn find(node: &Node) -> Option<&Node> {
    if node.class == script_recorder::CLASS {
        return Some(node);
    }
    node.children.iter().find_map(find)
}

/// Applies a change to every text of an element's properties.
fn map_texts(node: &mut Node, change: &dyn Fn(&str) -> String) {
    let texts: Vec<(String, String)> = node
        .props
        .iter()
        .filter_map(|prop| match &prop.value {
            Value::Str(text) => Some((prop.name.to_string(), change(text))),
            _ => None,
        })
        .collect();
    for (name, text) in texts {
        node.props.put(&name, text);
    }
}

#[cfg(test)]
mod tests;
