//! Typos and absences are refused before the first request, and the remedy that each refusal names removes it.

use drumfire_testkit::program::{Finished, LIMIT, Workshop};

/// A plan with the thread group `Buyers`, one Debug Sampler, and these elements in the group.
fn plan(inside: &str) -> String {
    drumfire_testkit::plans::plan(&format!(
        r#"
      <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Buyers">
        <stringProp name="ThreadGroup.num_threads">1</stringProp>
        <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
          <boolProp name="LoopController.continue_forever">false</boolProp>
          <stringProp name="LoopController.loops">1</stringProp>
        </elementProp>
      </ThreadGroup>
      <hashTree>
        <DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="look"/>
        <hashTree/>
        {inside}
      </hashTree>
    "#
    ))
}

fn data(name: &str) -> String {
    plan(&format!(
        r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="rows"><stringProp name="filename">{name}</stringProp><stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#
    ))
}

fn request(property: &str, value: &str) -> String {
    plan(&format!(
        r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="get"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="{property}">{value}</stringProp></HTTPSamplerProxy><hashTree/>"#
    ))
}

/// A folder with everything that the table's command lines may mean.
fn workshop() -> Workshop {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    shop.write("plan.jmx", plan(""));
    shop.write("plans/first.jmx", plan(""));
    shop.write("data/users.csv", "anna\n");
    shop.write("lib/plugin.jar", "");
    shop.write("more.properties", "a=1\n");
    shop.write("backslash.jmx", data("data\\users.csv"));
    shop.write("case.jmx", data("Data/Users.CSV"));
    shop.write("elsewhere.jmx", data("users.csv"));
    shop.write("misspelt.jmx", data("data/user.csv"));
    shop.write("port.jmx", request("HTTPSampler.port", "70000"));
    shop.write("proxy.jmx", request("HTTPSampler.proxyPort", "70000"));
    shop.write(
        "include.jmx",
        plan(r#"<IncludeController guiclass="g" testclass="IncludeController" testname="i"><stringProp name="IncludeController.includepath">plans/frst.jmx</stringProp></IncludeController><hashTree/>"#),
    );
    let conflict = "<<<<<<< HEAD\n<!-- ours -->\n=======\n<!-- theirs -->\n>>>>>>> branch\n";
    shop.write(
        "conflict.jmx",
        plan(conflict).replace("\n        <<<<<<<", "\n<<<<<<<"),
    );
    shop.write(
        "taurus.yml",
        "execution:\n- concurency: 3\n  scenario: {script: plan.jmx}\n",
    );
    shop.write("project/plan.jmx", plan(""));
    shop.write("project/drumfire.toml", "[propertys]\na = 1\n");
    shop.write("zero/plan.jmx", plan(""));
    shop.write("zero/drumfire.toml", "[profiles.load]\nusers = 0\n");
    shop.write("shop.har", "{\"log\": {\"entries\": []}}");
    shop.write("api.yaml", "openapi: 3.0.0\npaths: {}\n");
    shop.write(
        "results.jtl",
        "timeStamp,elapsed,label,success\n1700000000000,1,a,true\n",
    );
    shop
}

/// How a refusal's remedy is applied.
#[derive(Clone, Copy)]
enum Fix {
    /// The remedy replaces this text in the command line.
    Word(&'static str),
    /// The remedy says in words what to write instead of this text in the command line.
    With(&'static str, &'static str),
    /// The remedy replaces this text in this file.
    File(&'static str, &'static str),
    /// The remedy is a whole command line.
    Command,
    /// The remedy is one more word.
    Add,
    /// The remedy is to remove one side of each conflict in this file.
    Resolve(&'static str),
}

/// The remedy of a refusal: the first text in backticks behind the last `hint:`, or else the first number there.
fn remedy(err: &str) -> Option<String> {
    let hint = err.rsplit("hint: ").next().expect("a text has a last part");
    let line = hint.lines().next().unwrap_or_default();
    let quoted = line.split('`').nth(1).map(str::to_owned);
    let number = || {
        line.split(' ')
            .find(|word| word.parse::<u64>().is_ok())
            .map(str::to_owned)
    };
    quoted.or_else(number)
}

fn apply(fix: Fix, shop: &Workshop, words: &[&str], err: &str) -> Option<Finished> {
    let words = words.iter().map(|word| (*word).to_owned());
    let words: Vec<String> = match fix {
        Fix::Word(wrong) => {
            let right = remedy(err)?;
            words.map(|word| word.replace(wrong, &right)).collect()
        }
        Fix::With(wrong, right) => words.map(|word| word.replace(wrong, right)).collect(),
        Fix::File(file, wrong) => {
            shop.write(file, shop.read(file).replace(wrong, &remedy(err)?));
            words.collect()
        }
        Fix::Command => {
            let command = remedy(err)?;
            let command = command
                .strip_prefix("drumfire ")
                .expect("it is a command of the program");
            command.split(' ').map(str::to_owned).collect()
        }
        Fix::Add => {
            let word = remedy(err)?.replace("HOST", "127.0.0.1");
            words.chain([word]).collect()
        }
        Fix::Resolve(file) => {
            assert!(err.contains("keep one side"), "{err}");
            let text = shop.read(file);
            let (before, rest) = text.split_once("<<<<<<<").expect("a first side");
            let (_, after) = rest.split_once(">>>>>>> branch\n").expect("a second side");
            shop.write(file, format!("{before}{after}"));
            words.collect()
        }
    };
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Some(shop.run(&words, LIMIT))
}

/// Command lines, words of their refusal, and how the remedy is applied.
#[rustfmt::skip]
const TYPOS: &[(&[&str], &str, Fix)] = &[
    (&["run", "plan.jmx", "-q", "mor.properties"], "`mor.properties` does not exist", Fix::Word("mor.properties")),
    (&["run", "plan.jmx", "-S", "More.properties"], "`More.properties` does not exist", Fix::Word("More.properties")),
    (&["run", "plan.jmx", "-p", "mor.properties"], "`mor.properties` does not exist", Fix::Word("mor.properties")),
    (&["check", "plan.jmx", "-q", "mor.properties"], "`mor.properties` does not exist", Fix::Word("mor.properties")),
    (&["-n", "-t", "plan.jmx", "-q", "mor.properties"], "`mor.properties` does not exist", Fix::Word("mor.properties")),
    (&["run", "plan.jmx", "--tls-ca", "mor.properties"], "mor.properties` does not exist", Fix::Word("mor.properties")),
    (&["run", "plan.jmx", "--users", "0", "--duration", "1s"], "`0` is not a value of `--users`", Fix::Word("0")),
    (&["run", "plan.jmx", "--users", "many"], "`many` is not a value of `--users`", Fix::With("many", "1")),
    (&["run", "plan.jmx", "-Jdrumfire.load.users=0"], "`0` is not a value of the property `drumfire.load.users`", Fix::Word("0")),
    (&["run", "zero/plan.jmx", "--profile", "load"], "`0` is not a value of the property `drumfire.load.users`", Fix::File("zero/drumfire.toml", "0")),
    (&["run", "plan.jmx", "-Jsummariser.interval=soon"], "`summariser.interval` is `soon`", Fix::Word("-Jsummariser.interval=soon")),
    (&["run", "plan.jmx", "-Juser.classpath=lib/plugn.jar"], "`lib/plugn.jar` does not exist", Fix::Word("lib/plugn.jar")),
    (&["run", "plan.jmx", "-Jsearch_paths=Lib/plugin.jar"], "`Lib/plugin.jar` does not exist", Fix::Word("Lib/plugin.jar")),
    (&["check", "plan.jmx", "-Jplugin_dependency_paths=plugin.jar"], "`plugin.jar` does not exist", Fix::Word("plugin.jar")),
    (&["run", "plan.jmx", "--group", "Buyer", "--users", "1"], "no enabled thread group `Buyer`; it has `Buyers`", Fix::Word("Buyer")),
    (&["run", "plan.jmx", "--group", "Nobody", "--users", "1"], "no enabled thread group `Nobody`; it has `Buyers`", Fix::Word("Nobody")),
    (&["run", "plans"], "`plans` is a folder", Fix::Word("plans")),
    (&["check", "plans/"], "`plans/` is a folder", Fix::Word("plans/")),
    (&["run", "pln.jmx"], "`pln.jmx` does not exist", Fix::Word("pln.jmx")),
    (&["run", "first.jmx"], "`first.jmx` does not exist", Fix::Word("first.jmx")),
    (&["-n", "-t", "pln.jmx"], "`pln.jmx` does not exist", Fix::Word("pln.jmx")),
    (&["show", "pln.jmx"], "`pln.jmx` does not exist", Fix::Word("pln.jmx")),
    (&["report", "result.jtl"], "`result.jtl` does not exist", Fix::Word("result.jtl")),
    (&["run", "results.jtl"], "this is a result file", Fix::Command),
    (&["check", "shop.har"], "this is JSON", Fix::Command),
    (&["run", "api.yaml"], "`api.yaml` is an API description", Fix::Command),
    (&["run", "127.0.0.1:1"], "`127.0.0.1:1` is neither a plan nor an address", Fix::Command),
    (&["run", "htp://127.0.0.1:1/"], "`htp://127.0.0.1:1/` is neither", Fix::Command),
    (&["run", "http:/127.0.0.1:1"], "is neither", Fix::Command),
    (&["run", "http://127.0.0.1:70000/", "-n", "1"], "`70000` is not a port", Fix::Word("70000")),
    (&["run", "plan.jmx", "--ui", "127.0.0.1:70000"], "`127.0.0.1:70000` is not a value of `--ui`", Fix::Word("127.0.0.1:70000")),
    (&["run", "plan.jmx", "-Jdrumfire.ui=127.0.0.1:70000"], "`127.0.0.1:70000` is not a value", Fix::Word("127.0.0.1:70000")),
    (&["run", "plan.jmx", "-Jserver_port=70000"], "`server_port` is `70000`", Fix::Word("70000")),
    (&["-n", "-t", "plan.jmx", "-H", "proxy", "-P", "70000"], "`70000` is not a port", Fix::Word("70000")),
    (&["run", "port.jmx"], "`70000` in HTTPSampler.port of 'get' is not a port", Fix::File("port.jmx", "70000")),
    (&["check", "proxy.jmx"], "`70000` in HTTPSampler.proxyPort", Fix::File("proxy.jmx", "70000")),
    (&["run", "plan.jmx", "--agents", "1", "--nats", "nats://127.0.0.1:70000"], "`70000` is not a port", Fix::Word("70000")),
    (&["agents", "--nats", "nats://127.0.0.1:70000"], "`70000` is not a port", Fix::Word("70000")),
    (&["run", "plan.jmx", "--out", "graphit=127.0.0.1:1"], "`graphit` is not a kind of output", Fix::Word("graphit")),
    (&["run", "plan.jmx", "--out", "influxdb=http://127.0.0.1:70000/"], "is not a place for influxdb", Fix::With("70000", "1")),
    (&["run", "plan.jmx", "--watch", "nod=http://127.0.0.1:1/"], "`nod` is not a kind of source", Fix::Word("nod")),
    (&["-n", "-t", "plan.jmx", "-R", "one"], "agents are reached over a NATS server", Fix::Add),
    (&["run", "conflict.jmx"], "unresolved conflicts of git", Fix::Resolve("conflict.jmx")),
    (&["run", "plan.jmx", "--fail-on", "p95 >> 300ms"], "`>>` is not a comparison", Fix::Word("p95 >> 300ms")),
    (&["run", "plan.jmx", "--fail-on", "p95>300"], "needs its unit", Fix::Word("p95>300")),
    (&["run", "plan.jmx", "--abort-on", "erors > 1%"], "there is no metric `erors`", Fix::Word("erors > 1%")),
    (&["report", "results.jtl", "--fail-on", "p95 = 3s"], "a comparison", Fix::Word("p95 = 3s")),
    (&["run", "backslash.jmx"], "does not exist", Fix::File("backslash.jmx", "data\\users.csv")),
    (&["run", "case.jmx"], "does not exist", Fix::File("case.jmx", "Data/Users.CSV")),
    (&["run", "elsewhere.jmx"], "does not exist", Fix::File("elsewhere.jmx", "users.csv")),
    (&["check", "misspelt.jmx"], "does not exist", Fix::File("misspelt.jmx", "data/user.csv")),
    (&["run", "include.jmx"], "does not exist", Fix::File("include.jmx", "plans/frst.jmx")),
    (&["run", "taurus.yml"], "`concurency` is not a key of an execution", Fix::File("taurus.yml", "concurency")),
    (&["run", "taurs.yml"], "`taurs.yml` does not exist", Fix::Word("taurs.yml")),
    (&["run", "project/plan.jmx"], "`propertys` is not a key", Fix::File("project/drumfire.toml", "propertys")),
    (&["run", "plan.jmx", "--progress", "quite"], "`quite` is not a value of `--progress`", Fix::Word("quite")),
    (&["run", "plan.jmx", "--sumary-json", "a.json"], "there is no option `--sumary-json`", Fix::Word("--sumary-json")),
    (&["chekc", "plan.jmx"], "there is no command `chekc`", Fix::With("chekc", "check")),
];

/// The fault of a refusal or its remedy, if there is one.
fn fault(words: &[&str], told: &str, fix: Fix) -> Option<String> {
    let shop = workshop();
    let refused = shop.run(words, LIMIT);
    let text = format!("{}{}", refused.out, refused.err);
    let is_refused = matches!(refused.code, Some(1..=3)) && text.contains(told);
    if !is_refused || !text.contains("hint: ") || text.contains("Starting standalone test") {
        return Some(format!("{words:?} is not refused: {refused:?}"));
    }
    let hint = text.split("hint: ").nth(1).unwrap_or_default();
    if hint.starts_with(char::is_uppercase) {
        return Some(format!("{words:?} has a hint with a capital: {text}"));
    }
    let Some(fixed) = apply(fix, &shop, words, &text) else {
        return Some(format!("{words:?} has no remedy: {text}"));
    };
    let is_fixed = !format!("{}{}", fixed.out, fixed.err).contains(told);
    (!is_fixed).then(|| format!("{words:?} is not mended: {text}{fixed:?}"))
}

#[test]
fn a_typo_is_refused_before_the_first_request_and_its_remedy_removes_the_error() {
    let faults = TYPOS
        .iter()
        .filter_map(|(words, told, fix)| fault(words, told, *fix));
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

/// Texts of libraries and of the operating system that say nothing to a user.
const RAW: [&str; 17] = [
    "os error",
    "No such file",
    "Is a directory",
    "Permission denied",
    "Connection refused",
    "invalid digit",
    "invalid float",
    "invalid type",
    "number too large",
    "<input>",
    "TOML parse error",
    "unknown field",
    "EOF while",
    "expected value at",
    "invalid IP address",
    "tip:",
    "help:",
];

#[test]
fn no_text_of_a_library_reaches_the_user() {
    let shop = workshop();
    shop.write("broken.yml", "execution: [");
    shop.write("broken.json", "{\"execution\": [");
    shop.write("broken/plan.jmx", plan(""));
    shop.write("broken/drumfire.toml", "[profiles.p]\nusers = \"many\"\n");
    shop.write("cut.drumfire", "drumfire-run-stream 1\n");
    shop.write("cut.jtl", "<?xml version=\"1.0\"?>\n<testRes");
    #[rustfmt::skip]
    let lines: &[&[&str]] = &[
        &["run", "broken.yml"],
        &["run", "broken.json"],
        &["run", "broken/plan.jmx"],
        &["run", "plan.jmx", "--progress", "quiet", "--out", "influxdb=http://127.0.0.1:1/write"],
        &["run", "plan.jmx", "--progress", "quiet", "--watch", "node=http://127.0.0.1:1/"],
        &["run", "plan.jmx", "--agents", "1", "--nats", "nats://127.0.0.1:1"],
        &["run", "plan.jmx", "-l", "plan.jmx/a.jtl"],
        &["run", "plan.jmx", "--report", "plan.jmx/a.html"],
        &["run", "plan.jmx", "--baseline", "none.drumfire"],
        &["run", "plan.jmx", "--tls-ca", "plans"],
        &["run", "plan.jmx", "--sign", "none.key", "--agents", "1", "--nats", "nats://127.0.0.1:1"],
        &["report", "plans"],
        &["report", "cut.drumfire"],
        &["report", "cut.jtl"],
        &["compare", "none.jtl", "results.jtl"],
        &["merge", "results.jtl", "results.jtl", "-o", "none/a.drumfire"],
        &["import", "plans", "-o", "a.jmx"],
        &["import", "none.har", "-o", "a.jmx"],
        &["new", "none/a.jmx"],
        &["fmt", "none.jmx"],
        &["set", "none.jmx", "plan>name=b"],
        &["diff", "none.jmx", "plan.jmx"],
        &["debug", "none.jmx"],
        &["doctor", "none.jmx"],
        &["capacity", "none.jmx", "--until", "p95 > 1s", "--from", "1", "--max", "2"],
        &["k8s", "manifest", "none.jmx", "--agents", "1"],
        &["agent", "--nats", "nats://127.0.0.1:4222", "--trust", "none.pub"],
        &["mirror", "--address", "here"],
        &["mirror", "--port", "70000"],
        &["demo", "--port", "70000"],
        &["ctl", "--ui", "http://127.0.0.1:1/?token=a", "status"],
        &["run", "http://127.0.0.1:1/", "-n", "1", "--body", "@none.json"],
    ];
    for words in lines {
        let finished = shop.run(words, LIMIT);
        let text = format!("{}{}", finished.out, finished.err);
        for raw in RAW {
            assert!(!text.contains(raw), "{words:?}: `{raw}` in {text}");
        }
        assert!(!finished.err.is_empty(), "{words:?}: {finished:?}");
    }
}
