//! Numbers that a plan needs before the start: users, loops, ramp-up, duration.

use drumfire_elements::controllers::loop_controller;
use drumfire_elements::shared::group;
use drumfire_java::values;
use drumfire_jmx::{Diagnostic, Props};

use super::is_as_jmeter;
use super::provenance::Definitions;
use crate::elements::is_thread_group;
use crate::inspect::advice::AdvisedPlan;
use crate::resolve::Element;
use crate::run::program::Group;
use crate::run::settings::RunSettings;

/// The property that asks for JMeter's value where a text is not a number.
pub(super) const PROPERTY: &str = "drumfire.bad_numbers";
/// The property that bounds the users of all thread groups together.
const MAX_USERS: &str = "drumfire.max_users";
/// No realistic plan has more users on one machine.
const DEFAULT_MAX_USERS: u64 = 2_000_000;

/// A number of a thread group or a loop: its property, its name in messages, its least value, and whether it must be whole.
struct Number {
    property: &'static str,
    noun: &'static str,
    least: i64,
    is_whole: bool,
}

const fn whole(property: &'static str, noun: &'static str, least: i64) -> Number {
    Number {
        property,
        noun,
        least,
        is_whole: true,
    }
}

const fn real(property: &'static str, noun: &'static str) -> Number {
    Number {
        property,
        noun,
        least: 0,
        is_whole: false,
    }
}

const OF_GROUPS: [Number; 2] = [
    whole(group::USERS.name, "number of users", 0),
    whole(group::RAMP_TIME.name, "ramp-up", 0),
];
const OF_SCHEDULERS: [Number; 2] = [
    whole(group::DELAY.name, "delay", 0),
    whole(group::DURATION.name, "duration", 0),
];
const OF_LOOPS: [Number; 1] = [whole(loop_controller::LOOPS.name, "number of loops", -1)];
const OF_LEVELS: [Number; 5] = [
    real(group::TARGET_LEVEL.name, "target"),
    real(group::LEVEL_RAMP_UP.name, "ramp-up"),
    real(group::HOLD.name, "hold time"),
    whole(group::STEPS.name, "number of steps", 0),
    whole(group::ITERATIONS.name, "number of iterations", 0),
];

/// Reports values that are not numbers: an error if they come from the command line, else a warning.
pub fn bad(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    let mut judge = Judge {
        settings: sight.settings,
        definitions,
        findings: Vec::new(),
    };
    for element in &sight.all {
        if is_thread_group(element) {
            judge.group(element);
        } else if element.class == loop_controller::CLASS {
            judge.all(element, &element.props, &OF_LOOPS);
        }
    }
    judge.findings
}

struct Judge<'s> {
    settings: &'s RunSettings,
    definitions: &'s mut Definitions,
    findings: Vec<Diagnostic>,
}

impl Judge<'_> {
    fn group(&mut self, group: &Element) {
        let facts = drumfire_elements::of_class(&group.class);
        let level = group::ITERATIONS.name;
        if facts.is_some_and(|facts| facts.property(level, level).is_some()) {
            self.all(group, &group.props, &OF_LEVELS);
            return;
        }
        self.all(group, &group.props, &OF_GROUPS);
        if group.props.bool(group::SCHEDULER.name, false) {
            self.all(group, &group.props, &OF_SCHEDULERS);
        }
        if let Some(main) = group.props.element(group::MAIN_LOOP.name) {
            self.all(group, &main.props, &OF_LOOPS);
        }
    }

    fn all(&mut self, element: &Element, props: &Props, numbers: &[Number]) {
        for number in numbers {
            let text = props.str(number.property);
            let finding = self.judge(element, number, &text);
            self.findings.extend(finding);
        }
    }

    fn judge(&mut self, element: &Element, number: &Number, text: &str) -> Option<Diagnostic> {
        let (value, origin) = self.definitions.value(text)?;
        // JMeter silently takes its default for an empty value.
        if value.is_empty() || self.is_sound(number, &value) {
            return None;
        }
        let is_given = |name: &&String| self.settings.given.contains(name);
        let given = origin.properties.iter().find(is_given);
        let kind = if number.is_whole { "whole " } else { "" };
        match given {
            Some(name) if !is_number(number, &value) && !is_as_jmeter(self.settings, PROPERTY) => {
                let message = format!(
                    "the property `{name}` makes the {} of '{}' `{value}`, which is not a {kind}number",
                    number.noun, element.name
                );
                let finding = element.error("bad-number", message).about(number.property);
                Some(finding.help(format!(
                    "give a number, as in -J{name}=10, or take JMeter's value with -J{PROPERTY}=jmeter"
                )))
            }
            _ => {
                let why = if is_number(number, &value) {
                    "is below the minimum".to_owned()
                } else {
                    format!("is not a {kind}number")
                };
                let message = format!(
                    "the {} of '{}' is `{value}`, which {why}; JMeter reads it as {}",
                    number.noun,
                    element.name,
                    as_jmeter_reads(number, &value)
                );
                let finding = element
                    .warning("bad-number", message)
                    .about(number.property);
                // `__property` gives the name of a property that is not set.
                let unset = origin.properties.iter().find(|name| **name == value);
                Some(finding.help(match unset {
                    Some(name) => format!("set the property, as in -J{name}=10"),
                    None => format!("write a number into {}", number.property),
                }))
            }
        }
    }

    fn is_sound(&self, number: &Number, value: &str) -> bool {
        is_number(number, value)
            && values::parse_double(value).is_none_or(|value| value >= number.least as f64)
    }
}

