//! Plans from nothing, as the program: `run URL`, `new`, `import`.

use std::time::Duration;

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::program::{Finished, Workshop};

const LIMIT: Duration = Duration::from_secs(120);

fn shop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// The labels of a result file and whether each sample was a success.
fn rows(shop: &Workshop, file: &str) -> Vec<(String, bool)> {
    let text = shop.read(file);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect("a header").clone();
    let column = |name: &str| {
        header
            .iter()
            .position(|own| own == name)
            .expect("the column")
    };
    let (label, success) = (column("label"), column("success"));
    let records = reader.records().map(|record| record.expect("a row"));
    records
        .map(|record| (record[label].to_owned(), &record[success] == "true"))
        .collect()
}

fn succeeded(finished: &Finished) {
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

#[test]
fn an_address_is_enough_for_a_run() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let url = format!("http://{}/api/search?q=drum", site.http);
    let finished = shop.run(
        &[
            "run",
            &url,
            "-n",
            "25",
            "-c",
            "4",
            "-H",
            "X-A: b",
            "--save",
            "kept.jmx",
            "-l",
            "out.jtl",
            "--fail-on",
            "errors > 0",
        ],
        LIMIT,
    );
    succeeded(&finished);
    let rows = rows(&shop, "out.jtl");
    assert_eq!(rows.len(), 25);
    assert!(
        rows.iter()
            .all(|(label, success)| label == "GET /api/search" && *success)
    );
    let plan = shop.read("kept.jmx");
    assert!(
        plan.contains("<stringProp name=\"Header.name\">X-A</stringProp>"),
        "{plan}"
    );
    let again = shop.run(&["run", "kept.jmx", "-l", "again.jtl"], LIMIT);
    succeeded(&again);
    assert_eq!(self::rows(&shop, "again.jtl").len(), 25);
    let formatted = shop.run(&["fmt", "--check", "kept.jmx"], LIMIT);
    succeeded(&formatted);
}

#[test]
fn curl_commands_json_bodies_and_rates() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let curl = format!(
        "curl 'http://{}/upload' -H 'X: y' --data-raw '{{\"a\":1}}'",
        site.http
    );
    let finished = shop.run(
        &[
            "run", "--curl", &curl, "-n", "3", "-c", "1", "-l", "curl.jtl",
        ],
        LIMIT,
    );
    succeeded(&finished);
    assert_eq!(
        rows(&shop, "curl.jtl"),
        vec![("POST /upload".to_owned(), true); 3]
    );
    shop.write("body.json", "{\"b\":2}");
    let url = format!("http://{}/upload", site.http);
    let finished = shop.run(
        &[
            "run",
            &url,
            "--json",
            "@body.json",
            "--rate",
            "20",
            "-d",
            "1s",
            "-l",
            "json.jtl",
        ],
        LIMIT,
    );
    succeeded(&finished);
    let rows = rows(&shop, "json.jtl");
    assert_eq!((rows.len(), rows[0].1), (20, true));
}

#[test]
fn wrong_lines_are_usage_errors() {
    let shop = shop();
    for line in [
        &["run", "http://", "-c", "1"][..],
        &["run", "http://h/", "-c", "0"],
        &["run", "http://h/", "-d", "soon"],
        &["run", "http://h/", "-H", "nothing"],
        &["run", "http://h/", "--json", "@missing.json"],
        &["run", "--curl", "ls -l"],
        &["new", "x.jmx", "--template", "none"],
    ] {
        let finished = shop.run(line, LIMIT);
        assert_eq!(finished.code, Some(2), "{line:?}: {}", finished.err);
        assert!(finished.err.contains("error"), "{line:?}");
    }
    assert!(
        shop.files().iter().all(|file| file.ends_with(".log")),
        "{:?}",
        shop.files()
    );
}

#[test]
fn new_overwrites_nothing() {
    let shop = shop();
    succeeded(&shop.run(&["new", "http.jmx"], LIMIT));
    let again = shop.run(&["new", "http.jmx"], LIMIT);
    assert_eq!(again.code, Some(2));
    assert!(again.err.contains("hint: add `--force`"), "{}", again.err);
}

