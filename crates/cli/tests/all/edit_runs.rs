//! `drumfire edit` beside the plan's own text: runs of its parts, elements that move to other places, commits, other sessions.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{http, pause, plan, users};
use drumfire_testkit::program::Workshop;
use drumfire_testkit::server::{ResponseStep, Server, respond};
use serde_json::{Value, json};

use crate::edit::{Client, id};

const BODY: &str = "é😀 <p>Hello</p>";

fn server() -> Server {
    Server::start(|request| {
        let target = request.target.as_str();
        if target == "/slow" {
            return vec![ResponseStep::Hang];
        }
        let body = match target {
            "/login" => r#"{"token": "t0p"}"#,
            _ => BODY,
        };
        let fields = "Content-Type: text/html; charset=utf-8\r\n";
        vec![ResponseStep::Send(respond("200 OK", fields, body))]
    })
}

fn workshop(server: &Server) -> Workshop {
    let port = server.address().port().to_string();
    let sampler = |name: &str, path: &str| {
        http(
            name,
            &[("domain", "127.0.0.1"), ("port", &port), ("path", path)],
        )
    };
    let extractor = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="find"><stringProp name="RegexExtractor.refname">token</stringProp><stringProp name="RegexExtractor.regex">"token": "(.+?)"</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp><stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>"#;
    let login = sampler("Log in", "/login")
        .replace("<hashTree/>", &format!("<hashTree>{extractor}</hashTree>"));
    let never = format!(
        r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="Never"><stringProp name="IfController.condition">false</stringProp><boolProp name="IfController.useExpression">true</boolProp></IfController><hashTree>{}{}</hashTree>
"#,
        sampler("Page ${token}", "/page?token=${token}"),
        sampler("Other", "/other"),
    );
    let elements = [
        pause(60_000),
        login,
        never,
        sampler("Last", "/last?token=${token}"),
        sampler("Slow", "/slow"),
    ];
    let other = users(1, 1, "", &sampler("Elsewhere", "/elsewhere"))
        .replace("testname=\"users\"", "testname=\"others\"");
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "p.jmx",
        plan(&(users(3, 5, "", &elements.concat()) + &other)),
    );
    workshop
}

/// Runs a part to its end. Returns its samples, its outcome, and its number.
fn run(client: &mut Client, order: Value) -> (Vec<Value>, Value, u64) {
    let started = client.result("run", order);
    let run = started["run"].as_u64().expect("a number");
    let ended = client.notified("run_ended");
    assert_eq!(ended["run"], run);
    let count = ended["outcome"]["samples"].as_u64().expect("a number");
    let mut samples = Vec::new();
    while samples.len() < count as usize {
        let told = client.notified("run_sample");
        if told["run"] == run {
            samples.push(told["sample"].clone());
        }
    }
    (samples, ended["outcome"].clone(), run)
}

fn labels(samples: &[Value]) -> Vec<&str> {
    let labels = samples.iter().filter_map(|sample| sample["label"].as_str());
    labels.collect()
}

