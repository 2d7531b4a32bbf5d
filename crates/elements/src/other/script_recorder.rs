//! HTTP(S) Test Script Recorder.

use crate::form::{
    ElementFacts, Language, Property, Role, Saved, choice, code, flag, is, list, same, section,
    text, whole,
};

pub const CLASS: &str = "ProxyControl";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::NonTest,
    CLASS,
    "HTTP(S) Test Script Recorder",
    "ProxyControlGui",
)
.help("Records requests in JMeter's window.")
.sections(&[
    section("Global Settings", &[PORT, DOMAINS]),
    section(
        "Test Plan Creation",
        &[
            GROUPING,
            CAPTURE_HEADERS,
            ADD_ASSERTION,
            REGEX_MATCH,
            NAME_PREFIX,
            NAMING,
            NAME_FORMAT,
            NEW_GROUP_AFTER,
            DEFAULT_ENCODING,
            EMBEDDED_RESOURCES,
            AUTO_REDIRECTS,
            FOLLOW_REDIRECTS,
            USE_KEEPALIVE,
            CLIENT,
            DETECT_GRAPHQL,
        ],
    ),
    section(
        "Requests Filtering",
        &[
            INCLUDE_TYPES,
            EXCLUDE_TYPES,
            INCLUDE_LIST,
            EXCLUDE_LIST,
            NOTIFY_FILTERED,
        ],
    ),
]);

pub const PORT: Property = whole("ProxyControlGui.port")
    .label("Port")
    .default("8888")
    .help("Sets the port on which the recorder listens.");

pub const DOMAINS: Property = text("ProxyControlGui.domains")
    .label("HTTPS Domains")
    .help("Lists hosts that get a certificate when the recorder starts.");

pub const GROUPING: Property = choice(
    "ProxyControlGui.grouping_mode",
    &[
        is("0", "Do not group samplers"),
        is("1", "Add separators between groups"),
        is("2", "Put each group in a new controller"),
        is("3", "Store 1st sampler of each group only"),
        is("4", "Put each group in a new transaction controller"),
    ],
)
.saved(Saved::IntProp)
.label("Grouping")
.default("0")
.help("Says how requests that follow each other are grouped.");

pub const CAPTURE_HEADERS: Property = flag("ProxyControlGui.capture_http_headers")
    .label("Capture HTTP Headers")
    .default("true")
    .help("Adds the header fields of each request.");

pub const ADD_ASSERTION: Property = flag("ProxyControlGui.add_assertion")
    .label("Add Assertions")
    .default("false")
    .help("Adds an assertion without patterns to each request.");

pub const REGEX_MATCH: Property = flag("ProxyControlGui.regex_match")
    .label("Regex matching")
    .default("false")
    .help("Replaces variables' values by regular expressions.");

pub const NAME_PREFIX: Property = text("ProxyControlGui.proxy_prefix_http_sampler_name")
    .label("Transaction name")
    .help("Sets a part of the samplers' names.");

pub const NAMING: Property = choice(
    "ProxyControlGui.proxy_http_sampler_naming_mode",
    &[
        is("0", "Prefix"),
        is("1", "Transaction name"),
        is("2", "Suffix"),
        is("3", "Use format string"),
    ],
)
.saved(Saved::IntProp)
.label("Naming scheme")
.default("0")
.help("Says how samplers are named.");

pub const NAME_FORMAT: Property = text("ProxyControlGui.proxy_http_sampler_format")
    .label("Naming scheme")
    .help("Holds the pattern of the samplers' names.");

pub const NEW_GROUP_AFTER: Property = whole("ProxyControlGui.proxy_pause_http_sampler")
    .label("Create new transaction after request (ms)")
    .help("Begins a new group after a pause of so many milliseconds.");

pub const DEFAULT_ENCODING: Property = text("ProxyControlGui.default_encoding")
    .label("Recording's default encoding")
    .help("Names the charset of requests that name none.");

pub const EMBEDDED_RESOURCES: Property = flag("ProxyControlGui.sampler_download_images")
    .label("Retrieve All Embedded Resources")
    .default("false")
    .help("Ticks the fetching of embedded resources in the samplers.");

pub const AUTO_REDIRECTS: Property = flag("ProxyControlGui.sampler_redirect_automatically")
    .label("Redirect Automatically")
    .default("false")
    .help("Ticks Redirect Automatically in the samplers.");

pub const FOLLOW_REDIRECTS: Property = flag("ProxyControlGui.sampler_follow_redirects")
    .label("Follow Redirects")
    .default("true")
    .help("Ticks Follow Redirects in the samplers.");

pub const USE_KEEPALIVE: Property = flag("ProxyControlGui.use_keepalive")
    .label("Use KeepAlive")
    .default("true")
    .help("Ticks Use KeepAlive in the samplers.");

pub const CLIENT: Property = choice(
    "ProxyControlGui.sampler_type_name",
    &[same(""), same("HttpClient4"), same("Java")],
)
.label("Type")
.help("Sets the HTTP client of the samplers.");

pub const DETECT_GRAPHQL: Property = flag("ProxyControlGui.detect_graphql_request")
    .label("Detect GraphQL Request")
    .default("true")
    .help("Makes GraphQL HTTP Requests of requests that look like it.");

pub const INCLUDE_TYPES: Property = code("ProxyControlGui.content_type_include", Language::Regex)
    .label("Include")
    .help("Records only responses whose content type matches.");

pub const EXCLUDE_TYPES: Property = code("ProxyControlGui.content_type_exclude", Language::Regex)
    .label("Exclude")
    .help("Records no responses whose content type matches.");

pub const INCLUDE_LIST: Property = list("ProxyControlGui.include_list")
    .label("URL Patterns to Include")
    .help("Records only addresses that match one of these patterns.");

pub const EXCLUDE_LIST: Property = list("ProxyControlGui.exclude_list")
    .label("URL Patterns to Exclude")
    .help("Records no addresses that match one of these patterns.");

pub const NOTIFY_FILTERED: Property = flag("ProxyControlGui.notify_child_sl_filtered")
    .label("Notify Child Listeners of filtered samplers")
    .default("false")
    .help("Tells child listeners of requests that are not recorded.");