#[test]
fn a_saved_plan_reads_duration_and_rate_from_properties() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let url = format!("http://{}/api/products", site.http);
    for (name, load) in [("users", &["-c", "2"][..]), ("arrivals", &["--rate", "10"])] {
        let plan = format!("{name}.jmx");
        let made = [&["run", &url, "-d", "1s", "--save", &plan], load].concat();
        succeeded(&shop.run(&made, LIMIT));
        let shown = [
            "plan",
            &plan,
            "-Jusers=7",
            "-Jseconds=900",
            "-Jrate=3",
            "-Jramp_up=5",
        ];
        let shown = shop.run(&shown, LIMIT);
        succeeded(&shown);
        let wanted = match name {
            "users" => "7 users",
            _ => "0.000 s to 900.000 s: 3 arrivals per second",
        };
        assert!(shown.out.contains(wanted), "{wanted}: {}", shown.out);
    }
}

#[test]
fn new_names_the_server_that_a_template_needs() {
    let shop = shop();
    for (template, needs) in [
        ("http", None),
        ("websocket", Some("needs  a WebSocket server")),
        ("jdbc", Some("needs  a PostgreSQL server")),
    ] {
        let finished = shop.run(&["new", "plan.jmx", "-f", "--template", template], LIMIT);
        succeeded(&finished);
        let line = finished.out.lines().find(|line| line.starts_with("needs"));
        assert_eq!(line.is_some(), needs.is_some(), "{}", finished.out);
        assert!(
            finished
                .out
                .contains(needs.unwrap_or("try    drumfire run plan.jmx --demo"))
        );
    }
}

#[test]
fn imports_pass_check_and_run() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let host = site.http.to_string();
    let har = include_str!("../authoring/visit.har").replace("shop.example", &host);
    shop.write("visit.har", har);
    let finished = shop.run(
        &["import", "visit.har", "-o", "visit.jmx", "--no-think-time"],
        LIMIT,
    );
    succeeded(&finished);
    assert!(
        finished.out.contains("variable   csrf  from `GET /login`"),
        "{}",
        finished.out
    );
    assert!(
        finished.out.contains("visit.csv: username, password"),
        "{}",
        finished.out
    );
    let run = shop.run(
        &["run", "visit.jmx", "-Jusers=20", "-l", "visit.jtl"],
        LIMIT,
    );
    succeeded(&run);
    let rows = rows(&shop, "visit.jtl");
    let failed: Vec<_> = rows.iter().filter(|(_, success)| !success).collect();
    assert!(
        failed.is_empty() && rows.len() >= 60,
        "{failed:?} of {}",
        rows.len()
    );
}

#[test]
fn a_replay_proves_what_is_needed_and_drops_what_is_not() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    shop.write("visit.har", include_str!("../authoring/visit.har"));
    let server = format!("http://{}", site.http);
    let finished = shop.run(
        &[
            "import",
            "visit.har",
            "-o",
            "visit.jmx",
            "--verify",
            &server,
        ],
        LIMIT,
    );
    succeeded(&finished);
    assert!(
        finished
            .out
            .contains("csrf  from `GET /login`, sent by 1 request, proved by two replays"),
        "{}",
        finished.out
    );
    assert!(shop.read("visit.jmx").contains("HtmlExtractor"));
}

#[test]
fn two_users_recordings_tell_their_data() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let first =
        include_str!("../authoring/visit.har").replace("shop.example", &site.http.to_string());
    let other = first
        .replace("username=ann", "username=bob")
        .replace("5b1f0c77a9d34e21", "0c55e81f6a42b7d9");
    assert!(
        other != first && other.contains("0c55e81f6a42b7d9"),
        "the visits differ"
    );
    shop.write("ann.har", &first);
    shop.write("bob.har", other);
    shop.write(
        "far.har",
        first
            .replace("/login", "/away")
            .replace("GET", "PUT")
            .replace("POST", "PATCH"),
    );
    let words = [
        "import",
        "ann.har",
        "--other-user",
        "bob.har",
        "-o",
        "visit.jmx",
        "--no-think-time",
    ];
    let finished = shop.run(&words, LIMIT);
    succeeded(&finished);
    assert!(
        finished
            .out
            .contains("csrf  from `GET /login`, sent by 1 request, confirmed by the other user"),
        "{}",
        finished.out
    );
    // the password is the same for both, so it stays
    assert_eq!(shop.read("visit.csv"), "username\nann\nbob\n");
    succeeded(&shop.run(&["run", "visit.jmx", "-Jusers=4", "-l", "visit.jtl"], LIMIT));
    assert!(rows(&shop, "visit.jtl").iter().all(|(_, success)| *success));
    let refused = shop.run(
        &[
            "import",
            "ann.har",
            "--other-user",
            "far.har",
            "-o",
            "none.jmx",
        ],
        LIMIT,
    );
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    assert!(
        refused.err.contains("`far.har` is another visit"),
        "{}",
        refused.err
    );
    assert!(!shop.files().contains(&"none.jmx".to_owned()));
}

