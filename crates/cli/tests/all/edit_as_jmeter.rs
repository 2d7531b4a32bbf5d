//! Changes that `drumfire edit` makes in a plan, against the plan that JMeter saved and the rows that it wrote after the same
//! changes (`compat/edited`, whose `ChangePlan.java` makes them in JMeter).

use std::path::Path;

use drumfire_elements::{ElementFacts, Kind};
use drumfire_testkit::compat::{self, Servers};
use drumfire_testkit::program::{LIMIT, Workshop};
use serde_json::{Value, json};

use crate::edit::{Client, id};

/// Makes a change of the list: an element's name, the path of a property, and its value.
fn change(client: &mut Client, name: &str, path: &str, value: &str) {
    let opened = client.result("tree", json!({"plan": 1}));
    let (id, revision) = (id(&opened, name), &opened["revision"]);
    let cell = path
        .split('/')
        .position(|part| part.parse::<usize>().is_ok());
    match (path, cell) {
        ("TestElement.name", _) => {
            let order = json!({"plan": 1, "id": id, "name": value, "revision": revision});
            client.result("rename", order);
        }
        ("TestElement.enabled", _) => {
            let enabled = value == "true";
            let order = json!({"plan": 1, "ids": [id], "enabled": enabled, "revision": revision});
            client.result("enable", order);
        }
        (_, None) => {
            let order = json!({"plan": 1, "id": id, "property": path, "value": value, "revision": revision});
            client.result("set", order);
        }
        (_, Some(at)) => {
            let parts: Vec<&str> = path.split('/').collect();
            let row = parts[at].parse().expect("a row");
            let table = Table::of(client, &id, parts[0]);
            let rows = table.with_cell(row, parts[at + 1], value);
            let order = json!({"plan": 1, "id": id, "property": parts[0], "rows": rows, "revision": revision});
            client.result("table", order);
        }
    }
}

struct Table {
    columns: Vec<Value>,
    rows: Vec<Vec<Value>>,
}

impl Table {
    /// The table of a property in the form of an element.
    fn of(client: &mut Client, id: &Value, property: &str) -> Table {
        let element = client.result("element", json!({"plan": 1, "id": id}));
        let mut fields = element["fields"].as_array().expect("fields").iter();
        let field = fields.find(|field| field["property"] == property);
        let table = &field.unwrap_or_else(|| panic!("no {property}: {element}"))["table"];
        let list = |value: &Value| value.as_array().expect("a list").clone();
        Table {
            columns: list(&table["columns"]),
            rows: list(&table["rows"]).iter().map(list).collect(),
        }
    }

    /// The rows with another cell. The row after the last one is a copy of it.
    fn with_cell(mut self, row: usize, column: &str, value: &str) -> Vec<Vec<Value>> {
        if row == self.rows.len() {
            self.rows.push(self.rows[row - 1].clone());
        }
        let mut columns = self.columns.iter();
        let at = columns.position(|known| known["property"] == column);
        self.rows[row][at.expect("the column")] = value.into();
        self.rows
    }
}

#[test]
fn changes_of_the_editor_are_those_of_jmeters_forms() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat/edited");
    let Some(servers) = Servers::start(&case).expect("the servers start") else {
        return;
    };
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    compat::lay_out(&case, &workshop.path("")).expect("files can be copied");
    let before = workshop.read("before.jmx");
    let mut client = Client::start(&workshop);
    client.result("open", json!({"path": "before.jmx"}));
    let changes = workshop.read("changes.tsv");
    for line in changes.lines() {
        let cells: Vec<&str> = line.split('\t').collect();
        let &[name, path, value] = cells.as_slice() else {
            panic!("not three cells: {line}")
        };
        change(&mut client, name, path, value);
    }
    assert!(changes.lines().count() >= 20);
    client.result("save", json!({"plan": 1}));
    let after = workshop.read("before.jmx");
    let same = workshop.run(&["diff", "before.jmx", "plan.jmx"], LIMIT);
    assert_eq!(
        (same.code, same.out.as_str()),
        (Some(0), ""),
        "{}",
        same.err
    );

    // The rows of the changed plan are those that JMeter wrote for the plan that it saved.
    workshop.write("plan.jmx", &after);
    let rows = std::fs::read(case.join("expected.csv")).expect("the recording");
    workshop.write("expected.csv", rows);
    let folder = workshop.path("");
    assert_eq!(crate::compat::difference(&folder, None, &servers), None);
    // Without the changes the rows are others, so equal rows prove the changes.
    workshop.write("plan.jmx", before);
    assert_ne!(crate::compat::difference(&folder, None, &servers), None);
}

