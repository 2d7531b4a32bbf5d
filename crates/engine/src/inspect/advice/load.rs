//! Loads that differ from what the plan appears to ask for.

use drumfire_elements::config::http_defaults;
use drumfire_elements::controllers::{loop_controller, simple_controller, transaction_controller};
use drumfire_elements::samplers::http_request;
use drumfire_elements::shared::{group, http};
use drumfire_elements::thread_groups::{setup_thread_group, teardown_thread_group, thread_group};
use drumfire_elements::timers::{constant_throughput_timer, constant_timer, uniform_random_timer};

use super::reach::{enters_each_time, is_endless};
use super::references::has_word;
use super::sight::{AdvisedPlan, any_below, is_controller, script};
use super::{AdvisedElement, Effect, Rule};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "throughput-rounded",
        effect: Effect::Misleads,
        finding: "Constant Throughput Timers whose rate is rounded away",
        reason: "the timer waits whole milliseconds between samples (ConstantThroughputTimer), which rounds a high rate to a different one",
        remedy: "use a Precise Throughput Timer, a Throughput Shaping Timer, or an Open Model Thread Group",
        find: rounded_throughput,
    },
    Rule {
        name: "endless-run",
        effect: Effect::Misleads,
        finding: "thread groups that nothing ends",
        reason: "they loop forever and have no duration: the run goes on until somebody stops it, and no two runs have the same length",
        remedy: "tick 'Specify Thread lifetime' and give a duration, or a number of loops",
        find: endless,
    },
    Rule {
        name: "timer-outlasts-duration",
        effect: Effect::Misleads,
        finding: "timers that wait longer than their thread group runs",
        reason: "a user whose next wait would outlast the duration ends at once instead (JMeterThread#delay), so the samplers in the scope of the timer never send anything",
        remedy: "shorten the timer, or raise the duration of the thread group",
        find: outlasting_timers,
    },
    Rule {
        name: "loop-first-iteration-only",
        effect: Effect::Misleads,
        finding: "Loop Controllers that run only in the first iteration",
        reason: "LoopController.continue_forever is false in them, so they are done for good after their last loop (LoopController#nextIsNull), while the elements around them continue",
        remedy: "set LoopController.continue_forever to true, as JMeter's window saves it, or use a Once Only Controller if one iteration is intended",
        find: done_loops,
    },
    Rule {
        name: "connection-per-request",
        effect: Effect::Costs,
        finding: "thread groups in which every request opens its own connection",
        reason: "each iteration is one request of a new user, and httpclient.reset_state_on_thread_group_iteration closes the connection after it: the run measures handshakes, and every connection holds a local port for 60 s",
        remedy: "tick 'Same user on each iteration', put several requests into an iteration, or set httpclient.reset_state_on_thread_group_iteration=false, if real users keep their connections",
        find: connection_per_request,
    },
    Rule {
        name: "keep-alive-off",
        effect: Effect::Costs,
        finding: "requests without 'Use KeepAlive'",
        reason: "each of them opens and closes a connection, with a TLS handshake for HTTPS; no browser does that, and every connection holds a local port for 60 s",
        remedy: "tick 'Use KeepAlive'",
        find: without_keep_alive,
    },
];

const MS_PER_MINUTE: f64 = 60_000.0;
/// The share of the rate that rounding may change before the rule reports it.
const ROUNDED_AWAY: f64 = 0.02;

fn rounded_throughput<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(&[constant_throughput_timer::CLASS])
        .filter_map(|element| {
            let mode = element.props.str(constant_throughput_timer::MODE.name);
            // Modes 1 and 2 multiply by the number of users before they round.
            let rounds = matches!(mode.trim(), "" | "0" | "3" | "4") || mode.contains("shared");
            let wanted = throughput(element, sight).filter(|wanted| *wanted > 0.0 && rounds)?;
            let interval_ms = (MS_PER_MINUTE / wanted).round();
            if interval_ms == 0.0 {
                let told = format!("{wanted} a minute is no limit at all");
                let told = AdvisedElement::with(element, told);
                return Some(told.about(constant_throughput_timer::THROUGHPUT.name));
            }
            let given = MS_PER_MINUTE / interval_ms;
            let error = (given / wanted - 1.0).abs();
            (error > ROUNDED_AWAY).then(|| {
                AdvisedElement::with(element, format!("{wanted} a minute becomes {given:.0}"))
                    .about(constant_throughput_timer::THROUGHPUT.name)
            })
        })
        .collect()
}

