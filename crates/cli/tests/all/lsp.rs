//! The language server, driven by a scripted client over standard input and output.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(60);

/// A project of two plans, one of which includes the other.
const PLAN: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">
  <hashTree>
    <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Shop" enabled="true">
      <elementProp name="TestPlan.user_defined_variables" elementType="Arguments" guiclass="ArgumentsPanel" testclass="Arguments" testname="User Defined Variables">
        <collectionProp name="Arguments.arguments">
          <elementProp name="host" elementType="Argument">
            <stringProp name="Argument.name">host</stringProp>
            <stringProp name="Argument.value">${__P(host,127.0.0.1)}</stringProp>
            <stringProp name="Argument.metadata">=</stringProp>
          </elementProp>
        </collectionProp>
      </elementProp>
    </TestPlan>
    <hashTree>
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
        <stringProp name="ThreadGroup.num_threads">1</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController" guiclass="LoopControlPanel" testclass="LoopController">
          <stringProp name="LoopController.loops">1</stringProp>
          <boolProp name="LoopController.continue_forever">false</boolProp>
        </elementProp>
      </ThreadGroup>
      <hashTree>
        <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Log in" enabled="true">
          <stringProp name="HTTPSampler.domain">${host}</stringProp>
          <stringProp name="HTTPSampler.path">/login/${tokn}</stringProp>
          <stringProp name="HTTPSampler.method">GET</stringProp>
          <boolProp name="HTTPSampler.use_keepalive">false</boolProp>
        </HTTPSamplerProxy>
        <hashTree>
          <RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="Token" enabled="true">
            <stringProp name="RegexExtractor.refname">token</stringProp>
            <stringProp name="RegexExtractor.regex">x=(.)</stringProp>
            <stringProp name="RegexExtractor.template">$1$</stringProp>
          </RegexExtractor>
          <hashTree/>
        </hashTree>
        <IncludeController guiclass="IncludeControllerGui" testclass="IncludeController" testname="Part" enabled="true">
          <stringProp name="IncludeController.includepath">part.jmx</stringProp>
        </IncludeController>
        <hashTree/>
        <ModuleController guiclass="ModuleControllerGui" testclass="ModuleController" testname="Again" enabled="true">
          <collectionProp name="ModuleController.node_path">
            <stringProp name="1">Shop</stringProp>
            <stringProp name="2">Shop</stringProp>
            <stringProp name="3">Users</stringProp>
            <stringProp name="4">Part</stringProp>
          </collectionProp>
        </ModuleController>
        <hashTree/>
      </hashTree>
    </hashTree>
  </hashTree>
</jmeterTestPlan>
"#;

const PART: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Part" enabled="true"/><hashTree>
<TestFragmentController guiclass="TestFragmentControllerGui" testclass="TestFragmentController" testname="F" enabled="true"/><hashTree>
<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="${token} of ${host}" enabled="true"/><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