#[test]
fn a_sampler_runs_alone_with_given_variables_and_shows_everything() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let page = id(&opened, "Page ${token}");
    // The text in the editor counts, saved or not.
    client.result(
        "set",
        json!({"plan": 1, "id": page, "property": "HTTPSampler.method", "value": "POST"}),
    );
    let since = Instant::now();
    let order = json!({"plan": 1, "id": page, "kind": "this", "variables": {"token": "7", "odd": "${x} \\ ü"}});
    let (samples, outcome, number) = run(&mut client, order);
    println!("run this: {} ms", since.elapsed().as_millis());
    assert_eq!(outcome["ended"], "done", "{outcome}");
    assert_eq!(labels(&samples), ["Page 7"]);
    let sample = &samples[0];
    assert_eq!(
        (
            &sample["id"],
            &sample["method"],
            &sample["code"],
            &sample["body_bytes"]
        ),
        (&page, &json!("POST"), &json!("200"), &json!(BODY.len()))
    );
    let detail = |client: &mut Client, more: Value| {
        let mut asked = json!({"run": number, "number": 1});
        asked
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().expect("an object").clone());
        client.result("run_sample_detail", asked)
    };
    let whole = detail(&mut client, json!({}));
    assert_eq!(whole["response"]["body"]["text"], BODY);
    let headers = whole["request"]["headers"].as_str();
    assert!(
        headers.is_some_and(|headers| headers.contains("Host: ")),
        "{whole}"
    );
    assert!(
        whole["request"]["curl"]
            .as_str()
            .is_some_and(|curl| curl.contains("-X POST")),
        "{whole}"
    );
    assert!(
        whole["response"]["headers"]
            .as_str()
            .is_some_and(|head| head.starts_with("HTTP/1.1 200")),
        "{whole}"
    );
    assert_eq!(whole["variables"]["odd"], "${x} \\ ü");
    assert_eq!(whole["steps"][0]["id"], page, "{whole}");
    // A part of the body does not cut a character off.
    let first = detail(&mut client, json!({"length": 4}))["response"]["body"].clone();
    assert_eq!((&first["text"], &first["next"]), (&json!("é"), &json!(2)));
    let second = detail(&mut client, json!({"offset": 2, "length": 4}));
    assert_eq!(second["response"]["body"]["text"], "😀");
    let none = client.ask("run_sample_detail", json!({"run": number, "number": 2}));
    assert_eq!(none["error"]["code"], -32602, "{none}");
}

#[test]
fn parts_of_a_plan_run_once_without_timers() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let of = |name: &str, kind: &str| json!({"plan": 1, "id": id(&opened, name), "kind": kind});
    let (samples, outcome, number) = run(&mut client, of("Last", "to_here"));
    assert_eq!(labels(&samples), ["Log in", "Last"], "{outcome}");
    assert!(
        samples[1]["url"]
            .as_str()
            .is_some_and(|url| url.ends_with("/last?token=t0p"))
    );
    let detail = client.result("run_sample_detail", json!({"run": number, "number": 1}));
    let steps = detail["steps"].as_array().expect("steps");
    let find = steps.iter().find(|step| step["name"] == "find");
    let find = find.unwrap_or_else(|| panic!("{detail}"));
    assert_eq!(
        (&find["id"], &find["part"], &find["changes"][0]["after"]),
        (
            &id(&opened, "find"),
            &json!("post-processor"),
            &json!("t0p")
        )
    );
    assert_eq!(
        (&detail["before"]["token"], &detail["variables"]["token"]),
        (&Value::Null, &json!("t0p"))
    );
    let mut search = |text: &str| client.result("run_search", json!({"run": number, "text": text}));
    assert_eq!(search("\"TOKEN\""), json!([1]), "a body");
    assert_eq!(search("hello</P>"), json!([2]), "a body");
    assert_eq!(search("token=T0P"), json!([2]), "a request");
    assert_eq!(search("CHARSET=utf-8"), json!([1, 2]), "a header");
    assert_eq!(search("nowhere"), json!([]));
    // A page that is loaded again asks for what it was told.
    let runs = client.result("runs", json!({"plan": 1}));
    let told = json!([{"run": number, "kind": "to_here", "id": id(&opened, "Last"), "samples": samples, "outcome": outcome, "halted": null}]);
    assert_eq!(runs, told);
    let (samples, ..) = run(&mut client, of("Never", "branch"));
    assert_eq!(
        labels(&samples),
        Vec::<&str>::new(),
        "its own condition decides"
    );
    let (samples, ..) = run(&mut client, of("Other", "branch"));
    assert_eq!(labels(&samples), ["Other"]);
    let (samples, ..) = run(&mut client, of("Elsewhere", "group"));
    assert_eq!(labels(&samples), ["Elsewhere"]);
    // The plan is as it was.
    assert_eq!(
        client.result("text", json!({"plan": 1}))["text"],
        workshop.read("p.jmx")
    );
    // An element without a thread group runs with its plan only.
    let plan_id = id(&opened, "plan");
    let refused = client.ask("run", json!({"plan": 1, "id": plan_id, "kind": "this"}));
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
    let refused = client.ask("run", json!({"plan": 1, "kind": "all"}));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[test]
