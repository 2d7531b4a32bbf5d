//! Nothing is fetched, sent or left behind unasked.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::program::{Finished, LIMIT, Workshop};

/// A folder to run in, with a home below it and a Java that is found but cannot run.
fn workshop() -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let home = workshop.path("home");
    std::fs::create_dir(&home).expect("a folder");
    workshop.write("java/lib/server/libjvm.so", "");
    workshop.write("java/release", "JAVA_VERSION=\"17.0.1\"\n");
    let java = workshop.path("java");
    let workshop = workshop.variable("HOME", &home.to_string_lossy());
    workshop.variable("JAVA_HOME", &java.to_string_lossy())
}

/// The files in the folder, apart from those that the test itself made.
fn left(workshop: &Workshop) -> Vec<String> {
    let mut files = workshop.files();
    files.retain(|name| !name.starts_with("home/") && !name.starts_with("java/"));
    files
}

fn kept_runs(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let count = |path: &Path| {
        if path.is_dir() {
            kept_runs(path)
        } else {
            usize::from(path.extension().is_some_and(|ending| ending == "drumfire"))
        }
    };
    entries.map(|entry| count(&entry.path())).sum()
}

fn plan(inside: &str) -> String {
    drumfire_testkit::plans::plan(&format!(
        r#"
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup>
<hashTree>{inside}</hashTree>"#
    ))
}

const DEBUG: &str =
    r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="D"/><hashTree/>"#;
const SCRIPT: &str = r#"<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="S"><stringProp name="script">1</stringProp></JSR223Sampler><hashTree/>"#;
const WEBDRIVER: &str = r#"<com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler guiclass="com.googlecode.jmeter.plugins.webdriver.sampler.gui.WebDriverSamplerGui" testclass="com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler" testname="W"/><hashTree/>"#;

/// A repository that refuses everything and counts the attempts.
fn refusing_repository() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/m2", listener.local_addr().expect("an address"));
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            count.fetch_add(1, Ordering::SeqCst);
            let mut stream = stream;
            let _ = stream.write_all(
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            );
        }
    });
    (url, asked)
}

/// Runs the program with a repository that refuses. Returns how often that was asked, too.
fn with_repository(workshop: &Workshop, words: &[&str]) -> (Finished, usize, String) {
    let (url, asked) = refusing_repository();
    let repository = format!("-Jdrumfire.maven.repositories={url}");
    let finished = workshop.run(&[words, &[&repository]].concat(), LIMIT);
    (finished, asked.load(Ordering::SeqCst), url)
}

const NEEDS_JAVA: bool = cfg!(all(feature = "jvm", not(target_env = "musl")));

#[test]
fn commands_that_inspect_a_plan_never_use_the_network() {
    if !NEEDS_JAVA {
        return;
    }
    let workshop = workshop();
    workshop.write("script.jmx", plan(SCRIPT));
    workshop.write("browser.jmx", plan(WEBDRIVER));
    for words in [
        &["check", "script.jmx"][..],
        &["check", "script.jmx", "--json"],
        &["check", "browser.jmx"],
        &["plan", "script.jmx"],
        &["plan", "browser.jmx"],
        &["doctor", "script.jmx"],
    ] {
        let (finished, asked, _) = with_repository(&workshop, words);
        assert_eq!(asked, 0, "{words:?}: {finished:?}");
    }
    let (script, ..) = with_repository(&workshop, &["check", "script.jmx"]);
    assert_eq!(script.code, Some(0), "{script:?}");
    assert!(
        script
            .err
            .contains("a run fetches 164 jars of JMeter 5.6.3 (73.7 MB)")
            && script.err.contains("`drumfire jvm install`"),
        "{script:?}"
    );
    let line = "drumfire jvm install jpgc-webdriver";
    for (command, code) in [("check", 3), ("plan", 0)] {
        let (browser, ..) = with_repository(&workshop, &[command, "browser.jmx"]);
        assert!(browser.err.contains(line), "{browser:?}");
        assert!(
            browser.err.contains("webdriver.sampler.WebDriverSampler"),
            "{browser:?}"
        );
        assert_eq!(browser.code, Some(code), "{browser:?}");
    }
    assert_eq!(left(&workshop), ["browser.jmx", "script.jmx"]);
}

