//! Parts of the plan that no user ever reaches.

use drumfire_elements::controllers::{
    critical_section_controller, foreach_controller, if_controller, include_controller,
    loop_controller, module_controller, once_only_controller, recording_controller,
    runtime_controller, simple_controller, test_fragment, throughput_controller,
    transaction_controller, while_controller,
};

use super::references::has_word;
use super::sight::{AdvisedPlan, any_below, is_controller, is_sampler, script};
use super::{AdvisedElement, Effect, Rule};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "after-endless-loop",
        effect: Effect::Misleads,
        finding: "samplers and controllers after one that never ends",
        reason: "the loop before them goes on until the thread group ends, so no user ever sends anything after it",
        remedy: "give the loop a number or a Runtime Controller, or move what comes after it",
        find: after_endless,
    },
    Rule {
        name: "never-entered",
        effect: Effect::Misleads,
        finding: "controllers that no user enters",
        reason: "their setting keeps all users out, so no user ever sends anything in them",
        remedy: "correct the setting, or disable the controller, which has the same effect",
        find: never_entered,
    },
    Rule {
        name: "module-with-nothing",
        effect: Effect::Misleads,
        finding: "Module and Include Controllers that bring in no sampler",
        reason: "everything that they point to is disabled or empty, so users send nothing in their place",
        remedy: "enable the elements that they point to, or disable the controllers themselves",
        find: empty_modules,
    },
];

/// Controllers that run their children one after the other.
const IN_ORDER: &[&str] = &[
    simple_controller::CLASS,
    transaction_controller::CLASS,
    loop_controller::CLASS,
    while_controller::CLASS,
    if_controller::CLASS,
    once_only_controller::CLASS,
    runtime_controller::CLASS,
    critical_section_controller::CLASS,
    throughput_controller::CLASS,
    foreach_controller::CLASS,
    module_controller::CLASS,
    include_controller::CLASS,
    test_fragment::CLASS,
    recording_controller::CLASS,
];

fn after_endless<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found = Vec::new();
    for parent in &sight.all {
        let is_group = crate::elements::is_thread_group(parent);
        if !is_group && !IN_ORDER.contains(&parent.class.as_str()) {
            continue;
        }
        let mut members = parent.children.iter().filter(runs);
        let Some(endless) = members.find(|child| is_endless(child, sight)) else {
            continue;
        };
        let after = members.filter(|member| any_below(member, &is_sampler));
        found.extend(
            after.map(|member| AdvisedElement::with(member, format!("after '{}'", endless.name))),
        );
    }
    found
}

fn runs(child: &&Element) -> bool {
    is_sampler(child) || is_controller(child)
}

/// Whether a controller sends samples forever once a user has reached it.
pub fn is_endless(element: &Element, sight: &AdvisedPlan) -> bool {
    let is_forever = match element.class.as_str() {
        loop_controller::CLASS => sight
            .number(&element.props, loop_controller::LOOPS.name)
            .is_some_and(|loops| loops < 0.0),
        while_controller::CLASS => {
            let condition = sight.known(&element.props, while_controller::CONDITION.name);
            condition.is_some_and(|condition| condition.trim().eq_ignore_ascii_case("true"))
        }
        _ => false,
    };
    is_forever && sends_each_time(element) && !any_below(element, &breaks)
}

/// Whether a sampler is certain to run in each iteration. A loop that finds nothing to run ends, even an endless one.
fn sends_each_time(element: &Element) -> bool {
    let mut children = element.children.iter();
    children.any(|child| is_sampler(child) || enters_each_time(child) && sends_each_time(child))
}

/// Whether a controller runs all that is in it, one after the other, in each iteration.
pub fn enters_each_time(element: &Element) -> bool {
    const PLAIN: &[&str] = &[
        simple_controller::CLASS,
        transaction_controller::CLASS,
        critical_section_controller::CLASS,
    ];
    PLAIN.contains(&element.class.as_str())
}

/// Whether an element may end the loop around it.
fn breaks(element: &Element) -> bool {
    let facts = drumfire_elements::of_class(&element.class);
    facts.is_some_and(|facts| facts.breaks_loop.may_hold(&element.props))
        || script(element).is_some_and(|script| {
            script.is_file
                || script.text.contains("BREAK")
                || has_word(&script.text, "setTestLogicalAction")
        })
}

fn never_entered<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .all
        .iter()
        .filter(|element| any_below(element, &|below| is_sampler(below)))
        .filter_map(|element| {
            let (property, told) = shut(element, sight)?;
            Some(AdvisedElement::with(element, told).about(property))
        })
        .collect()
}

/// The property that keeps all users out of a controller, and how.
fn shut(element: &Element, sight: &AdvisedPlan) -> Option<(&'static str, String)> {
    let number = |name: &str| sight.number(&element.props, name);
    match element.class.as_str() {
        if_controller::CLASS => {
            let name = if_controller::CONDITION.name;
            let written = element.props.str(name);
            is_false(&written).then(|| (name, format!("its condition is {}", written.trim())))
        }
        loop_controller::CLASS => {
            let name = loop_controller::LOOPS.name;
            (number(name)? == 0.0).then(|| (name, "0 loops".to_owned()))
        }
        throughput_controller::CLASS => {
            if element.props.int(throughput_controller::STYLE.name, 0) == 1 {
                let percent = percent(element, sight)?;
                let name = throughput_controller::PERCENT.name;
                (percent <= 0.0).then(|| (name, format!("{percent} percent")))
            } else {
                let name = throughput_controller::EXECUTIONS.name;
                let most = number(name)?;
                (most <= 0.0).then(|| (name, format!("{most} executions")))
            }
        }
        runtime_controller::CLASS => {
            let name = runtime_controller::SECONDS.name;
            let seconds = number(name)?;
            (seconds <= 0.0).then(|| (name, format!("{seconds} seconds")))
        }
        _ => None,
    }
}

