//! Templates: `drumfire new` and the editor make the same plans, which pass `check` and run.

use std::time::Duration;

use drumfire_import::templates::TEMPLATES;
use drumfire_testkit::program::{Finished, Workshop, jmeter_home};
use drumfire_testkit::server::{ResponseStep, Server, respond};
use serde_json::json;

use crate::edit::Client;

const LIMIT: Duration = Duration::from_secs(120);

fn shop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

fn succeeded(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

/// Checks a plan. One that needs Java is only checked where there is a JMeter.
fn checked(shop: &Workshop, plan: &str, needs: &str) -> bool {
    let needs_java = needs.starts_with("Java");
    let can = !needs_java || jmeter_home().is_some();
    if can {
        let checked = shop.run(&["check", plan], LIMIT);
        assert_eq!(
            checked.code,
            Some(0),
            "{plan}: {}{}",
            checked.out,
            checked.err
        );
    }
    can
}

#[test]
fn every_template_passes_check_and_runs_where_there_is_a_server() {
    let server = Server::start(|request| {
        let body = match request.target.as_str() {
            "/service" => "<GetQuoteResponse>7</GetQuoteResponse>",
            _ => "{}",
        };
        let fields = "Content-Type: text/xml\r\n";
        vec![ResponseStep::Send(respond("200 OK", fields, body))]
    });
    let url = |path: &str| format!("url=http://{}{path}", server.address());
    for template in &TEMPLATES {
        let shop = match jmeter_home() {
            Some(home) => shop().variable("JMETER_HOME", &home.display().to_string()),
            None => shop(),
        };
        let (name, plan) = (template.name, "plan.jmx");
        let url = match name {
            "request" => Some(url("/echo")),
            "soap" => Some(url("/service")),
            _ => None,
        };
        let mut words = vec!["new", plan, "--template", name];
        words.extend(url.iter().flat_map(|url| ["--set", url]));
        succeeded(&shop.run(&words, LIMIT));
        let is_checked = checked(&shop, plan, template.needs);
        // Nothing is recorded yet, and those of other protocols need a server of their own.
        let load = [
            "-Jusers=1",
            "-Jramp_up=0",
            "-Jseconds=30",
            "-Jloops=1",
            "-Jrate=2",
            "-Jtimer.factor=0.001",
        ];
        let runs = match name {
            _ if template.first_run == "--demo" => Some("--demo"),
            "request" | "soap" | "think-time" => Some("--no-report"),
            "groovy" | "beanshell" if is_checked => Some("--no-report"),
            _ => None,
        };
        let Some(more) = runs else { continue };
        let more = (more != "--no-report").then_some(more);
        let mut words = vec!["run", plan, "-l", "rows.csv"];
        words.extend(load);
        if name == "open-model" {
            words.extend(["-Jramp_up=1", "-Jseconds=2"]);
        }
        words.extend(more);
        let finished = shop.run(&words, LIMIT);
        if name == "think-time" {
            // A pause makes no sample.
            assert!(finished.out.contains("0 "), "{}", finished.out);
            continue;
        }
        assert_eq!(
            finished.code,
            Some(0),
            "{name}: {}{}",
            finished.out,
            finished.err
        );
        let rows = shop.read("rows.csv");
        assert!(
            rows.lines().count() > 1 && !rows.contains(",false,"),
            "{name}: {rows}"
        );
    }
    let requests = server.requests();
    let soap = requests
        .iter()
        .find(|request| request.target == "/service")
        .expect("it was called");
    assert!(String::from_utf8_lossy(&soap.body).contains("<own:GetQuote>"));
}

#[test]
fn parameters_are_taken_and_wrong_ones_refused() {
    let shop = shop();
    succeeded(&shop.run(
        &[
            "new",
            "a.jmx",
            "--set",
            "host=shop.example",
            "--set",
            "scheme=https",
        ],
        LIMIT,
    ));
    let plan = shop.read("a.jmx");
    assert!(
        plan.contains("${__P(host,shop.example)}") && plan.contains("${__P(scheme,https)}"),
        "{plan}"
    );
    // A value that would need escapes stands alone.
    succeeded(&shop.run(
        &[
            "new",
            "b.jmx",
            "--template",
            "jdbc",
            "--set",
            "db.url=jdbc:h2:mem:a,b",
            "--set",
            "query=select 1 where 1 < 2",
        ],
        LIMIT,
    ));
    let plan = shop.read("b.jmx");
    assert!(
        plan.contains(">jdbc:h2:mem:a,b<") && plan.contains("select 1 where 1 &lt; 2"),
        "{plan}"
    );
    for words in [
        &["new", "c.jmx", "--set", "hots=x"][..],
        &["new", "c.jmx", "--template", "opn-model"],
        &["new"],
    ] {
        let finished = shop.run(words, LIMIT);
        assert_eq!(
            finished.code,
            Some(2),
            "{words:?}: {}{}",
            finished.out,
            finished.err
        );
    }
    let near = shop.run(&["new", "c.jmx", "--template", "opn-model"], LIMIT);
    assert!(
        near.err.contains("did you mean `open-model`?"),
        "{}",
        near.err
    );
    // JMeter's names mean those of the same kind.
    succeeded(&shop.run(
        &["new", "d.jmx", "--template", "Simple HTTP request"],
        LIMIT,
    ));
    assert!(shop.read("d.jmx").contains("${url}"));
}

const LIST: &str = r#"<?xml version="1.0"?><!DOCTYPE templates SYSTEM "templates.dtd"><templates>
<template isTestPlan="true"><name>Team plan</name><fileName>team.jmx</fileName><description><![CDATA[<h1>Plan of the team</h1>]]></description>
<parameters><parameter key="host" defaultValue="team.example"/></parameters></template>
<template isTestPlan="false"><name>Pause</name><fileName>/bin/pause.jmx</fileName><description>A pause</description></template></templates>"#;
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Team [=host]"/><hashTree/></hashTree></jmeterTestPlan>"#;
const PART: &str = r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><ConstantTimer guiclass="ConstantTimerGui" testclass="ConstantTimer" testname="Own pause"><stringProp name="ConstantTimer.delay">7</stringProp></ConstantTimer><hashTree/></hashTree></jmeterTestPlan>"#;

/// A workshop with a JMeter that has templates of its own.
fn with_own() -> Workshop {
    let shop = shop();
    shop.write(
        "jmeter/bin/user.properties",
        "template.files=/bin/own/list.xml\n",
    );
    shop.write("jmeter/bin/own/list.xml", LIST);
    shop.write("jmeter/bin/own/team.jmx", PLAN);
    shop.write("jmeter/bin/pause.jmx", PART);
    let home = shop.path("jmeter").display().to_string();
    shop.variable("JMETER_HOME", &home)
}

#[test]
fn templates_of_the_users_jmeter_are_offered() {
    let shop = with_own();
    let listed = shop.run(&["new", "--list"], LIMIT);
    succeeded(&listed);
    assert!(
        listed.out.contains(
            "Team plan (of your JMeter)\n    Plan of the team\n    --set host=team.example\n"
        ),
        "{}",
        listed.out
    );
    assert!(listed.out.contains("\nshop\n"), "{}", listed.out);
    succeeded(&shop.run(
        &[
            "new",
            "a.jmx",
            "--template",
            "Team plan",
            "--set",
            "host=a&b",
        ],
        LIMIT,
    ));
    assert_eq!(shop.read("a.jmx"), PLAN.replace("[=host]", "a&amp;b"));
}

#[test]
fn the_editor_makes_the_same_plans_and_inserts_parts() {
    let shop = with_own();
    succeeded(&shop.run(&["new", "plan.jmx", "--template", "login-csv"], LIMIT));
    let mut client = Client::start(&shop);
    let all = client.result("templates", json!({}));
    let all = all.as_array().expect("a list");
    assert_eq!(all.len(), TEMPLATES.len() + 2);
    let team = all
        .iter()
        .find(|one| one["name"] == "Team plan")
        .expect("it is there");
    assert_eq!(
        (
            &team["user"],
            &team["part"],
            &team["parameters"][0]["value"]
        ),
        (&json!(true), &json!(false), &json!("team.example"))
    );
    let opened = client.result(
        "new_plan",
        json!({"path": "made.jmx", "template": "login-csv"}),
    );
    assert_eq!(
        shop.read("made.jmx"),
        shop.read("plan.jmx").replace("plan.csv", "made.csv")
    );
    assert_eq!(shop.read("made.csv"), shop.read("plan.csv"));
    let plan = opened["plan"].clone();
    // Nothing is overwritten, neither the plan nor its data.
    for (path, template) in [
        ("plan.jmx", "http"),
        ("other.txt", "http"),
        ("new.jmx", "none"),
        ("nowhere/new.jmx", "http"),
    ] {
        let refused = client.ask("new_plan", json!({"path": path, "template": template}));
        assert!(
            refused.get("error").is_some(),
            "{path} {template}: {refused}"
        );
    }
    shop.write("beside.csv", "mine");
    let refused = client.ask(
        "new_plan",
        json!({"path": "beside.jmx", "template": "login-csv"}),
    );
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("beside.csv")),
        "{refused}"
    );
    assert!(shop.read("beside.csv") == "mine" && !shop.path("beside.jmx").exists());
    let group = crate::edit::id(&opened, "Users");
    let insert = |template: &str, values: serde_json::Value| json!({"plan": plan, "parent": group, "template": template, "values": values});
    client.result(
        "insert_template",
        insert("think-time", json!({"shortest": "50"})),
    );
    client.result("insert_template", insert("Pause", json!({})));
    let text = client.result("text", json!({"plan": plan}))["text"].clone();
    let text = text.as_str().expect("a text");
    assert!(
        text.contains(">50</stringProp>")
            && text.contains(r#"testname="Own pause"><stringProp name="ConstantTimer.delay">7<"#),
        "{text}"
    );
    let refused = client.ask("insert_template", insert("http", json!({})));
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("whole plan")),
        "{refused}"
    );
}