#[test]
fn a_run_says_what_it_fetches_and_gives_up_at_the_first_refusal() {
    if !NEEDS_JAVA {
        return;
    }
    let workshop = workshop();
    workshop.write("script.jmx", plan(SCRIPT));
    let (refused, asked, url) = with_repository(&workshop, &["run", "script.jmx"]);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    let announced = format!("Fetching 164 jars (73.7 MB) from {url}");
    assert!(refused.err.contains(&announced), "{refused:?}");
    assert!(refused.err.contains("status 403"), "{refused:?}");
    assert!(asked <= 24, "asked {asked} times");
    for offline in ["--offline", "-Jdrumfire.maven.offline=true"] {
        let (refused, asked, _) = with_repository(&workshop, &["run", "script.jmx", offline]);
        assert_eq!((refused.code, asked), (Some(3), 0), "{refused:?}");
        assert!(
            refused.err.contains("run `drumfire jvm install`"),
            "{refused:?}"
        );
        assert!(!refused.err.contains("Fetching"), "{refused:?}");
    }
}

#[test]
fn a_plugin_without_jars_at_maven_central_is_named_with_its_page() {
    let workshop = workshop();
    workshop.write("browser.jmx", plan(WEBDRIVER));
    let known = workshop.run(&["jvm", "install", "bzm-rte"], LIMIT);
    assert_eq!(known.code, Some(2), "{known:?}");
    assert!(known.err.contains("-Juser.classpath=JAR"), "{known:?}");
    for what in ["jpgc-webdriver", "browser.jmx"] {
        let (refused, _, url) = with_repository(&workshop, &["jvm", "install", what]);
        assert!(
            !NEEDS_JAVA || format!("{refused:?}").contains(&url),
            "{refused:?}"
        );
    }
    assert!(!workshop.path("home/.local/state/drumfire/plugins").exists());
}

