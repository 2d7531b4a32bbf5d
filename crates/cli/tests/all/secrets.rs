//! No output tells a secret: a mark stands in every place of a plan, of the command line, of property files and of the
//! environment that may hold one, and nothing but the result rows, which stay JMeter's, may have it afterwards.

use std::io::Read as _;
use std::path::Path;

use base64::Engine as _;
use drumfire_elements::{ElementFacts, Kind, Property, all};
use drumfire_testkit::plans::{group, http, plan};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, respond};

/// The secret. Nothing that is looked for by name is in it.
const MARK: &str = "Qx7Kanari";

fn text(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// A property with the mark if it is a secret, or an address with it if its form asks for one.
fn marked(property: &Property) -> String {
    match property.kind {
        Kind::Secret => text(property.name, MARK),
        Kind::Items(item) => {
            let fields: String = item.fields.iter().map(marked).collect();
            format!(
                r#"<collectionProp name="{}"><elementProp name="" elementType="{}">{fields}</elementProp></collectionProp>"#,
                property.name, item.class
            )
        }
        Kind::Element(item) => {
            let fields: String = item.fields.iter().map(marked).collect();
            format!(
                r#"<elementProp name="{}" elementType="{}">{fields}</elementProp>"#,
                property.name, item.class
            )
        }
        Kind::Rows(columns) if columns.contains(&"Password") => {
            let cells: String = columns
                .iter()
                .map(|name| text("", if *name == "Password" { MARK } else { "x" }))
                .collect();
            format!(
                r#"<collectionProp name="{}"><collectionProp name="">{cells}</collectionProp></collectionProp>"#,
                property.name
            )
        }
        Kind::Text if is_address(property) => {
            text(property.name, &format!("http://ann:{MARK}@127.0.0.1:1/"))
        }
        _ => String::new(),
    }
}

fn is_address(property: &Property) -> bool {
    let told = property.label.to_lowercase();
    ["url", "server", "host", "path", "address"]
        .iter()
        .any(|word| told.contains(word))
}

fn element(facts: &ElementFacts, is_enabled: bool) -> String {
    let properties: String = facts.properties().map(marked).collect();
    let (class, name) = (facts.class, facts.name);
    let tag = class.rsplit('.').next().unwrap_or(class);
    let tag = if class.contains('.') { class } else { tag };
    format!(
        r#"<{tag} guiclass="{}" testclass="{class}" testname="{name}" enabled="{is_enabled}">{properties}</{tag}><hashTree/>
"#,
        facts.guis().next().unwrap_or_default()
    )
}

/// Elements with the mark that a run really uses.
fn running(port: &str) -> String {
    let argument = |name: &str, value: &str| {
        format!(
            r#"<elementProp name="{name}" elementType="HTTPArgument">{}{}</elementProp>"#,
            text("Argument.name", name),
            text("Argument.value", value)
        )
    };
    let list = |class: &str, property: &str, rows: &str| {
        format!(
            r#"<{class} guiclass="" testclass="{class}" testname="{class}" enabled="true"><collectionProp name="{property}">{rows}</collectionProp></{class}><hashTree/>
"#
        )
    };
    let header = |name: &str| {
        format!(
            r#"<elementProp name="" elementType="Header">{}{}</elementProp>"#,
            text("Header.name", name),
            text("Header.value", &format!("Bearer {MARK}"))
        )
    };
    let cookie = format!(
        r#"<elementProp name="sid" elementType="Cookie">{}{}{}</elementProp>"#,
        text("Cookie.value", MARK),
        text("Cookie.domain", "127.0.0.1"),
        text("Cookie.path", "/")
    );
    let login = format!(
        r#"<elementProp name="" elementType="Authorization">{}{}{}</elementProp>"#,
        text(
            "Authorization.url",
            &format!("http://ann:{MARK}@127.0.0.1:{port}/")
        ),
        text("Authorization.username", "ann"),
        text("Authorization.password", MARK)
    );
    let arguments = [
        argument("user", "ann"),
        argument("password", MARK),
        argument("apiKey", MARK),
    ]
    .concat();
    let arguments = format!(
        r#"<elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{arguments}</collectionProp></elementProp>"#
    );
    let post = http(
        "post",
        &[
            ("domain", "127.0.0.1"),
            ("port", port),
            ("path", "/login"),
            ("method", "POST"),
        ],
    );
    let post = post.replace(
        "</HTTPSamplerProxy>",
        &format!("{arguments}</HTTPSamplerProxy>"),
    );
    let user_info = format!("http://ann:{MARK}@127.0.0.1:{port}/x?access_token={MARK}");
    let proxy = [
        ("domain", "127.0.0.1"),
        ("proxyHost", "127.0.0.1"),
        ("proxyPort", "1"),
        ("proxyUser", "ann"),
        ("proxyPass", MARK),
    ];
    let jdbc = format!(
        r#"<JDBCDataSource guiclass="TestBeanGUI" testclass="JDBCDataSource" testname="db" enabled="true">{}{}{}{}{}</JDBCDataSource><hashTree/>
<JDBCSampler guiclass="TestBeanGUI" testclass="JDBCSampler" testname="sql" enabled="true">{}{}{}</JDBCSampler><hashTree/>
"#,
        text("dataSource", "db"),
        text(
            "dbUrl",
            &format!("jdbc:postgresql://127.0.0.1:1/db?user=ann&amp;password={MARK}")
        ),
        text("driver", "org.postgresql.Driver"),
        text("username", "ann"),
        text("password", MARK),
        text("dataSource", "db"),
        text("queryType", "Select Statement"),
        text(
            "query",
            &format!("select * from users where password = '{MARK}'")
        ),
    );
    let debug = r#"<DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="variables" enabled="true">
<boolProp name="displayJMeterProperties">true</boolProp><boolProp name="displayJMeterVariables">true</boolProp>
<boolProp name="displaySystemProperties">true</boolProp></DebugSampler><hashTree>
<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="fails"><collectionProp name="Asserion.test_strings"><stringProp name="1">nothing like it</stringProp></collectionProp><stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/></hashTree>
"#;
    [
        list(
            "HeaderManager",
            "HeaderManager.headers",
            &[
                header("Authorization"),
                header("X-Api-Key"),
                header("Cookie"),
            ]
            .concat(),
        ),
        list("CookieManager", "CookieManager.cookies", &cookie),
        list("AuthManager", "AuthManager.auth_list", &login),
        list(
            "Arguments",
            "Arguments.arguments",
            &argument("db.password", MARK).replace("HTTPArgument", "Argument"),
        ),
        jdbc,
        post,
        http("address", &[("path", &user_info), ("method", "GET")]),
        http(
            "host",
            &[("domain", &format!("ann:{MARK}@127.0.0.1")), ("port", "1")],
        ),
        http(
            &format!("http://ann:{MARK}@127.0.0.1:1/"),
            &[("domain", "127.0.0.1"), ("port", "1")],
        ),
        http("proxy", &proxy),
        debug.to_owned(),
    ]
    .concat()
}

/// Fails every request, and says the secrets that it got.
fn server() -> Server {
    Server::start(|request| {
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let told = format!(
            "{}{body}\n{{\"token\": \"{MARK}\"}}<password>{MARK}</password><input name=\"password\" value=\"{MARK}\">",
            request.head
        );
        let head = format!(
            "Set-Cookie: sid={MARK}\r\nLocation: http://ann:{MARK}@127.0.0.1:1/?token={MARK}\r\n"
        );
        vec![ResponseStep::Send(respond("500 Wrong", &head, &told))]
    })
}

/// The bytes of an output as text: unpacked, and with the data of a report page.
fn unpacked(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("an output can be read");
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut all = Vec::new();
        // The stream of a run that is under way has no end.
        let _ = flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut all);
        return String::from_utf8_lossy(&all).into_owned();
    }
    let plain = String::from_utf8_lossy(&bytes).into_owned();
    if let Some((_, rest)) = plain.split_once("<script id=\"payload\" type=\"text/plain\">") {
        let packed = rest.split('<').next().unwrap_or_default();
        let packed = base64::engine::general_purpose::STANDARD
            .decode(packed)
            .expect("base64");
        flate2::read::DeflateDecoder::new(packed.as_slice())
            .read_to_string(&mut text)
            .expect("JSON");
    }
    text + &plain
}