fn a_run_is_stopped_and_another_one_waits_for_it() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let slow = json!({"plan": 1, "id": id(&opened, "Slow"), "kind": "this"});
    let started = client.result("run", slow.clone());
    let busy = client.ask("run", slow.clone());
    assert_eq!(busy["error"]["code"], -32005, "{busy}");
    client.result("run_stop", json!({"run": started["run"]}));
    let ended = client.notified("run_ended");
    assert_eq!(
        (&ended["run"], &ended["outcome"]["ended"]),
        (&started["run"], &json!("stopped"))
    );
    let (samples, ..) = run(
        &mut client,
        json!({"plan": 1, "id": id(&opened, "Other"), "kind": "this"}),
    );
    assert_eq!(labels(&samples), ["Other"]);
}

#[test]
fn a_user_stands_still_at_breakpoints_and_goes_on_with_other_variables() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let (find, last) = (id(&opened, "find"), id(&opened, "Last"));
    let set = client.result("breakpoints", json!({"plan": 1, "ids": [find]}));
    assert_eq!(set, json!([find]));
    assert_eq!(client.notified("breakpoints")["ids"], json!([find]));
    let started = client.result(
        "run",
        json!({"plan": 1, "id": last, "kind": "to_here", "pace": "run", "variables": {"mine": "1"}}),
    );
    let run = started["run"].clone();
    let halted = client.notified("run_halted")["halted"].clone();
    assert_eq!(
        (&halted["id"], &halted["part"], &halted["variables"]["mine"]),
        (&find, &json!("post-processor"), &json!("1"))
    );
    assert_eq!(halted["variables"]["token"], Value::Null);
    let entry = client.result("runs", json!({"plan": 1}))[0].clone();
    assert_eq!(entry["halted"], halted, "a page that is loaded again");
    let mut go = |pace: &str, edits: Value| {
        let order = json!({"run": run, "pace": pace, "edits": edits});
        client.result("run_go", order);
        assert_eq!(client.notified("run_halted")["halted"], Value::Null);
        client.notified("run_halted")["halted"].clone()
    };
    let halted = go("sample", json!({"mine": null, "other": "2"}));
    assert_eq!(
        (&halted["id"], &halted["variables"]["token"]),
        (&last, &json!("t0p"))
    );
    assert_eq!(halted["variables"]["mine"], Value::Null);
    assert_eq!(halted["variables"]["other"], "2");
    let odd = client.ask("run_go", json!({"run": run, "pace": "back"}));
    assert_eq!(odd["error"]["code"], -32602, "{odd}");
    let go = json!({"run": run, "pace": "run", "edits": {"token": "mine"}});
    client.result("run_go", go);
    let ended = client.notified("run_ended");
    assert_eq!(ended["outcome"]["ended"], "done", "{ended}");
    let detail = client.result("run_sample_detail", json!({"run": run, "number": 2}));
    let url = detail["sample"]["url"].as_str();
    assert!(
        url.is_some_and(|url| url.ends_with("/last?token=mine")),
        "{detail}"
    );
    // Runs that are not debugged pass all breakpoints.
    client.result("breakpoints", json!({"plan": 1, "ids": [find, last]}));
    let order = json!({"plan": 1, "id": last, "kind": "to_here"});
    let (samples, outcome, _) = self::run(&mut client, order.clone());
    assert_eq!((samples.len(), &outcome["ended"]), (2, &json!("done")));
    // A breakpoint that is set while the user runs holds; the end of the run frees the user.
    client.result("breakpoints", json!({"plan": 1, "ids": []}));
    let mut stepped = order;
    stepped["pace"] = json!("step");
    let started = client.result("run", stepped);
    client.result("breakpoints", json!({"plan": 1, "ids": [last]}));
    let go = json!({"run": started["run"], "pace": "run"});
    client.result("run_go", go);
    let halted_at = loop {
        let told = client.notified("run_halted");
        if told["run"] == started["run"] && told["halted"]["id"] == last {
            break told["halted"]["name"].clone();
        }
    };
    assert_eq!(halted_at, "Last");
    client.result("run_stop", json!({"run": started["run"]}));
    let ended = loop {
        let ended = client.notified("run_ended");
        if ended["run"] == started["run"] {
            break ended;
        }
    };
    assert_eq!(ended["outcome"]["ended"], "stopped", "{ended}");
}

