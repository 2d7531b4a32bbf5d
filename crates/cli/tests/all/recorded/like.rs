//! Recording as the recorder of a plan would.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::program::finish;

use super::{LIMIT, free_address, interrupt, workshop};

/// A plan with a Recording Controller and a recorder that leaves pictures out and makes transactions.
pub fn plan(port: u16) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Own plan"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users"><intProp name="ThreadGroup.num_threads">1</intProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp>
<boolProp name="LoopController.continue_forever">false</boolProp></elementProp></ThreadGroup><hashTree>
<CookieManager guiclass="CookiePanel" testclass="CookieManager" testname="Cookies"><collectionProp name="CookieManager.cookies"/></CookieManager><hashTree/>
<RecordingController guiclass="RecordController" testclass="RecordingController" testname="Here"/><hashTree/></hashTree>
<ProxyControl guiclass="ProxyControlGui" testclass="ProxyControl" testname="Recorder" enabled="false">
<stringProp name="ProxyControlGui.port">{port}</stringProp>
<collectionProp name="ProxyControlGui.exclude_list"><stringProp name="1">(?i).*\.(png|css|js)</stringProp></collectionProp>
<intProp name="ProxyControlGui.grouping_mode">4</intProp>
<intProp name="ProxyControlGui.proxy_http_sampler_naming_mode">3</intProp>
<stringProp name="ProxyControlGui.proxy_http_sampler_format">#{{counter,number,00}} #{{method}} #{{path}}</stringProp></ProxyControl><hashTree/>
</hashTree></hashTree></jmeterTestPlan>
"#
    )
}

/// Asks for a page through the proxy.
pub fn get(proxy: SocketAddr, url: &str) -> String {
    send(proxy, "GET", url, "")
}

/// Sends a request through the proxy; `rest` is header lines, an empty line and a body.
pub fn send(proxy: SocketAddr, method: &str, url: &str, rest: &str) -> String {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut stream = loop {
        match TcpStream::connect(proxy) {
            Ok(stream) => break stream,
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(50)),
            Err(error) => panic!("{error}"),
        }
    };
    let host = url.split('/').nth(2).expect("a host");
    let rest = if rest.is_empty() { "\r\n" } else { rest };
    let request = format!("{method} {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{rest}");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut response = String::new();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).expect("a response");
    response.push_str(&String::from_utf8_lossy(&bytes));
    response
}

#[test]
fn the_recorder_of_a_plan_is_the_model() {
    let site = DemoSite::start(0, 0).expect("the site");
    let shop = workshop();
    let proxy = free_address();
    shop.write("own.jmx", plan(proxy.port()));
    let recording = shop.start(&["record", "--like", "own.jmx", "-o", "recorded.jmx"]);
    for path in ["/login", "/static/logo.png", "/api/search?q=drum"] {
        let response = get(proxy, &format!("http://{}{path}", site.http));
        assert!(response.starts_with("HTTP/1.1 200"), "{path}: {response}");
    }
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    assert!(
        recorded
            .out
            .contains("left out   requests that the recorder excludes by their address: 1"),
        "{}",
        recorded.out
    );
    let shown = shop.run(&["show", "recorded.jmx"], LIMIT);
    let outline = shown.out;
    let place = |text: &str| {
        outline
            .find(text)
            .unwrap_or_else(|| panic!("{text}: {outline}"))
    };
    assert!(place("Here") < place("01 GET /login"), "{outline}");
    assert!(
        place("01 GET /login") < place("02 GET /api/search"),
        "{outline}"
    );
    assert!(
        outline.contains("Own plan") && outline.contains("Cookies"),
        "{outline}"
    );
    let run = shop.run(
        &[
            "run",
            "recorded.jmx",
            "-l",
            "rows.jtl",
            "--fail-on",
            "errors > 0",
        ],
        LIMIT,
    );
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert!(shop.read("rows.jtl").contains("02 GET /api/search"));
}

#[test]
fn wrong_words_are_refused_before_anything_listens() {
    let shop = workshop();
    shop.write(
        "other.jmx",
        "<jmeterTestPlan version=\"1.2\"><hashTree/></jmeterTestPlan>",
    );
    for (words, code, says) in [
        (
            &["record", "--like", "other.jmx", "-o", "a.jmx"][..],
            3,
            "other.jmx",
        ),
        (
            &["record", "--like", "missing.jmx", "-o", "a.jmx"],
            3,
            "missing.jmx",
        ),
        (
            &["record", "--proxy", "somewhere", "-o", "a.jmx"],
            2,
            "somewhere",
        ),
        (&["record", "ftp://h/", "-o", "a.jmx"], 2, "ftp://h/"),
        (&["record", "http://h/"], 2, "--output"),
        (&["record", "-o", "a.jmx"], 2, "URL"),
        (
            &[
                "record",
                "http://h/",
                "--proxy",
                "--headless",
                "-o",
                "a.jmx",
            ],
            2,
            "--headless",
        ),
    ] {
        let finished = shop.run(words, LIMIT);
        assert_eq!(finished.code, Some(code), "{words:?}: {}", finished.err);
        assert!(finished.err.contains(says), "{words:?}: {}", finished.err);
    }
    let shown = shop.run(&["record", "--ca", "show"], LIMIT);
    assert_eq!(
        shown.out,
        "there is no certificate authority for recordings\n"
    );
}
