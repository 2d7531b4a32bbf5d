//! The case `made-conditions` of `compat/`: conditions that the editor writes are true exactly if they say so, in JMeter 5.6.3 too.
//!
//! Each row of `conditions.tsv` is a condition on the variables of `variables.tsv`, and whether it is true.

use drumfire_testkit::plans::{debug, group, plan};
use serde_json::{Value, json};

use super::made::{case, holds};
use super::workshop;
use crate::edit::Client;

const CASE: &str = "made-conditions";

/// The cells of a table of the case.
fn table(name: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(case(CASE).join(name)).expect("the case has the file");
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
    text.lines().map(cells).collect()
}

/// The label of a row. A value may be a reference, which would be replaced.
fn label(number: usize, row: &[String]) -> String {
    format!("{} {} {}", number + 1, row[0], row[1])
}

fn xml(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

fn variables() -> String {
    let arguments = table("variables.tsv").into_iter().map(|row| {
        let (name, value) = (&row[0], xml(&row[1]));
        format!(r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>"#)
    });
    format!(
        r#"<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="Data"><collectionProp name="Arguments.arguments">{}</collectionProp></Arguments><hashTree/>
"#,
        arguments.collect::<String>()
    )
}

fn controller(class: &str, condition: &str, children: &str) -> String {
    format!(
        r#"<{class} guiclass="{class}Panel" testclass="{class}" testname="{class}"><stringProp name="{class}.condition">{}</stringProp><boolProp name="IfController.useExpression">true</boolProp></{class}><hashTree>{children}</hashTree>
"#,
        xml(condition)
    )
}

fn row(cells: &[String]) -> Value {
    json!({"variable": cells[0], "operator": cells[1], "value": cells[2]})
}

#[test]
fn conditions_of_the_editor_are_true_in_jmeter_exactly_if_they_say_so() {
    let shop = workshop();
    let mut client = Client::start(&shop);
    let mut written = |all: bool, rows: &[Value]| {
        let condition = json!({"all": all, "rows": rows});
        let text = client.result("condition_write", condition.clone())["text"].clone();
        let mut read = client.result("condition_read", json!({"text": text}));
        // A single row is read as all of them.
        read["all"] = json!(all);
        assert_eq!(
            read["rows"].as_array().map(Vec::len),
            Some(rows.len()),
            "{condition}"
        );
        text.as_str().expect("a text").to_owned()
    };
    let rows = table("conditions.tsv");
    let mut elements = debug("begin");
    let mut expected = vec!["begin".to_owned()];
    for (number, cells) in rows.iter().enumerate() {
        let name = label(number, cells);
        let text = written(true, &[row(cells)]);
        elements += &controller("IfController", &text, &debug(&xml(&name)));
        if cells[3] == "true" {
            expected.push(name);
        }
    }
    // Rows are joined: a true and a false one, of each kind.
    let (yes, no) = (&rows[0], &rows[1]);
    let compound = rows
        .iter()
        .find(|cells| cells[1] == "less" && cells[3] == "true");
    let compound = compound.expect("a comparison is true");
    let joined: [(bool, &[&Vec<String>], bool); 5] = [
        (true, &[yes, compound], true),
        (true, &[yes, no], false),
        (false, &[no, compound], true),
        (false, &[no, no], false),
        (false, &[compound, no, yes], true),
    ];
    for (number, (all, of, is_true)) in joined.into_iter().enumerate() {
        let of: Vec<Value> = of.iter().map(|cells| row(cells)).collect();
        let name = format!("joined {number}");
        elements += &controller("IfController", &written(all, &of), &debug(&name));
        expected.extend(is_true.then_some(name));
    }
    // A While Controller goes on for any text but `false`.
    let counter = r#"<CounterConfig guiclass="CounterConfigGui" testclass="CounterConfig" testname="Counter"><stringProp name="CounterConfig.start">1</stringProp><stringProp name="CounterConfig.incr">1</stringProp><stringProp name="CounterConfig.name">count</stringProp><boolProp name="CounterConfig.per_user">true</boolProp></CounterConfig><hashTree/>
"#;
    let condition = |operator: &str, value: &str| json!({"variable": "count", "operator": operator, "value": value});
    let until = written(true, &[condition("differs", "3")]);
    elements += &controller(
        "WhileController",
        &until,
        &(counter.to_owned() + &debug("round")),
    );
    expected.extend((0..3).map(|_| "round".to_owned()));
    let never = written(
        true,
        &[json!({"variable": "word", "operator": "less", "value": "5"})],
    );
    elements += &controller("WhileController", &never, &debug("never"));
    shop.write("plan.jmx", plan(&(variables() + &group(1, &elements))));
    holds(CASE, &shop, "no port");
    let recorded = std::fs::read_to_string(case(CASE).join("expected.csv"));
    let recorded = recorded.expect("the case is recorded");
    let mut reader = csv::Reader::from_reader(recorded.as_bytes());
    let labels: Vec<String> = reader
        .records()
        .map(|record| record.expect("a row")[1].to_owned())
        .collect();
    assert_eq!(labels, expected);
}