/// The surroundings of the mark in a text.
fn found(text: &str) -> Vec<String> {
    let around = |at: usize| {
        let (from, to) = (at.saturating_sub(120), (at + 60).min(text.len()));
        text[text.floor_char_boundary(from)..text.ceil_char_boundary(to)].to_owned()
    };
    text.match_indices(MARK).map(|(at, _)| around(at)).collect()
}

fn told(words: &[&str], finished: &Finished) -> Vec<String> {
    let both = [&finished.out, &finished.err];
    let found = both.iter().flat_map(|text| found(text));
    found.map(|text| format!("{words:?}: {text}")).collect()
}

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
        .variable("DB_PASSWORD", MARK)
        .variable("API_TOKEN", MARK)
        .variable("HTTP_PROXY", &format!("http://ann:{MARK}@127.0.0.1:1"))
}

#[test]
fn no_output_of_a_run_tells_a_secret() {
    let server = server();
    let port = server.address().port().to_string();
    let place = workshop();
    place.write("plan.jmx", plan(&group(1, &running(&port))));
    place.write(
        "own.properties",
        format!("db.password={MARK}\nurl=http://ann:{MARK}@h/\nclient_secret={MARK}\n"),
    );
    let properties = [
        format!("-Jmy.password={MARK}"),
        format!("-JapiKey={MARK}"),
        format!("-Jtarget=https://ann:{MARK}@h/?token={MARK}"),
        format!("-Jdb=jdbc:oracle:thin:ann/{MARK}@h:1521:x"),
        format!("-Jheader=Authorization: Bearer {MARK}"),
        format!("-Dhttp.proxyPass={MARK}"),
        format!("-Djavax.net.ssl.keyStorePassword={MARK}"),
        "-qown.properties".to_owned(),
        "-Sown.properties".to_owned(),
    ];
    let influx = format!("influxdb=http://ann:{MARK}@127.0.0.1:1/write?db=x&u=ann&p={MARK}");
    let tag = format!("release_token={MARK}");
    let outputs = [
        "--run-file",
        "run.drumfire",
        "--report",
        "report.html",
        "--summary-json",
        "summary.json",
        "--junit",
        "junit.xml",
        "--markdown",
        "outcome.md",
        "--metrics",
        "metrics.txt",
        "--out",
        "json=numbers.json",
        "--out",
        &influx,
        "--tag",
        &tag,
        "--ui=127.0.0.1:0",
        "-L",
        "DEBUG",
        "--verbose",
        "-l",
        "rows.csv",
    ];
    let mut words = vec!["run", "plan.jmx"];
    words.extend(outputs);
    words.extend(properties.iter().map(String::as_str));
    let run = place.run(&words, LIMIT);
    assert!(place.path("run.drumfire").exists(), "{run:?}");
    let mut leaks = told(&["run"], &run);
    // A second run is kept among the last runs, and a third one is JMeter's.
    let kept = ["run", "plan.jmx", &properties[5], "-j", "other.log"];
    leaks.extend(told(&["run", "kept"], &place.run(&kept, LIMIT)));
    let mut jmeter = vec![
        "-n",
        "-t",
        "plan.jmx",
        "-l",
        "rows2.csv",
        "-e",
        "-o",
        "dashboard",
    ];
    jmeter.extend(properties.iter().map(String::as_str));
    leaks.extend(told(&["-n"], &place.run(&jmeter, LIMIT)));
    let url = format!("http://ann:{MARK}@127.0.0.1:{port}/a?token={MARK}");
    let login = format!("ann:{MARK}");
    let header = format!("X-Api-Key: {MARK}");
    let of_url = [
        "run",
        &url,
        "-n",
        "2",
        "-a",
        &login,
        "-H",
        &header,
        "--run-file",
        "url.drumfire",
        "--report",
        "url.html",
    ];
    leaks.extend(told(&["run", "URL"], &place.run(&of_url, LIMIT)));
    assert!(place.path("url.drumfire").exists());
    let after: &[&[&str]] = &[
        &["report", "run.drumfire", "--markdown", "again.md"],
        &[
            "report",
            "rows.csv",
            "--report",
            "of_rows.html",
            "-o",
            "of_rows",
        ],
        &[
            "compare",
            "run.drumfire",
            "rows.csv",
            "--anyway",
            "--report",
            "compared.html",
            "--markdown",
            "compared.md",
        ],
        &["runs"],
    ];
    for words in after {
        leaks.extend(told(words, &place.run(words, LIMIT)));
    }
    let mut outputs = place.files();
    let mut hidden = Vec::new();
    list(&place.path(".drumfire"), &mut hidden);
    list(&place.path(".local"), &mut hidden);
    // Inputs, and rows as JMeter writes them.
    outputs.retain(|name| {
        !["plan.jmx", "own.properties", "rows.csv", "rows2.csv"].contains(&name.as_str())
    });
    assert!(
        outputs.len() > 9 && !hidden.is_empty(),
        "{outputs:?} {hidden:?}"
    );
    let paths = outputs.iter().map(|name| place.path(name)).chain(hidden);
    for path in paths {
        leaks.extend(
            found(&unpacked(&path))
                .iter()
                .map(|text| format!("{}: {text}", path.display())),
        );
    }
    assert!(leaks.is_empty(), "{}\n{leaks:#?}", leaks.len());
    // Values that are no secrets are shown as before.
    let told = unpacked(&place.path("run.drumfire"));
    for open in [
        "https://***@h/?token=***",
        "my.password",
        "http.proxyPass",
        "login",
    ] {
        assert!(told.contains(open), "{open}");
    }
    assert!(place.read("rows.csv").contains(MARK), "rows are JMeter's");
}

