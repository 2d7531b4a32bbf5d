//! Visits recorded by a real Chromium, where there is one: each plan replays with 20 users without an error.

mod conditions;
mod hotel;
mod in_browser;
pub mod like;
mod made;
mod second_shop;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command};
use std::time::Duration;

use drumfire_commands::demo::DemoSite;
use drumfire_testkit::ports::free_address;
use drumfire_testkit::program::{Finished, Workshop, finish};
use second_shop::SecondShop;

const LIMIT: Duration = Duration::from_secs(180);

pub fn has_chromium() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("chromium").is_file());
    if !found {
        eprintln!("left out: there is no chromium on the path");
    }
    found
}

/// A visit to a site: its first page and the scripts that act for the user.
struct Visit<'a> {
    url: &'a str,
    actions: &'a [&'a str],
    /// The variables that its plan needs, and no others.
    variables: &'a [&'a str],
}

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// The words that record a visit in Chromium.
fn in_browser<'a>(visit: &Visit<'a>, plan: &'a str) -> Vec<&'a str> {
    let mut words = vec![
        "record",
        visit.url,
        "--browser",
        "--headless",
        "--no-think-time",
        "-o",
        plan,
    ];
    for action in visit.actions {
        words.extend(["--do", action]);
    }
    words
}

/// The plan has the visit's variables, each proved, and replays with 20 users.
fn holds(visit: &Visit<'_>, shop: &Workshop, recorded: &Finished) {
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let found: Vec<&str> = recorded
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("variable   "))
        .collect();
    assert!(
        found
            .iter()
            .all(|line| line.ends_with("proved by two replays")),
        "{}",
        recorded.out
    );
    let names: Vec<&str> = found
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, visit.variables, "{}", recorded.out);
    let words = [
        "run",
        "visit.jmx",
        "-Jusers=20",
        "--fail-on",
        "errors > 0",
        "--fail-on",
        "samples < 60",
        "-l",
        "visit.jtl",
    ];
    let run = shop.run(&words, LIMIT);
    let rows = || shop.read("visit.jtl");
    assert_eq!(run.code, Some(0), "{}{}\n{}", run.out, run.err, rows());
}

/// Over the DevTools protocol.
fn by_protocol(visit: &Visit<'_>) {
    let shop = workshop();
    let mut words = in_browser(visit, "visit.jmx");
    words.push("--verify");
    let recorded = shop.run(&words, LIMIT);
    holds(visit, &shop, &recorded);
}