#[test]
fn files_without_a_request_are_refused_and_leave_no_plan() {
    let shop = shop();
    // as `k6 archive` writes it
    let tar = format!(
        "{}{}ustar\u{0}00{}",
        "metadata.json",
        "\u{0}".repeat(244),
        "\u{0}".repeat(1_000)
    );
    let entry = "{\"request\": {\"url\": \"data:text/plain,x\"}}";
    let huge = format!(
        "{{\"log\": {{\"entries\": [{}]}}}}",
        vec![entry; 100_000].join(",")
    );
    // each line has ten of the line before it
    let mut aliases = "openapi: \"3.0.0\"\na0: &a0 [x]\n".to_owned();
    for line in 1..10 {
        let of = vec![format!("*a{}", line - 1); 10].join(", ");
        aliases.push_str(&format!("a{line}: &a{line} [{of}]\n"));
    }
    aliases.push_str("paths: *a9\n");
    for (name, content) in [
        ("empty.har", ""),
        (
            "cut.har",
            "{\"log\": {\"entries\": [{\"request\": {\"url\": \"http://h/\"",
        ),
        ("none.har", "{\"log\": {\"entries\": []}}"),
        (
            "data.har",
            "{\"log\": {\"entries\": [{\"request\": {\"url\": \"data:text/plain,x\"}}]}}",
        ),
        ("log.har", "{\"log\": 5}"),
        ("version1.json", "{\"requests\": [], \"order\": []}"),
        ("nothing.json", "{\"info\": {}, \"item\": []}"),
        ("environment.json", "{\"values\": []}"),
        (
            "webhooks.json",
            "{\"openapi\": \"3.1.0\", \"webhooks\": {\"a\": {}}}",
        ),
        ("paths.json", "{\"openapi\": \"3.0.0\", \"paths\": {}}"),
        (
            "cycle.json",
            "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"$ref\": \"#/paths/~1a\"}}}",
        ),
        ("other.json", "{\"a\": 1}"),
        ("array.json", "[1, 2]"),
        ("broken.yaml", "openapi: 3.0.0\npaths: [\n"),
        ("text.txt", "hello\n"),
        ("wget.sh", "wget http://h/\n"),
        ("ftp.sh", "curl ftp://h/\n"),
        ("noise.bin", "\u{0}\u{1}\u{2}\u{3}"),
        ("plan.xml", "<?xml version=\"1.0\"?><jmeterTestPlan/>"),
        (
            "half.har",
            "{\"log\": {\"entries\": [{\"request\": {\"method\": \"GET\"}}]}}",
        ),
        ("entries.har", "{\"log\": {\"entries\": {\"a\": 1}}}"),
        (
            "sockets.har",
            "{\"log\": {\"entries\": [{\"request\": {\"url\": \"wss://h/\"}}]}}",
        ),
        (
            "blocked.har",
            "{\"log\": {\"entries\": [{\"request\": {\"url\": \"http://h/\"}, \"response\": {\"status\": 0}}]}}",
        ),
        (
            "relative.har",
            "{\"log\": {\"entries\": [{\"request\": {\"url\": \"/a\"}}]}}",
        ),
        (
            "connect.har",
            "{\"log\": {\"entries\": [{\"request\": {\"method\": \"CONNECT\", \"url\": \"https://h:443\"}}]}}",
        ),
        ("number.json", "5"),
        ("null.json", "null"),
        ("text.json", "\"curl\""),
        ("cut.yaml", "openapi: \"3.0.0\"\npaths:\n  /a: {get: "),
        ("swagger.json", "{\"swagger\": \"2.0\"}"),
        (
            "folders.json",
            "{\"info\": {}, \"item\": [{\"name\": \"f\", \"item\": []}]}",
        ),
        ("options.sh", "curl --help\n"),
        ("nul.har", "\u{0}{\u{0}\"\u{0}l\u{0}"),
        ("schema.graphql", "type Query {\n  a: String\n}\n"),
        ("cut.graphql", "query A {\n  a\n"),
        ("lone.graphql", "query A {\n  a\n}\n"),
        ("packed.har", "PK\u{3}\u{4}..."),
        ("packed.har.gz", "\u{1f}\u{8b}..."),
        ("k6.tar", &tar),
        ("deep.har", &"[".repeat(100_000)),
        ("huge.har", &huge),
        ("aliases.yaml", &aliases),
        (
            "outside.yaml",
            "openapi: \"3.0.0\"\npaths:\n  /a: {$ref: \"../../etc/passwd\"}\n",
        ),
        (
            "posts.log",
            "1.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"POST /a HTTP/1.0\" 200 1\n",
        ),
    ] {
        shop.write(name, content);
        let finished = shop.run(&["import", name, "-o", "made.jmx"], LIMIT);
        assert_eq!(
            finished.code,
            Some(3),
            "{name}: {}{}",
            finished.out,
            finished.err
        );
        let told = finished.err.starts_with("error: ")
            && (finished.err.contains(name) || name == "environment.json")
            && finished
                .err
                .lines()
                .filter(|line| line.starts_with("hint: "))
                .count()
                == 1;
        assert!(told, "{name}: {}", finished.err);
        assert!(
            !shop.files().iter().any(|file| file.starts_with("made")),
            "{name}"
        );
    }
    let missing = shop.run(&["import", "missing.har", "-o", "made.jmx"], LIMIT);
    assert_eq!(missing.code, Some(3));
}