pub(super) struct Client {
    server: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    put_back: VecDeque<Value>,
    folder: tempfile::TempDir,
    next_id: u64,
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Client {
    pub(super) fn start() -> Client {
        let folder = tempfile::tempdir().expect("a folder");
        let mut server = Command::new(env!("CARGO_BIN_EXE_drumfire"))
            .arg("lsp")
            .env("HOME", folder.path())
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let input = server.stdin.take().expect("a pipe");
        let mut output = BufReader::new(server.stdout.take().expect("a pipe"));
        let (told, messages) = channel();
        std::thread::spawn(move || {
            loop {
                let mut length = 0;
                loop {
                    let mut line = String::new();
                    if output.read_line(&mut line).unwrap_or(0) == 0 {
                        return;
                    }
                    if let Some(number) = line.strip_prefix("Content-Length: ") {
                        length = number.trim().parse().expect("a length");
                    }
                    if line.trim().is_empty() {
                        break;
                    }
                }
                let mut body = vec![0; length];
                output.read_exact(&mut body).expect("a message");
                if told
                    .send(serde_json::from_slice(&body).expect("JSON"))
                    .is_err()
                {
                    return;
                }
            }
        });
        let mut client = Client {
            server,
            input,
            messages,
            put_back: VecDeque::new(),
            folder,
            next_id: 0,
        };
        let answer = client.ask("initialize", json!({ "capabilities": {} }));
        assert_eq!(answer["capabilities"]["hoverProvider"], true, "{answer}");
        client.tell("initialized", json!({}));
        client
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn uri(&self, name: &str) -> String {
        format!("file://{}", self.path(name).display())
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        write!(self.input, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("it is sent");
        self.input.flush().expect("it is sent");
    }

    pub(super) fn tell(&mut self, method: &str, parameters: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    /// The whole answer to a request.
    fn answer(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer_within(LIMIT, method, parameters);
        answer.expect("an answer")
    }

    /// The whole answer to a request, if it comes within the limit.
    pub(super) fn answer_within(
        &mut self,
        limit: Duration,
        method: &str,
        parameters: Value,
    ) -> Result<Value, RecvTimeoutError> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let message = self.messages.recv_timeout(limit)?;
            if message["id"] == id {
                return Ok(message);
            } else {
                self.put_back.push_back(message)
            }
        }
    }

    pub(super) fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(super) fn open(&mut self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("it is written");
        let document =
            json!({ "uri": self.uri(name), "languageId": "jmx", "version": 1, "text": text });
        self.tell("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Changes a stretch of text.
    fn change(&mut self, name: &str, version: i32, range: Value, text: &str) {
        let parameters = json!({
            "textDocument": { "uri": self.uri(name), "version": version },
            "contentChanges": [{ "range": range, "text": text }],
        });
        self.tell("textDocument/didChange", parameters);
    }

    /// The findings of a file at a version, when they have come.
    fn findings(&mut self, name: &str, version: i32) -> Vec<Value> {
        let uri = self.uri(name);
        loop {
            let message = match self.put_back.pop_front() {
                Some(message) => message,
                None => self.messages.recv_timeout(LIMIT).expect("findings"),
            };
            let told = &message["params"];
            if message["method"] == "textDocument/publishDiagnostics"
                && told["uri"] == uri
                && told["version"] == version
            {
                return told["diagnostics"].as_array().expect("a list").clone();
            }
        }
    }

    /// The parameters of a question about a place.
    fn at(&self, name: &str, text: &str, wanted: &str, further: usize) -> Value {
        let offset = text.find(wanted).expect("it is there") + further;
        json!({ "textDocument": { "uri": self.uri(name) }, "position": place(text, offset) })
    }
}

/// The place of a byte in a text of ASCII.
fn place(text: &str, offset: usize) -> Value {
    let line = text[..offset].matches('\n').count();
    let start = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    json!({ "line": line, "character": offset - start })
}

fn range(text: &str, wanted: &str) -> Value {
    let start = text.find(wanted).expect("it is there");
    json!({ "start": place(text, start), "end": place(text, start + wanted.len()) })
}

/// The text that stands at a place of the protocol.
fn at_range<'t>(text: &'t str, range: &Value) -> &'t str {
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let character = position["character"].as_u64().expect("a place") as usize;
        let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
        start + character
    };
    &text[offset(&range["start"])..offset(&range["end"])]
}

/// A client with the two plans, of which the first is open.
fn project() -> Client {
    let mut client = Client::start();
    std::fs::write(client.path("part.jmx"), PART).expect("it is written");
    std::fs::write(
        client.path("drumfire.toml"),
        "[properties]\nhost = \"h.example\"\n",
    )
    .expect("it is written");
    client.open("shop.jmx", PLAN);
    client
}

fn codes(findings: &[Value]) -> Vec<&str> {
    let mut codes: Vec<&str> = findings
        .iter()
        .filter_map(|one| one["code"].as_str())
        .collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn findings_follow_the_text() {
    let mut client = project();
    let first = client.findings("shop.jmx", 1);
    assert!(codes(&first).contains(&"variable-never-set"), "{first:?}");
    assert!(codes(&first).contains(&"keep-alive-off"), "{first:?}");
    let sampler = first
        .iter()
        .find(|one| one["code"] == "keep-alive-off")
        .expect("it is there");
    assert!(at_range(PLAN, &sampler["range"]).starts_with("<HTTPSamplerProxy"));
    // a tag is broken, and mended
    client.change(
        "shop.jmx",
        2,
        range(PLAN, "</ThreadGroup>"),
        "</ThreadGrou>",
    );
    let broken = client.findings("shop.jmx", 2);
    assert!(
        broken.iter().all(|one| one["severity"] == 1) && !broken.is_empty(),
        "{broken:?}"
    );
    client.change("shop.jmx", 3, range(PLAN, "</ThreadGrou"), "</ThreadGrou");
    let at = PLAN.find("</ThreadGroup>").expect("it is there") + "</ThreadGrou".len();
    let here = json!({ "start": place(PLAN, at), "end": place(PLAN, at) });
    client.change("shop.jmx", 4, here, "p");
    // the fault goes at once, and the findings come again when the plan was looked at
    assert_eq!(client.findings("shop.jmx", 4), [json!(null); 0]);
    let mended = client.findings("shop.jmx", 4);
    assert_eq!(codes(&mended), codes(&first));
    client.tell(
        "textDocument/didClose",
        json!({ "textDocument": { "uri": client.uri("shop.jmx") } }),
    );
    let message = client.messages.recv_timeout(LIMIT).expect("a message");
    assert_eq!(message["params"]["diagnostics"], json!([]));
}

#[test]
fn the_outline_is_the_tree() {
    let mut client = project();
    let uri = client.uri("shop.jmx");
    let symbols = client.ask(
        "textDocument/documentSymbol",
        json!({ "textDocument": { "uri": uri } }),
    );
    let root = &symbols[0];
    assert_eq!(root["name"], "Shop");
    let group = &root["children"][0];
    let names: Vec<&str> = group["children"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|child| child["name"].as_str())
        .collect();
    assert_eq!(names, ["Log in", "Part", "Again"]);
    assert_eq!(group["children"][0]["children"][0]["name"], "Token");
    assert!(at_range(PLAN, &group["range"]).contains("testname=\"Again\""));
    let folds = client.ask(
        "textDocument/foldingRange",
        json!({ "textDocument": { "uri": uri } }),
    );
    assert!(folds.as_array().expect("a list").len() >= 5, "{folds}");
}

#[test]
fn names_lead_to_their_definitions() {
    let mut client = project();
    let host = client.at("shop.jmx", PLAN, "${host}</", 3);
    let found = client.ask("textDocument/definition", host.clone());
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");
    assert_eq!(at_range(PLAN, &found[1]["range"]), "host");
    let property = client.at("shop.jmx", PLAN, "__P(host", 5);
    let found = client.ask("textDocument/definition", property);
    assert!(
        found[0]["uri"]
            .as_str()
            .is_some_and(|uri| uri.ends_with("drumfire.toml")),
        "{found}"
    );
    assert_eq!(found[0]["range"]["start"]["line"], 1);
    let include = client.at("shop.jmx", PLAN, "part.jmx", 1);
    let found = client.ask("textDocument/definition", include);
    assert_eq!(found[0]["uri"], client.uri("part.jmx"));
    let module = client.at("shop.jmx", PLAN, "\"4\">Part", 6);
    let found = client.ask("textDocument/definition", module);
    assert!(
        at_range(PLAN, &found[0]["range"]).starts_with("<IncludeController"),
        "{found}"
    );
    // references stand in both plans
    let mut asked = host.clone();
    asked["context"] = json!({ "includeDeclaration": false });
    let found = client.ask("textDocument/references", asked);
    let files: Vec<&str> = found
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|one| one["uri"].as_str())
        .collect();
    assert_eq!(files, [client.uri("shop.jmx"), client.uri("part.jmx")]);
    let lights = client.ask("textDocument/documentHighlight", host);
    assert_eq!(lights.as_array().map(Vec::len), Some(3), "{lights}");
    let element = client.at("shop.jmx", PLAN, "testname=\"Part\"", 11);
    let mut asked = element;
    asked["context"] = json!({ "includeDeclaration": true });
    let found = client.ask("textDocument/references", asked);
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
}

#[test]
fn a_rename_changes_every_plan() {
    let mut client = project();
    let mut asked = client.at("shop.jmx", PLAN, "refname\">token", 10);
    let prepared = client.ask("textDocument/prepareRename", asked.clone());
    assert_eq!(at_range(PLAN, &prepared), "token");
    asked["newName"] = json!("session");
    let edit = client.ask("textDocument/rename", asked.clone());
    let of = |name: &str| {
        edit["changes"][client.uri(name)]
            .as_array()
            .map_or(0, Vec::len)
    };
    assert_eq!((of("shop.jmx"), of("part.jmx")), (1, 1), "{edit}");
    asked["newName"] = json!("not a name");
    let refused = client.answer("textDocument/rename", asked);
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|why| why.contains("not a name")),
        "{refused}"
    );
    let mut asked = client.at("shop.jmx", PLAN, "testname=\"Part\"", 11);
    asked["newName"] = json!("Basket");
    let edit = client.ask("textDocument/rename", asked);
    let edits = edit["changes"][client.uri("shop.jmx")]
        .as_array()
        .expect("edits");
    assert_eq!(
        edits.len(),
        2,
        "the element and the Module Controller: {edit}"
    );
}

