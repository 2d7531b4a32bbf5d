//! `drumfire debug`: what it shows of one user, as text and to a browser.

use std::io::Read as _;
use std::process::Child;
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{debug, http, pause, plan, users};
use drumfire_testkit::program::{LIMIT, Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server, respond};
use serde_json::{Value, json};

fn server() -> Server {
    Server::start(|request| {
        let body = match request.target.as_str() {
            "/login" => r#"{"token": "t0p-s3cret", "id": 7}"#,
            _ => "<p>Hello</p>",
        };
        let fields = "Content-Type: application/json\r\nSet-Cookie: sid=abc\r\n";
        vec![ResponseStep::Send(respond("200 OK", fields, body))]
    })
}

fn extractor(name: &str, variable: &str, expression: &str) -> String {
    format!(
        r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="{name}"><stringProp name="RegexExtractor.refname">{variable}</stringProp><stringProp name="RegexExtractor.regex">{expression}</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp><stringProp name="RegexExtractor.match_number">1</stringProp></RegexExtractor><hashTree/>
"#
    )
}

fn workshop(server: &Server) -> Workshop {
    let port = server.address().port().to_string();
    let at = |path| {
        [
            ("domain", "127.0.0.1"),
            ("port", port.as_str()),
            ("path", path),
        ]
    };
    let children = [
        extractor("find the token", "token", "&quot;token&quot;: &quot;(.+?)&quot;"),
        extractor("find the id", "id", "&quot;id&quot;: (\\d+)"),
        r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="is fine"><collectionProp name="Asserion.test_strings"><stringProp name="1">token</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/>"#.to_owned(),
    ];
    let login = http("Log in", &at("/login"));
    let login = login.replace(
        "<hashTree/>",
        &format!("<hashTree>{}</hashTree>", children.concat()),
    );
    let elements = [
        pause(1),
        login,
        http(
            "Page ${id}",
            &at("/page?u=${__threadNum}&amp;token=${token}"),
        ),
        debug("last"),
    ];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&users(5, 3, "", &elements.concat())));
    workshop
}