#[test]
fn files_that_requests_send_lie_beside_the_plan() {
    let shop = shop();
    let har = "{\"log\":{\"entries\":[{\"request\":{\"method\":\"POST\",\"url\":\"http://h/up\",\"postData\":{\"mimeType\":\"multipart/form-data\",\
               \"params\":[{\"name\":\"a\",\"fileName\":\"/home/ann/a.txt\",\"value\":\"own text\"},{\"name\":\"b\",\"fileName\":\"b.png\"},\
               {\"name\":\"c\",\"fileName\":\"made.jmx\"},{\"name\":\"d\",\"fileName\":\"mine.txt\"}]}}}]}}";
    let api = "swagger: \"2.0\"\nhost: h\npaths:\n  /up: {post: {parameters: [{in: formData, name: photo, type: file}]}}\n  /raw: {$ref: raw.yaml}\n";
    shop.write("mine.txt", "mine");
    shop.write("visit.har", har);
    shop.write("api.yaml", api);
    shop.write(
        "raw.yaml",
        "post: {parameters: [{in: formData, name: raw, type: file}]}\n",
    );
    shop.write(
        "upload.sh",
        "curl http://h/up -F 'f=@/nowhere/else/c.gif'\n",
    );
    for (input, files) in [
        (
            "visit.har",
            &[
                ("a.txt", "own text"),
                ("b.png", "placeholder for b.png\n"),
                ("upload-made.jmx", "placeholder for upload-made.jmx\n"),
                ("mine.txt", "mine"),
            ][..],
        ),
        (
            "api.yaml",
            &[
                ("photo.bin", "placeholder for photo.bin\n"),
                ("raw.bin", "placeholder for raw.bin\n"),
            ],
        ),
        ("upload.sh", &[("c.gif", "placeholder for c.gif\n")]),
    ] {
        let imported = shop.run(&["import", input, "-o", "made.jmx", "--force"], LIMIT);
        succeeded(&imported);
        for (file, content) in files {
            assert_eq!(shop.read(file), *content, "{input}: {file}");
        }
        assert!(
            imported.out.contains("in its place"),
            "{input}: {}",
            imported.out
        );
        succeeded(&shop.run(&["check", "made.jmx"], LIMIT));
    }
}

