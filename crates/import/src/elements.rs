//! Builds JMeter's elements for plans, with the properties that JMeter's screens save.

use drumfire_elements::assertions::response_assertion;
use drumfire_elements::config::{
    auth_manager, cache_manager, cookie_manager, csv_data_set, header_manager, http_defaults,
    user_defined_variables,
};
use drumfire_elements::controllers::{loop_controller, simple_controller, transaction_controller};
use drumfire_elements::items;
use drumfire_elements::other::test_plan;
use drumfire_elements::post::{boundary_extractor, css_extractor, json_extractor, regex_extractor};
use drumfire_elements::pre::user_parameters;
use drumfire_elements::samplers::flow_control_action;
use drumfire_elements::shared::{group, http};
use drumfire_elements::thread_groups::{open_model_thread_group, thread_group};
use drumfire_elements::timers::{constant_throughput_timer, precise_throughput_timer};
use drumfire_jmx::{Element, Node, Prop};

use crate::text::PlanText;

pub fn test_plan(name: &str, comments: &str, variables: &[(String, PlanText, String)]) -> Node {
    let variables = variables.iter().map(|(name, value, description)| {
        let argument = Element::new(items::ARGUMENT.class)
            .with(items::NAME.name, name.as_str())
            .with(items::VALUE.name, value.template());
        let argument = if description.is_empty() {
            argument
        } else {
            argument.with(items::DESCRIPTION.name, description.as_str())
        };
        Prop::new(name, argument.with(items::METADATA.name, "="))
    });
    test_plan::FACTS
        .node(name)
        .with("TestPlan.comments", comments)
        .with(test_plan::FUNCTIONAL_MODE.name, false)
        .with(test_plan::TEAR_DOWN_ON_SHUTDOWN.name, true)
        .with(test_plan::SERIALIZE.name, false)
        .with(
            test_plan::USER_DEFINED_VARIABLES.name,
            arguments("ArgumentsPanel", variables.collect()),
        )
}

fn arguments(gui: &str, items: Vec<Prop>) -> Element {
    Element::new(items::ARGUMENTS.class)
        .shown(gui, "User Defined Variables")
        .with(user_defined_variables::VARIABLES.name, items)
}

/// A Thread Group. Without a duration it ends after its loops.
pub fn thread_group(name: &str, users: &str, ramp_up: &str, loops: &str, duration: &str) -> Node {
    let controller = Element::new(items::LOOP.class)
        .shown("LoopControlPanel", "Loop Controller")
        .with(loop_controller::CONTINUE_FOREVER.name, false)
        .with(loop_controller::LOOPS.name, loops);
    thread_group::FACTS
        .node(name)
        .with(group::ON_SAMPLE_ERROR.name, "continue")
        .with(group::MAIN_LOOP.name, controller)
        .with(group::USERS.name, users)
        .with(group::RAMP_TIME.name, ramp_up)
        .with(group::SCHEDULER.name, !duration.is_empty())
        .with(group::DURATION.name, duration)
        .with(group::DELAY.name, "")
        .with(group::SAME_USER.name, true)
}

/// Iterations that arrive at a rate. A user that has finished one takes the next, over the connection that it has; if none is
/// free, a new user starts.
pub fn arrivals(name: &str, rate: f64, duration_s: u64) -> Node {
    use drumfire_elements::thread_groups::free_form_arrivals_thread_group::CLASS;
    let (rate, seconds) = (
        format!("${{__P(rate,{rate})}}"),
        format!("${{__P(seconds,{duration_s})}}"),
    );
    // Without a limit, one more arrives at the end of the last second.
    let most = format!("${{__jexl3({rate} * {seconds})}}");
    let row: Vec<Prop> = [rate.clone(), rate, seconds]
        .into_iter()
        .map(|cell| Prop::new("", cell))
        .collect();
    Node::new(CLASS, &format!("{CLASS}Gui"), name)
        .with(
            "ThreadGroup.main_controller",
            Element::new("com.blazemeter.jmeter.control.VirtualUserController"),
        )
        .with("ThreadGroup.on_sample_error", "continue")
        .with("Schedule", vec![Prop::new("", row)])
        .with("Unit", "S")
        .with("ArrivalsLimit", most)
        .with("ConcurrencyLimit", "")
        .with("Iterations", "")
        .with("LogFilename", "")
}

pub fn open_model(name: &str, schedule: &str) -> Node {
    open_model_thread_group::FACTS
        .node(name)
        .with(group::MAIN_LOOP.name, Element::new(items::OPEN_MODEL.class))
        .with(group::ON_SAMPLE_ERROR.name, "continue")
        .with(open_model_thread_group::SCHEDULE.name, schedule)
        .with(open_model_thread_group::RANDOM_SEED.name, 0_i64)
}