#[test]
fn hovers_tell_meaning_and_value() {
    let mut client = project();
    let mut text = |wanted: &str, further: usize| {
        let asked = client.at("shop.jmx", PLAN, wanted, further);
        let hover = client.ask("textDocument/hover", asked);
        hover["contents"]["value"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let host = text("${host}</", 3);
    assert!(
        host.contains("`${__P(host,127.0.0.1)}` = `h.example`"),
        "{host}"
    );
    assert!(host.contains("set by Shop (TestPlan)"), "{host}");
    let function = text("__P(host", 2);
    assert!(
        function.contains("${__P(name of the property"),
        "{function}"
    );
    let property = text("__P(host", 5);
    assert!(property.contains("h.example"), "{property}");
    let element = text("<RegexExtractor ", 4);
    assert!(
        element.contains("Regular Expression Extractor"),
        "{element}"
    );
    let setting = text("RegexExtractor.template", 4);
    assert!(setting.contains("**Template"), "{setting}");
    assert!(text(">x=(.)<", 2).contains("Regular Expression"));
    assert!(text("/login/${tokn}", 10).contains("no element here sets it"));
}

#[test]
fn completion_knows_names_functions_and_settings() {
    let mut client = project();
    let path = "/login/${tokn}";
    let mut labels = |version: i32, written: &str| -> Vec<String> {
        let text = PLAN.replacen(path, written, 1);
        client.tell(
            "textDocument/didChange",
            json!({ "textDocument": { "uri": client.uri("shop.jmx"), "version": version }, "contentChanges": [{ "text": text }] }),
        );
        let asked = client.at("shop.jmx", &text, written, written.len());
        let items = client.ask("textDocument/completion", asked);
        let items = items.as_array().expect("a list").iter();
        items
            .filter_map(|item| item["label"].as_str().map(str::to_owned))
            .collect()
    };
    let names = labels(2, "/login/${to");
    for wanted in ["token", "host", "__P", "__time"] {
        assert!(
            names.iter().any(|name| name == wanted),
            "{wanted}: {names:?}"
        );
    }
    let properties = labels(3, "/login/${__P(");
    assert!(
        properties.iter().any(|name| name == "host"),
        "{properties:?}"
    );
    assert!(properties.iter().any(|name| name == "sample_variables"));
    assert!(
        labels(4, "/login/<stringProp name=\"HTTPSampler.")
            .iter()
            .any(|name| name == "HTTPSampler.domain")
    );
    let methods = labels(6, "/login/<stringProp name=\"HTTPSampler.method\">");
    assert!(methods.iter().any(|name| name == "PUT"), "{methods:?}");
    assert_eq!(labels(5, "<boolProp name=\"x\">t"), ["true", "false"]);
}

#[test]
fn actions_answer_findings() {
    let mut client = project();
    let findings = client.findings("shop.jmx", 1);
    let mut titles = |range: Value, context: Vec<Value>| -> Vec<(String, Value)> {
        let asked = json!({ "textDocument": { "uri": client.uri("shop.jmx") }, "range": range, "context": { "diagnostics": context } });
        let actions = client.ask("textDocument/codeAction", asked);
        let uri = client.uri("shop.jmx");
        let actions = actions.as_array().expect("a list").iter();
        actions
            .map(|action| {
                let title = action["title"].as_str().expect("a title").to_owned();
                (title, action["edit"]["changes"][&uri].clone())
            })
            .collect()
    };
    let finding = findings
        .iter()
        .find(|one| one["code"] == "keep-alive-off")
        .expect("it is there")
        .clone();
    let fixes = titles(finding["range"].clone(), vec![finding]);
    let (title, edits) = &fixes[0];
    assert_eq!(title, "Set `HTTPSampler.use_keepalive` to true");
    assert_eq!(
        (at_range(PLAN, &edits[0]["range"]), &edits[0]["newText"]),
        ("false", &json!("true"))
    );
    let unread = findings
        .iter()
        .find(|one| one["code"] == "extractor-unread");
    let fixes = unread.map(|one| titles(one["range"].clone(), vec![one.clone()]));
    assert!(fixes.is_none_or(|fixes| fixes[0].0 == "Disable `Token`"));
    let fixes = titles(range(PLAN, "tokn"), Vec::new());
    assert!(
        fixes.iter().any(|(title, _)| title == "Change to `token`"),
        "{fixes:?}"
    );
    let fixes = titles(range(PLAN, "/login/"), Vec::new());
    let extracted = fixes
        .iter()
        .find(|(title, _)| title.contains("User Defined Variable"));
    let (_, edits) = extracted.expect("it is offered");
    assert_eq!(edits[1]["newText"], "${value_1}");
}

#[test]
fn formatting_gives_jmeters_form() {
    let mut client = project();
    let uri = client.uri("part.jmx");
    client.open("part.jmx", PART);
    let edits = client.ask(
        "textDocument/formatting",
        json!({ "textDocument": { "uri": uri }, "options": { "tabSize": 2, "insertSpaces": true } }),
    );
    let old = at_range(PART, &edits[0]["range"]);
    let formatted = PART.replacen(old, edits[0]["newText"].as_str().expect("a text"), 1);
    let tree = |text: &str| {
        drumfire_jmx::write(
            &drumfire_jmx::read(text.as_bytes(), "part.jmx".as_ref())
                .expect("a plan")
                .tree,
        )
    };
    assert_eq!(formatted, tree(PART));
}

#[test]
fn a_project_file_is_checked_too() {
    let mut client = Client::start();
    client.open("drumfire.toml", "[profiles.soak]\nuserz = 5\n");
    let findings = client.findings("drumfire.toml", 1);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0]["range"]["start"]["line"], 1);
    let last =
        json!({ "start": { "line": 1, "character": 0 }, "end": { "line": 1, "character": 5 } });
    client.change("drumfire.toml", 2, last, "users");
    assert_eq!(client.findings("drumfire.toml", 2), [json!(null); 0]);
}

#[test]
fn the_server_ends_when_it_is_told_to() {
    let mut client = project();
    client.ask("shutdown", Value::Null);
    client.tell("exit", Value::Null);
    let deadline = Instant::now() + LIMIT;
    let status = loop {
        match client.server.try_wait().expect("a child") {
            Some(status) => break status,
            None if Instant::now() > deadline => panic!("it does not end"),
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    assert!(status.success());
}
