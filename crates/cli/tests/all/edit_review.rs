//! `drumfire edit` beside other versions of a plan: what differs, restored, staged, resolved, and held by another program.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use drumfire_testkit::plans::{group, http, pause, plan};
use drumfire_testkit::program::Workshop;
use serde_json::{Value, json};

use crate::edit::{Client, id};

fn git(folder: &Path, words: &[&str]) -> String {
    let user = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
    let output = Command::new("git")
        .args(user)
        .args(words)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .expect("git is there");
    String::from_utf8(output.stdout).expect("texts")
}

const HEADERS: &str = r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="Headers"><collectionProp name="HeaderManager.headers">
  <elementProp name="" elementType="Header"><stringProp name="Header.name">X-Id</stringProp><stringProp name="Header.value">7</stringProp></elementProp>
  <elementProp name="" elementType="Header"><stringProp name="Header.name">X-Old</stringProp><stringProp name="Header.value">1</stringProp></elementProp>
</collectionProp></HeaderManager><hashTree/>
"#;

fn before() -> String {
    let path = |path: &str| [("path", path.to_owned()), ("method", "GET".to_owned())];
    let get = |name: &str, value: &str| {
        let own = path(value);
        let own: Vec<(&str, &str)> = own.iter().map(|(name, value)| (*name, &**value)).collect();
        http(name, &own)
    };
    let all = [
        HEADERS.to_owned(),
        get("A", "/a"),
        get("B", "/b"),
        get("C", "/c"),
        pause(5),
    ];
    plan(&group(1, &all.concat()))
}

fn after(before: &str) -> String {
    let a = http("A", &[("path", "/a"), ("method", "GET")]);
    let c = http("C", &[("path", "/c"), ("method", "GET")]);
    let d = http("D", &[("path", "/d"), ("password", "Qx7Kanari")]);
    before
        .replace(&a, "")
        .replace(&c, &[c.clone(), a.clone(), d].concat())
        .replace(">/b<", ">/changed<")
        .replace(
            "testname=\"B\" enabled=\"true\"",
            "testname=\"B\" enabled=\"false\"",
        )
        .replace(">7<", ">8<")
        .replace(">X-Old<", ">X-New<")
        .replace(&pause(5), "")
}

fn repository() -> (Workshop, String) {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let text = before();
    workshop.write("p.jmx", &text);
    let here = workshop.path("");
    git(&here, &["init", "-q"]);
    git(&here, &["add", "p.jmx"]);
    git(&here, &["commit", "-q", "-m", "one"]);
    (workshop, text)
}

fn element<'r>(review: &'r Value, name: &str) -> &'r Value {
    let all = review["elements"].as_array().expect("elements");
    let own = all.iter().find(|one| one["name"] == name);
    own.unwrap_or_else(|| panic!("no {name}: {review}"))
}

fn marks(review: &Value) -> Vec<String> {
    let all = review["elements"].as_array().expect("elements").iter();
    let told = all.map(|one| {
        let marks = one["marks"].as_array().expect("marks").iter();
        let marks: Vec<&str> = marks.filter_map(Value::as_str).collect();
        format!(
            "{} {}",
            one["name"].as_str().unwrap_or_default(),
            marks.join(" ")
        )
    });
    told.collect()
}

#[test]
fn changes_since_the_last_commit_are_told_and_restored() {
    let (workshop, text) = repository();
    workshop.write("p.jmx", after(&text));
    let mut client = Client::start(&workshop);
    client.result("open", json!({"path": "p.jmx"}));
    let review = client.result("review", json!({"plan": 1}));
    assert_eq!(
        marks(&review),
        [
            "plan ",
            "users ",
            "Headers changed",
            "B disabled changed",
            "pause removed",
            "A moved",
            "D added",
        ]
    );
    assert!(!review.to_string().contains("Qx7Kanari"), "{review}");
    let path = &element(&review, "B")["changes"][1];
    assert_eq!(
        (&path["label"], &path["before"], &path["after"]),
        (&json!("Path"), &json!("/b"), &json!("/changed"))
    );
    let mut restore = |name: &str, setting: Value| {
        let review = client.result("review", json!({"plan": 1}));
        let own = element(&review, name);
        let asked = json!({"plan": 1, "id": own["id"], "old": own["old"], "path": own["path"], "setting": setting, "revision": review["revision"]});
        client.result("restore", asked)
    };
    restore("Headers", json!("headers[X-Id]"));
    restore("Headers", json!("headers[X-New]"));
    restore("Headers", json!("headers[X-Old]"));
    restore("B", json!("path"));
    restore("B", Value::Null);
    restore("D", Value::Null);
    let moved = restore("A", json!("place"));
    assert_eq!(moved["removed"], json!([]), "it keeps its number");
    let last = restore("pause", Value::Null);
    assert_eq!(last["can_undo"], "Restore pause");
    let own = client.result("text", json!({"plan": 1}))["text"].clone();
    assert_eq!(own, json!(text));
    for _ in 0..8 {
        client.result("undo", json!({"plan": 1}));
    }
    let own = client.result("text", json!({"plan": 1}))["text"].clone();
    assert_eq!(own, json!(after(&text)));
    // Another file, and none.
    workshop.write("other.jmx", &text);
    let other = client.result("review", json!({"plan": 1, "against": "other.jmx"}));
    assert_eq!(marks(&other), marks(&review));
    let none = client.ask("review", json!({"plan": 1, "against": "none.jmx"}));
    assert_eq!(none["error"]["code"], -32003, "{none}");
}

