//! `drumfire edit`, driven over standard input and output and over HTTP.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{http, pause, plan, users};
use drumfire_testkit::program::{LIMIT, Workshop};
use serde_json::{Value, json};

/// A program of `drumfire edit --stdio`.
pub struct Client {
    program: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    /// Notifications that came before answers.
    told: Vec<Value>,
    next: u64,
}

impl Client {
    pub fn start(workshop: &Workshop) -> Client {
        let (program, input, output) = workshop.converse(&["edit", "--stdio"]);
        let (send, messages) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                let Ok(line) = line else { return };
                let message = serde_json::from_str(&line).expect("each line is a message");
                if send.send(message).is_err() {
                    return;
                }
            }
        });
        Client {
            program,
            input,
            messages,
            told: Vec::new(),
            next: 1,
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.input, "{line}").expect("the program reads");
    }

    /// The whole answer to a request.
    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.next;
        self.next += 1;
        self.line(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        self.answer(&json!(id))
    }

    fn answer(&mut self, id: &Value) -> Value {
        loop {
            let message = self.messages.recv_timeout(LIMIT).expect("an answer");
            if message.get("method").is_some() {
                self.told.push(message);
            } else {
                assert_eq!(&message["id"], id, "{message}");
                return message;
            }
        }
    }

    pub fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The parameters of the next notification of a method.
    pub fn notified(&mut self, method: &str) -> Value {
        if let Some(at) = self.told.iter().position(|told| told["method"] == method) {
            return self.told.remove(at)["params"].clone();
        }
        let until = Instant::now() + LIMIT;
        loop {
            match self
                .messages
                .recv_timeout(until.saturating_duration_since(Instant::now()))
            {
                Ok(message) if message["method"] == method => return message["params"].clone(),
                Ok(message) => self.told.push(message),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    panic!("no {method}: {:?}", self.told)
                }
            }
        }
    }

    /// Ends the input, and waits for the end of the program.
    pub fn end(self) {
        let Client {
            mut program, input, ..
        } = self;
        drop(input);
        program.wait().expect("it ends");
    }

    pub fn kill(mut self) {
        self.program.kill().expect("the program is killed");
        self.program.wait().expect("it ends");
    }
}

/// The number of the element with a name.
pub fn id(opened: &Value, name: &str) -> Value {
    let nodes = opened["nodes"].as_array().expect("nodes");
    let node = nodes.iter().find(|node| node["name"] == name);
    node.unwrap_or_else(|| panic!("no {name}: {opened}"))["id"].clone()
}

fn workshop() -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let broken = http("Broken", &[("path", "/"), ("port", "99999")]);
    let sampler = http("Shop", &[("path", "/shop?user=${user}")]);
    let csv = r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="People"><stringProp name="filename">people.csv</stringProp><stringProp name="variableNames">user,mail</stringProp></CSVDataSet><hashTree/>
<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="Defaults"><stringProp name="HTTPSampler.domain">shop.example</stringProp></ConfigTestElement><hashTree/>
<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="Headers"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">X-Id</stringProp><stringProp name="Header.value">7</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>
<org.example.Odd guiclass="org.example.OddGui" testclass="org.example.Odd" testname="Odd"><stringProp name="odd.name">x</stringProp><boolProp name="odd.flag">true</boolProp></org.example.Odd><hashTree/>
"#;
    workshop.write(
        "p.jmx",
        plan(&users(
            1,
            1,
            "",
            &[csv.to_owned(), sampler, broken, pause(1)].concat(),
        )),
    );
    workshop.write("people.csv", "ann,ann@example.org\nbob,bob@example.org\n");
    workshop
}

#[test]
fn a_program_edits_a_plan_and_no_other_byte_moves() {
    let workshop = workshop();
    let before = workshop.read("p.jmx");
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    assert_eq!(
        (&opened["plan"], &opened["dirty"], &opened["encoding"]),
        (&json!(1), &json!(false), &json!("UTF-8"))
    );
    let shop = id(&opened, "Shop");
    let change = client.result("set", json!({"plan": 1, "id": shop, "property": "HTTPSampler.path", "value": "/cart", "revision": 1}));
    assert_eq!(
        (&change["revision"], &change["dirty"], &change["can_undo"]),
        (&json!(2), &json!(true), &json!("Set path"))
    );
    assert_eq!(change["nodes"][0]["id"], shop);
    assert_eq!(client.notified("changed")["change"], change);
    client.result("save", json!({"plan": 1}));
    assert_eq!(
        workshop.read("p.jmx"),
        before.replace("/shop?user=${user}", "/cart")
    );
    let undone = client.result("undo", json!({"plan": 1}));
    assert_eq!(undone["can_redo"], "Set path");
    client.result("save", json!({"plan": 1}));
    assert_eq!(workshop.read("p.jmx"), before);
    // Two changes of a word that is being typed are one step.
    for value in ["/c", "/ca"] {
        client.result("set", json!({"plan": 1, "id": shop, "property": "HTTPSampler.path", "value": value, "join": true}));
    }
    client.result("undo", json!({"plan": 1}));
    assert_eq!(client.result("text", json!({"plan": 1}))["text"], before);
}