fn is_number(number: &Number, value: &str) -> bool {
    if number.is_whole {
        values::parse_long(value).is_some()
    } else {
        values::parse_double(value).is_some()
    }
}

fn as_jmeter_reads(number: &Number, value: &str) -> String {
    if number.is_whole {
        values::property_long(value).to_string()
    } else {
        values::property_double(value).to_string()
    }
}

/// Refuses more users than memory holds, before memory is taken.
pub fn too_many_users(settings: &RunSettings, groups: &[Group]) -> Option<Diagnostic> {
    let users: u64 = groups
        .iter()
        .map(|group| u64::from(group.shape.users()))
        .sum();
    let limit = settings.properties.get_long(MAX_USERS, 0);
    let limit = u64::try_from(limit)
        .ok()
        .filter(|limit| *limit > 0)
        .unwrap_or(DEFAULT_MAX_USERS);
    (users > limit).then(|| {
        let message = format!("the plan has {users} users, more than the limit of {limit}");
        let help =
            format!("lower the number of users, or raise the limit with -J{MAX_USERS}={users}");
        Diagnostic::error("too-many-users", message).help(help)
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{codes, findings, group};

    const SAMPLE: &str =
        r#"<DebugSampler guiclass="g" testclass="DebugSampler" testname="s"/><hashTree/>"#;

    fn found(users: &str, loops: &str, given: &[(&str, &str)]) -> Vec<drumfire_jmx::Diagnostic> {
        findings(&group(users, loops, SAMPLE), given, Path::new(""))
    }

    #[test]
    fn a_property_that_is_not_set_is_named() {
        let found = found("${__property(people)}", "1", &[]);
        assert_eq!(codes(&found), ["bad-number"]);
        let help = found[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("-Jpeople=10"), "{help}");
    }

    #[test]
    fn a_bad_number_from_the_command_line_is_refused() {
        let given = [("users", "abc")];
        let refused = found("${__P(users,1)}", "1", &given);
        assert_eq!(codes(&refused), ["bad-number"]);
        assert!(refused[0].is_error());
        for word in ["`users`", "'G'", "`abc`", "number of users"] {
            assert!(refused[0].message.contains(word), "{}", refused[0].message);
        }
        let as_jmeter = [("users", "abc"), ("drumfire.bad_numbers", "jmeter")];
        let told = found("${__P(users,1)}", "1", &as_jmeter);
        assert_eq!(codes(&told), ["bad-number"]);
        assert!(!told[0].is_error());
        assert_eq!(
            codes(&found("1", "${__P(loops)}", &[("loops", "1.5")])),
            ["bad-number"]
        );
    }

    #[test]
    fn the_plans_own_bad_number_is_told_and_an_empty_one_is_not() {
        for (users, loops) in [("abc", "1"), ("-3", "1"), ("1", "x"), ("1", "-2")] {
            let told = found(users, loops, &[]);
            assert_eq!(codes(&told), ["bad-number"], "{users} {loops}");
            assert!(!told[0].is_error());
        }
        for (users, loops) in [
            ("", ""),
            ("${__P(users)}", "1"),
            ("${csv}", "1"),
            ("5", "-1"),
        ] {
            let told = found(users, loops, &[("users", "7")]);
            assert!(!codes(&told).contains(&"bad-number"), "{users} {loops}");
        }
        // A negative number is only a warning, wherever it comes from.
        let negative = found("${__P(users)}", "1", &[("users", "-5")]);
        assert!(!negative[0].is_error());
    }

    #[test]
    fn more_users_than_memory_holds_are_refused() {
        let refused = found("2000000000", "1", &[]);
        assert_eq!(codes(&refused), ["too-many-users"]);
        assert!(refused[0].is_error());
        assert_eq!(
            codes(&found("11", "1", &[("drumfire.max_users", "10")])),
            ["too-many-users"]
        );
    }
}