#[test]
fn forms_have_jmeters_labels_and_defaults() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../compat");
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    std::fs::copy(case.join("listeners/plan.jmx"), workshop.path("p.jmx")).expect("a copy");
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let mut checked = 0;
    for node in opened["nodes"].as_array().expect("nodes") {
        let (class, asked) = (&node["class"], json!({"plan": 1, "id": node["id"]}));
        let element = client.result("element", asked);
        let fields = element["fields"].as_array().expect("fields");
        let of = |property: &str| {
            let field = fields.iter().find(|field| field["property"] == property);
            field.unwrap_or_else(|| panic!("no {property}: {element}"))
        };
        // A label that is a property's name has no blank, and begins with a small letter.
        let is_name = |label: &str| !label.contains(' ') && label.starts_with(char::is_lowercase);
        for field in fields
            .iter()
            .filter(|field| field["section"] != "Other properties")
        {
            let label = field["label"].as_str().expect("a label");
            assert!(!is_name(label), "{class}: {field}");
        }
        if class == "ThreadGroup" {
            assert_eq!(of("ThreadGroup.on_sample_error")["default"], "continue");
            checked += 1;
        }
        if class == "ResultCollector" {
            let time = of("saveConfig/time");
            assert_eq!(time["label"], "Save Elapsed Time");
            assert_eq!(time["section"], "Sample Result Save Configuration");
            checked += 1;
        }
        if class == "HTTPSamplerProxy" {
            let columns = &of("HTTPsampler.Arguments")["table"]["columns"];
            let mut columns = columns.as_array().expect("columns").iter();
            let equals = columns.find(|column| column["property"] == "HTTPArgument.use_equals");
            assert_eq!(equals.expect("the column")["default"], "true");
            checked += 1;
        }
    }
    assert!(checked >= 3, "{checked}");
}

/// The paths of an element's properties with one value, also of those in elements within it.
fn plain_paths(facts: &ElementFacts) -> Vec<String> {
    let is_plain = |kind: Kind| {
        let rows = matches!(kind, Kind::List | Kind::Rows(_) | Kind::Items(_));
        !rows && !matches!(kind, Kind::Element(_) | Kind::Object)
    };
    let mut paths = Vec::new();
    for property in facts.properties() {
        match property.kind {
            Kind::Element(item) => {
                let own = item.fields.iter().filter(|field| is_plain(field.kind));
                paths.extend(own.map(|field| format!("{}/{}", property.name, field.name)));
            }
            kind if is_plain(kind) => paths.push(property.name.to_owned()),
            _ => {}
        }
    }
    paths
}

#[test]
fn each_property_of_each_type_has_a_field() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let types: Vec<&ElementFacts> = drumfire_elements::all()
        .filter(|facts| facts.class != "TestPlan")
        .collect();
    let mut text = String::from(
        "<jmeterTestPlan version=\"1.2\" properties=\"5.0\" jmeter=\"5.6.3\"><hashTree>\
         <TestPlan guiclass=\"TestPlanGui\" testclass=\"TestPlan\" testname=\"All\"/><hashTree>",
    );
    for (at, ElementFacts { class, gui, .. }) in types.iter().enumerate() {
        text += &format!(
            "<{class} guiclass=\"{gui}\" testclass=\"{class}\" testname=\"e{at}\"/><hashTree/>"
        );
    }
    text += "</hashTree></hashTree></jmeterTestPlan>";
    workshop.write("p.jmx", text);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    for (at, facts) in types.iter().enumerate() {
        let asked = json!({"plan": 1, "id": id(&opened, &format!("e{at}"))});
        let element = client.result("element", asked);
        let fields = element["fields"].as_array().expect("fields");
        for path in plain_paths(facts) {
            let count = fields
                .iter()
                .filter(|field| field["property"] == path.as_str());
            assert_eq!(count.count(), 1, "{} {path}: {element}", facts.class);
        }
    }
}
