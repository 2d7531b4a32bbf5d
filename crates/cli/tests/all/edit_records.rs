//! `drumfire edit` records visits into a plan: through the proxy, and in a Chromium where there is one.

use std::net::{SocketAddr, TcpStream};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{http, plan, users};
use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server};
use serde_json::{Value, json};

use crate::edit::{Client, id};
use crate::recorded::has_chromium;
use crate::recorded::like::{get, send};

/// The values that the shop gave last, and how many it has given.
#[derive(Default)]
struct Given {
    count: u64,
    csrf: String,
    token: String,
    cart: String,
}

impl Given {
    /// A value that looks as if a server had made it, and is another one each time.
    fn fresh(&mut self, prefix: u64) -> String {
        self.count += 1;
        let mixed = (self.count + prefix).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{mixed:016x}")
    }
}

/// A shop whose steps need the values that its last answers gave.
fn shop() -> Server {
    let given = Mutex::new(Given::default());
    Server::start(move |request| {
        let mut given = given.lock().expect("no test has failed within");
        let (status, fields, body) = answer(request, &mut given);
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {length}\r\n\r\n");
        vec![ResponseStep::Send((head + &body).into_bytes())]
    })
}

fn answer(request: &ReceivedRequest, given: &mut Given) -> (&'static str, &'static str, String) {
    const HTML: &str = "Content-Type: text/html\r\nSet-Cookie: visit=1; Path=/\r\n";
    const JSON: &str = "Content-Type: application/json\r\n";
    let body = String::from_utf8_lossy(&request.body);
    let target = request.target.as_str();
    let path = target.split('?').next().unwrap_or_default();
    let denied = ("403 Forbidden", JSON, r#"{"error": "denied"}"#.to_owned());
    let bearer = format!("Bearer {}", given.token);
    match path {
        "/login" if request.method == "GET" => {
            given.csrf = given.fresh(10);
            let form = format!(
                r#"<form><input type="hidden" name="csrf" value="{}"></form>"#,
                given.csrf
            );
            ("200 OK", HTML, form)
        }
        "/login" if !body.contains(&given.csrf) => denied,
        "/login" => {
            (given.token, given.cart) = (given.fresh(20), given.fresh(30));
            let body = format!(
                r#"{{"token": "{}", "cart": "{}"}}"#,
                given.token, given.cart
            );
            ("200 OK", JSON, body)
        }
        "/logo.png" => ("200 OK", "Content-Type: image/png\r\n", "x".to_owned()),
        "/cart" if !body.contains(&given.cart) => denied,
        "/items" | "/cart" if request.header("Authorization") != Some(&bearer) => denied,
        _ => ("200 OK", JSON, "{}".to_owned()),
    }
}

/// A controller in a thread group, between two requests.
fn workshop() -> Workshop {
    let here = r#"<GenericController guiclass="LogicControllerGui" testclass="GenericController" testname="Here"/><hashTree/>
"#;
    let around = [http("Before", &[]), here.to_owned(), http("After", &[])];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&users(1, 1, "", &around.concat())));
    workshop
}

/// The recording in the next notification in which `is_wanted` holds.
fn told(client: &mut Client, is_wanted: impl Fn(&Value) -> bool) -> Value {
    loop {
        let recording = client.notified("record_changed")["recording"].clone();
        if is_wanted(&recording) {
            return recording;
        }
    }
}

fn text(client: &mut Client) -> String {
    let text = client.result("text", json!({"plan": 1}))["text"].clone();
    text.as_str().expect("a text").to_owned()
}

