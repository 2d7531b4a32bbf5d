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

/// A session in the editor's page.
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
        let url = line.trim().strip_prefix("editor  ").expect("an address");
        let (place, token) = url.split_once("/?token=").expect("a token");
        Session {
            place: place.to_owned(),
            token: token.to_owned(),
            child,
        }
    }

    /// The result of a method of the editor's protocol.
    fn ask(&self, method: &str, parameters: &Value) -> Value {
        let url = format!("{}/rpc?token={}", self.place, self.token);
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters});
        let mut answer = ureq::post(url)
            .content_type("application/json")
            .send(message.to_string())
            .expect("an answer");
        let answer = answer.body_mut().read_to_string().expect("text");
        let mut answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].take()
    }

    /// The run, once it is so.
    fn until(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + LIMIT;
        loop {
            let mut runs = self.ask("runs", &json!({"plan": 1}));
            let run = runs[0].take();
            if is_so(&run) {
                return run;
            }
            assert!(Instant::now() < deadline, "{what}: {run}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn go(&self, pace: &str, edits: &Value) {
        let parameters = json!({"run": 1, "pace": pace, "edits": edits});
        self.ask("run_go", &parameters);
    }
}

#[test]
fn a_user_stops_at_a_named_element_and_goes_on_with_other_variables() {
    let server = server();
    let workshop = workshop(&server);
    let session = Session::start(&workshop, &["--break", "Page ${id}", "--user", "2"]);
    let stopped = session.until("the breakpoint", |run| !run["halted"].is_null());
    assert_eq!(stopped["halted"]["part"], "sampler");
    let user = stopped["halted"]["thread"].as_str().expect("a name");
    assert!(user.ends_with("1-2"), "{stopped}");
    assert_eq!(stopped["halted"]["variables"]["id"], "7");
    session.go("step", &json!({"token": "mine"}));
    session.until("a step", |run| run["halted"]["name"] == "pause");
    let requests = server.requests();
    assert!(
        requests[1].target.ends_with("u=2&token=mine"),
        "{:?}",
        requests[1].target
    );
    session.go("run", &json!({}));
    let over = session.until("the end", |run| !run["outcome"].is_null());
    assert_eq!(over["samples"].as_array().map(Vec::len), Some(3));
    end(session);
}

#[test]
fn options_behind_the_dashes_set_properties_and_the_load_of_the_page() {
    let server = server();
    let workshop = workshop(&server);
    let more = ["--samples", "4", "--", "--iterations", "3"];
    let session = Session::start(&workshop, &more);
    let over = session.until("the end", |run| !run["outcome"].is_null());
    assert_eq!(over["samples"].as_array().map(Vec::len), Some(4), "{over}");
    end(session);
    let refused = workshop.run(&["debug", "p.jmx", "--", "-l", "out.jtl"], LIMIT);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("add `--text`"), "{refused:?}");
    let refused = workshop.run(&["debug", "p.jmx", "--break", "Pag"], LIMIT);
    assert!(
        refused.err.contains("no element has the name `Pag`"),
        "{refused:?}"
    );
}

#[test]
fn a_signal_ends_a_run_that_stands_still() {
    let server = server();
    let workshop = workshop(&server);
    let session = Session::start(&workshop, &["--step"]);
    session.until("the first element", |run| !run["halted"].is_null());
    end(session);
}

/// Ends a session as Ctrl-C does.
fn end(session: Session) {
    let id = session.child.id().to_string();
    let told = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(told.expect("kill is there").success());
    assert_eq!(finish(session.child, LIMIT).code, Some(0));
}