#[test]
fn expressions_are_tried_on_the_body_of_a_sample() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let order = json!({"plan": 1, "id": id(&opened, "Log in"), "kind": "this"});
    let (_, _, run) = run(&mut client, order);
    let mut test = |kind: &str, expression: &str| {
        let asked = json!({"run": run, "number": 1, "kind": kind, "expression": expression});
        client.ask("run_test", asked)
    };
    assert_eq!(test("jsonpath", "$.token")["result"], json!(["t0p"]));
    assert_eq!(test("boundary", "\": \"...\"")["result"], json!(["t0p"]));
    assert_eq!(test("regex", "t(.)p")["result"], json!(["0"]));
    for (kind, expression) in [("regex", "("), ("sql", "a")] {
        let refused = test(kind, expression);
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
}

#[test]
fn extractors_of_a_text_are_proved_on_all_responses_and_inserted_with_their_variable() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |request| {
        let body = match request.target.as_str() {
            "/login" => format!(
                r#"{{"id": 7, "token": "s{}t"}}"#,
                count.fetch_add(1, Ordering::Relaxed)
            ),
            _ => "fine".to_owned(),
        };
        let fields = "Content-Type: application/json\r\n";
        vec![ResponseStep::Send(respond("200 OK", fields, &body))]
    });
    let port = server.address().port().to_string();
    let sampler = |name: &str, path: &str| {
        http(
            name,
            &[("domain", "127.0.0.1"), ("port", &port), ("path", path)],
        )
    };
    let own = [
        sampler("Before", "/before?token=old"),
        sampler("Log in", "/login"),
        sampler("Goods", "/goods?token=old&amp;id=7"),
        sampler("Pay", "/pay?TOKEN=old"),
        sampler("Cold", "/cold"),
    ];
    let other = users(1, 1, "", &sampler("Else", "/else?token=old"));
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&(users(1, 1, "", &own.concat()) + &other)));
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let login = id(&opened, "Log in");
    let order = json!({"plan": 1, "id": login, "kind": "this"});
    run(&mut client, order.clone());
    let (_, _, number) = run(&mut client, order);
    let asked = json!({"run": number, "number": 1, "text": "s1t"});
    let found = client.result("run_propose", asked.clone());
    let json_path = found["proposals"][0].clone();
    assert_eq!(
        (
            &json_path["kind"],
            &json_path["expression"],
            &json_path["name"]
        ),
        (&json!("JSON"), &json!("$.token"), &json!("token"))
    );
    let yields =
        json!([{"run": 1, "number": 1, "value": "s0t"}, {"run": 2, "number": 1, "value": "s1t"}]);
    for proposal in found["proposals"].as_array().expect("proposals") {
        assert_eq!(proposal["found"], yields, "{proposal}");
    }
    // Today's token is sent nowhere; that of the recording is, after the log-in.
    let sent = found["sent"].as_array().expect("values");
    assert_eq!(
        (sent.len(), &sent[0]["value"]),
        (1, &json!("old")),
        "{found}"
    );
    let places = sent[0]["uses"].as_array().expect("places").iter();
    let places: Vec<&Value> = places.map(|place| &place["id"]).collect();
    assert_eq!(places, [&id(&opened, "Goods"), &id(&opened, "Pay")]);
    let id_of_seven = json!({"run": number, "number": 1, "text": "7", "name": "goods"});
    let seven = client.result("run_propose", id_of_seven);
    assert_eq!(seven["proposals"][0]["name"], "goods");
    assert_eq!(seven["sent"][0]["value"], "7");
    let order = json!({"plan": 1, "id": login, "element": json_path["element"], "name": "token", "value": "old"});
    let change = client.result("extract_value", order);
    assert_eq!(change["can_undo"], "Extract token, sent 2 times");
    assert_eq!(change["created"].as_array().map(Vec::len), Some(1));
    // A second variable has a name of its own.
    let again = client.result("run_propose", asked);
    assert_eq!(again["proposals"][0]["name"], "token_2");
    let (samples, ..) = run(&mut client, json!({"plan": 1, "kind": "plan"}));
    let urls = samples.iter().filter_map(|sample| sample["url"].as_str());
    let mut targets: Vec<&str> = urls.filter_map(|url| url.split(&port).nth(1)).collect();
    targets.sort_unstable();
    let expected = [
        "/before?token=old",
        "/cold",
        "/else?token=old",
        "/goods?token=s2t&id=7",
        "/login",
        "/pay?TOKEN=s2t",
    ];
    assert_eq!(targets, expected);
    client.result("undo", json!({"plan": 1}));
    let text = client.result("text", json!({"plan": 1}))["text"].clone();
    assert_eq!(text, workshop.read("p.jmx"));
    let nothing = json!({"run": number, "number": 1, "text": "nowhere"});
    assert_eq!(
        client.result("run_propose", nothing)["proposals"],
        json!([])
    );
    let odd = json!({"plan": 1, "id": login, "element": "odd", "name": "a", "value": "b"});
    let refused = client.ask("extract_value", odd);
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}