/// From the file that a browser saves.
fn by_har(visit: &Visit<'_>) {
    let shop = workshop();
    let mut words = in_browser(visit, "other.jmx");
    words.extend(["--har", "visit.har", "--no-correlation"]);
    let recorded = shop.run(&words, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let words = [
        "import",
        "visit.har",
        "-o",
        "visit.jmx",
        "--no-think-time",
        "--verify",
        visit.url,
    ];
    let imported = shop.run(&words, LIMIT);
    holds(visit, &shop, &imported);
}

/// Ctrl-C.
fn interrupt(program: &Child) {
    let ended = Command::new("kill")
        .args(["-INT", &program.id().to_string()])
        .status();
    assert!(ended.is_ok_and(|status| status.success()));
}

/// Through the proxy; the browser reaches it by its own options.
fn by_proxy(visit: &Visit<'_>) {
    let shop = workshop();
    let proxy = free_address().to_string();
    let script = format!(
        "#!/bin/sh\nexec chromium --proxy-server={proxy} '--proxy-bypass-list=<-loopback>' --ignore-certificate-errors \"$@\"\n"
    );
    shop.write("browser", script);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(shop.path("browser"), executable).expect("it can be made executable");
    let recording = shop.start(&[
        "record",
        visit.url,
        "--proxy",
        &proxy,
        "-o",
        "visit.jmx",
        "--no-think-time",
        "--verify",
    ]);
    let browser = shop.path("browser").display().to_string();
    let mut words = in_browser(visit, "other.jmx");
    words.extend(["--browser-path", &browser, "--no-correlation"]);
    let driven = shop.run(&words, LIMIT);
    assert_eq!(driven.code, Some(0), "{}{}", driven.out, driven.err);
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    holds(visit, &shop, &recorded);
}

const SHOPPING: [&str; 4] = [
    "document.querySelector('[name=username]').value = 'ann'; document.querySelector('[name=password]').value = 'secret'; document.querySelector('#login').submit()",
    "location.href = '/product/3'",
    "document.querySelector('#buy').submit()",
    "document.querySelector('#pay').submit()",
];

/// Records a visit to the demo shop in one way.
fn at_the_demo_shop(way: fn(&Visit<'_>), is_secure: bool) {
    if !has_chromium() {
        return;
    }
    let site = DemoSite::start(0, 0).expect("the site");
    let url = if is_secure {
        format!("https://{}/login", site.https)
    } else {
        format!("http://{}/login", site.http)
    };
    way(&Visit {
        url: &url,
        actions: &SHOPPING,
        variables: &["csrf", "token", "cart_id"],
    });
}

/// Records a visit to a shop with other names and forms in one way.
fn at_the_second_shop(way: fn(&Visit<'_>)) {
    if !has_chromium() {
        return;
    }
    let shop = SecondShop::start();
    way(&Visit {
        url: &shop.url(),
        actions: &[
            "document.querySelector('#in').click()",
            "document.querySelector('#order').click()",
        ],
        variables: &["xsrf_token", "basketRef"],
    });
}

#[test]
fn the_demo_shop_by_protocol() {
    at_the_demo_shop(by_protocol, false);
}

#[test]
fn the_demo_shop_by_har() {
    at_the_demo_shop(by_har, false);
}

#[test]
fn the_demo_shop_by_proxy_over_tls() {
    at_the_demo_shop(by_proxy, true);
}

#[test]
fn the_second_shop_by_protocol() {
    at_the_second_shop(by_protocol);
}

#[test]
fn the_second_shop_by_har() {
    at_the_second_shop(by_har);
}

#[test]
fn the_second_shop_by_proxy() {
    at_the_second_shop(by_proxy);
}

/// Records a visit to the hotel through the proxy, and imports it.
fn at_the_hotel(shop: &Workshop, hotel: &str, email: &str, har: &str, more: &[&str]) -> Finished {
    let proxy = free_address();
    let listens = proxy.to_string();
    let mut words = vec!["record", hotel, "--proxy", &listens, "-o", "visit.jmx"];
    words.extend(["--no-think-time", "--force", "--har", har]);
    words.extend(more);
    let recording = shop.start(&words);
    hotel::Guest::new(proxy, hotel).visit(email);
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    recorded
}

/// The plan replays with several users, and the hotel refuses nothing.
fn is_accepted(shop: &Workshop, recorded: &Finished) {
    let words = [
        "run",
        "visit.jmx",
        "-Jusers=4",
        "-Jloops=3",
        "--fail-on",
        "errors > 0",
        "--fail-on",
        "samples < 100",
        "-l",
        "visit.jtl",
    ];
    let run = shop.run(&words, LIMIT);
    let rows = shop.read("visit.jtl");
    assert_eq!(
        run.code,
        Some(0),
        "{}{}{}\n{rows}",
        recorded.out,
        run.out,
        run.err
    );
}

#[test]
fn a_hotel_that_refuses_wrong_values_accepts_its_replays() {
    let hotel = hotel::start();
    let (shop, url) = (workshop(), hotel.url("").trim_end_matches('/').to_owned());
    let recorded = at_the_hotel(&shop, &url, "ann@example.org", "ann.har", &[]);
    is_accepted(&shop, &recorded);
    let more = ["--other-user", "ann.har"];
    let recorded = at_the_hotel(&shop, &url, "bob@example.org", "bob.har", &more);
    is_accepted(&shop, &recorded);
    let data = shop.read("visit.csv");
    assert_eq!(data.lines().next(), Some("email"), "{data}");
}

#[test]
fn a_failed_request_does_not_keep_others_from_being_proved() {
    let (hotel, broken) = (hotel::start(), hotel::start_without("guests"));
    let (shop, url) = (workshop(), hotel.url("").trim_end_matches('/').to_owned());
    at_the_hotel(&shop, &url, "ann@example.org", "ann.har", &[]);
    let server = broken.url("/");
    let words = ["import", "ann.har", "-o", "proved.jmx", "--verify", &server];
    let imported = shop.run(&words, LIMIT);
    assert_eq!(imported.code, Some(0), "{}{}", imported.out, imported.err);
    for line in [
        "from `GET /guests/{id}`, sent by `POST /redeem`, was not reached",
        "differs    `GET /guests/{id}` answered 503, in the recording 200",
        "from `POST /stays`, sent by 3 requests, proved by two replays",
        "from `PUT /stays/{id}`, sent by 1 request, proved by two replays",
    ] {
        assert!(imported.out.contains(line), "{line}: {}", imported.out);
    }
}
