//! The plan editor shows elements of a plugin that nobody here knows as the plugin's own panel does.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use drumfire_testkit::program::jmeter_home;
use serde_json::{Value, json};

use super::classes::jar;
use super::workshop;
use crate::edit::{Client, id};

const QUEUE: &str = include_str!("../../data/own_forms/Queue.java");
const PANEL: &str = include_str!("../../data/own_forms/QueuePanel.java");

/// A JMeter with the jars of another one, and one more.
fn home_with(jar: &Path, other: &Path, home: &Path) {
    for folder in ["bin", "lib"] {
        fs::create_dir_all(home.join(folder)).expect("a folder");
        for entry in fs::read_dir(other.join(folder))
            .expect("a JMeter")
            .flatten()
        {
            if entry.file_name() != "ext" {
                symlink(entry.path(), home.join(folder).join(entry.file_name())).expect("a link");
            }
        }
    }
    let ext = home.join("lib/ext");
    fs::create_dir_all(&ext).expect("a folder");
    for entry in fs::read_dir(other.join("lib/ext"))
        .expect("a JMeter")
        .flatten()
    {
        symlink(entry.path(), ext.join(entry.file_name())).expect("a link");
    }
    fs::copy(jar, ext.join("own.jar")).expect("a copy");
}

fn field<'f>(element: &'f Value, property: &str) -> &'f Value {
    let fields = element["fields"].as_array().expect("fields");
    let found = fields.iter().find(|field| field["property"] == property);
    found.unwrap_or_else(|| panic!("no {property}: {element}"))
}

#[test]
fn an_element_of_an_unknown_plugin_has_the_form_of_the_plugins_panel() {
    let (Some(workshop), Some(other)) = (workshop(), jmeter_home()) else {
        return;
    };
    let jar = jar(
        &workshop,
        "own.jar",
        &[("Queue.java", QUEUE), ("QueuePanel.java", PANEL)],
    );
    let home = workshop.path("jmeter");
    home_with(Path::new(&jar), &other, &home);
    let workshop = workshop.variable("JMETER_HOME", &home.to_string_lossy());
    let queue = r#"<a.own.Queue guiclass="a.own.QueuePanel" testclass="a.own.Queue" testname="Ask"><stringProp name="queue.name">orders</stringProp><stringProp name="queue.odd">1</stringProp></a.own.Queue><hashTree/>"#;
    workshop.write(
        "p.jmx",
        super::plan(&[super::group("g", 1, 1, &[queue.to_owned()])]),
    );

    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    client.notified("forms");
    let id = id(&opened, "Ask");
    let element = client.result("element", json!({"plan": 1, "id": id}));
    assert_eq!(element["generic"], false, "{element}");
    let name = field(&element, "queue.name");
    assert_eq!(
        (&name["label"], &name["value"]),
        (&json!("Queue"), &json!("orders"))
    );
    let kept = field(&element, "queue.kept");
    assert_eq!(
        (&kept["label"], &kept["kind"]),
        (&json!("Keep messages"), &json!("flag"))
    );
    assert_eq!(field(&element, "queue.password")["kind"], "secret");
    let level = field(&element, "queue.level");
    assert_eq!(level["choices"][1]["value"], "high", "{level}");
    // A property that the panel does not write is listed below the form.
    assert_eq!(field(&element, "queue.odd")["section"], "Other properties");

    let set = json!({"plan": 1, "id": id, "property": "queue.kept", "value": "true"});
    client.result("set", set);
    client.result("save", json!({"plan": 1}));
    let saved = workshop.read("p.jmx");
    assert!(
        saved.contains(r#"<boolProp name="queue.kept">true</boolProp>"#),
        "{saved}"
    );
}