#[test]
fn one_iteration_of_one_user_is_printed_with_what_each_element_did() {
    let server = server();
    let workshop = workshop(&server);
    let finished = workshop.run(&["debug", "p.jmx", "--text"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for text in [
        "1  ✓ Log in  200 OK  ",
        "    < Set-Cookie: ***",
        r#"+ token = "***"  by find the token (RegexExtractor)"#,
        r#"+ id = "7"  by find the id (RegexExtractor)"#,
        "    ✓ is fine",
        "2  ✓ Page 7  200 OK  ",
        "    < <p>Hello</p>",
        "3  ✓ last  200 OK  ",
    ] {
        assert!(finished.out.contains(text), "{text}: {}", finished.out);
    }
    assert!(!finished.out.contains("t0p-s3cret"), "{}", finished.out);
    assert_eq!(server.requests().len(), 2);
    assert!(
        workshop
            .files()
            .iter()
            .all(|file| !file.contains("drumfire"))
    );
    let open = workshop.run(
        &[
            "debug",
            "p.jmx",
            "--text",
            "--show-secrets",
            "--samples",
            "1",
            "--user",
            "3",
        ],
        LIMIT,
    );
    assert!(
        open.out.contains("t0p-s3cret") && open.out.contains("(users 1-3)"),
        "{open:?}"
    );
    assert!(!open.out.contains("2  ✓"), "{open:?}");
}

/// A session in a browser.
struct Session {
    child: Child,
    place: String,
    token: String,
}

impl Session {
    fn start(workshop: &Workshop, more: &[&str]) -> Session {
        let words: Vec<&str> = ["debug", "p.jmx"].iter().chain(more).copied().collect();
        let mut child = workshop.start(&words);
        let out = child.stdout.as_mut().expect("it is a pipe");
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            out.read_exact(&mut byte).expect("the address is printed");
            line.push(byte[0]);
        }
        let line = String::from_utf8(line).expect("text");
        let url = line.trim().strip_prefix("debugger  ").expect("an address");
        let (place, token) = url.split_once("/?token=").expect("a token");
        Session {
            place: place.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let url = format!("{}/api/debug{path}?token={}", self.place, self.token);
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build();
        let agent: ureq::Agent = agent.into();
        let answer = match method {
            "GET" => agent.get(url).call(),
            _ => agent.post(url).send(body.to_string()),
        };
        let text = answer.expect("an answer").body_mut().read_to_string();
        serde_json::from_str(&text.expect("text")).expect("JSON")
    }

    fn until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + LIMIT;
        loop {
            let overview = self.ask("GET", "", &Value::Null);
            if is_so(&overview) {
                return overview;
            }
            assert!(Instant::now() < deadline, "{what}: {overview}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

#[test]
fn a_user_stops_at_a_breakpoint_and_goes_on_with_other_variables() {
    let server = server();
    let workshop = workshop(&server);
    let session = Session::start(&workshop, &["--break", "Page 7"]);
    let halted = session.until("the breakpoint", |overview| !overview["halted"].is_null());
    assert_eq!(halted["halted"]["part"], "sampler");
    let user = halted["halted"]["threadName"].as_str().expect("a name");
    assert!(
        halted["samples"][0]["threadName"] == user && user.contains(" 1-"),
        "{halted}"
    );
    assert_eq!(halted["halted"]["variables"]["id"], "7");
    assert_eq!(halted["halted"]["variables"]["token"], "***");
    let detail = session.ask("GET", "/samples/1", &Value::Null);
    assert_eq!(detail["sample"]["label"], "Log in");
    assert!(
        detail["sample"]["curl"]
            .as_str()
            .is_some_and(|text| text.starts_with("curl"))
    );
    let changes = detail["steps"].as_array().expect("steps").iter();
    let by: Vec<&str> = changes
        .filter(|step| {
            step["changes"]
                .as_array()
                .is_some_and(|all| !all.is_empty())
        })
        .filter_map(|step| step["name"].as_str())
        .collect();
    assert_eq!(by, ["find the token", "find the id"]);
    let test = |kind: &str, expression: &str| {
        let body = json!({"sample": 1, "kind": kind, "expression": expression});
        session.ask("POST", "/test", &body)
    };
    assert_eq!(test("jsonpath", "$.id")["found"], json!(["7"]));
    assert!(test("regex", "(")["error"].is_string());
    let edits = json!({"pace": "step", "edits": {"token": "mine", "new": "x"}});
    session.ask("POST", "/go", &edits);
    session.until("a step", |overview| overview["halted"]["name"] == "pause");
    let requests = server.requests();
    assert!(
        requests[1].target.ends_with("token=mine"),
        "{:?}",
        requests[1].target
    );
    session.ask("POST", "/go", &json!({"pace": "run"}));
    let over = session.until("the end", |overview| overview["over"] == true);
    assert_eq!(over["samples"].as_array().map(Vec::len), Some(3));
    let last = session.ask("GET", "/samples/3", &Value::Null);
    assert_eq!(last["variables"]["new"], "x");
    session.ask("POST", "/close", &json!({}));
    assert_eq!(finish(session.child, LIMIT).code, Some(0));
}

#[test]
fn the_end_of_a_run_frees_a_user_that_stands_still() {
    let server = server();
    let workshop = workshop(&server);
    let session = Session::start(&workshop, &["--step"]);
    session.until("the first element", |overview| {
        !overview["halted"].is_null()
    });
    session.ask("POST", "/close", &json!({}));
    let finished = finish(session.child, LIMIT);
    assert!(finished.code.is_some(), "{finished:?}");
}

#[test]
fn a_signal_ends_the_run_and_closes_the_page() {
    let server = server();
    let workshop = workshop(&server);
    let session = Session::start(&workshop, &["--step"]);
    session.until("the first element", |overview| {
        !overview["halted"].is_null()
    });
    let id = session.child.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-TERM", &id])
        .status();
    assert!(told.expect("kill is there").success());
    assert_eq!(finish(session.child, LIMIT).code, Some(143));
}