/// Visits the shop through the proxy, as a client that sends back what it was given.
fn visit(proxy: SocketAddr, site: SocketAddr) {
    let url = |path: &str| format!("http://{site}{path}");
    let part = |text: &str, before: &str| {
        let (_, rest) = text
            .split_once(before)
            .unwrap_or_else(|| panic!("{before}: {text}"));
        rest.split('"').next().expect("an end").to_owned()
    };
    let post = |path: &str, fields: &str, body: &str| {
        let length = body.len();
        let rest = format!("{fields}Content-Length: {length}\r\n\r\n{body}");
        send(proxy, "POST", &url(path), &rest)
    };
    let csrf = part(&get(proxy, &url("/login")), "value=\"");
    get(proxy, &url("/logo.png"));
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let session = post("/login", form, &format!("csrf={csrf}&user=ann"));
    let (token, cart) = (
        part(&session, "\"token\": \""),
        part(&session, "\"cart\": \""),
    );
    let bearer = format!("Authorization: Bearer {token}\r\n");
    let items = send(proxy, "GET", &url("/items"), &format!("{bearer}\r\n"));
    assert!(items.starts_with("HTTP/1.1 200"), "{items}");
    let json = format!("{bearer}Content-Type: application/json\r\n");
    let cart = post("/cart", &json, &format!("{{\"cart\": \"{cart}\"}}"));
    assert!(cart.starts_with("HTTP/1.1 200"), "{cart}");
}

/// Records a visit into the controller. Returns the recording that is over.
fn recorded(client: &mut Client, into: &Value, site: SocketAddr) -> Value {
    let order = json!({"plan": 1, "into": into, "settings": {"port": 0}});
    let recording = client.result("record", order.clone());
    assert_eq!(
        (&recording["state"], &recording["certificate"]),
        (&json!("recording"), &Value::Null)
    );
    let busy = client.ask("record", order);
    assert_eq!(busy["error"]["code"], -32005, "{busy}");
    let number = recording["recording"].clone();
    let proxy = recording["address"]
        .as_str()
        .expect("an address")
        .parse()
        .expect("an address");
    client.result("record_name", json!({"recording": number, "name": "Shop"}));
    told(client, |recording| recording["name"] == "Shop");
    visit(proxy, site);
    client.result("record_pause", json!({"recording": number, "paused": true}));
    told(client, |recording| recording["state"] == "paused");
    get(proxy, &format!("http://{site}/while-paused"));
    client.result("record_stop", json!({"recording": number}))
}

#[test]
fn a_visit_is_recorded_into_a_controller_in_one_step() {
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let before = text(&mut client);
    assert_eq!(
        client.result("record_state", json!({"plan": 1})),
        Value::Null
    );
    let done = recorded(&mut client, &id(&opened, "Here"), shop.address());
    assert_eq!(
        (&done["state"], &done["requests"]),
        (&json!("done"), &json!(4)),
        "{done}"
    );
    let left_out = json!([
        "images, scripts and style sheets, which pages load as embedded resources: 1",
        "requests while the recording was paused: 1",
    ]);
    assert_eq!(done["left_out"], left_out);
    // The page may be loaded again: everything is there.
    let state = client.result("record_state", json!({"plan": 1}));
    assert_eq!(state["recording"], done);
    let rows = state["rows"].as_array().expect("rows");
    let seen: Vec<(&str, u64, bool)> = rows
        .iter()
        .map(|row| {
            let url = row["url"].as_str().expect("a text");
            let path = url.rsplit('/').next().expect("a path");
            let status = row["status"].as_u64().expect("a number");
            (path, status, row["left_out"].is_null())
        })
        .collect();
    let expected = [
        ("login", 200, true),
        ("logo.png", 200, false),
        ("login", 200, true),
        ("items", 200, true),
        ("cart", 200, true),
        ("while-paused", 200, false),
    ];
    assert_eq!(seen, expected);
    assert!(
        rows.iter().all(|row| row["bytes"].as_u64() > Some(0)),
        "{rows:?}"
    );
    let after = text(&mut client);
    let start = before.find("testname=\"Here\"").expect("it is there");
    let at = start + before[start..].find("<hashTree/>").expect("it is empty");
    assert_eq!(after[..at], before[..at]);
    assert!(
        after.ends_with(&before[at + "<hashTree/>".len()..]),
        "{after}"
    );
    for part in [
        "testname=\"Shop\"",
        "testname=\"GET /items\"",
        "CookieManager",
        "Bearer ",
    ] {
        assert!(after[at..].contains(part), "{part}: {after}");
    }
    let undone = client.result("undo", json!({"plan": 1}));
    assert_eq!(undone["can_redo"], "Record into Here");
    assert_eq!(text(&mut client), before);
    client.result("redo", json!({"plan": 1}));
    assert_eq!(text(&mut client), after);
}

