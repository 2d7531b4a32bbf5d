//! `drumfire plan`: shows the plan as it will be run, without sending anything.

pub mod arguments;

use std::fmt::Write as _;

use drumfire_platform::secrets;

use crate::console::Console;
use crate::engine::{
    Engine, GroupView, LevelStretch, LevelUnit, PlanView, Share, SplitView, TreeRow, UserWindow,
};
use crate::exit_codes::Exit;
use crate::plan::arguments::PlanArguments;
use crate::refusal::Refusal;
use crate::settings::plan_file::existing_plan;
use crate::settings::settings;
use crate::terminal::format::count;
use crate::terminal::style::Style;

/// The most users of a group to list one by one. Of a larger group, only the first and the last are
/// listed.
const MAX_USERS: usize = 12;

/// Prints the plan's tree, the properties that it reads and its load.
pub fn plan(
    options: &PlanArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let plan = existing_plan(&options.plan)?;
    let settings = settings(&options.properties, &[], Some(&plan), console)?;
    let (program, warnings) = engine
        .draft(&plan, &settings)
        .map_err(|faults| console.refusal_of(&faults))?;
    let rendered = console.render(&warnings);
    console.print_error(&rendered);
    let absent = engine.absent_classes(&plan, &settings);
    for class in absent.map_err(|faults| console.refusal_of(&faults))? {
        console.warn(&format!("`{class}`: {}", drumfire_engine::absent(&class)));
    }
    let mut view = program.describe();
    for property in &mut view.properties {
        property.value = secrets::shown(&property.name, &property.value).into_owned();
    }
    for target in &mut view.demand.targets {
        *target = secrets::shown("target", target).into_owned();
    }
    let split = options
        .agents
        .map(|agents| program.split(&Share::of_weights(&vec![1; agents as usize], 0)));
    let text = if options.json {
        let mut value =
            serde_json::to_value(&view).map_err(|error| Refusal::run_failed(error.to_string()))?;
        if let Some(split) = &split {
            let split = serde_json::to_value(split);
            value["split"] = split.map_err(|error| Refusal::run_failed(error.to_string()))?;
        }
        format!("{value:#}\n")
    } else {
        let divided = split.map(|split| divided(&split, console.style));
        text(&view, console.style) + &divided.unwrap_or_default()
    };
    console.print(&text);
    Ok(Exit::Ok)
}

fn text(view: &PlanView, style: Style) -> String {
    let mut text = String::new();
    for row in &view.tree {
        tree_row(&mut text, row, style);
    }
    if !view.properties.is_empty() {
        let _ = writeln!(text, "\n{}", style.bold("properties"));
        for property in &view.properties {
            let note = if property.is_set {
                String::new()
            } else {
                style.dim("  (default)")
            };
            let _ = writeln!(text, "  {} = {}{note}", property.name, property.value);
        }
    }
    let _ = writeln!(text, "\n{}", style.bold("load"));
    for group in &view.groups {
        shape(&mut text, group);
    }
    text
}

/// How the machines divide the plan.
fn divided(split: &SplitView, style: Style) -> String {
    let mut text = format!("\n{}\n", style.bold("agents"));
    for group in &split.groups {
        let parts: Vec<String> = group.parts.iter().map(|part| count(*part as u64)).collect();
        let (shown, rest) = parts.split_at(parts.len().min(MAX_USERS));
        let more = if rest.is_empty() { "" } else { ", …" };
        let _ = writeln!(
            text,
            "  {}: {}{more} {}",
            group.name,
            shown.join(", "),
            group.unit
        );
    }
    for element in &split.elements {
        let note = if element.differs {
            style.red("differs: ")
        } else {
            String::new()
        };
        let _ = writeln!(text, "  {}: {note}{}", element.name, element.rule);
    }
    text
}

fn tree_row(text: &mut String, row: &TreeRow, style: Style) {
    let line = format!(
        "{}{}  {}",
        "  ".repeat(row.depth),
        row.name,
        style.dim(&row.class)
    );
    let _ = if row.enabled {
        writeln!(text, "{line}")
    } else {
        writeln!(text, "{line}  (disabled)")
    };
}

fn shape(text: &mut String, group: &GroupView) {
    let iterations = match group.iterations {
        Some(1) => "one iteration each".to_owned(),
        Some(number) => format!("{} iterations each", count(number)),
        None if group.users.iter().all(|user| user.stop_ms.is_some()) => {
            "iterations until the time is over".to_owned()
        }
        None => "iterations until the run is stopped".to_owned(),
    };
    if let Some(fault) = &group.fault {
        let _ = writeln!(text, "  {}: does not start: {fault}", group.name);
        known_at_start(text, group);
        return;
    }
    if !group.load.is_empty() {
        let _ = writeln!(text, "  {}:", group.name);
        known_at_start(text, group);
        group.load.iter().for_each(|part| stretch(text, part));
        return;
    }
    if let Some(users) = group.by_java {
        let _ = writeln!(
            text,
            "  {}: its Java class starts the users, {} by the settings",
            group.name,
            count(users.into())
        );
        known_at_start(text, group);
        return;
    }
    let users = group.users.len();
    let noun = if users == 1 { "user" } else { "users" };
    let _ = writeln!(
        text,
        "  {}: {} {noun}, {iterations}",
        group.name,
        count(users as u64)
    );
    known_at_start(text, group);
    let is_endless = group.iterations.is_none();
    let listed = if users <= MAX_USERS {
        users
    } else {
        MAX_USERS - 2
    };
    for (index, window) in group.users.iter().take(listed).enumerate() {
        user(text, index, *window, is_endless);
    }
    if let (true, Some(last)) = (users > listed, group.users.last()) {
        let _ = writeln!(text, "    …");
        user(text, users - 1, *last, is_endless);
    }
}