#[test]
fn a_form_has_values_where_they_come_from_and_what_names_variables() {
    let workshop = workshop();
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let of = |name: &str| json!({"plan": 1, "id": id(&opened, name)});
    let element = client.result("element", of("Shop"));
    let fields = element["fields"].as_array().expect("fields").clone();
    let field = |name: &str| {
        fields
            .iter()
            .find(|field| field["property"] == name)
            .unwrap_or_else(|| panic!("{name}: {element}"))
    };
    assert_eq!(field("HTTPSampler.path")["value"], "/shop?user=${user}");
    let domain = field("HTTPSampler.domain");
    assert_eq!(
        (
            &domain["label"],
            &domain["effective"]["value"],
            &domain["effective"]["name"]
        ),
        (
            &json!("Server Name or IP"),
            &json!("shop.example"),
            &json!("Defaults")
        )
    );
    let headers = field("inherited/header fields");
    assert_eq!(
        (&headers["table"]["rows"], &headers["read_only"]),
        (&json!([["X-Id", "7", "Headers"]]), &json!(true))
    );
    assert_eq!(field("HTTPSampler.proxyPass")["kind"], "secret");
    assert!(
        element["xml"]
            .as_str()
            .is_some_and(|xml| xml.starts_with("<HTTPSamplerProxy"))
    );
    let data = client.result("element", of("People"));
    let file = data["fields"]
        .as_array()
        .and_then(|fields| fields.iter().find(|field| field["property"] == "filename"));
    let file = &file.expect("the file")["file"];
    assert_eq!(
        (&file["exists"], &file["first"][0]),
        (&json!(true), &json!("ann,ann@example.org"))
    );
    let odd = client.result("element", of("Odd"));
    let kinds: Vec<&Value> = odd["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .map(|field| &field["kind"])
        .collect();
    assert_eq!(
        (&odd["generic"], kinds),
        (
            &json!(true),
            vec![&json!("text"), &json!("text"), &json!("flag")]
        )
    );
    let variables = client.result("variables", of("Shop"));
    let user = &variables
        .as_array()
        .expect("a list")
        .iter()
        .find(|one| one["name"] == "user")
        .expect("it is read");
    assert_eq!(
        (
            &user["value"],
            &user["set_by"][0]["how"],
            &user["read_by"][0]["property"]
        ),
        (
            &json!("ann"),
            &json!("column of people.csv"),
            &json!("HTTPSampler.path")
        )
    );
    let ways = client.result(
        "complete",
        json!({"plan": 1, "id": id(&opened, "Shop"), "text": "é ${us", "offset": 6}),
    );
    assert_eq!(
        (&ways[0]["insert"], &ways[0]["start"], &ways[0]["end"]),
        (&json!("${user}"), &json!(2), &json!(6))
    );
    let findings = client.notified("findings")["findings"].clone();
    let found = findings
        .as_array()
        .expect("findings")
        .iter()
        .find(|one| one["id"] == id(&opened, "Broken"));
    let found = found.unwrap_or_else(|| panic!("{findings}"));
    assert_eq!(
        (&found["severity"], &found["property"]),
        (&json!("error"), &json!("HTTPSampler.port"))
    );
    let broken = client.result("element", of("Broken"));
    assert_eq!(broken["node"]["findings"]["error"], 1, "{broken}");
    let port = broken["fields"].as_array().and_then(|fields| {
        fields
            .iter()
            .find(|field| field["property"] == "HTTPSampler.port")
    });
    let port = &port.expect("a port")["findings"];
    assert_eq!(port[0]["severity"], "error", "{broken}");
    let node = client.result("element", of("Shop"))["node"].clone();
    assert_eq!(node["runs"], "native", "{node}");
}

#[test]
fn elements_are_inserted_moved_found_and_pasted() {
    let workshop = workshop();
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let shop = id(&opened, "Shop");
    let node = |name: &str| {
        opened["nodes"]
            .as_array()
            .expect("nodes")
            .iter()
            .find(|node| node["name"] == name)
            .expect("it is there")
            .clone()
    };
    let group = node("Shop")["parent"].clone();
    let palette = client.result("palette", json!({"plan": 1, "parent": shop}));
    let types: Vec<&str> = palette
        .as_array()
        .expect("types")
        .iter()
        .filter_map(|kind| kind["type"].as_str())
        .collect();
    assert!(
        types.contains(&"Regular Expression Extractor") && !types.contains(&"HTTP Request"),
        "{types:?}"
    );
    let change = client.result(
        "insert",
        json!({"plan": 1, "parent": shop, "index": 0, "class": "RegexExtractor"}),
    );
    let extractor = change["created"][0].clone();
    client.result(
        "rename",
        json!({"plan": 1, "id": extractor, "name": "token"}),
    );
    let curl = "curl 'https://api.example/v1/items' -H 'Accept: application/json'";
    let change = client.result(
        "paste",
        json!({"plan": 1, "parent": group, "index": 0, "text": curl}),
    );
    let pasted = change["created"][0].clone();
    let fields = client.result("element", json!({"plan": 1, "id": pasted}));
    let domain = fields["fields"]
        .as_array()
        .expect("fields")
        .iter()
        .find(|field| field["property"] == "HTTPSampler.domain");
    assert_eq!(domain.expect("a domain")["value"], "api.example");
    let copied = client.result("copy", json!({"plan": 1, "ids": [shop]}));
    let change = client.result(
        "paste",
        json!({"plan": 1, "parent": group, "text": copied["text"]}),
    );
    assert_eq!(change["created"].as_array().map(Vec::len), Some(1));
    let hits = client.result(
        "find",
        json!({"plan": 1, "text": "/shop", "where": ["values"]}),
    );
    assert_eq!(hits["hits"].as_array().map(Vec::len), Some(2));
    let shown = client.result(
        "replace",
        json!({"plan": 1, "text": "/sh(o)p", "regex": true, "with": "/$1", "preview": true}),
    );
    assert_eq!(shown["hits"][0]["after"], "/o?user=${user}");
    client.result(
        "replace",
        json!({"plan": 1, "text": "/sh(o)p", "regex": true, "with": "/$1", "skip": [0]}),
    );
    let text = client.result("text", json!({"plan": 1}))["text"]
        .as_str()
        .expect("text")
        .to_owned();
    assert!(
        text.contains(">/shop?user") && text.contains(">/o?user"),
        "{text}"
    );
    let change = client.result(
        "move",
        json!({"plan": 1, "ids": [extractor], "parent": pasted, "index": 0}),
    );
    assert!(
        change["removed"].as_array().is_some_and(Vec::is_empty),
        "{change}"
    );
    let change = client.result(
        "wrap",
        json!({"plan": 1, "ids": [pasted], "class": "LoopController"}),
    );
    let around = change["created"][0].clone();
    client.result("unwrap", json!({"plan": 1, "id": around}));
    let preview = client.result(
        "change_type",
        json!({"plan": 1, "id": extractor, "class": "BoundaryExtractor", "preview": true}),
    );
    assert!(
        preview["lost"]
            .as_array()
            .is_some_and(|lost| lost.contains(&json!("RegexExtractor.regex"))),
        "{preview}"
    );
    client.result("remove", json!({"plan": 1, "ids": [pasted]}));
    while client
        .ask("undo", json!({"plan": 1}))
        .get("error")
        .is_none()
    {}
    assert_eq!(
        client.result("text", json!({"plan": 1}))["text"],
        workshop.read("p.jmx")
    );
}

#[test]
fn errors_say_what_and_why() {
    let workshop = workshop();
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let shop = id(&opened, "Shop");
    client.line("{");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32700);
    client.line("[]");
    assert_eq!(client.answer(&Value::Null)["error"]["code"], -32600);
    // A request without a number has no answer.
    client.line(r#"{"jsonrpc": "2.0", "method": "files"}"#);
    let mut error = |method: &str, params: Value| client.ask(method, params)["error"].clone();
    let unknown = error("opn", json!({}));
    assert_eq!(
        (&unknown["code"], &unknown["data"]["hint"]),
        (&json!(-32601), &json!("did you mean `open`?"))
    );
    assert_eq!(error("tree", json!({}))["code"], -32602);
    assert_eq!(
        error("tree", json!({"plan": 9}))["message"],
        "no plan with the number 9 is open"
    );
    assert_eq!(error("open", json!({"path": "none.jmx"}))["code"], -32003);
    workshop.write("bad.jmx", "<jmeterTestPlan><hashTree>");
    assert!(
        error("open", json!({"path": "bad.jmx"}))["message"]
            .as_str()
            .is_some_and(|why| why.contains("cannot be read as a plan at line 1"))
    );
    assert_eq!(
        error(
            "insert",
            json!({"plan": 1, "parent": shop, "class": "HTTPSamplerProxi"})
        )["data"]["hint"],
        "did you mean `HTTPSamplerProxy`?"
    );
    let unfit = error(
        "insert",
        json!({"plan": 1, "parent": shop, "class": "HTTPSamplerProxy"}),
    );
    assert_eq!(
        (&unfit["code"], &unfit["data"]["id"]),
        (&json!(-32002), &shop)
    );
    assert_eq!(
        error("set", json!({"plan": 1, "property": "x", "value": "1"}))["data"]["hint"],
        "give `id` or `ids`"
    );
    assert_eq!(
        error("element", json!({"plan": 1, "id": 999}))["code"],
        -32001
    );
    assert_eq!(
        error("paste", json!({"plan": 1, "parent": shop, "text": "hello"}))["code"],
        -32002
    );
    assert_eq!(
        error("undo", json!({"plan": 1}))["message"],
        "there is nothing to undo"
    );
    let set = |value: &str| json!({"plan": 1, "id": shop, "property": "HTTPSampler.path", "value": value, "revision": 1});
    client.result("set", set("/a"));
    let stale = client.ask("set", set("/b"));
    assert_eq!(stale["error"]["code"], -32001, "{stale}");
}

#[test]
fn kill_9_loses_nothing_and_other_programs_are_merged() {
    let workshop = workshop();
    let before = workshop.read("p.jmx");
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    let shop = id(&opened, "Shop");
    client.result(
        "set",
        json!({"plan": 1, "id": shop, "property": "HTTPSampler.path", "value": "/unsaved"}),
    );
    client.kill();
    assert_eq!(workshop.read("p.jmx"), before);
    let mut client = Client::start(&workshop);
    let opened = client.result("open", json!({"path": "p.jmx"}));
    assert_eq!(
        (&opened["dirty"], &opened["can_undo"]),
        (&json!(true), &json!("Set path"))
    );
    let text = client.result("text", json!({"plan": 1}));
    assert!(
        text["text"]
            .as_str()
            .is_some_and(|text| text.contains("/unsaved"))
    );
    // A second program may only read.
    let mut second = Client::start(&workshop);
    assert_eq!(
        second.result("open", json!({"path": "p.jmx"}))["read_only"],
        true
    );
    second.kill();
    // Another program changes another element, and then the same setting.
    std::thread::sleep(Duration::from_millis(20));
    workshop.write("p.jmx", before.replace("shop.example", "other.example"));
    let merged = client.notified("changed");
    assert_eq!(merged["change"]["dirty"], true);
    client.result("save", json!({"plan": 1}));
    let saved = workshop.read("p.jmx");
    assert!(
        saved.contains("/unsaved") && saved.contains("other.example"),
        "{saved}"
    );
    client.result("set", json!({"plan": 1, "id": id(&opened, "Shop"), "property": "HTTPSampler.path", "value": "/ours"}));
    std::thread::sleep(Duration::from_millis(20));
    workshop.write("p.jmx", saved.replace("/unsaved", "/theirs"));
    let conflict = client.notified("conflict")["conflict"].clone();
    assert_eq!(
        (&conflict["ours"], &conflict["theirs"], &conflict["id"]),
        (&json!("/ours"), &json!("/theirs"), &id(&opened, "Shop"))
    );
    assert_eq!(
        client.ask("save", json!({"plan": 1}))["error"]["code"],
        -32004
    );
    client.result("resolve", json!({"plan": 1, "take": "ours"}));
    client.result("save", json!({"plan": 1}));
    assert!(workshop.read("p.jmx").contains("/ours"));
}

/// The head and the body of an answer.
fn http_answer(host: &str, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(host).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a time");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

#[test]
fn the_page_is_guarded_and_edits_only_what_was_opened() {
    for words in [["edit", "p.jmx", "--no-open"].as_slice(), &["-t", "p.jmx"]] {
        let workshop = workshop();
        workshop.write("elsewhere.txt", "x");
        let mut program = workshop.start(words);
        let mut lines = BufReader::new(program.stdout.take().expect("a pipe")).lines();
        let line = lines.next().expect("a line").expect("text");
        let url = line
            .strip_prefix("editor  http://")
            .unwrap_or_else(|| panic!("{line}"));
        let (host, query) = url.split_once("/?").expect("a token");
        let get = |path: &str, query: &str, more: &str| {
            http_answer(
                host,
                &format!(
                    "GET {path}?{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n"
                ),
            )
            .0
        };
        assert!(get("/", query, "").starts_with("HTTP/1.1 200 "));
        assert!(get("/", "token=0", "").starts_with("HTTP/1.1 401 "));
        assert!(get("/", query, "Origin: http://evil\r\n").starts_with("HTTP/1.1 403 "));
        assert!(get("/rpc", query, "").starts_with("HTTP/1.1 405 "));
        assert!(get("/other", query, "").starts_with("HTTP/1.1 404 "));
        let foreign = http_answer(
            host,
            &format!("GET /?{query} HTTP/1.1\r\nHost: evil\r\nConnection: close\r\n\r\n"),
        )
        .0;
        assert!(foreign.starts_with("HTTP/1.1 421 "), "{foreign}");
        let page = http_answer(
            host,
            &format!("GET /?{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"),
        )
        .1;
        assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
        let ask = |message: Value| -> Value {
            let body = message.to_string();
            let request = format!(
                "POST /rpc?{query} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            serde_json::from_str(&http_answer(host, &request).1).expect("JSON")
        };
        let files = ask(json!({"jsonrpc": "2.0", "id": 1, "method": "files"}));
        assert_eq!(
            (&files["result"][0]["plan"], &files["result"][0]["name"]),
            (&json!(1), &json!("p.jmx"))
        );
        let other = ask(
            json!({"jsonrpc": "2.0", "id": 2, "method": "open", "params": {"path": "/etc/passwd"}}),
        );
        assert!(
            other["error"]["message"]
                .as_str()
                .is_some_and(|why| why.contains("outside of the opened folders")),
            "{other}"
        );
        // A page that listens hears of another tab's change.
        let mut events = TcpStream::connect(host).expect("it listens");
        events.set_read_timeout(Some(LIMIT)).expect("a time");
        write!(
            events,
            "GET /events?{query} HTTP/1.1\r\nHost: {host}\r\n\r\n"
        )
        .expect("it is sent");
        let mut events = BufReader::new(events).lines();
        assert_eq!(
            events.next().expect("a line").expect("text"),
            "HTTP/1.1 200 OK"
        );
        let batch =
            ask(json!([{"jsonrpc": "2.0", "id": 3, "method": "tree", "params": {"plan": 1}}]));
        let shop = id(&batch[0]["result"], "Shop");
        ask(
            json!({"jsonrpc": "2.0", "id": 4, "method": "enable", "params": {"plan": 1, "ids": [shop], "enabled": false}}),
        );
        assert!(events.any(|line| line.expect("text") == "event: changed"));
        program.kill().expect("it is killed");
        program.wait().expect("it ends");
    }
}

/// A plan of ten thousand elements. The times are printed, and not judged: a test machine is busy.
#[test]
fn ten_thousand_elements_are_edited() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let samplers: String = (0..5_000)
        .map(|at| {
            // A timer beside the samplers would hold for all of them.
            let request = http(
                &format!("Request {at}"),
                &[("path", "/page"), ("domain", "a.example")],
            );
            let below = format!("<hashTree>{}</hashTree>", pause(1));
            request.replace("<hashTree/>", &below)
        })
        .collect();
    workshop.write("p.jmx", plan(&users(1, 1, "", &samplers)));
    let mut client = Client::start(&workshop);
    let mut timed = |name: &str, method: &str, params: Value| {
        let since = Instant::now();
        let result = client.result(method, params);
        println!("{name}: {} ms", since.elapsed().as_millis());
        result
    };
    let opened = timed("open", "open", json!({"path": "p.jmx"}));
    let nodes = opened["nodes"].as_array().expect("nodes");
    assert!(nodes.len() > 10_000);
    let last = id(&opened, "Request 4999");
    timed(
        "set",
        "set",
        json!({"plan": 1, "id": last, "property": "HTTPSampler.path", "value": "/x"}),
    );
    timed(
        "set again",
        "set",
        json!({"plan": 1, "id": last, "property": "HTTPSampler.path", "value": "/y"}),
    );
    timed("form", "element", json!({"plan": 1, "id": last}));
    let hits = timed(
        "find by a regular expression",
        "find",
        json!({"plan": 1, "text": "Request [0-9]+7$", "regex": true}),
    );
    assert_eq!(hits["hits"].as_array().map(Vec::len), Some(499));
    timed("duplicate", "duplicate", json!({"plan": 1, "ids": [last]}));
    timed("remove", "remove", json!({"plan": 1, "ids": [last]}));
    timed("undo", "undo", json!({"plan": 1}));
    timed("save", "save", json!({"plan": 1}));
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.program.id()))
        .unwrap_or_default();
    let memory = status
        .lines()
        .filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    println!("{}", memory.collect::<Vec<_>>().join(", "));
}