#[test]
fn proposals_are_proved_and_accepted_one_by_one() {
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let here = id(&opened, "Here");
    let done = recorded(&mut client, &here, shop.address());
    let number = done["recording"].clone();
    let proposals = done["proposals"].as_array().expect("proposals").clone();
    let of = |name: &str| {
        let found = proposals.iter().find(|one| one["variable"] == name);
        found
            .unwrap_or_else(|| panic!("{name}: {proposals:?}"))
            .clone()
    };
    assert_eq!(proposals.len(), 3, "{proposals:?}");
    let (csrf, token, cart) = (of("csrf"), of("token"), of("cart"));
    assert_eq!(
        (&csrf["kind"], &token["kind"]),
        (&json!("CSS selector"), &json!("JSON"))
    );
    assert_eq!(
        (&token["expression"], &token["proof"]),
        (&json!("$.token"), &json!("recording"))
    );
    assert_eq!(token["used_in"].as_array().map(Vec::len), Some(2));
    // Two replays prove all of them.
    client.result("record_verify", json!({"recording": number}));
    let proved = told(&mut client, |told| {
        told["proposals"][0]["proof"] != "recording"
    });
    let proofs: Vec<&Value> = (0..3).map(|at| &proved["proposals"][at]["proof"]).collect();
    assert_eq!(proofs, ["replays"; 3], "{proved}");
    assert_eq!(proved["remarks"], json!([]));
    // The recording of another visit proves nothing; a file that is not there is told at once.
    let entry = json!({"request": {"method": "GET", "url": "http://127.0.0.1:1/other"}, "response": {"status": 200}});
    let other = json!({"log": {"entries": [entry]}});
    workshop.write("other.har", other.to_string());
    client.result(
        "record_verify",
        json!({"recording": number, "har": "other.har"}),
    );
    let told_of_other = told(&mut client, |told| told["remarks"] != json!([]));
    let remark = told_of_other["remarks"][0].as_str().unwrap_or_default();
    assert!(remark.contains("another visit"), "{told_of_other}");
    let nothing = client.ask(
        "record_verify",
        json!({"recording": number, "har": "none.har"}),
    );
    assert_eq!(nothing["error"]["code"], -32003, "{nothing}");
    let before = text(&mut client);
    let value = |one: &Value| one["value"].as_str().expect("a text").to_owned();
    let accept = |one: &Value| json!({"recording": number, "number": one["number"]});
    // One proposal replaces its own value, and no other.
    let mut named = accept(&token);
    named["name"] = json!("bearer");
    client.result("record_accept", named);
    let told_now = told(&mut client, |told| {
        !told["proposals"][1]["extractor"].is_null() || !told["proposals"][2]["extractor"].is_null()
    });
    let accepted = told_now["proposals"].as_array().expect("proposals");
    assert_eq!(
        accepted
            .iter()
            .filter(|one| !one["extractor"].is_null())
            .count(),
        1
    );
    let with_token = text(&mut client);
    assert_eq!(with_token.matches("Bearer ${bearer}").count(), 2);
    assert!(!with_token.contains(&value(&token)));
    assert!(with_token.contains(&value(&cart)) && with_token.contains(&value(&csrf)));
    client.result("undo", json!({"plan": 1}));
    assert_eq!(text(&mut client), before);
    client.result("redo", json!({"plan": 1}));
    assert_eq!(text(&mut client), with_token);
    let again = client.ask("record_accept", accept(&token));
    assert_eq!(again["error"]["code"], -32002, "{again}");
    // A refused proposal stays in the list, and changes nothing.
    client.result(
        "record_refuse",
        json!({"recording": number, "number": cart["number"], "refused": true}),
    );
    assert_eq!(text(&mut client), with_token);
    // A change that the user made meanwhile is not overwritten.
    let sender = &csrf["used_in"][0];
    let value_of = "HTTPsampler.Arguments/Arguments.arguments/0/Argument.value";
    client.result(
        "set",
        json!({"plan": 1, "id": sender, "property": value_of, "value": "mine"}),
    );
    let changed = client.ask("record_accept", accept(&csrf));
    assert!(
        changed["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("was changed")),
        "{changed}"
    );
    assert_eq!(changed["error"]["data"]["property"], value_of);
    client.result("undo", json!({"plan": 1}));
    client.result("record_accept", accept(&csrf));
    client.result("record_accept", accept(&cart));
    // The plan runs with today's values.
    client.result("run", json!({"plan": 1, "kind": "branch", "id": here}));
    let ended = client.notified("run_ended");
    assert_eq!(
        (&ended["outcome"]["failed"], &ended["outcome"]["samples"]),
        (&json!(0), &json!(4)),
        "{ended}"
    );
    // Closed, it is forgotten; the plan keeps the requests.
    let all = text(&mut client);
    client.result("record_close", json!({"recording": number}));
    assert_eq!(
        client.result("record_state", json!({"plan": 1})),
        Value::Null
    );
    assert_eq!(text(&mut client), all);
}

#[test]
fn a_recording_ends_with_its_plan_which_keeps_the_requests() {
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let order = json!({"plan": 1, "into": id(&opened, "Here"), "settings": {"port": 0}});
    let recording = client.result("record", order);
    let proxy = recording["address"]
        .as_str()
        .and_then(|one| one.parse().ok());
    let proxy: SocketAddr = proxy.expect("an address");
    visit(proxy, shop.address());
    client.result("close", json!({"plan": 1}));
    assert!(
        TcpStream::connect(proxy).is_err(),
        "the proxy listens after the end"
    );
    let again = client.result("open", json!({"path": "p.jmx"}));
    assert_eq!(again["can_undo"], "Record into Here");
    id(&again, "GET /items");
}

#[test]
fn a_recording_ends_with_the_program_and_its_requests_are_there_again() {
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let settings = json!({"port": 0, "domains": ["shop.example"]});
    let order = json!({"plan": 1, "into": id(&opened, "Here"), "settings": settings});
    let recording = client.result("record", order);
    let certificate = recording["certificate"].as_str().expect("a certificate");
    assert!(
        certificate.contains("ca.pem for shop.example"),
        "{certificate}"
    );
    assert_eq!(recording["is_new"], true);
    let proxy: SocketAddr = recording["address"]
        .as_str()
        .and_then(|one| one.parse().ok())
        .expect("an address");
    let pem = get(proxy, "/ca.pem?/proxy");
    assert!(pem.contains("BEGIN CERTIFICATE"), "{pem}");
    visit(proxy, shop.address());
    client.end();
    assert!(
        TcpStream::connect(proxy).is_err(),
        "the proxy listens after the end"
    );
    let mut again = Client::start(&workshop);
    let opened = again.result("open", json!({"path": "p.jmx"}));
    assert_eq!(
        (&opened["dirty"], &opened["can_undo"]),
        (&json!(true), &json!("Record into Here"))
    );
    assert!(text(&mut again).contains("GET /items"));
}

#[test]
fn wrong_orders_are_refused_before_anything_listens() {
    let workshop = workshop();
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let here = id(&opened, "Here");
    for (order, says) in [
        (json!({"into": id(&opened, "Before")}), "cannot hold"),
        (json!({"into": 999_999}), "no element"),
        (json!({"into": here, "settings": {"prot": 1}}), "`prot`"),
        (
            json!({"into": here, "settings": {"port": 99_999}}),
            "do not fit",
        ),
        (
            json!({"into": here, "settings": {"grouping": "all"}}),
            "`all` is none of `pages`",
        ),
        (
            json!({"into": here, "settings": {"naming": "x"}}),
            "`x` is none of `request`",
        ),
        (
            json!({"into": here, "url": "ftp://x"}),
            "is not an address of HTTP",
        ),
        (json!({"into": here, "browser": true}), "no page to open"),
    ] {
        let mut order = order;
        order["plan"] = json!(1);
        let refused = client.ask("record", order.clone());
        let message = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(says), "{order}: {refused}");
    }
    assert_eq!(
        client.result("record_state", json!({"plan": 1})),
        Value::Null
    );
    let offer = client.result("record_settings", json!({"plan": 1}));
    assert_eq!(
        (&offer["from"], &offer["settings"]["grouping"]),
        (&Value::Null, &json!("pages"))
    );
}

