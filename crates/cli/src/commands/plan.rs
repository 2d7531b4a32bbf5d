//! `drumfire plan`: the plan as it will be run, without sending anything.

use std::fmt::Write as _;

use super::{existing_plan, settings};
use crate::console::Console;
use crate::engine::{Engine, GroupShape, PlanView, TreeRow, UserWindow};
use crate::exit_codes::Exit;
use crate::options::{Refusal, ViewOptions};
use crate::terminal::format::count;
use crate::terminal::style::Style;

/// Users of a group listed one by one; of a larger group the first and the last are.
const MAX_USERS: usize = 12;

/// Prints the tree, the properties that the plan reads and the load.
pub fn plan<E: Engine>(
    options: &ViewOptions,
    engine: &E,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let plan = existing_plan(&options.plan)?;
    let settings = settings(&options.properties, &[], console)?;
    let (program, warnings) = engine
        .compile(&plan, &settings)
        .map_err(|faults| console.refusal_of(&faults))?;
    let rendered = console.render(&warnings);
    console.print_error(&rendered);
    let view = engine.describe(&program);
    let text = if options.json {
        let value = serde_json::to_value(&view)
            .map_err(|error| Refusal::new(Exit::RunFailed, error.to_string()))?;
        format!("{value:#}\n")
    } else {
        text(&view, console.style)
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
        for (name, value) in &view.properties {
            let value = value
                .as_deref()
                .map_or_else(|| style.dim("not set"), str::to_owned);
            let _ = writeln!(text, "  {name} = {value}");
        }
    }
    let _ = writeln!(text, "\n{}", style.bold("load"));
    for group in &view.groups {
        shape(&mut text, group);
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

fn shape(text: &mut String, group: &GroupShape) {
    let iterations = match group.iterations {
        Some(1) => "one iteration each".to_owned(),
        Some(number) => format!("{} iterations each", count(number)),
        None => "iterations until the time is over".to_owned(),
    };
    let users = group.users.len();
    let noun = if users == 1 { "user" } else { "users" };
    let _ = writeln!(
        text,
        "  {}: {} {noun}, {iterations}",
        group.name,
        count(users as u64)
    );
    let listed = if users <= MAX_USERS {
        users
    } else {
        MAX_USERS - 2
    };
    for (index, window) in group.users.iter().take(listed).enumerate() {
        user(text, index, *window);
    }
    if let (true, Some(last)) = (users > listed, group.users.last()) {
        let _ = writeln!(text, "    …");
        user(text, users - 1, *last);
    }
}

fn user(text: &mut String, index: usize, window: UserWindow) {
    let stop = match window.stop_ms {
        Some(ms) => format!("stops at {}", seconds(ms)),
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

    fn group(users: u64) -> GroupShape {
        GroupShape {
            name: "Shoppers".to_owned(),
            iterations: None,
            users: (0..users)
                .map(|user| UserWindow {
                    start_ms: user * 500,
                    stop_ms: Some(10_000),
                })
                .collect(),
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
                ("users".to_owned(), Some("2".to_owned())),
                ("host".to_owned(), None),
            ],
            groups: vec![group(2)],
        };
        let expected = "\
Shop  TestPlan
  Shoppers  ThreadGroup
    Home  HTTPSamplerProxy  (disabled)

properties
  users = 2
  host = not set

load
  Shoppers: 2 users, iterations until the time is over
    user 1 starts at 0.000 s, stops at 10.000 s
    user 2 starts at 0.500 s, stops at 10.000 s
";
        assert_eq!(text(&view, Style::PLAIN), expected);
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
