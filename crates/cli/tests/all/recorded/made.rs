//! The cases `made-…` of `compat/`: plans that this program makes are those that JMeter 5.6.3 ran for the recording.
//!
//! `MAKE_PLANS=1` writes them anew; record the cases afterwards.

use std::path::PathBuf;

use drumfire_testkit::compat;
use drumfire_testkit::program::{Workshop, finish};

use super::like::{self, get, send};
use super::{LIMIT, free_address, interrupt, workshop};

/// The port of the server in the inputs.
const PORT: &str = "8765";
/// The property that gives a case its port.
const GIVEN_PORT: &str = "${__P(port)}";

pub(super) fn case(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../compat")
        .join(name)
}

/// The plan in the workshop, and its data, are those of the case.
pub(super) fn holds(name: &str, shop: &Workshop, port: &str) {
    let case = case(name);
    let made = shop
        .files()
        .into_iter()
        .filter(|file| file == "plan.jmx" || file == "plan.csv");
    let mut count = 0;
    for file in made {
        let mut text = shop.read(&file);
        if file == "plan.jmx" {
            text = text.replace(port, GIVEN_PORT);
        }
        if std::env::var_os("MAKE_PLANS").is_some() {
            std::fs::write(case.join(&file), &text).expect("the case can be written");
        }
        let kept = std::fs::read_to_string(case.join(&file)).expect("the case has the file");
        assert_eq!(text, kept, "{name}/{file}");
        count += 1;
    }
    assert!(count > 0, "{name}: no plan was made");
}

fn make(name: &str, words: &[&str]) {
    let shop = workshop();
    compat::lay_out(&case(name), &shop.path("")).expect("files can be copied");
    let mut words = words.to_vec();
    words.extend(["-o", "plan.jmx", "--force"]);
    if words[0] == "new" {
        words.retain(|word| *word != "-o");
    }
    let finished = shop.run(&words, LIMIT);
    assert_eq!(
        finished.code,
        Some(0),
        "{name}: {}{}",
        finished.out,
        finished.err
    );
    holds(name, &shop, PORT);
}

#[test]
fn importers_make_the_plans_that_jmeter_ran() {
    let server = "http://127.0.0.1:8765";
    make(
        "made-har",
        &["import", "visit.har", "--other-user", "other.har"],
    );
    make("made-curl", &["import", "requests.sh"]);
    make("made-powershell", &["import", "requests.ps1"]);
    make("made-openapi", &["import", "shop.yaml"]);
    make(
        "made-postman",
        &["import", "shop.json", "test.postman_environment.json"],
    );
    make(
        "made-graphql",
        &["import", "shop.graphql", "--server", server],
    );
    make(
        "made-access-log",
        &["import", "access.log", "--server", server],
    );
}

#[test]
fn templates_are_the_plans_that_jmeter_ran() {
    make("made-new-http", &["new"]);
    make("made-new-login-csv", &["new", "--template", "login-csv"]);
    make("made-new-open-model", &["new", "--template", "open-model"]);
    make("made-new-sse", &["new", "--template", "sse"]);
    make("made-new-websocket", &["new", "--template", "websocket"]);
    make("made-new-jdbc", &["new", "--template", "jdbc"]);
}

#[test]
fn the_saved_plan_of_an_address_is_the_one_that_jmeter_ran() {
    let site = compat::site();
    let port = site.address().port().to_string();
    let shop = workshop();
    let url = format!("http://127.0.0.1:{port}/reply?status=201&body=made");
    let words = [
        "run",
        &url,
        "-n",
        "5",
        "-c",
        "1",
        "-H",
        "X-A: b",
        "--json",
        "{\"a\": 1}",
        "--save",
        "plan.jmx",
    ];
    let finished = shop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    holds("made-run-url", &shop, &port);
}

/// A client without a browser's own headers, so that each recording is the same.
fn visit(proxy: std::net::SocketAddr, site: &str) {
    let form = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 24\r\n\r\ntoken=t-1234&name=a%20b+c";
    let json =
        "Content-Type: application/json\r\nX-Own: 1\r\nContent-Length: 12\r\n\r\n{\"sku\":\"a1\"}";
    get(proxy, &format!("{site}/page"));
    send(proxy, "POST", &format!("{site}/session?lang=en"), form);
    get(proxy, &format!("{site}/two.png"));
    get(proxy, &format!("{site}/cookie/shop/s1"));
    get(proxy, &format!("{site}/redirect/0"));
    send(proxy, "POST", &format!("{site}/orders"), json);
    send(proxy, "DELETE", &format!("{site}/orders/7?x=%7B1%7D"), "");
}

#[test]
fn the_proxy_records_the_plan_that_jmeter_ran() {
    let site = compat::site();
    let address = format!("http://{}", site.address());
    let shop = workshop();
    let proxy = free_address();
    let listens = proxy.to_string();
    let recording = shop.start(&[
        "record",
        &address,
        "--proxy",
        &listens,
        "-o",
        "plan.jmx",
        "--no-think-time",
    ]);
    visit(proxy, &address);
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    holds("made-recorded", &shop, &site.address().port().to_string());
}

#[test]
fn a_recorder_of_a_plan_records_the_plan_that_jmeter_ran() {
    let site = compat::site();
    let shop = workshop();
    let proxy = free_address();
    shop.write("own.jmx", like::plan(proxy.port()));
    let recording = shop.start(&["record", "--like", "own.jmx", "-o", "plan.jmx"]);
    visit(proxy, &format!("http://{}", site.address()));
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let plan = shop.read("plan.jmx");
    // the recorder's own port is another one each time
    shop.write("plan.jmx", plan.replace(&proxy.port().to_string(), "8888"));
    holds(
        "made-recorded-like",
        &shop,
        &site.address().port().to_string(),
    );
}