#[test]
fn a_recording_without_requests_changes_nothing_and_may_be_followed_by_another() {
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let here = id(&opened, "Here");
    let before = text(&mut client);
    let order = json!({"plan": 1, "into": here, "settings": {"port": 0}});
    let number = client.result("record", order)["recording"].clone();
    let failed = client.result("record_stop", json!({"recording": number}));
    assert_eq!(failed["state"], "failed");
    assert!(
        failed["message"]
            .as_str()
            .is_some_and(|why| why.contains("no request")),
        "{failed}"
    );
    assert_eq!(text(&mut client), before);
    // The element is removed while the recording goes on; its requests go elsewhere.
    let order = json!({"plan": 1, "into": here, "settings": {"port": 0}});
    let recording = client.result("record", order);
    let proxy = recording["address"]
        .as_str()
        .and_then(|one| one.parse().ok());
    visit(proxy.expect("an address"), shop.address());
    client.result("remove", json!({"plan": 1, "ids": [here]}));
    let number = recording["recording"].clone();
    let failed = client.result("record_stop", json!({"recording": number}));
    assert_eq!(failed["state"], "failed");
    let users = id(&opened, "users");
    let done = client.result("record_stop", json!({"recording": number, "into": users}));
    assert_eq!(
        (&done["state"], &done["requests"], &done["into"]),
        (&json!("done"), &json!(4), &users)
    );
}