/// The timer's rate in samples a minute. JMeter saves a double as an object.
fn throughput(element: &Element, sight: &AdvisedPlan) -> Option<f64> {
    match element
        .props
        .value(constant_throughput_timer::THROUGHPUT.name)?
    {
        drumfire_jmx::Value::Object(saved) => saved.text_of("value")?.trim().parse().ok(),
        _ => sight.number(&element.props, constant_throughput_timer::THROUGHPUT.name),
    }
}

/// Timers that wait at least their constant delay.
const CONSTANT_DELAYS: &[&str] = &[constant_timer::CLASS, uniform_random_timer::CLASS];

fn outlasting_timers<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut outlasting = Vec::new();
    if sight.sets("timer.factor") {
        return outlasting;
    }
    for group in sight.of(THREAD_GROUPS) {
        let is_scheduled = group.props.bool(group::SCHEDULER.name, false);
        let duration_s = sight.number(&group.props, group::DURATION.name);
        let Some(duration_s) = duration_s.filter(|seconds| is_scheduled && *seconds > 0.0) else {
            continue;
        };
        for (_, scope) in sight.samplers(group) {
            let timers = scope.iter().copied();
            let delays: Vec<(&Element, f64)> = timers
                .filter(|timer| CONSTANT_DELAYS.contains(&timer.class.as_str()))
                .filter_map(|timer| {
                    let delay_ms = sight.number(&timer.props, constant_timer::DELAY.name)?;
                    Some((timer, delay_ms.max(0.0) / 1000.0))
                })
                .collect();
            let total_s: f64 = delays.iter().map(|(_, delay_s)| delay_s).sum();
            if total_s <= duration_s {
                continue;
            }
            let told = format!(
                "{total_s} s before a sampler, and '{}' runs {duration_s} s",
                group.name
            );
            let longest = delays.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            outlasting.extend(longest.map(|(timer, _)| AdvisedElement::with(timer, told)));
        }
    }
    outlasting
}

const CONTINUE_FOREVER: &str = loop_controller::CONTINUE_FOREVER.name;
const LOOPS: &str = loop_controller::LOOPS.name;
const THREAD_GROUPS: &[&str] = &[
    thread_group::CLASS,
    setup_thread_group::CLASS,
    teardown_thread_group::CLASS,
];

fn endless<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found: Vec<AdvisedElement> = sight
        .of(THREAD_GROUPS)
        .filter(|group| !limited(group))
        .filter_map(|group| Some(AdvisedElement::with(group, goes_on(group, sight)?).about(LOOPS)))
        .collect();
    if sight.all.iter().any(|element| may_end_run(element)) {
        found.clear();
    }
    found
}

fn limited(group: &Element) -> bool {
    let on_error = group.props.str(group::ON_SAMPLE_ERROR.name);
    group.props.bool(group::SCHEDULER.name, false) || on_error.starts_with("stop")
}

/// Why a thread group never ends; empty if its setting is plainly forever, `None` if it does end.
fn goes_on(group: &Element, sight: &AdvisedPlan) -> Option<String> {
    if begins_anew(group) {
        let anew = "its loops start again: LoopController.continue_forever is not false";
        return Some(anew.to_owned());
    }
    let loops = loops(group, sight);
    if loops.is_some_and(|loops| loops < 0.0) {
        return Some(String::new());
    }
    // A group with 0 loops runs nothing.
    loops.filter(|loops| *loops > 0.0)?;
    let inner = endless_below(group, sight)?;
    Some(format!("'{}' in it never ends", inner.name))
}