#[test]
fn a_plan_runs_with_its_load_and_ends_with_the_editor() {
    let server = server();
    let workshop = workshop(&server);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let slow = id(&opened, "Slow");
    let change = json!({"plan": 1, "ids": [slow], "enabled": false});
    client.result("enable", change);
    let dirty = client.ask("load", json!({"plan": 1}));
    assert_eq!(dirty["error"]["code"], -32002, "{dirty}");
    client.result("save", json!({"plan": 1}));
    let load = client.result("load", json!({"plan": 1}));
    let url = load["url"].as_str().expect("an address").to_owned();
    assert_eq!(client.notified("load_started")["url"], *url);
    assert_eq!(client.result("load_state", json!({"plan": 1})), load);
    let busy = client.ask("load", json!({"plan": 1}));
    assert_eq!(busy["error"]["code"], -32005, "{busy}");
    let is_there = || ureq::get(&url).call().is_ok();
    assert!(is_there());
    client.result("load_stop", json!({"plan": 1}));
    client.notified("load_ended");
    assert!(!is_there());
    let state = client.result("load_state", json!({"plan": 1}));
    assert_eq!(state, Value::Null);
    // A plan that cannot run says why.
    let odd = json!({"plan": 1, "id": id(&opened, "Last"), "property": "HTTPSampler.port", "value": "99999"});
    client.result("set", odd);
    client.result("save", json!({"plan": 1}));
    let refused = client.ask("load", json!({"plan": 1}));
    assert_eq!(refused["error"]["code"], -32006, "{refused}");
    let why = refused["error"]["message"].as_str();
    assert!(why.is_some_and(|why| why.contains("99999")), "{refused}");
    client.result("undo", json!({"plan": 1}));
    client.result("save", json!({"plan": 1}));
    let load = client.result("load", json!({"plan": 1}));
    let url = load["url"].as_str().expect("an address").to_owned();
    // The input ends, and with it the editor and the run.
    drop(client);
    let until = Instant::now() + Duration::from_secs(30);
    while ureq::get(&url).call().is_ok() {
        assert!(Instant::now() < until, "the run goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn bodies_that_a_killed_editor_left_are_removed_at_the_next_start() {
    let server = server();
    let workshop = workshop(&server);
    let folder = workshop.path(".local/state/drumfire/edit/runs");
    let bodies = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    run(
        &mut client,
        json!({"plan": 1, "id": id(&opened, "Last"), "kind": "to_here", "variables": {"token": "1"}}),
    );
    assert_eq!(bodies(), 1);
    // Those of an editor that goes on stay.
    let mut other = Client::start(&workshop);
    other.result("files", json!({}));
    assert_eq!(bodies(), 1);
    client.kill();
    assert_eq!(bodies(), 1);
    let mut next = Client::start(&workshop);
    next.result("files", json!({}));
    assert_eq!(bodies(), 0);
}

#[test]
fn jmeters_properties_of_validation_are_read() {
    let server = server();
    let workshop = workshop(&server);
    workshop.write(
        "drumfire.toml",
        "[properties]\n\"testplan_validation.nb_threads_per_thread_group\" = \"2\"\n\"testplan_validation.number_iterations\" = \"3\"\n",
    );
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let (samples, ..) = run(
        &mut client,
        json!({"plan": 1, "id": id(&opened, "Other"), "kind": "this"}),
    );
    assert_eq!(samples.len(), 6, "{samples:?}");
    assert!(samples.iter().any(|sample| sample["iteration"] == 3));
}

#[test]
fn a_selection_moves_to_a_fragment_or_another_plan_and_still_runs() {
    let server = server();
    let workshop = workshop(&server);
    let before = workshop.read("p.jmx");
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let slow = id(&opened, "Slow");
    client.result("remove", json!({"plan": 1, "ids": [slow]}));
    let text = |client: &mut Client| client.result("text", json!({"plan": 1}))["text"].clone();
    let without = text(&mut client);
    let whole = json!({"plan": 1, "kind": "plan"});
    let (samples, ..) = run(&mut client, whole.clone());
    let sorted = |samples: &[Value]| {
        let mut labels: Vec<String> = labels(samples).into_iter().map(str::to_owned).collect();
        labels.sort();
        labels
    };
    let expected = sorted(&samples);
    assert_eq!(expected, ["Elsewhere", "Last", "Log in"]);
    let ids = json!([id(&opened, "Log in"), id(&opened, "Last")]);
    let change = client.result("extract", json!({"plan": 1, "ids": ids, "name": "Visit"}));
    assert_eq!(
        change["removed"],
        json!([]),
        "the elements keep their numbers"
    );
    let created = change["created"].as_array().expect("new elements").clone();
    let types: Vec<&Value> = change["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .filter(|node| created.contains(&node["id"]))
        .map(|node| &node["type"])
        .collect();
    assert_eq!(types, ["Module Controller", "Test Fragment"]);
    let (samples, ..) = run(&mut client, whole.clone());
    assert_eq!(sorted(&samples), expected);
    // An element of the fragment runs alone too, and so does the Module Controller.
    let (samples, ..) = run(
        &mut client,
        json!({"plan": 1, "id": id(&opened, "Last"), "kind": "this"}),
    );
    assert_eq!(labels(&samples), ["Last"]);
    let (samples, ..) = run(
        &mut client,
        json!({"plan": 1, "id": created[0], "kind": "this"}),
    );
    assert_eq!(labels(&samples), ["Log in", "Last"]);
    client.result("undo", json!({"plan": 1}));
    assert_eq!(text(&mut client), without);
    let order = json!({"plan": 1, "ids": ids, "path": "visit.jmx"});
    let change = client.result("move_to_file", order.clone());
    assert_eq!(
        change["can_undo"],
        "Move 2 elements into visit.jmx; the file stays"
    );
    let (samples, ..) = run(&mut client, whole);
    assert_eq!(sorted(&samples), expected);
    let moved = client.result("open", json!({"path": "visit.jmx"}));
    let names: Vec<&Value> = moved["nodes"]
        .as_array()
        .expect("nodes")
        .iter()
        .map(|node| &node["name"])
        .collect();
    assert_eq!(names, ["Log in", "Log in", "Log in", "find", "Last"]);
    client.result("undo", json!({"plan": 1}));
    assert_eq!(text(&mut client), without);
    let again = client.ask("move_to_file", order);
    assert_eq!(again["error"]["code"], -32003, "{again}");
    for path in ["../visit.jmx", "/visit.jmx", "visit.txt", ""] {
        let refused = client.ask("move_to_file", json!({"plan": 1, "ids": ids, "path": path}));
        assert_eq!(refused["error"]["code"], -32602, "{path}: {refused}");
    }
    client.result("undo", json!({"plan": 1}));
    assert_eq!(text(&mut client), before);
}

#[test]
fn a_session_that_only_reads_sees_what_others_save() {
    let server = server();
    let workshop = workshop(&server);
    let mut writer = Client::start(&workshop);
    let opened = writer.result("open", json!({"path": "p.jmx"}));
    let mut reader = Client::start(&workshop);
    assert_eq!(
        reader.result("open", json!({"path": "p.jmx"}))["read_only"],
        true
    );
    std::thread::sleep(Duration::from_millis(20));
    let last = id(&opened, "Last");
    writer.result(
        "set",
        json!({"plan": 1, "id": last, "property": "HTTPSampler.path", "value": "/new"}),
    );
    writer.result("save", json!({"plan": 1}));
    let seen = reader.notified("changed");
    assert_eq!(
        (&seen["change"]["dirty"], &seen["change"]["nodes"][0]["id"]),
        (&json!(false), &last)
    );
    let text = reader.result("text", json!({"plan": 1}))["text"].clone();
    assert_eq!(text, workshop.read("p.jmx"));
    let refused = reader.ask("undo", json!({"plan": 1}));
    assert_eq!(refused["error"]["code"], -32002, "{refused}");
}

fn git(folder: &Path, words: &[&str]) -> bool {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]);
    git.args(words).current_dir(folder).stdout(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}

#[test]
fn elements_show_what_changed_since_the_last_commit() {
    let server = server();
    let workshop = workshop(&server);
    let folder = workshop.path("");
    if !git(&folder, &["init", "-q"]) {
        println!("skipped: git is missing");
        return;
    }
    assert!(git(&folder, &["add", "p.jmx"]) && git(&folder, &["commit", "-q", "-m", "a"]));
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    client.notified("findings");
    let last = id(&opened, "Last");
    client.result(
        "set",
        json!({"plan": 1, "id": last, "property": "HTTPSampler.path", "value": "/new"}),
    );
    let marks = client.notified("marks");
    assert_eq!(
        (&marks["added"], &marks["changed"]),
        (&json!([]), &json!([last]))
    );
    let copied = client.result(
        "duplicate",
        json!({"plan": 1, "ids": [id(&opened, "Other")]}),
    );
    let marks = client.notified("marks");
    assert_eq!(
        marks["added"].as_array().map(Vec::len),
        Some(1),
        "{marks} {copied}"
    );
    let node = client.result("element", json!({"plan": 1, "id": last}))["node"].clone();
    assert_eq!(node["git"], "changed");
    // A renamed element is a changed one.
    client.result("undo", json!({"plan": 1}));
    client.result("undo", json!({"plan": 1}));
    client.result("rename", json!({"plan": 1, "id": last, "name": "End"}));
    let renamed = loop {
        let marks = client.notified("marks");
        if marks["revision"].as_u64() >= Some(6) {
            break marks;
        }
    };
    assert_eq!(
        (&renamed["added"], &renamed["changed"]),
        (&json!([]), &json!([last]))
    );
}