/// The fields of an HTTP Request that name its server.
#[derive(Debug, Default, PartialEq, Clone)]
pub struct ServerFields {
    pub scheme: String,
    pub host: String,
    pub port: String,
}

pub fn http_defaults(server: &ServerFields) -> Node {
    http_defaults::FACTS
        .node("HTTP Request Defaults")
        .with(
            http::ARGUMENTS.name,
            arguments("HTTPArgumentsPanel", Vec::new()),
        )
        .with(http::DOMAIN.name, server.host.as_str())
        .with(http::PORT.name, server.port.as_str())
        .with(http::PROTOCOL.name, server.scheme.as_str())
        .with(http::CONNECT_TIMEOUT.name, "10000")
        .with(http::RESPONSE_TIMEOUT.name, "60000")
}

/// A Cookie Manager with the cookies that users have from the start.
pub fn cookie_manager(brought: &[crate::draft::BroughtCookie]) -> Node {
    let cookies = brought.iter().map(|cookie| {
        let mut element = Element::new(items::COOKIE.class);
        element.name = cookie.name.as_str().into();
        let element = element
            .with(items::COOKIE_VALUE.name, cookie.value.template())
            .with(items::COOKIE_DOMAIN.name, cookie.domain.as_str())
            .with(items::COOKIE_PATH.name, "/")
            .with(items::COOKIE_SECURE.name, cookie.is_secure)
            .with(items::COOKIE_EXPIRES.name, 0_i64)
            .with(items::COOKIE_PATH_SPECIFIED.name, true)
            .with(items::COOKIE_DOMAIN_SPECIFIED.name, true);
        Prop::new(&cookie.name, element)
    });
    cookie_manager::FACTS
        .node("HTTP Cookie Manager")
        .with(cookie_manager::COOKIES.name, cookies.collect::<Vec<_>>())
        .with(cookie_manager::CLEAR_EACH_ITERATION.name, false)
        .with(cookie_manager::CONTROLLED_BY_THREAD_GROUP.name, true)
}

pub fn cache_manager() -> Node {
    cache_manager::FACTS
        .node("HTTP Cache Manager")
        .with(cache_manager::CLEAR_EACH_ITERATION.name, false)
        .with(cache_manager::USE_EXPIRES.name, true)
        .with(cache_manager::CONTROLLED_BY_THREAD_GROUP.name, true)
}

pub fn header_manager(fields: &[(PlanText, PlanText)]) -> Node {
    let items = fields.iter().map(|(name, value)| {
        let header = Element::new(items::HEADER.class)
            .with(items::HEADER_NAME.name, name.template())
            .with(items::HEADER_VALUE.name, value.template());
        Prop::new("", header)
    });
    header_manager::FACTS
        .node("HTTP Header Manager")
        .with(header_manager::HEADERS.name, items.collect::<Vec<_>>())
}

/// Credentials for a server: `url` is `scheme://host:port`.
pub fn auth_manager(credentials: &[(String, crate::exchange::Auth)]) -> Node {
    let items = credentials.iter().map(|(url, auth)| {
        let element = Element::new(items::AUTHORIZATION.class)
            .with(items::AUTHORIZATION_URL.name, url.as_str())
            .with(items::AUTHORIZATION_USER.name, auth.user.template())
            .with(items::AUTHORIZATION_PASSWORD.name, auth.password.template())
            .with(items::AUTHORIZATION_DOMAIN.name, "")
            .with(items::AUTHORIZATION_REALM.name, "")
            .with(items::AUTHORIZATION_MECHANISM.name, auth.mechanism);
        Prop::new("", element)
    });
    auth_manager::FACTS
        .node("HTTP Authorization Manager")
        .with(auth_manager::AUTHORIZATIONS.name, items.collect::<Vec<_>>())
        .with(auth_manager::CONTROLLED_BY_THREAD_GROUP.name, false)
}

/// Variables that are set before each sample.
pub fn user_parameters(assigned: &[(String, PlanText)]) -> Node {
    let names = assigned
        .iter()
        .map(|(name, _)| Prop::new("", name.as_str()));
    let values = assigned
        .iter()
        .map(|(_, value)| Prop::new("", value.template()));
    let user = Prop::new("", values.collect::<Vec<Prop>>());
    user_parameters::FACTS
        .node("Values of this request")
        .with(user_parameters::NAMES.name, names.collect::<Vec<Prop>>())
        .with(user_parameters::USER_VALUES.name, vec![user])
        .with(user_parameters::PER_ITERATION.name, false)
}