#[test]
fn elements_are_staged_one_by_one_and_the_file_stays() {
    let (workshop, text) = repository();
    let here = workshop.path("");
    let changed = after(&text);
    workshop.write("p.jmx", &changed);
    let mut client = Client::start(&workshop);
    client.result("open", json!({"path": "p.jmx"}));
    let mut stage = |name: &str| {
        let review = client.result("review", json!({"plan": 1}));
        let own = element(&review, name);
        assert_eq!(
            (&own["staged"], &review["stageable"]),
            (&json!(false), &json!(true))
        );
        client.result(
            "stage",
            json!({"plan": 1, "id": own["id"], "path": own["path"]}),
        );
        let review = client.result("review", json!({"plan": 1}));
        assert_eq!(element(&review, name)["staged"], true, "{review}");
        assert_eq!(workshop.read("p.jmx"), changed);
        git(&here, &["show", ":p.jmx"])
    };
    let staged = stage("B");
    let b = |text: &str| {
        text.replace(">/b<", ">/changed<").replace(
            "testname=\"B\" enabled=\"true\"",
            "testname=\"B\" enabled=\"false\"",
        )
    };
    assert_eq!(staged, b(&text));
    let staged = stage("pause");
    assert_eq!(staged, b(&text).replace(&pause(5), ""));
    for name in ["A", "D", "Headers"] {
        stage(name);
    }
    assert_eq!(git(&here, &["show", ":p.jmx"]), changed);
    assert_eq!(git(&here, &["diff", "--name-only"]), "");
    // A file that git does not know is refused.
    workshop.write("new.jmx", &text);
    let opened = client.result("open", json!({"path": "new.jmx"}));
    let refused = client.ask("stage", json!({"plan": 2, "id": id(&opened, "A")}));
    assert_eq!(
        refused["error"]["data"]["hint"],
        "add the whole file first: `git add new.jmx`"
    );
}

#[test]
fn line_ends_of_the_working_file_stay_out_of_the_index() {
    let (workshop, text) = repository();
    let here = workshop.path("");
    git(&here, &["config", "core.autocrlf", "true"]);
    workshop.write("p.jmx", after(&text).replace('\n', "\r\n"));
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    client.result("stage", json!({"plan": 1, "id": id(&opened, "B")}));
    let staged = git(&here, &["show", ":p.jmx"]);
    assert!(
        staged.contains(">/changed<") && !staged.contains('\r'),
        "{staged:?}"
    );
    assert_eq!(
        staged.len(),
        text.len() + ">/changed<".len() - ">/b<".len() + 1
    );
}

fn item<'v>(versions: &'v Value, setting: &str) -> (usize, &'v Value) {
    let all = versions["items"].as_array().expect("items");
    let at = all.iter().position(|one| one["setting"] == setting);
    let at = at.unwrap_or_else(|| panic!("no {setting}: {versions}"));
    (at, &all[at])
}

