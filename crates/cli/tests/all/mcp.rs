//! `drumfire mcp`, driven as an agent drives it: tasks whose end state is the text of the saved plan.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};

use drumfire_testkit::plans::{group, http, pause, plan};
use drumfire_testkit::program::Workshop;
use drumfire_testkit::server::{ResponseStep, Server, ok};
use serde_json::{Value, json};

struct Agent {
    program: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next: u64,
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

impl Agent {
    fn start(workshop: &Workshop, options: &[&str]) -> Agent {
        let (program, input, output) = workshop.converse(&[&["mcp"], options].concat());
        let mut agent = Agent {
            program,
            input,
            output,
            next: 1,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        assert_eq!(
            agent.ask("initialize", &hello)["serverInfo"]["name"],
            "drumfire"
        );
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").expect("the program reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
        self.next += 1;
        let mut line = String::new();
        self.output
            .read_line(&mut line)
            .expect("the program answers");
        let answer: Value = serde_json::from_str(&line).expect("a message a line");
        assert_eq!(answer["id"], self.next - 1, "{answer}");
        answer["result"].clone()
    }

    /// The outcome of a tool, or its refusal.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let result = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        let content = result["structuredContent"].clone();
        if result["isError"] == true {
            Err(content)
        } else {
            Ok(content)
        }
    }

    fn done(&mut self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        self.call(tool, arguments)
            .unwrap_or_else(|refused| panic!("{tool} {shown}: {refused}"))
    }

    /// The number of the element with this name.
    fn id(&mut self, plan: u64, name: &str) -> u64 {
        let outline = self.done("tree", json!({"plan": plan}))["outline"].clone();
        let lines = outline.as_array().expect("lines").clone();
        let named = format!("\"{name}\"");
        let line = lines
            .iter()
            .filter_map(Value::as_str)
            .find(|line| line.contains(&named));
        let line = line.unwrap_or_else(|| panic!("no {name} in {lines:?}"));
        line.split_whitespace()
            .next()
            .expect("a number")
            .parse()
            .expect("a number")
    }