pub fn transaction(name: &str) -> Node {
    transaction_controller::FACTS
        .node(name)
        .with(transaction_controller::INCLUDE_TIMERS.name, false)
        .with(transaction_controller::PARENT.name, false)
}

pub fn simple_controller(name: &str) -> Node {
    simple_controller::FACTS.node(name)
}

/// Limits the group's users together to a rate per minute. JMeter's Constant Throughput Timer waits whole milliseconds between
/// samples, which makes 1,000 a second of 700, and no limit of 3,000 (`ConstantThroughputTimer#getDelay`); rates that it would
/// round get a Precise Throughput Timer, whose samples come at random times.
pub fn throughput_timer(per_minute: f64) -> Node {
    /// The error of a rate that does not matter, as a share.
    const ALMOST: f64 = 0.005;
    let apart_ms = 60_000.0 / per_minute;
    if (apart_ms.round() - apart_ms).abs() > ALMOST * apart_ms {
        return precise_throughput_timer::FACTS
            .node("Precise Throughput Timer")
            .with(precise_throughput_timer::THROUGHPUT.name, per_minute / 60.0)
            .with(precise_throughput_timer::PERIOD.name, 1)
            .with(precise_throughput_timer::DURATION.name, 10)
            .with(precise_throughput_timer::BATCH_SIZE.name, 1)
            .with(precise_throughput_timer::BATCH_DELAY.name, 0)
            .with(precise_throughput_timer::SEED.name, 0)
            .with(precise_throughput_timer::EXACT_LIMIT.name, 10_000)
            .with(
                precise_throughput_timer::ALLOWED_THROUGHPUT_SURPLUS.name,
                1.0,
            );
    }
    constant_throughput_timer::FACTS
        .node("Constant Throughput Timer")
        .with(constant_throughput_timer::MODE.name, 4)
        .with(constant_throughput_timer::THROUGHPUT.name, per_minute)
}

/// A pause as an element of its own. JMeter's timers apply before samplers; this one stands between
/// them.
pub fn pause(name: &str, delay_ms: &str) -> Node {
    flow_control_action::FACTS
        .node(name)
        .with(flow_control_action::ACTION.name, 1)
        .with(flow_control_action::TARGET.name, 0)
        .with(flow_control_action::DURATION.name, delay_ms)
}

/// An assertion on the response code, which a regular expression describes.
pub fn code_assertion(pattern: &str) -> Node {
    let strings = vec![Prop::new("0", pattern)];
    response_assertion::FACTS
        .node("Response code")
        .with(response_assertion::PATTERNS.name, strings)
        .with(response_assertion::CUSTOM_MESSAGE.name, "")
        .with(response_assertion::FIELD.name, "Assertion.response_code")
        // An expected code such as 404 is not a failure.
        .with(response_assertion::IGNORE_STATUS.name, true)
        .with(response_assertion::TEST_TYPE.name, 1)
}

/// An assertion on texts that the body contains.
pub fn text_assertion(texts: &[String]) -> Node {
    let strings = texts.iter().map(|text| Prop::new("", text.as_str()));
    response_assertion::FACTS
        .node("Expected text")
        .with(
            response_assertion::PATTERNS.name,
            strings.collect::<Vec<_>>(),
        )
        .with(response_assertion::CUSTOM_MESSAGE.name, "")
        .with(response_assertion::FIELD.name, "Assertion.response_data")
        .with(response_assertion::IGNORE_STATUS.name, false)
        .with(response_assertion::TEST_TYPE.name, 16)
}

/// An assertion on the body without patterns, as JMeter's recorder adds it.
pub fn body_assertion() -> Node {
    response_assertion::FACTS
        .node("Response Assertion")
        .with(response_assertion::PATTERNS.name, Vec::new())
        .with(response_assertion::CUSTOM_MESSAGE.name, "")
        .with(response_assertion::FIELD.name, "Assertion.response_data")
        .with(response_assertion::IGNORE_STATUS.name, false)
        .with(response_assertion::TEST_TYPE.name, 16)
}