fn list(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => list(&path, files),
            path => files.push(path),
        }
    }
}

#[test]
fn no_command_that_shows_a_plan_tells_a_secret() {
    let place = workshop();
    let elements = |is_enabled| {
        all()
            .map(|facts| element(facts, is_enabled))
            .collect::<String>()
    };
    let more = format!(
        r#"<UserParameters guiclass="UserParametersGui" testclass="UserParameters" testname="users"><collectionProp name="UserParameters.names">{}{}</collectionProp><collectionProp name="UserParameters.thread_values"><collectionProp name="1">{}{}</collectionProp></collectionProp></UserParameters><hashTree/>
"#,
        text("1", "name"),
        text("2", "password"),
        text("1", "ann"),
        text("2", MARK)
    );
    let whole = [
        running("1"),
        more,
        http(
            "p",
            &[("path", "/${__P(db.password,Qx7Kanari)}${__P(user,ann)}")],
        )
        .replace("enabled=\"true\"", "enabled=\"false\""),
    ]
    .concat();
    place.write("plan.jmx", plan(&group(1, &whole)));
    place.write(
        "changed.jmx",
        plan(&group(1, &whole)).replace(MARK, "other"),
    );
    place.write("all.jmx", plan(&elements(true)));
    place.write("disabled.jmx", plan(&group(1, &elements(false))));
    place.write(
        "changed_all.jmx",
        plan(&elements(true)).replace(MARK, "other"),
    );
    let property = format!("-Jdb.password={MARK}");
    let commands: &[&[&str]] = &[
        &["show", "plan.jmx"],
        &["show", "all.jmx"],
        &["diff", "plan.jmx", "changed.jmx"],
        &["diff", "changed_all.jmx", "all.jmx"],
        &["check", "plan.jmx", "--verbose"],
        &["check", "all.jmx", "--verbose"],
        &["check", "all.jmx", "--json"],
        &["plan", "plan.jmx", &property],
        &["plan", "plan.jmx", "--json"],
        &["plan", "disabled.jmx", "--agents", "2"],
        &["doctor", "plan.jmx"],
        &["doctor", "plan.jmx", "--json"],
        &["debug", "plan.jmx", "--text"],
        &["run", "disabled.jmx"],
    ];
    let mut leaks = Vec::new();
    for words in commands {
        let finished = place.run(words, LIMIT);
        let found = told(words, &finished);
        assert!(!(finished.out + &finished.err).is_empty(), "{words:?}");
        leaks.extend(found);
    }
    assert!(leaks.is_empty(), "{}\n{leaks:#?}", leaks.len());
    let shown = place.run(&["show", "plan.jmx"], LIMIT).out;
    for open in [
        "password: ***",
        "headers[Authorization]: ***",
        "Arguments.arguments[user]: ann",
    ] {
        assert!(shown.contains(open), "{open}\n{shown}");
    }
    let diff = place.run(&["diff", "plan.jmx", "changed.jmx"], LIMIT);
    assert!(
        diff.out.contains("password: *** -> ***") && diff.code == Some(1),
        "{diff:?}"
    );
    let open = place.run(&["show", "--show-secrets", "plan.jmx"], LIMIT);
    assert!(open.out.contains(MARK));
    let pages: [(&[&str], bool); 3] = [
        (&["diff", "plan.jmx", "changed.jmx"], false),
        (&["diff", "changed_all.jmx", "all.jmx"], false),
        (&["diff", "plan.jmx", "changed.jmx", "--show-secrets"], true),
    ];
    for (words, shows) in pages {
        place.run(&[words, &["--report", "page.html"]].concat(), LIMIT);
        let page = place.read("page.html");
        assert_eq!(page.contains(MARK), shows, "{words:?}");
    }
}
