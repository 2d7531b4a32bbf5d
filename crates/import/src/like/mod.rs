//! Records as a plan's HTTP(S) Test Script Recorder would: with its filters, names, grouping and target.

mod insert;
mod naming;

use drumfire_elements::other::script_recorder;
use drumfire_jmx::{Node, Tree, Value};

use crate::filter::Filter;
use crate::options::ImportOptions;

/// The settings of a `ProxyControl` element.
#[derive(Debug, Clone)]
pub struct Recorder {
    /// As the plan has it; may be an expression.
    port: String,
    domains: Vec<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    content_include: String,
    content_exclude: String,
    captures_headers: bool,
    adds_assertion: bool,
    grouping: Grouping,
    follows_redirects: bool,
    redirects_automatically: bool,
    keeps_alive: bool,
    downloads_images: bool,
    matches_words: bool,
    naming: naming::Naming,
    pause_ms: i64,
    /// Timers below the recorder, copied to the first request of each group; `${T}` in them is the user's pause.
    timers: Vec<Node>,
}

/// How consecutive requests without a pause are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grouping {
    None,
    Separators,
    SimpleControllers,
    FirstOnly,
    TransactionControllers,
}

/// `proxy.pause` of JMeter, in milliseconds.
const USUAL_PAUSE_MS: i64 = 5_000;

impl Recorder {
    /// The first recorder of a plan; in most plans it is disabled.
    pub fn find(tree: &Tree) -> Option<Recorder> {
        tree.roots.iter().find_map(find).map(Recorder::of)
    }

    fn of(node: &Node) -> Recorder {
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
            include: list("include_list"),
            exclude: list("exclude_list"),
            content_include: text("content_type_include"),
            content_exclude: text("content_type_exclude"),
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
            matches_words: flag("regex_match", false),
            naming: naming::Naming {
                mode: number("proxy_http_sampler_naming_mode"),
                format: text("proxy_http_sampler_format"),
                prefix: text("proxy_prefix_http_sampler_name"),
            },
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

    /// The domains for which it makes certificates.
    pub fn domains(&self) -> &[String] {
        &self.domains
    }

    /// The import options that keep the requests that its patterns accept. Every host is kept unless the user names
    /// domains.
    pub fn options(&self, asked: ImportOptions, warnings: &mut Vec<String>) -> ImportOptions {
        let content = [self.content_include.as_str(), self.content_exclude.as_str()];
        ImportOptions {
            all_domains: asked.domains.is_empty(),
            keep_static: true,
            keep_redirects: !self.follows_redirects && !self.redirects_automatically,
            filter: Some(Filter::new(&self.include, &self.exclude, content, warnings)),
            pause_ms: Some(self.pause_ms),
            first_of_group: self.grouping == Grouping::FirstOnly,
            ..asked
        }
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