#[test]
fn odd_inputs_are_imported() {
    let shop = shop();
    let utf16: Vec<u8> = "\u{feff}{\"log\":{\"entries\":[{\"request\":{\"url\":\"http://h/\"}}]}}"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
    let deep_har = format!(
        "{{\"log\":{{\"entries\":[{{\"request\":{{\"url\":\"http://h/\",\"x\":{deep}}}}}]}}}}"
    );
    let hostile = "{\"log\":{\"entries\":[{\"request\":{\"method\":\"POST\",\"url\":\"http://h/../../etc/passwd?${__exec(x)}\",\
                   \"postData\":{\"mimeType\":\"multipart/form-data\",\"params\":[{\"name\":\"f\",\"fileName\":\"../../etc/passwd\"}]}}}]}}";
    let many: Vec<String> = (0..2_000)
        .map(|n| format!("{{\"name\":\"r{n}\",\"request\":\"http://h/{n}\"}}"))
        .collect();
    let inputs: [(&str, Vec<u8>); 8] = [
        ("utf16.har", utf16),
        ("bom.har", "\u{feff}{\"log\":{\"entries\":[{\"request\":{\"url\":\"http://h/\"}}]}}".into()),
        ("deep.har", deep_har.into()),
        ("hostile.har", hostile.into()),
        ("latin.sh", b"curl http://h/ -d 'caf\xe9=1'".to_vec()),
        ("many.json", format!("{{\"item\":[{}]}}", many.join(",")).into()),
        ("cycle.json", "{\"openapi\":\"3.0.0\",\"paths\":{\"/a\":{\"post\":{\"requestBody\":{\"content\":{\"application/json\":{\"schema\":\
                        {\"$ref\":\"#/components/schemas/N\"}}}}}}},\"components\":{\"schemas\":{\"N\":{\"type\":\"object\",\
                        \"properties\":{\"n\":{\"$ref\":\"#/components/schemas/N\"}}}}}}".into()),
        ("relative.json", "{\"openapi\":\"3.0.0\",\"servers\":[{\"url\":\"../v1\"}],\"paths\":{\"/a\":{\"get\":{}}}}".into()),
    ];
    for (name, content) in inputs {
        shop.write(name, content);
        let finished = shop.run(&["import", name, "-o", "made.jmx", "--force"], LIMIT);
        assert_eq!(
            finished.code,
            Some(0),
            "{name}: {}{}",
            finished.out,
            finished.err
        );
    }
    shop.write("again.har", hostile);
    succeeded(&shop.run(&["import", "again.har", "-o", "made.jmx", "--force"], LIMIT));
    let plan = shop.read("made.jmx");
    assert!(
        !plan.contains("${__exec") && plan.contains("?$%7B__exec(x)%7D"),
        "{plan}"
    );
    assert!(
        plan.contains("<stringProp name=\"File.path\">passwd</stringProp>"),
        "{plan}"
    );
    assert_eq!(shop.read("passwd"), "placeholder for passwd\n");
}

#[test]
fn the_load_of_a_plan_comes_from_the_command_line() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = shop();
    let url = format!("http://{}/api/products", site.http);
    succeeded(&shop.run(
        &["run", &url, "-n", "6", "-c", "2", "--save", "plan.jmx"],
        LIMIT,
    ));
    succeeded(&shop.run(&["run", "plan.jmx", "--once", "-l", "once.jtl"], LIMIT));
    assert_eq!(rows(&shop, "once.jtl").len(), 1);
    let properties = ["-Jusers=3", "-Jloops=4", "-l", "more.jtl"];
    succeeded(&shop.run(&[&["run", "plan.jmx"], &properties[..]].concat(), LIMIT));
    assert_eq!(rows(&shop, "more.jtl").len(), 12);
    let timed = [
        "run",
        "plan.jmx",
        "--users",
        "3",
        "--duration",
        "3s",
        "--rate",
        "10",
        "-l",
        "timed.jtl",
    ];
    succeeded(&shop.run(&timed, LIMIT));
    let count = rows(&shop, "timed.jtl").len();
    // The timer counts by the clock's seconds (`VariableThroughputTimer.delay`), and three seconds may touch four of them.
    assert!((20..=43).contains(&count), "{count} samples at 10 a second");
    for (words, code) in [
        (
            &["run", "plan.jmx", "--group", "none", "--users", "2"][..],
            3,
        ),
        (&["run", "plan.jmx", "--rate", "2"], 2),
        (&["run", "plan.jmx", "--once", "--users", "2"], 2),
        (&["run", "plan.jmx", "-Jdrumfire.load.users=many"], 3),
    ] {
        let finished = shop.run(words, LIMIT);
        assert_eq!(finished.code, Some(code), "{words:?}: {}", finished.err);
    }
    let shown = shop.run(&["run", "plan.jmx", "--help"], LIMIT);
    assert!(shown.out.contains("--users <COUNT>"), "{}", shown.out);
}