#[test]
fn a_visit_in_chromium_is_recorded_until_its_scripts_have_run() {
    if !has_chromium() {
        return;
    }
    let (workshop, shop) = (workshop(), shop());
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let url = format!("http://{}/login", shop.address());
    client.result(
        "record",
        json!({
            "plan": 1,
            "into": id(&opened, "Here"),
            "browser": true,
            "headless": true,
            "url": url,
            "scripts": ["drumfire.step('Look')", "fetch('/look')"],
        }),
    );
    let done = told(&mut client, |told| {
        told["state"] == "done" || told["state"] == "failed"
    });
    assert_eq!(
        (&done["state"], &done["requests"]),
        (&json!("done"), &json!(2)),
        "{done}"
    );
    assert_eq!(
        (&done["address"], &done["name"]),
        (&Value::Null, &json!("Look"))
    );
    let text = text(&mut client);
    assert!(
        text.contains("GET /look") && text.contains("testname=\"Look\""),
        "{text}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn replays_end_with_the_plan() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    let hangs = Arc::new(AtomicBool::new(false));
    let told_server = hangs.clone();
    let slow = Server::start(move |_| {
        if told_server.load(Ordering::SeqCst) {
            return vec![ResponseStep::Hang];
        }
        let body = r#"{"token": "9f8e7d6c5b4a39281706"}"#;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        vec![ResponseStep::Send((head + body).into_bytes())]
    });
    let workshop = workshop();
    // The plan of a replay goes to a folder for temporary files.
    let folder = workshop.path("temporary").display().to_string();
    std::fs::create_dir(&folder).expect("a new folder");
    let workshop = workshop.variable("TMPDIR", &folder);
    let replays = || {
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let words = processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
        let replay = format!("{folder}/");
        let is_replay = |words: &Vec<u8>| {
            let words = String::from_utf8_lossy(words).into_owned();
            words.contains(&replay) && words.contains("replay.jmx")
        };
        words.filter(is_replay).count()
    };
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let order = json!({"plan": 1, "into": id(&opened, "Here"), "settings": {"port": 0}});
    let recording = client.result("record", order);
    let proxy = recording["address"]
        .as_str()
        .and_then(|one| one.parse().ok());
    let proxy: SocketAddr = proxy.expect("an address");
    let site = slow.address();
    get(proxy, &format!("http://{site}/login"));
    get(
        proxy,
        &format!("http://{site}/page?token=9f8e7d6c5b4a39281706"),
    );
    let number = recording["recording"].clone();
    let done = client.result("record_stop", json!({"recording": number}));
    assert_eq!(
        done["proposals"].as_array().map(Vec::len),
        Some(1),
        "{done}"
    );
    hangs.store(true, Ordering::SeqCst);
    client.result("record_verify", json!({"recording": number}));
    let until = Instant::now() + LIMIT;
    while replays() == 0 {
        assert!(Instant::now() < until, "no replay has begun");
        std::thread::sleep(Duration::from_millis(10));
    }
    client.result("close", json!({"plan": 1}));
    assert_eq!(replays(), 0);
}