/// A controller that each user reaches and never leaves.
fn endless_below<'p>(element: &'p Element, sight: &AdvisedPlan) -> Option<&'p Element> {
    let mut inside = element.children.iter();
    inside.find_map(|child| match is_endless(child, sight) {
        true => Some(child),
        false if enters_each_time(child) => endless_below(child, sight),
        false => None,
    })
}

fn done_loops<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found = Vec::new();
    for group in sight.of(THREAD_GROUPS) {
        let again = begins_anew(group) || comes_again(loops(group, sight));
        done_below(group, again, sight, &mut found);
    }
    found
}

/// Finds Loop Controllers below an element that are done after its first iteration, if the element runs again (`again`).
fn done_below<'p>(
    element: &'p Element,
    again: bool,
    sight: &AdvisedPlan,
    found: &mut Vec<AdvisedElement<'p>>,
) {
    for child in element.children.iter().filter(|child| is_controller(child)) {
        let loops = match child.class.as_str() {
            loop_controller::CLASS => sight.number(&child.props, LOOPS),
            _ => None,
        };
        // An endless loop is never left, and a loop of 0 iterations never runs.
        let ends = loops.is_some_and(|loops| loops > 0.0);
        if again && ends && !child.props.bool(CONTINUE_FOREVER, true) {
            found.push(AdvisedElement::new(child).about(LOOPS));
        }
        done_below(child, again || comes_again(loops), sight, found);
    }
}

/// Whether a number of loops is known and allows more than one iteration.
fn comes_again(loops: Option<f64>) -> bool {
    loops.is_some_and(|loops| !(0.0..=1.0).contains(&loops))
}

/// Whether a thread group's loop starts again after its last iteration (`LoopController#nextIsNull`): `continue_forever` is
/// true, as it also is by default where a plan that JMeter's window did not write lacks the property.
fn begins_anew(group: &Element) -> bool {
    let main = group.props.element(group::MAIN_LOOP.name);
    main.is_some_and(|main| main.props.bool(CONTINUE_FOREVER, true))
}

/// The loops of a thread group's own controller; -1 is forever.
fn loops(group: &Element, sight: &AdvisedPlan) -> Option<f64> {
    let main = group.props.element(group::MAIN_LOOP.name)?;
    sight.number(&main.props, LOOPS)
}

/// Whether an element may end users or the run.
fn may_end_run(element: &Element) -> bool {
    let facts = drumfire_elements::of_class(&element.class);
    facts.is_some_and(|facts| facts.ends_run.may_hold(&element.props))
        || script(element).is_some_and(|script| {
            let ends = [
                "stopTest",
                "stopThread",
                "setStopTest",
                "setStopThread",
                "stopTestNow",
                "setStopTestNow",
                "stopEngine",
                "askThreadsToStop",
                "stopThreadNow",
            ];
            script.is_file || ends.iter().any(|word| has_word(&script.text, word))
        })
}

fn connection_per_request<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    if !sight.property("httpclient.reset_state_on_thread_group_iteration", true) {
        return Vec::new();
    }
    sight
        .groups
        .iter()
        .filter(|group| {
            group.props.has(group::SAME_USER.name)
                && !group.props.bool(group::SAME_USER.name, true)
                && loops(group, sight).is_none_or(|loops| !(0.0..=1.0).contains(&loops))
        })
        .filter(|group| {
            let samplers = sight.samplers(group);
            let mut requests = samplers
                .iter()
                .filter(|(sampler, _)| sampler.class.starts_with("HTTPSampler"));
            let is_single = matches!((requests.next(), requests.next()), (Some((one, _)), None)
                if !one.props.bool(http::EMBEDDED_RESOURCES.name, false)
                    && one.props.bool(http::USE_KEEPALIVE.name, false));
            is_single && !any_below(group, &repeats)
        })
        .map(|group| AdvisedElement::new(group))
        .collect()
}

/// A controller may run its children several times, or not at all.
fn repeats(element: &Element) -> bool {
    is_controller(element)
        && !matches!(
            element.class.as_str(),
            simple_controller::CLASS | transaction_controller::CLASS
        )
}