#[test]
fn conflict_markers_are_resolved_value_by_value() {
    let (workshop, text) = repository();
    let here = workshop.path("");
    git(&here, &["checkout", "-q", "-b", "theirs"]);
    let theirs = text
        .replace(">/b<", ">/theirs<")
        .replace(">/c<", ">/their-c<");
    workshop.write("p.jmx", &theirs);
    git(&here, &["commit", "-q", "-am", "theirs"]);
    git(&here, &["checkout", "-q", "-"]);
    let ours = text.replace(">/b<", ">/ours<").replace(">GET</stringProp></HTTPSamplerProxy><hashTree/>\n<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"C\"", ">POST</stringProp></HTTPSamplerProxy><hashTree/>\n<HTTPSamplerProxy guiclass=\"HttpTestSampleGui\" testclass=\"HTTPSamplerProxy\" testname=\"C\"");
    workshop.write("p.jmx", &ours);
    git(&here, &["commit", "-q", "-am", "ours"]);
    git(&here, &["merge", "-q", "theirs"]);
    assert!(workshop.read("p.jmx").contains("<<<<<<< "));
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    assert_eq!(opened["conflict"], true);
    assert_eq!(
        client.ask("save", json!({"plan": 1}))["error"]["code"],
        -32004
    );
    let versions = client.result("versions", json!({"plan": 1}));
    assert_eq!(
        (&versions["is_marked"], &versions["has_base"]),
        (&json!(true), &json!(true))
    );
    let all = versions["items"].as_array().expect("items");
    let told: Vec<String> = all
        .iter()
        .map(|one| {
            let text = |name: &str| one[name].as_str().unwrap_or("-").to_owned();
            ["setting", "base", "ours", "theirs", "takes"]
                .map(text)
                .join(" ")
        })
        .collect();
    assert_eq!(
        told,
        [
            "path /b /ours /theirs -",
            "method GET POST GET ours",
            "path /c /c /their-c theirs",
        ]
    );
    let take = |theirs: &[usize]| json!({"plan": 1, "take": "each", "theirs": theirs, "revision": versions["revision"]});
    assert_eq!(client.ask("resolve", take(&[7]))["error"]["code"], -32602);
    client.result("resolve", take(&[0, 2]));
    let none = client.result("versions", json!({"plan": 1}));
    assert_eq!(none["items"], json!([]));
    client.result("save", json!({"plan": 1}));
    let saved = workshop.read("p.jmx");
    let expected = ours
        .replace(">/ours<", ">/theirs<")
        .replace(">/c<", ">/their-c<");
    assert_eq!(saved, expected);
}

#[test]
fn an_outside_change_is_resolved_value_by_value() {
    let (workshop, text) = repository();
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let set = json!({"plan": 1, "id": id(&opened, "B"), "property": "HTTPSampler.path", "value": "/ours"});
    client.result("set", set);
    std::thread::sleep(Duration::from_millis(20));
    workshop.write("p.jmx", after(&text));
    client.notified("conflict");
    let versions = client.result("versions", json!({"plan": 1}));
    let (path, told) = item(&versions, "path");
    assert_eq!(
        (
            &told["base"],
            &told["ours"],
            &told["theirs"],
            &told["takes"]
        ),
        (
            &json!("/b"),
            &json!("/ours"),
            &json!("/changed"),
            &Value::Null
        )
    );
    assert_eq!(item(&versions, "place").1["takes"], "theirs");
    // Everything but our path comes from the file.
    let count = versions["items"].as_array().expect("items").len();
    let theirs: Vec<usize> = (0..count).filter(|at| *at != path).collect();
    client.result(
        "resolve",
        json!({"plan": 1, "take": "each", "theirs": theirs}),
    );
    client.result("save", json!({"plan": 1}));
    assert_eq!(
        workshop.read("p.jmx"),
        after(&text).replace(">/changed<", ">/ours<")
    );
}

#[test]
fn a_program_that_holds_the_text_saves_it_itself() {
    let (workshop, text) = repository();
    let mut client = Client::start(&workshop);
    let held = text.replace(">/a<", ">/held<");
    let opened = client.result("open", json!({"path": "p.jmx", "text": held}));
    assert_eq!(
        client.result("text", json!({"plan": 1}))["text"],
        json!(held)
    );
    let set =
        json!({"plan": 1, "id": id(&opened, "B"), "property": "HTTPSampler.path", "value": "/set"});
    client.result("set", set);
    assert_eq!(
        client.ask("save", json!({"plan": 1}))["error"]["code"],
        -32002
    );
    // Its text comes back with other changes, and elements keep their numbers.
    let synced = held.replace(">/b<", ">/set<").replace(">/c<", ">/typed<");
    let change = client.result("sync", json!({"plan": 1, "text": synced}));
    assert_eq!(change["nodes"][0]["id"], id(&opened, "C"), "{change}");
    assert_eq!(
        client.result("text", json!({"plan": 1}))["text"],
        json!(synced)
    );
    let broken = client.ask("sync", json!({"plan": 1, "text": "<jmeterTestPlan>"}));
    assert!(broken.get("error").is_some(), "{broken}");
    assert_eq!(
        client.result("text", json!({"plan": 1}))["text"],
        json!(synced)
    );
    assert_eq!(workshop.read("p.jmx"), text);
    let page = client.result("page", json!({}))["html"].clone();
    assert!(
        page.as_str()
            .is_some_and(|page| page.starts_with("<!doctype html>"))
    );
}
