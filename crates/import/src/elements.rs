//! Builds JMeter's elements for plans, with the properties that JMeter's screens save.

use drumfire_jmx::{Element, Node, Prop};

use crate::text::PlanText;

pub fn test_plan(name: &str, comments: &str, variables: &[(String, PlanText, String)]) -> Node {
    let variables = variables.iter().map(|(name, value, description)| {
        let argument = Element::new("Argument")
            .with("Argument.name", name.as_str())
            .with("Argument.value", value.template());
        let argument = match description.is_empty() {
            true => argument,
            false => argument.with("Argument.desc", description.as_str()),
        };
        Prop::new(name, argument.with("Argument.metadata", "="))
    });
    Node::new("TestPlan", "TestPlanGui", name)
        .with("TestPlan.comments", comments)
        .with("TestPlan.functional_mode", false)
        .with("TestPlan.tearDown_on_shutdown", true)
        .with("TestPlan.serialize_threadgroups", false)
        .with(
            "TestPlan.user_defined_variables",
            arguments("ArgumentsPanel", variables.collect()),
        )
}

fn arguments(gui: &str, items: Vec<Prop>) -> Element {
    Element::new("Arguments")
        .shown(gui, "User Defined Variables")
        .with("Arguments.arguments", items)
}

/// A Thread Group. Without a duration it ends after its loops.
pub fn thread_group(name: &str, users: &str, ramp_up: &str, loops: &str, duration: &str) -> Node {
    let controller = Element::new("LoopController")
        .shown("LoopControlPanel", "Loop Controller")
        .with("LoopController.continue_forever", false)
        .with("LoopController.loops", loops);
    Node::new("ThreadGroup", "ThreadGroupGui", name)
        .with("ThreadGroup.on_sample_error", "continue")
        .with("ThreadGroup.main_controller", controller)
        .with("ThreadGroup.num_threads", users)
        .with("ThreadGroup.ramp_time", ramp_up)
        .with("ThreadGroup.scheduler", !duration.is_empty())
        .with("ThreadGroup.duration", duration)
        .with("ThreadGroup.delay", "")
        .with("ThreadGroup.same_user_on_next_iteration", true)
}

pub fn open_model(name: &str, schedule: &str) -> Node {
    Node::new("OpenModelThreadGroup", "OpenModelThreadGroupGui", name)
        .with(
            "ThreadGroup.main_controller",
            Element::new("OpenModelThreadGroupController"),
        )
        .with("ThreadGroup.on_sample_error", "continue")
        .with("OpenModelThreadGroup.schedule", schedule)
        .with("OpenModelThreadGroup.random_seed", 0_i64)
}

/// The fields of an HTTP Request that name its server.
#[derive(Default, PartialEq, Clone)]
pub struct ServerFields {
    pub scheme: String,
    pub host: String,
    pub port: String,
}

pub fn http_defaults(server: &ServerFields) -> Node {
    Node::new(
        "ConfigTestElement",
        "HttpDefaultsGui",
        "HTTP Request Defaults",
    )
    .with(
        "HTTPsampler.Arguments",
        arguments("HTTPArgumentsPanel", Vec::new()),
    )
    .with("HTTPSampler.domain", server.host.as_str())
    .with("HTTPSampler.port", server.port.as_str())
    .with("HTTPSampler.protocol", server.scheme.as_str())
    .with("HTTPSampler.connect_timeout", "10000")
    .with("HTTPSampler.response_timeout", "60000")
}

pub fn cookie_manager() -> Node {
    Node::new("CookieManager", "CookiePanel", "HTTP Cookie Manager")
        .with("CookieManager.cookies", Vec::new())
        .with("CookieManager.clearEachIteration", false)
        .with("CookieManager.controlledByThreadGroup", true)
}

pub fn cache_manager() -> Node {
    Node::new("CacheManager", "CacheManagerGui", "HTTP Cache Manager")
        .with("clearEachIteration", false)
        .with("useExpires", true)
        .with("CacheManager.controlledByThread", true)
}

pub fn header_manager(fields: &[(PlanText, PlanText)]) -> Node {
    let items = fields.iter().map(|(name, value)| {
        let header = Element::new("Header")
            .with("Header.name", name.template())
            .with("Header.value", value.template());
        Prop::new("", header)
    });
    Node::new("HeaderManager", "HeaderPanel", "HTTP Header Manager")
        .with("HeaderManager.headers", items.collect::<Vec<_>>())
}

/// Credentials for a server: `url` is `scheme://host:port`.
pub fn auth_manager(credentials: &[(String, crate::exchange::Auth)]) -> Node {
    let items = credentials.iter().map(|(url, auth)| {
        let element = Element::new("Authorization")
            .with("Authorization.url", url.as_str())
            .with("Authorization.username", auth.user.template())
            .with("Authorization.password", auth.password.template())
            .with("Authorization.domain", "")
            .with("Authorization.realm", "")
            .with("Authorization.mechanism", auth.mechanism);
        Prop::new("", element)
    });
    Node::new("AuthManager", "AuthPanel", "HTTP Authorization Manager")
        .with("AuthManager.auth_list", items.collect::<Vec<_>>())
        .with("AuthManager.controlledByThreadGroup", false)
}

pub fn transaction(name: &str) -> Node {
    Node::new("TransactionController", "TransactionControllerGui", name)
        .with("TransactionController.includeTimers", false)
        .with("TransactionController.parent", false)
}

pub fn simple_controller(name: &str) -> Node {
    Node::new("GenericController", "LogicControllerGui", name)
}