/// Requests that switch keep-alive off. A setting that only the run can evaluate is not reported.
fn without_keep_alive<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(&[http_request::CLASS, http_defaults::CLASS])
        .filter(|element| element.props.has(http::USE_KEEPALIVE.name))
        .filter(|element| !element.props.bool(http::USE_KEEPALIVE.name, true))
        .filter(|element| !element.props.str(http::USE_KEEPALIVE.name).contains("${"))
        .map(|element| AdvisedElement::new(element).about(http::USE_KEEPALIVE.name))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, group, group_with, http, rules, rules_with};

    #[test]
    fn high_rates_are_rounded() {
        let timer = |per_minute: &str, mode: &str| {
            let props = [("throughput", per_minute), ("calcMode", mode)];
            rules(&group(&element("ConstantThroughputTimer", "t", &props, ""))).join("")
        };
        assert_eq!(
            timer("40000", "3"),
            "throughput-rounded: t (40000 a minute becomes 30000)"
        );
        assert_eq!(
            timer("150000", "0"),
            "throughput-rounded: t (150000 a minute is no limit at all)"
        );
        assert_eq!(timer("600", "3"), "");
        assert_eq!(timer("40000", "1"), "", "the users' number decides");
        assert_eq!(timer("${rate}", "3"), "variable-never-set: t (${rate})");
    }

    #[test]
    fn timers_that_outlast_the_duration_of_their_group() {
        let timer = |class: &str, name: &str, ms: &str| {
            element(class, name, &[("ConstantTimer.delay", ms)], "")
        };
        let of = |duration: &str, timers: &[String]| {
            let props = [
                ("ThreadGroup.scheduler", "true"),
                ("ThreadGroup.duration", duration),
            ];
            let inside = http(&[], &timers.concat()) + &http(&[], "");
            rules(&group_with("-1", &props, &inside)).join("")
        };
        let long = timer("ConstantTimer", "think", "60000");
        assert_eq!(
            of("2", std::slice::from_ref(&long)),
            "timer-outlasts-duration: think (60 s before a sampler, and 'users' runs 2 s)"
        );
        assert_eq!(of("60", std::slice::from_ref(&long)), "");
        let both = [
            timer("ConstantTimer", "think", "1500"),
            timer("UniformRandomTimer", "vary", "1000"),
        ];
        assert_eq!(
            of("2", &both),
            "timer-outlasts-duration: think (2.5 s before a sampler, and 'users' runs 2 s)"
        );
        assert_eq!(of("2", &both[..1]), "");
        assert_eq!(rules(&group(&http(&[], &long))).join(""), "");
    }

    #[test]
    fn a_run_without_end() {
        let of =
            |props: &[(&str, &str)], inside: &str| rules(&group_with("-1", props, inside)).join("");
        assert_eq!(of(&[], ""), "endless-run: users");
        assert_eq!(
            of(
                &[
                    ("ThreadGroup.scheduler", "true"),
                    ("ThreadGroup.duration", "5")
                ],
                ""
            ),
            ""
        );
        let anew = group_with("3", &[], "").replace(">false</boolProp>", ">true</boolProp>");
        assert_eq!(
            rules(&anew).join(""),
            "endless-run: users (its loops start again: LoopController.continue_forever is not false)"
        );
        let around = |below: &str| element("TransactionController", "t", &[], below);
        let turns = |times: &str| {
            let props = [("LoopController.loops", times)];
            element("LoopController", "turns", &props, &http(&[], ""))
        };
        let in_group = |loops: &str, inside: &str| rules(&group_with(loops, &[], inside)).join("");
        assert_eq!(
            in_group("1", &around(&turns("-1"))),
            "endless-run: users ('turns' in it never ends)"
        );
        assert_eq!(in_group("1", &around(&turns("2"))), "");
        assert_eq!(in_group("0", &turns("-1")), "");
        let maybe = element(
            "IfController",
            "if",
            &[("IfController.condition", "${x}")],
            &turns("-1"),
        );
        assert!(!in_group("1", &maybe).contains("endless-run"));
        assert_eq!(rules(&group_with("3", &[], "")).join(""), "");
        let stop = element("TestAction", "stop", &[("ActionProcessor.action", "2")], "");
        assert_eq!(of(&[], &stop), "");
        for (class, props) in [
            (
                "kg.apc.jmeter.config.redis.RedisDataSet",
                [("redisKey", "users")],
            ),
            (
                "com.blazemeter.jmeter.RandomCSVDataSetConfig",
                [("rewindOnTheEndOfList", "false")],
            ),
            ("kg.apc.jmeter.reporters.AutoStop", [("error_rate", "50")]),
        ] {
            assert_eq!(of(&[], &element(class, "ends", &props, "")), "", "{class}");
        }
        let rewinds = [("rewindOnTheEndOfList", "true"), ("variableNames", "a")];
        let random = element(
            "com.blazemeter.jmeter.RandomCSVDataSetConfig",
            "r",
            &rewinds,
            "",
        );
        assert_eq!(of(&[], &random), "endless-run: users");
        let computed = [("OnError.action", "${__P(action,1)}")];
        assert_eq!(of(&[], &element("ResultAction", "r", &computed, "")), "");
        let goes_on = [("OnError.action", "0")];
        assert_eq!(
            of(&[], &element("ResultAction", "r", &goes_on, "")),
            "endless-run: users"
        );
        assert_eq!(of(&[("ThreadGroup.on_sample_error", "stoptest")], ""), "");
    }

    #[test]
    fn loops_that_are_done_after_the_first_iteration() {
        let turns = |times: &str, forever: Option<&str>| {
            let mut props = vec![("LoopController.loops", times)];
            props.extend(forever.map(|forever| ("LoopController.continue_forever", forever)));
            element("LoopController", "turns", &props, &http(&[], ""))
        };
        let of = |loops: &str, inside: &str| rules(&group_with(loops, &[], inside)).join("");
        let named = "loop-first-iteration-only: turns";
        assert_eq!(of("2", &turns("3", Some("false"))), named);
        for forever in [None, Some("true")] {
            assert_eq!(
                of("2", &turns("3", forever)),
                "",
                "as JMeter's window saves it"
            );
        }
        assert_eq!(
            of("1", &turns("3", Some("false"))),
            "",
            "there is no second iteration"
        );
        assert_eq!(of("${__P(n)}", &turns("3", Some("false"))), "", "not known");
        let outer = |times: &str| {
            let props = [("LoopController.loops", times)];
            element(
                "LoopController",
                "outer",
                &props,
                &turns("3", Some("false")),
            )
        };
        assert_eq!(of("1", &outer("2")), named);
        assert_eq!(of("1", &outer("1")), "");
    }

    #[test]
    fn one_request_of_a_new_user_is_one_connection() {
        let new_user = [("ThreadGroup.same_user_on_next_iteration", "false")];
        let keep = || http(&[("HTTPSampler.use_keepalive", "true")], "");
        let of = |properties: &[(&str, &str)], inside: &str| {
            rules_with(properties, &group_with("9", &new_user, inside)).join("")
        };
        assert_eq!(of(&[], &keep()), "connection-per-request: users");
        assert_eq!(of(&[], &[keep(), keep()].concat()), "");
        let kept = [("httpclient.reset_state_on_thread_group_iteration", "false")];
        assert_eq!(of(&kept, &keep()), "");
        let looping = element(
            "LoopController",
            "l",
            &[("LoopController.loops", "5")],
            &keep(),
        );
        assert_eq!(of(&[], &looping), "");
        assert_eq!(rules(&group_with("9", &[], &keep())), [""; 0]);
    }

    #[test]
    fn keep_alive_switched_off() {
        let of = |value| rules(&group(&http(&[("HTTPSampler.use_keepalive", value)], ""))).join("");
        assert_eq!(of("false"), "keep-alive-off: request");
        assert_eq!(of("true"), "");
        assert_eq!(of("${__P(keep,true)}"), "");
    }
}