/// Lists settings that earlier groups may still change, so their values here are not final.
fn known_at_start(text: &mut String, group: &GroupView) {
    for (name, value) in &group.known_at_start {
        let _ = writeln!(
            text,
            "    known only when the group starts: {name} = {value}"
        );
    }
}

/// Describes a stretch of a load whose number of users is not known beforehand.
fn stretch(text: &mut String, part: &LevelStretch) {
    let levels = if part.from == part.to {
        level(part.from)
    } else {
        format!("{} to {}", level(part.from), level(part.to))
    };
    let unit = match part.unit {
        LevelUnit::Users => "users",
        LevelUnit::ArrivalsPerSecond => "arrivals per second",
        LevelUnit::RandomArrivalsPerSecond => "arrivals per second, at random",
    };
    let _ = writeln!(
        text,
        "    {} to {}: {levels} {unit}",
        seconds(part.start_ms),
        seconds(part.end_ms)
    );
}

fn level(level: f64) -> String {
    let rounded = format!("{level:.3}");
    rounded
        .trim_end_matches('0')
        .trim_end_matches('.')
        .to_owned()
}

fn user(text: &mut String, index: usize, window: UserWindow, is_endless: bool) {
    let stop = match window.stop_ms {
        Some(ms) => format!("stops at {}", seconds(ms)),
        None if is_endless => "stops when the run is stopped".to_owned(),
        None => "stops after its iterations".to_owned(),
    };
    let _ = writeln!(
        text,
        "    user {} starts at {}, {stop}",
        index + 1,
        seconds(window.start_ms)
    );
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03} s", ms / 1000, ms % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{MachineDemand, PropertyRow};

    fn group(users: u64) -> GroupView {
        GroupView {
            name: "Shoppers".to_owned(),
            class: "ThreadGroup",
            iterations: None,
            fault: None,
            known_at_start: Vec::new(),
            by_java: None,
            users: (0..users)
                .map(|user| UserWindow {
                    start_ms: user * 500,
                    stop_ms: Some(10_000),
                })
                .collect(),
            load: Vec::new(),
        }
    }

    #[test]
    fn tree_properties_and_load() {
        let row = |depth, class: &str, name: &str, enabled| TreeRow {
            depth,
            class: class.to_owned(),
            name: name.to_owned(),
            enabled,
        };
        let view = PlanView {
            tree: vec![
                row(0, "TestPlan", "Shop", true),
                row(1, "ThreadGroup", "Shoppers", true),
                row(2, "HTTPSamplerProxy", "Home", false),
            ],
            properties: vec![
                PropertyRow {
                    name: "users".to_owned(),
                    value: "2".to_owned(),
                    is_set: true,
                },
                PropertyRow {
                    name: "host".to_owned(),
                    value: "localhost".to_owned(),
                    is_set: false,
                },
            ],
            groups: vec![group(2)],
            demand: MachineDemand::default(),
        };
        let expected = "\
Shop  TestPlan
  Shoppers  ThreadGroup
    Home  HTTPSamplerProxy  (disabled)

properties
  users = 2
  host = localhost  (default)

load
  Shoppers: 2 users, iterations until the time is over
    user 1 starts at 0.000 s, stops at 10.000 s
    user 2 starts at 0.500 s, stops at 10.000 s
";
        assert_eq!(text(&view, Style::PLAIN), expected);
    }

    #[test]
    fn settings_that_other_groups_may_change_are_told() {
        let mut text = String::new();
        let users = ("ThreadGroup.num_threads", "${__P(users,1)}");
        shape(
            &mut text,
            &GroupView {
                known_at_start: vec![(users.0.to_owned(), users.1.to_owned())],
                ..group(1)
            },
        );
        let line =
            "    known only when the group starts: ThreadGroup.num_threads = ${__P(users,1)}\n";
        assert!(text.contains(line), "{text}");
    }

    #[test]
    fn a_load_without_known_users_is_told_by_its_levels() {
        let part = |start_ms, from, to, unit| LevelStretch {
            start_ms,
            end_ms: start_ms + 1_500,
            from,
            to,
            unit,
        };
        let mut text = String::new();
        let load = vec![
            part(0, 0.0, 2.5, LevelUnit::RandomArrivalsPerSecond),
            part(1_500, 10.0, 10.0, LevelUnit::Users),
        ];
        shape(
            &mut text,
            &GroupView {
                load,
                users: Vec::new(),
                ..group(0)
            },
        );
        let expected = "  Shoppers:
    0.000 s to 1.500 s: 0 to 2.5 arrivals per second, at random
    1.500 s to 3.000 s: 10 users
";
        assert_eq!(text, expected);
    }

    #[test]
    fn of_a_large_group_the_ends_are_listed() {
        let mut text = String::new();
        shape(&mut text, &group(10_000));
        assert_eq!(text.lines().count(), 13);
        assert!(text.starts_with("  Shoppers: 10,000 users,"), "{text}");
        assert!(
            text.ends_with("    …\n    user 10000 starts at 4999.500 s, stops at 10.000 s\n"),
            "{text}"
        );
    }
}