#[test]
fn a_run_leaves_what_jmeter_leaves_and_is_listed_all_the_same() {
    let workshop = workshop();
    workshop.write("plan.jmx", plan(DEBUG));
    let finished = workshop.run(&["run", "plan.jmx", "-l", "out.jtl"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(left(&workshop), ["jmeter.log", "out.jtl", "plan.jmx"]);
    assert!(!workshop.path(".drumfire").exists());
    let state = workshop.path("home/.local/state/drumfire/history");
    assert_eq!(kept_runs(&state), 1);
    let listed = workshop.run(&["runs", "--json"], LIMIT);
    let runs: serde_json::Value = serde_json::from_str(&listed.out).expect("JSON");
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{listed:?}");
    let compared = workshop.run(&["runs", "compare", "last", "1", "--anyway"], LIMIT);
    assert_eq!(compared.code, Some(0), "{compared:?}");

    // Another folder has its own history, and a project keeps its runs beside its file.
    workshop.write("shop/plan.jmx", plan(DEBUG));
    workshop.write("shop/drumfire.toml", "");
    let finished = workshop.run(&["run", "shop/plan.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(kept_runs(&workshop.path("shop/.drumfire")), 1);
    assert_eq!(kept_runs(&state), 1);
    let listed = workshop.run(&["runs"], LIMIT);
    assert_eq!(listed.out.lines().count(), 3, "{listed:?}");
}

#[cfg(unix)]
#[test]
fn foreign_files_behind_a_link_are_neither_deleted_nor_joined() {
    let workshop = workshop();
    workshop.write("plan.jmx", plan(DEBUG));
    workshop.write("drumfire.toml", "[runs]\nkeep = 1\n");
    for number in 0..3 {
        workshop.write(&format!("foreign/a-{number}.drumfire"), "foreign");
    }
    let foreign = workshop.path("foreign");
    std::os::unix::fs::symlink(&foreign, workshop.path(".drumfire")).expect("a link");
    let of_project = workshop.run(&["run", "plan.jmx"], LIMIT);
    std::fs::remove_file(workshop.path("drumfire.toml")).expect("it is there");
    std::fs::remove_dir_all(workshop.path("home/.local/state/drumfire")).expect("it is there");
    std::os::unix::fs::symlink(&foreign, workshop.path("home/.local/state/drumfire"))
        .expect("a link");
    let of_user = workshop.run(&["run", "plan.jmx", "-Jdrumfire.runs.keep=1"], LIMIT);
    for finished in [of_project, of_user] {
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.err.contains("is a link"), "{finished:?}");
    }
    assert_eq!(kept_runs(&foreign), 3);
}

#[test]
fn without_a_home_a_run_says_that_it_is_not_kept() {
    let workshop = workshop();
    workshop.write("plan.jmx", plan(DEBUG));
    let workshop = workshop.variable("HOME", "");
    let finished = workshop.run(&["run", "plan.jmx"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.err.contains("HOME and XDG_STATE_HOME are not set"),
        "{finished:?}"
    );
    let quiet = workshop.run(&["run", "plan.jmx", "--no-run-file"], LIMIT);
    assert_eq!(quiet.err, "", "{quiet:?}");
    assert_eq!(workshop.run(&["runs"], LIMIT).code, Some(0));
}

#[test]
fn a_run_of_a_url_leaves_nothing_and_speaks_for_itself() {
    let site = DemoSite::start(0, 0).expect("the site");
    let workshop = workshop();
    let url = format!("http://{}/", site.http);
    let finished = workshop.run(&["run", &url, "-n", "4", "-c", "2"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(left(&workshop), [""; 0]);
    let text = format!("{}{}", finished.out, finished.err);
    assert!(
        text.starts_with(&format!("GET {url}  2 users, 4 requests\n")),
        "{text}"
    );
    for words in [
        "summariser",
        ".jmx",
        "HeapDump",
        "standalone",
        "Tidying",
        "end of run",
    ] {
        assert!(!text.contains(words), "{words}: {text}");
    }
    let logged = workshop.run(&["run", &url, "-n", "1", "-j", "own.log"], LIMIT);
    assert_eq!(logged.code, Some(0), "{logged:?}");
    assert_eq!(left(&workshop), ["own.log"]);
}

#[test]
fn a_run_of_a_url_verifies_certificates_unless_told_otherwise() {
    let site = DemoSite::start(0, 0).expect("the site");
    let url = format!("https://{}/", site.https);
    let workshop = workshop();
    let curl = format!("curl -k {url}");
    let strict_curl = format!("curl {url}");
    let summary = |words: &[&str]| -> (serde_json::Value, Finished) {
        let finished = workshop.run(
            &[words, &["-n", "2", "--summary-json", "s.json"]].concat(),
            LIMIT,
        );
        let summary = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
        (summary, finished)
    };
    for (words, is_refused) in [
        (&["run", &url][..], true),
        (&["run", "--curl", &strict_curl], true),
        (&["run", &url, "--insecure"], false),
        (&["run", &url, "-k"], false),
        (&["run", "--curl", &curl], false),
        (&["run", &url, "-Jdrumfire.tls_verify=false"], false),
    ] {
        let (summary, finished) = summary(words);
        let text = format!("{}{}", finished.out, finished.err);
        assert_eq!(
            text.contains("the server's certificate"),
            is_refused,
            "{words:?}: {text}\n{summary}"
        );
        assert_eq!(
            text.contains("hint: `--insecure`"),
            is_refused,
            "{words:?}: {text}"
        );
        assert!(!text.contains("Issuer") && !text.contains("UNIX"), "{text}");
    }
    let saved = workshop.run(&["run", &url, "-k", "-n", "1", "--save", "s.jmx"], LIMIT);
    assert!(saved.out.contains("saved s.jmx\n"), "{saved:?}");
    let plan = workshop.run(&["run", "s.jmx"], LIMIT);
    assert!(!plan.out.contains("the server's certificate"), "{plan:?}");
    let verified = workshop.run(&["run", &url, "-n", "1", "--save", "s.jmx"], LIMIT);
    assert!(
        verified.out.contains("drumfire run s.jmx --tls-verify"),
        "{verified:?}"
    );
    let plan = workshop.run(&["run", "s.jmx", "--tls-verify"], LIMIT);
    assert!(plan.out.contains("the server's certificate"), "{plan:?}");
}

#[test]
fn errors_of_commands_that_print_json_stay_off_standard_output() {
    let workshop = workshop();
    workshop.write("broken.jmx", "<jmeterTestPlan");
    workshop.write("broken.yml", "execution: [");
    // Standard output may be empty, or else it is JSON.
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    for words in [
        &["check", "nothere.jmx", "--json"][..],
        &["check", "nothere.jmx", "--format", "json"],
        &["check", "nothere.jmx", "--format=sarif"],
        &["check", "broken.jmx", "--json"],
        &["check", "broken.jmx", "--format", "sarif"],
        &["check", "nothere.yml", "--json"],
        &["check", "broken.yml", "--json"],
        &["check", ".", "--json"],
        &["check", "nothere.jmx", "--json", "-q", "nothere.properties"],
        &["check", "nothere.jmx", "--json", "--profile", "nothere"],
        &["plan", "nothere.jmx", "--json"],
        &["plan", "broken.jmx", "--json"],
        &["plan", "broken.yml", "--json"],
        &["doctor", "nothere.jmx", "--json"],
        &["doctor", "broken.jmx", "--json"],
        &["calibrate", "--plan", "nothere.jmx", "--json"],
        &["calibrate", "--plan", "broken.jmx", "--json"],
        &["runs", "--json", "--plan", "nothere"],
        &["runs", "list", "--json", "--plan", "nothere"],
        &["runs", "--json", "--nothere"],
        &["ctl", "status", "--json"],
        &["ctl", "status", "--json", "--ui", "nothere"],
        &["agents", "--json", "--nats", "nats://127.0.0.1:1"],
    ] {
        let finished = workshop.run(words, LIMIT);
        let is_json = serde_json::from_str::<serde_json::Value>(&finished.out).is_ok();
        assert!(
            finished.out.is_empty() || is_json,
            "{words:?}: {finished:?}"
        );
        let is_list = words[0] == "runs" && finished.code == Some(0);
        let is_told = is_json || finished.err.starts_with("error");
        assert!(is_list || is_told, "{words:?}: {finished:?}");
        *tried.entry(words[0]).or_default() += 1;
    }
    // Every command that has the option is among them: the completions list the options of each.
    let script = workshop.run(&["completions", "bash"], LIMIT).out;
    let mut command = "";
    for line in script.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix("drumfire__subcmd__") {
            command = name.split(['_', ')']).next().unwrap_or_default();
        } else if line.starts_with("opts=") && line.contains(" --json ") {
            assert!(tried.contains_key(command), "{command}");
        }
    }
    assert_eq!(tried.len(), 7);
}

#[test]
fn settings_without_effect_are_told_once() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let workshop = workshop.variable("JAVA_OPTS", "-Xmx9g");
    let words = ["run", "--demo", "-Jseconds=1", "-Duser.timezone=Asia/Tokyo"];
    let finished = workshop.run(&words, LIMIT);
    for told in [
        "`JAVA_OPTS` has no effect",
        "`user.timezone=Asia/Tokyo` has no effect",
    ] {
        assert_eq!(finished.err.matches(told).count(), 1, "{finished:?}");
    }
}