/// A CSV file with a header line. With `once` set, users stop after its last row.
pub fn csv_data_set(file: &str, variables: &str, once: bool) -> Node {
    csv_data_set::FACTS
        .node(&format!("Data from {file}"))
        .with(csv_data_set::FILE.name, file)
        .with(csv_data_set::ENCODING.name, "UTF-8")
        .with(csv_data_set::VARIABLE_NAMES.name, variables)
        .with(csv_data_set::IGNORE_FIRST_LINE.name, true)
        .with(csv_data_set::DELIMITER.name, ",")
        .with(csv_data_set::QUOTED.name, true)
        .with(csv_data_set::RECYCLE.name, !once)
        .with(csv_data_set::STOP_AT_END.name, once)
        .with(csv_data_set::SHARE_MODE.name, "shareMode.all")
}

pub fn json_extractor(variable: &str, path: &str) -> Node {
    json_extractor::FACTS
        .node(&format!("{variable} from JSON"))
        .with(json_extractor::NAMES.name, variable)
        .with(json_extractor::PATHS.name, path)
        .with(json_extractor::MATCH_NUMBERS.name, "1")
        .with(json_extractor::DEFAULTS.name, "NOT_FOUND")
}

pub fn css_extractor(variable: &str, selector: &str, attribute: &str, number: usize) -> Node {
    css_extractor::FACTS
        .node(&format!("{variable} from the page"))
        .with(css_extractor::NAME.name, variable)
        .with(css_extractor::SELECTOR.name, selector)
        .with(css_extractor::ATTRIBUTE.name, attribute)
        .with(css_extractor::DEFAULT.name, "NOT_FOUND")
        .with(css_extractor::MATCH_NUMBER.name, number.to_string())
        .with(css_extractor::IMPLEMENTATION.name, "")
        .with(css_extractor::EMPTY_DEFAULT.name, false)
}

pub fn boundary_extractor(variable: &str, left: &str, right: &str, number: usize) -> Node {
    boundary_extractor::FACTS
        .node(&format!("{variable} by boundaries"))
        .with(boundary_extractor::FIELD.name, "false")
        .with(boundary_extractor::NAME.name, variable)
        .with(boundary_extractor::LEFT.name, left)
        .with(boundary_extractor::RIGHT.name, right)
        .with(boundary_extractor::DEFAULT.name, "NOT_FOUND")
        .with(boundary_extractor::EMPTY_DEFAULT.name, false)
        .with(boundary_extractor::MATCH_NUMBER.name, number.to_string())
}

/// `field` is JMeter's `useHeaders`: `false` for the body, `true` for the response headers, `URL`.
pub fn regex_extractor(variable: &str, pattern: &str, field: &str, number: usize) -> Node {
    regex_extractor::FACTS
        .node(&format!("{variable} by a pattern"))
        .with(regex_extractor::FIELD.name, field)
        .with(regex_extractor::NAME.name, variable)
        .with(regex_extractor::REGEX.name, pattern)
        .with(regex_extractor::TEMPLATE.name, "$1$")
        .with(regex_extractor::DEFAULT.name, "NOT_FOUND")
        .with(regex_extractor::MATCH_NUMBER.name, number.to_string())
        .with(regex_extractor::EMPTY_DEFAULT.name, false)
}

/// An argument of an HTTP Request.
pub fn http_argument(name: &str, value: &str, encode: bool) -> Prop {
    let argument = Element::new(items::HTTP_ARGUMENT.class)
        .with(items::ENCODE.name, encode)
        .with(items::VALUE.name, value)
        .with(items::METADATA.name, "=");
    let argument = if name.is_empty() {
        argument
    } else {
        argument
            .with(items::USE_EQUALS.name, true)
            .with(items::NAME.name, name)
    };
    Prop::new(name, argument)
}

pub fn http_file(path: &str, parameter: &str, mime: &str) -> Prop {
    let file = Element::new(items::HTTP_FILE.class)
        .with(items::FILE_TYPE.name, mime)
        .with(items::FILE_PATH.name, path)
        .with(items::FILE_PARAMETER.name, parameter);
    Prop::new(path, file)
}

pub fn http_arguments(items: Vec<Prop>, is_raw: bool) -> Element {
    let panel = Element::new(items::ARGUMENTS.class);
    let panel = if is_raw {
        panel
    } else {
        panel.shown("HTTPArgumentsPanel", "User Defined Variables")
    };
    panel.with(user_defined_variables::VARIABLES.name, items)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_jmeter_would_round_gets_the_precise_timer() {
        let class = |per_second: f64| throughput_timer(per_second * 60.0).class;
        for even in [0.5, 3.0, 100.0, 250.0, 1_000.0] {
            assert_eq!(class(even), constant_throughput_timer::CLASS, "{even}");
        }
        for rounded in [300.0, 700.0, 1_500.0, 5_000.0] {
            assert_eq!(class(rounded), precise_throughput_timer::CLASS, "{rounded}");
        }
    }
}