/// The percentage of a Throughput Controller. JMeter saves a float as an object.
fn percent(element: &Element, sight: &AdvisedPlan) -> Option<f64> {
    match element.props.value(throughput_controller::PERCENT.name)? {
        drumfire_jmx::Value::Object(saved) => saved.text_of("value")?.trim().parse().ok(),
        _ => sight.number(&element.props, throughput_controller::PERCENT.name),
    }
}

fn is_false(condition: &str) -> bool {
    let condition = condition.trim();
    let functions = ["__jexl3(", "__jexl2(", "__groovy(", "__javaScript("];
    let call = condition
        .strip_prefix("${")
        .and_then(|call| call.strip_suffix(")}"));
    let argument = call.and_then(|call| functions.iter().find_map(|name| call.strip_prefix(name)));
    let text = argument.map_or(condition, |argument| argument.trim_end_matches([',', ' ']));
    text.trim().eq_ignore_ascii_case("false")
}

fn empty_modules<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(&[module_controller::CLASS, include_controller::CLASS])
        // A controller whose target is missing is an error, which compiling the plan reports.
        .filter(|element| !element.children.is_empty() && !any_below(element, &is_sampler))
        // A fragment may bring in configuration only.
        .filter(|element| !any_below(element, &|below| !is_controller(below)))
        .map(|element| {
            let is_module = element.class == module_controller::CLASS;
            AdvisedElement::new(element).about(if is_module {
                module_controller::NODE_PATH.name
            } else {
                include_controller::FILE.name
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{element, group, http, rules};

    fn request() -> String {
        http(&[], "")
    }

    fn looping(loops: &str, inside: &str) -> String {
        element(
            "LoopController",
            "loop",
            &[("LoopController.loops", loops)],
            inside,
        )
    }

    #[test]
    fn nothing_comes_after_a_loop_that_goes_on() {
        let after = |before: String| rules(&group(&[before, request()].concat()));
        assert_eq!(
            after(looping("-1", &request())),
            [
                "endless-run: users ('loop' in it never ends)",
                "after-endless-loop: request (after 'loop')"
            ]
        );
        assert_eq!(after(looping("${__P(loops,-1)}", &request())).len(), 2);
        assert_eq!(after(looping("3", &request())), [""; 0]);
        assert_eq!(
            after(looping("${n}", &request())),
            ["variable-never-set: loop (${n})"]
        );
        let condition = [("WhileController.condition", "true")];
        assert_eq!(
            after(element("WhileController", "while", &condition, &request())).len(),
            2
        );
    }

    #[test]
    fn a_loop_that_something_may_end_is_left_alone() {
        let stops = [
            element(
                "TestAction",
                "break",
                &[("ActionProcessor.action", "5")],
                "",
            ),
            element(
                "TestAction",
                "computed",
                &[("ActionProcessor.action", "${__P(action,5)}")],
                "",
            ),
            element(
                "JSR223Sampler",
                "script",
                &[("script", "ctx.setTestLogicalAction(x)")],
                "",
            ),
        ];
        for stop in stops {
            let inside = [request(), stop].concat();
            assert_eq!(
                rules(&group(&[looping("-1", &inside), request()].concat())),
                [""; 0]
            );
        }
        // Nothing runs each time, so the loop ends.
        let once = element("OnceOnlyController", "once", &[], &request());
        assert_eq!(
            rules(&group(&[looping("-1", &once), request()].concat())),
            [""; 0]
        );
    }

    #[test]
    fn settings_that_keep_all_users_out() {
        let with = |class: &str, name: &str, value: &str| {
            rules(&group(&element(class, "c", &[(name, value)], &request()))).join("")
        };
        let condition = |text: &str| with("IfController", "IfController.condition", text);
        assert_eq!(
            condition("false"),
            "never-entered: c (its condition is false)"
        );
        assert_eq!(
            condition("${__jexl3(false,)}"),
            "never-entered: c (its condition is ${__jexl3(false,)})"
        );
        assert_eq!(condition("true"), "");
        assert_eq!(
            with("LoopController", "LoopController.loops", "0"),
            "never-entered: c (0 loops)"
        );
        assert_eq!(
            with("RunTime", "RunTime.seconds", "0"),
            "never-entered: c (0 seconds)"
        );
        assert_eq!(with("RunTime", "RunTime.seconds", "5"), "");
        let share = |percent: &str| {
            let float = format!(
                "<intProp name=\"ThroughputController.style\">1</intProp><FloatProperty><name>ThroughputController.percentThroughput</name><value>{percent}</value><savedValue>0.0</savedValue></FloatProperty></ThroughputController>"
            );
            let xml = element("ThroughputController", "c", &[], &request());
            rules(&group(&xml.replacen("</ThroughputController>", &float, 1))).join("")
        };
        assert_eq!(share("0.0"), "never-entered: c (0 percent)");
        assert_eq!(share("12.5"), "");
    }

    #[test]
    fn a_module_whose_target_is_all_disabled() {
        let module = r#"<ModuleController guiclass="G" testclass="ModuleController" testname="m"><collectionProp name="ModuleController.node_path"><stringProp name="0">x</stringProp><stringProp name="1">plan</stringProp><stringProp name="2">part</stringProp></collectionProp></ModuleController><hashTree/>"#;
        let part = |inside: &str| element("TestFragmentController", "part", &[], inside);
        let off = request().replace("testname", r#"enabled="false" testname"#);
        assert_eq!(
            rules(&[group(module), part(&off)].concat()),
            ["module-with-nothing: m"]
        );
        assert_eq!(rules(&[group(module), part(&request())].concat()), [""; 0]);
    }
}