    /// Replaces `@name` by the number of the element.
    fn settled(&mut self, plan: u64, value: Value) -> Value {
        match value {
            Value::String(text) if text.starts_with('@') => json!(self.id(plan, &text[1..])),
            Value::Array(parts) => parts
                .into_iter()
                .map(|part| self.settled(plan, part))
                .collect(),
            Value::Object(parts) => {
                let parts = parts
                    .into_iter()
                    .map(|(name, part)| (name, self.settled(plan, part)));
                Value::Object(parts.collect())
            }
            other => other,
        }
    }
}

fn shop(address: &str) -> String {
    let (host, port) = address.split_once(':').expect("host and port");
    let request = |name, path| {
        http(
            name,
            &[
                ("domain", host),
                ("port", port),
                ("path", path),
                ("method", "GET"),
            ],
        )
    };
    let variables = r#"<Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="Variables"><collectionProp name="Arguments.arguments">
<elementProp name="size" elementType="Argument"><stringProp name="Argument.name">size</stringProp><stringProp name="Argument.value">10</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>
</collectionProp></Arguments><hashTree/>
"#;
    let headers = r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="Headers"><collectionProp name="HeaderManager.headers">
<elementProp name="" elementType="Header"><stringProp name="Header.name">Accept</stringProp><stringProp name="Header.value">text/html</stringProp></elementProp>
</collectionProp></HeaderManager><hashTree/>
"#;
    let old = request("Old", "/old").replace("enabled=\"true\"", "enabled=\"false\"");
    let parts = [
        variables.to_owned(),
        headers.to_owned(),
        request("Home", "/"),
        request("Goods", "/goods?size=${size}"),
        request("Cart", "/cart"),
        old,
        pause(0),
    ];
    plan(&group(1, &parts.concat()))
}

/// A task: what is asked for, calls of `edit`, and texts that the saved plan has, or lacks where they begin with `!`.
type Task = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const TASKS: [Task; 50] = [
    (
        "another path",
        &[r#"[{"op":"set","id":"@Home","property":"HTTPSampler.path","value":"/start"}]"#],
        &[">/start<", "!>/<"],
    ),
    (
        "another method",
        &[r#"[{"op":"set","id":"@Cart","property":"HTTPSampler.method","value":"POST"}]"#],
        &[">POST<"],
    ),
    (
        "one host for all requests",
        &[
            r#"[{"op":"set","ids":["@Home","@Goods","@Cart"],"property":"HTTPSampler.domain","value":"shop.test"}]"#,
        ],
        &[">shop.test<"],
    ),
    (
        "no port",
        &[r#"[{"op":"set","id":"@Old","property":"HTTPSampler.port","value":null}]"#],
        &[],
    ),
    (
        "https",
        &[r#"[{"op":"set","id":"@Home","property":"HTTPSampler.protocol","value":"https"}]"#],
        &[">https<"],
    ),
    (
        "a time limit",
        &[
            r#"[{"op":"set","id":"@Home","property":"HTTPSampler.response_timeout","value":"5000"}]"#,
        ],
        &[r#"HTTPSampler.response_timeout">5000<"#],
    ),
    (
        "no redirects",
        &[
            r#"[{"op":"set","id":"@Home","property":"HTTPSampler.follow_redirects","value":"false"}]"#,
        ],
        &[r#"<boolProp name="HTTPSampler.follow_redirects">false<"#],
    ),
    (
        "images too",
        &[r#"[{"op":"set","id":"@Home","property":"HTTPSampler.image_parser","value":"true"}]"#],
        &[r#"<boolProp name="HTTPSampler.image_parser">true<"#],
    ),
    (
        "a comment",
        &[r#"[{"op":"set","id":"@Home","property":"TestPlan.comments","value":"the first page"}]"#],
        &[">the first page<"],
    ),
    (
        "a name with markup",
        &[r#"[{"op":"rename","id":"@Home","name":"Home & <away>"}]"#],
        &["Home &amp; &lt;away&gt;"],
    ),
    (
        "ten users",
        &[r#"[{"op":"set","id":"@users","property":"ThreadGroup.num_threads","value":"10"}]"#],
        &[r#"num_threads">10<"#],
    ),
    (
        "a ramp-up",
        &[r#"[{"op":"set","id":"@users","property":"ThreadGroup.ramp_time","value":"30"}]"#],
        &[r#"ramp_time">30<"#],
    ),
    (
        "five loops",
        &[
            r#"[{"op":"set","id":"@users","property":"ThreadGroup.main_controller/LoopController.loops","value":"5"}]"#,
        ],
        &[r#"LoopController.loops">5<"#],
    ),
    (
        "a duration",
        &[
            r#"[{"op":"set","id":"@users","property":"ThreadGroup.scheduler","value":"true"},{"op":"set","id":"@users","property":"ThreadGroup.duration","value":"60"}]"#,
        ],
        &[r#"scheduler">true<"#, r#"duration">60<"#],
    ),
    (
        "users by a property",
        &[
            r#"[{"op":"set","id":"@users","property":"ThreadGroup.num_threads","value":"${__P(users,1)}"}]"#,
        ],
        &["${__P(users,1)}"],
    ),
    (
        "think time",
        &[r#"[{"op":"set","id":"@pause","property":"ConstantTimer.delay","value":"1500"}]"#],
        &[">1500<"],
    ),
    (
        "another variable",
        &[
            r#"[{"op":"table","id":"@Variables","property":"Arguments.arguments","rows":[["size","10",""],["page","2",""]]}]"#,
        ],
        &[">page<", ">size<"],
    ),
    (
        "a changed variable",
        &[
            r#"[{"op":"table","id":"@Variables","property":"Arguments.arguments","rows":[["size","20",""]]}]"#,
        ],
        &[">20<", "!>10<"],
    ),
    (
        "no variables",
        &[r#"[{"op":"table","id":"@Variables","property":"Arguments.arguments","rows":[]}]"#],
        &["!Argument.name"],
    ),
    (
        "another header",
        &[
            r#"[{"op":"table","id":"@Headers","property":"HeaderManager.headers","rows":[["Accept","text/html"],["X-Test","1"]]}]"#,
        ],
        &[">X-Test<"],
    ),
    (
        "JSON only",
        &[
            r#"[{"op":"table","id":"@Headers","property":"HeaderManager.headers","rows":[["Accept","application/json"]]}]"#,
        ],
        &[">application/json<", "!text/html"],
    ),
    (
        "without the old one",
        &[r#"[{"op":"remove","ids":["@Old"]}]"#],
        &["!/old"],
    ),
    (
        "the old one again",
        &[r#"[{"op":"enable","ids":["@Old"],"enabled":true}]"#],
        &["!enabled=\"false\""],
    ),
    (
        "two off",
        &[r#"[{"op":"enable","ids":["@Home","@Cart"],"enabled":false}]"#],
        &[
            r#"testname="Home" enabled="false""#,
            r#"testname="Cart" enabled="false""#,
        ],
    ),
    (
        "an assertion",
        &[
            r#"[{"op":"insert","parent":"@Home","class":"ResponseAssertion"}]"#,
            r#"[{"op":"table","id":"@Response Assertion","property":"Asserion.test_strings","rows":[["Welcome"]]},{"op":"set","id":"@Response Assertion","property":"Assertion.test_field","value":"Assertion.response_data"}]"#,
        ],
        &[">Welcome<", "ResponseAssertion"],
    ),
    (
        "a limit of time",
        &[
            r#"[{"op":"insert","parent":"@Home","class":"DurationAssertion"}]"#,
            r#"[{"op":"set","id":"@Duration Assertion","property":"DurationAssertion.duration","value":"800"}]"#,
        ],
        &[">800<"],
    ),
    (
        "a JSON extractor",
        &[
            r#"[{"op":"insert","parent":"@Goods","class":"JSONPostProcessor"}]"#,
            r#"[{"op":"set","id":"@JSON Extractor","property":"JSONPostProcessor.referenceNames","value":"id"},{"op":"set","id":"@JSON Extractor","property":"JSONPostProcessor.jsonPathExprs","value":"$.id"}]"#,
        ],
        &[">id<", ">$.id<"],
    ),
    (
        "a regular expression",
        &[
            r#"[{"op":"insert","parent":"@Home","class":"RegexExtractor"}]"#,
            r#"[{"op":"set","id":"@Regular Expression Extractor","property":"RegexExtractor.refname","value":"token"},{"op":"set","id":"@Regular Expression Extractor","property":"RegexExtractor.regex","value":"token=\"(.+?)\""},{"op":"set","id":"@Regular Expression Extractor","property":"RegexExtractor.template","value":"$1$"}]"#,
        ],
        &[">token<", ">$1$<"],
    ),
    (
        "boundaries",
        &[
            r#"[{"op":"insert","parent":"@Home","class":"BoundaryExtractor"}]"#,
            r#"[{"op":"set","id":"@Boundary Extractor","property":"BoundaryExtractor.refname","value":"csrf"},{"op":"set","id":"@Boundary Extractor","property":"BoundaryExtractor.lboundary","value":"csrf=\""}]"#,
        ],
        &[">csrf<"],
    ),
    (
        "data of a file",
        &[
            r#"[{"op":"insert","parent":"@users","index":0,"class":"CSVDataSet"}]"#,
            r#"[{"op":"set","id":"@CSV Data Set Config","property":"filename","value":"users.csv"},{"op":"set","id":"@CSV Data Set Config","property":"variableNames","value":"user,mail"}]"#,
        ],
        &[">users.csv<", ">user,mail<"],
    ),
    (
        "a counter",
        &[
            r#"[{"op":"insert","parent":"@users","class":"CounterConfig"}]"#,
            r#"[{"op":"set","id":"@Counter","property":"CounterConfig.name","value":"n"}]"#,
        ],
        &["CounterConfig.name\">n<"],
    ),
    (
        "cookies",
        &[r#"[{"op":"insert","parent":"@users","index":0,"class":"CookieManager"}]"#],
        &["CookieManager"],
    ),
    (
        "defaults",
        &[
            r#"[{"op":"insert","parent":"@users","index":0,"class":"ConfigTestElement/HttpDefaultsGui"}]"#,
            r#"[{"op":"set","id":"@HTTP Request Defaults","property":"HTTPSampler.domain","value":"shop.test"}]"#,
        ],
        &["HttpDefaultsGui", ">shop.test<"],
    ),
    (
        "another request",
        &[
            r#"[{"op":"insert","parent":"@users","class":"HTTPSamplerProxy"}]"#,
            r#"[{"op":"rename","id":"@HTTP Request","name":"Pay"}]"#,
            r#"[{"op":"set","id":"@Pay","property":"HTTPSampler.path","value":"/pay"}]"#,
        ],
        &[r#"testname="Pay""#, ">/pay<"],
    ),
    (
        "a transaction around two",
        &[r#"[{"op":"wrap","ids":["@Home","@Goods"],"class":"TransactionController"}]"#],
        &["TransactionController"],
    ),
    (
        "a loop around one",
        &[
            r#"[{"op":"wrap","ids":["@Cart"],"class":"LoopController"}]"#,
            r#"[{"op":"set","id":"@Loop Controller","property":"LoopController.loops","value":"3"}]"#,
        ],
        &["LoopController.loops\">3<"],
    ),
    (
        "a condition",
        &[
            r#"[{"op":"wrap","ids":["@Cart"],"class":"IfController"}]"#,
            r#"[{"op":"set","id":"@If Controller","property":"IfController.condition","value":"${__jexl3(${size} > 5)}"}]"#,
        ],
        &["${__jexl3(${size} &gt; 5)}"],
    ),
    (
        "a wrapper gone again",
        &[
            r#"[{"op":"wrap","ids":["@Cart"],"class":"LoopController"}]"#,
            r#"[{"op":"unwrap","id":"@Loop Controller"}]"#,
        ],
        &[
            "!LoopControlPanel\" testclass=\"LoopController\" testname=\"Loop Controller\"",
            r#"testname="Cart""#,
        ],
    ),
    (
        "the cart first",
        &[r#"[{"op":"move","ids":["@Cart"],"parent":"@users","index":0}]"#],
        &[r#"testname="Cart""#],
    ),
    (
        "a copy",
        &[r#"[{"op":"duplicate","ids":["@Cart"]}]"#],
        &[r#"testname="Cart""#],
    ),
    (
        "a cURL command",
        &[
            r#"[{"op":"paste","parent":"@users","text":"curl -X PUT -d a=1 https://shop.test/items/7"}]"#,
        ],
        &[">PUT<", "items/7"],
    ),
    (
        "a pasted element",
        &[
            r#"[{"op":"paste","parent":"@users","text":"<DebugSampler guiclass=\"TestBeanGUI\" testclass=\"DebugSampler\" testname=\"Look\"/><hashTree/>"}]"#,
        ],
        &[r#"testname="Look""#],
    ),
    (
        "another kind of timer",
        &[r#"[{"op":"change_type","id":"@pause","class":"UniformRandomTimer"}]"#],
        &["UniformRandomTimer", "!<ConstantTimer "],
    ),
    (
        "other texts everywhere",
        &[r#"[{"op":"replace","text":"/goods","with":"/v2/goods"}]"#],
        &[">/v2/goods?"],
    ),
    (
        "other texts by a pattern",
        &[r#"[{"op":"replace","text":"size=(\\$\\{size\\})","with":"limit=$1","regex":true}]"#],
        &["?limit=${size}<"],
    ),
    (
        "names only",
        &[r#"[{"op":"replace","text":"Cart","with":"Basket","where":["names"]}]"#],
        &[r#"testname="Basket""#],
    ),
    (
        "XML by hand",
        &[
            r#"[{"op":"set_xml","id":"@pause","text":"<ConstantTimer guiclass=\"ConstantTimerGui\" testclass=\"ConstantTimer\" testname=\"pause\"><stringProp name=\"ConstantTimer.delay\">77</stringProp></ConstantTimer>"}]"#,
        ],
        &[">77<"],
    ),
    (
        "taken back",
        &[
            r#"[{"op":"rename","id":"@Home","name":"Start"}]"#,
            r#"[{"op":"undo"}]"#,
        ],
        &[r#"testname="Home""#, "!Start"],
    ),
    (
        "made again",
        &[r#"[{"op":"rename","id":"@Home","name":"Start"},{"op":"undo"},{"op":"redo"}]"#],
        &[r#"testname="Start""#],
    ),
    (
        "several at once",
        &[
            r#"[{"op":"rename","id":"@Home","name":"A"},{"op":"set","id":"@Goods","property":"HTTPSampler.path","value":"/g"},{"op":"enable","ids":["@Cart"],"enabled":false},{"op":"remove","ids":["@Old"]}]"#,
        ],
        &[r#"testname="A""#, ">/g<", "!/old"],
    ),
];

#[test]
fn fifty_tasks_end_in_the_plan_that_was_asked_for() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("users.csv", "ann,ann@shop.test\n");
    let before = shop("127.0.0.1:80");
    let mut agent = Agent::start(&workshop, &[]);
    for (number, (task, edits, texts)) in (1_u64..).zip(TASKS) {
        let file = format!("{number}.jmx");
        workshop.write(&file, &before);
        agent.done("open", json!({"path": file}));
        for operations in edits {
            let operations: Value = serde_json::from_str(operations).expect(task);
            let operations = agent.settled(number, operations);
            let answer = agent.done("edit", json!({"plan": number, "operations": operations}));
            let told: Vec<&Value> = answer["new_findings"]
                .as_array()
                .expect("a list")
                .iter()
                .collect();
            assert!(
                told.iter().all(|finding| finding["severity"] != "error"),
                "{task}: {told:?}"
            );
        }
        assert_eq!(
            workshop.read(&file),
            before,
            "{task}: nothing is saved unasked"
        );
        agent.done("save", json!({"plan": number}));
        let after = workshop.read(&file);
        for text in texts {
            match text.strip_prefix('!') {
                Some(text) => assert!(!after.contains(text), "{task}: {text}\n{after}"),
                None => assert!(after.contains(text), "{task}: {text}\n{after}"),
            }
        }
        let ends_as_before = ["taken back", "a wrapper gone again"].contains(&task);
        assert_eq!(after == before, ends_as_before, "{task}");
        drumfire_jmx::read(after.as_bytes(), &workshop.path(&file)).expect(task);
    }
}

#[test]
fn an_edit_is_whole_or_not_made_and_shows_its_difference() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("plan.jmx", shop("127.0.0.1:80"));
    let mut agent = Agent::start(&workshop, &[]);
    agent.done("open", json!({"path": "plan.jmx"}));
    let home = agent.id(1, "Home");
    let path = |value: &str| json!({"op": "set", "id": home, "property": "HTTPSampler.path", "value": value});
    let answer = agent.done("edit", json!({"plan": 1, "operations": [path("/${sise}")]}));
    assert_eq!(answer["unsaved"], true);
    let diff = answer["diff"].as_str().expect("a text");
    assert!(
        diff.contains("+<HTTPSamplerProxy") && diff.contains("/${sise}"),
        "{diff}"
    );
    let told = answer["new_findings"].to_string();
    assert!(told.contains("sise") && told.contains("\"hint\""), "{told}");
    let mended = agent.done("edit", json!({"plan": 1, "operations": [path("/${size}")]}));
    assert!(
        mended["gone_findings"].to_string().contains("sise"),
        "{mended}"
    );
    let operations = json!([path("/never"), {"op": "rename", "id": 999, "name": "x"}]);
    let refused = agent
        .call("edit", json!({"plan": 1, "operations": operations}))
        .expect_err("no such element");
    assert_eq!(
        refused["error"],
        "operation 2: the plan has no element 999; it may have been removed"
    );
    let found = agent.done("tree", json!({"plan": 1, "find": "/never"}));
    assert_eq!(found["hits"], json!([]), "{found}");
    let unknown = agent
        .call("edit", json!({"plan": 1, "operations": [{"op": "renam"}]}))
        .expect_err("no operation");
    assert_eq!(unknown["hint"], "did you mean `rename`?");
}

#[test]
fn an_agent_stays_in_its_folder_and_sees_no_secret() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let login = r#"<AuthManager guiclass="AuthPanel" testclass="AuthManager" testname="Login"><collectionProp name="AuthManager.auth_list">
<elementProp name="" elementType="Authorization"><stringProp name="Authorization.url">http://shop.test/</stringProp><stringProp name="Authorization.username">ann</stringProp><stringProp name="Authorization.password">canary-3141</stringProp></elementProp>
</collectionProp></AuthManager><hashTree/>
"#;
    workshop.write("inner/plan.jmx", plan(&group(1, login)));
    workshop.write("plan.jmx", shop("127.0.0.1:80"));
    let mut agent = Agent::start(&workshop, &[]);
    for outside in ["../plan.jmx", "/etc/passwd"] {
        for tool in ["open", "report"] {
            let refused = agent
                .call(tool, json!({"path": outside}))
                .expect_err("it is outside");
            assert!(
                refused["error"]
                    .as_str()
                    .is_some_and(|text| text.contains("outside")),
                "{refused}"
            );
        }
    }
    agent.done("open", json!({"path": "inner/plan.jmx"}));
    let id = agent.id(1, "Login");
    let element = agent
        .done("element", json!({"plan": 1, "id": id}))
        .to_string();
    assert!(
        element.contains("ann") && !element.contains("canary"),
        "{element}"
    );
    let found = agent.done("tree", json!({"plan": 1, "find": "canary"}));
    assert_eq!(found["hits"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(!found.to_string().contains("canary"), "{found}");
    let renamed = json!([{"op": "rename", "id": id, "name": "Log in"}]);
    let edited = agent
        .done("edit", json!({"plan": 1, "operations": renamed}))
        .to_string();
    assert!(
        edited.contains("Log in") && !edited.contains("canary"),
        "{edited}"
    );
    agent.done("save", json!({"plan": 1}));
    assert!(workshop.read("inner/plan.jmx").contains("canary-3141"));
}

#[test]
fn a_run_needs_leave_and_sends_to_no_other_host() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok("hello"))]);
    let address = server.address().to_string();
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("plan.jmx", shop(&address));
    let script = r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="Script"><stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">new File('x').text = ''</stringProp></JSR223Sampler><hashTree/>
"#;
    workshop.write("script.jmx", plan(&group(1, script)));
    let writes = http(
        "Read",
        &[
            ("domain", "127.0.0.1"),
            ("path", "/${__FileToString(/etc/passwd)}"),
        ],
    );
    workshop.write("reads.jmx", plan(&group(1, &writes)));

    let mut agent = Agent::start(&workshop, &[]);
    agent.done("open", json!({"path": "plan.jmx"}));
    let refused = agent
        .call("run", json!({"plan": 1, "once": true}))
        .expect_err("no leave");
    assert_eq!(refused["error"], "this server may not run plans");
    drop(agent);
    assert_eq!(server.requests().len(), 0);

    let mut agent = Agent::start(&workshop, &["--allow-run", "127.0.0.1"]);
    let upload = http("Upload", &[("domain", "127.0.0.1")]).replace(
        "</HTTPSamplerProxy>",
        r#"<elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files"><elementProp name="/etc/passwd" elementType="HTTPFileArg"><stringProp name="File.path">/etc/passwd</stringProp></elementProp></collectionProp></elementProp></HTTPSamplerProxy>"#,
    );
    workshop.write("uploads.jmx", plan(&group(1, &upload)));
    let include = r#"<IncludeController guiclass="IncludeControllerGui" testclass="IncludeController" testname="Part"><stringProp name="IncludeController.includepath">script.jmx</stringProp></IncludeController><hashTree/>
"#;
    workshop.write("includes.jmx", plan(&group(1, include)));
    let evaluated = http("Evaluated", &[("path", "/${__eval(${answer})}")]);
    workshop.write("evaluates.jmx", plan(&group(1, &evaluated)));
    let local = http("Local", &[("protocol", "file"), ("path", "/etc/passwd")]);
    workshop.write("local.jmx", plan(&group(1, &local)));
    let files = [
        "plan.jmx",
        "script.jmx",
        "reads.jmx",
        "uploads.jmx",
        "includes.jmx",
        "evaluates.jmx",
        "local.jmx",
    ];
    for (number, file) in (1..).zip(files) {
        assert_eq!(agent.done("open", json!({"path": file}))["plan"], number);
    }
    let ran = agent.done("run", json!({"plan": 1, "once": true}));
    assert_eq!(ran["exit_code"], 0, "{ran}");
    assert_eq!(server.requests().len(), 3, "{ran}");
    for (plan, why) in [
        (2, "`Script` runs by Java"),
        (3, "`Read` calls `__FileToString`"),
        (4, "`Upload` names the file `/etc/passwd`"),
        (5, "`Part` is of the type Include Controller"),
        (6, "`Evaluated` calls `__eval`"),
    ] {
        let refused = agent
            .call("run", json!({"plan": plan}))
            .expect_err("beyond the bounds");
        assert!(
            refused["error"]
                .as_str()
                .is_some_and(|text| text.starts_with(why)),
            "{refused}"
        );
    }
    let local = agent.id(7, "Local");
    let ran = agent.done("run_sampler", json!({"plan": 7, "id": local}));
    assert_eq!(ran["samples"][0]["sample"]["success"], false, "{ran}");
    assert!(!ran.to_string().contains("root:"), "{ran}");
    let home = agent.id(1, "Home");
    let ran = agent.done("run_sampler", json!({"plan": 1, "id": home}));
    assert_eq!(ran["outcome"]["ended"], "done", "{ran}");
    assert_eq!(
        ran["samples"][0]["response"]["body"]["text"], "hello",
        "{ran}"
    );
    assert_eq!(server.requests().len(), 4, "{ran}");
    let far =
        json!([{"op": "set", "id": home, "property": "HTTPSampler.domain", "value": "localhost"}]);
    agent.done("edit", json!({"plan": 1, "operations": far}));
    let ran = agent.done("run_sampler", json!({"plan": 1, "id": home}));
    assert_eq!(ran["samples"][0]["sample"]["success"], false, "{ran}");
    let refused = agent
        .call("run", json!({"plan": 1}))
        .expect_err("it is not saved");
    assert_eq!(refused["hint"], "`save` it first");
    agent.done("save", json!({"plan": 1}));
    let ran = agent.done(
        "run",
        json!({"plan": 1, "once": true, "fail_on": ["errors > 1%"]}),
    );
    assert_eq!(ran["exit_code"], 5, "{ran}");
    assert_eq!(
        server.requests().len(),
        6,
        "one request to localhost was not sent: {ran}"
    );
}

#[test]
fn names_are_explained_and_misspelt_ones_corrected() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let mut agent = Agent::start(&workshop, &[]);
    let mut explain = |about: &str| agent.call("explain", json!({"about": about}));
    assert_eq!(
        explain("HTTP Request").expect("known")["class"],
        "HTTPSamplerProxy"
    );
    assert_eq!(explain("${__P(a)}").expect("known")["function"], "__P");
    assert_eq!(
        explain("drumfire.tls_verify").expect("known")["default"],
        "false"
    );
    assert_eq!(
        explain("8").expect("known")["meaning"],
        "the run finished and nothing was sent"
    );
    assert_eq!(
        explain("Loop Controler").expect_err("unknown")["hint"],
        "did you mean `Loop Controller`?"
    );
    let stray = agent
        .call("open", json!({"file": "x"}))
        .expect_err("no such parameter");
    assert_eq!(stray["error"], "`open` has no parameter `file`");
    let tools = agent.ask("tools/list", &json!({}))["tools"].clone();
    assert_eq!(tools.as_array().map(Vec::len), Some(10));
}