/// Limits the group's users together to a rate per minute.
pub fn throughput_timer(per_minute: f64) -> Node {
    Node::new(
        "ConstantThroughputTimer",
        "TestBeanGUI",
        "Constant Throughput Timer",
    )
    .with("calcMode", 4)
    .with("throughput", per_minute)
}

/// A pause as an element of its own. JMeter's timers apply before samplers; this one stands between
/// them.
pub fn pause(name: &str, delay_ms: &str) -> Node {
    Node::new("TestAction", "TestActionGui", name)
        .with("ActionProcessor.action", 1)
        .with("ActionProcessor.target", 0)
        .with("ActionProcessor.duration", delay_ms)
}

/// An assertion on the response code, which a regular expression describes.
pub fn code_assertion(pattern: &str) -> Node {
    let strings = vec![Prop::new("0", pattern)];
    Node::new("ResponseAssertion", "AssertionGui", "Response code")
        .with("Asserion.test_strings", strings)
        .with("Assertion.custom_message", "")
        .with("Assertion.test_field", "Assertion.response_code")
        // An expected code such as 404 is not a failure.
        .with("Assertion.assume_success", true)
        .with("Assertion.test_type", 1)
}

/// An assertion on the body without patterns, as JMeter's recorder adds it.
pub fn body_assertion() -> Node {
    Node::new("ResponseAssertion", "AssertionGui", "Response Assertion")
        .with("Asserion.test_strings", Vec::new())
        .with("Assertion.custom_message", "")
        .with("Assertion.test_field", "Assertion.response_data")
        .with("Assertion.assume_success", false)
        .with("Assertion.test_type", 16)
}

/// A CSV file with a header line. With `once` set, users stop after its last row.
pub fn csv_data_set(file: &str, variables: &str, once: bool) -> Node {
    Node::new("CSVDataSet", "TestBeanGUI", &format!("Data from {file}"))
        .with("filename", file)
        .with("fileEncoding", "UTF-8")
        .with("variableNames", variables)
        .with("ignoreFirstLine", true)
        .with("delimiter", ",")
        .with("quotedData", true)
        .with("recycle", !once)
        .with("stopThread", once)
        .with("shareMode", "shareMode.all")
}

pub fn json_extractor(variable: &str, path: &str) -> Node {
    Node::new(
        "JSONPostProcessor",
        "JSONPostProcessorGui",
        &format!("{variable} from JSON"),
    )
    .with("JSONPostProcessor.referenceNames", variable)
    .with("JSONPostProcessor.jsonPathExprs", path)
    .with("JSONPostProcessor.match_numbers", "1")
    .with("JSONPostProcessor.defaultValues", "NOT_FOUND")
}

pub fn css_extractor(variable: &str, selector: &str, attribute: &str) -> Node {
    Node::new(
        "HtmlExtractor",
        "HtmlExtractorGui",
        &format!("{variable} from the page"),
    )
    .with("HtmlExtractor.refname", variable)
    .with("HtmlExtractor.expr", selector)
    .with("HtmlExtractor.attribute", attribute)
    .with("HtmlExtractor.default", "NOT_FOUND")
    .with("HtmlExtractor.match_number", "1")
    .with("HtmlExtractor.extractor_impl", "")
    .with("HtmlExtractor.default_empty_value", false)
}

/// `field` is JMeter's `useHeaders`: `false` for the body, `true` for the response headers, `URL`.
pub fn boundary_extractor(variable: &str, left: &str, right: &str, field: &str) -> Node {
    Node::new(
        "BoundaryExtractor",
        "BoundaryExtractorGui",
        &format!("{variable} by boundaries"),
    )
    .with("BoundaryExtractor.useHeaders", field)
    .with("BoundaryExtractor.refname", variable)
    .with("BoundaryExtractor.lboundary", left)
    .with("BoundaryExtractor.rboundary", right)
    .with("BoundaryExtractor.default", "NOT_FOUND")
    .with("BoundaryExtractor.default_empty_value", false)
    .with("BoundaryExtractor.match_number", "1")
}

pub fn regex_extractor(variable: &str, pattern: &str, field: &str) -> Node {
    Node::new(
        "RegexExtractor",
        "RegexExtractorGui",
        &format!("{variable} by a pattern"),
    )
    .with("RegexExtractor.useHeaders", field)
    .with("RegexExtractor.refname", variable)
    .with("RegexExtractor.regex", pattern)
    .with("RegexExtractor.template", "$1$")
    .with("RegexExtractor.default", "NOT_FOUND")
    .with("RegexExtractor.match_number", "1")
    .with("RegexExtractor.default_empty_value", false)
}

/// An argument of an HTTP Request.
pub fn http_argument(name: &str, value: &str, encode: bool) -> Prop {
    let argument = Element::new("HTTPArgument")
        .with("HTTPArgument.always_encode", encode)
        .with("Argument.value", value)
        .with("Argument.metadata", "=");
    let argument = match name.is_empty() {
        true => argument,
        false => argument
            .with("HTTPArgument.use_equals", true)
            .with("Argument.name", name),
    };
    Prop::new(name, argument)
}

pub fn http_file(path: &str, parameter: &str, mime: &str) -> Prop {
    let file = Element::new("HTTPFileArg")
        .with("File.mimetype", mime)
        .with("File.path", path)
        .with("File.paramname", parameter);
    Prop::new(path, file)
}

pub fn http_arguments(items: Vec<Prop>, is_raw: bool) -> Element {
    let panel = Element::new("Arguments");
    let panel = match is_raw {
        true => panel,
        false => panel.shown("HTTPArgumentsPanel", "User Defined Variables"),
    };
    panel.with("Arguments.arguments", items)
}
