//! Visits recorded by a real Chromium, where there is one: each plan replays with 20 users without an error.

mod second_shop;

use std::time::Duration;

use drumfire::demo::DemoSite;
use drumfire_testkit::program::Workshop;
use second_shop::SecondShop;

const LIMIT: Duration = Duration::from_secs(180);

fn has_chromium() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("chromium").is_file());
    if !found {
        eprintln!("left out: there is no chromium on the path");
    }
    found
}

/// Records a visit, replays it with 20 users, and gives what `record` printed.
fn recorded(url: &str, actions: &[&str], variables: &[&str]) {
    let shop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let mut words = vec![
        "record",
        url,
        "--browser",
        "--headless",
        "--no-think-time",
        "-o",
        "visit.jmx",
        "--har",
        "visit.har",
        "--verify",
    ];
    for action in actions {
        words.extend(["--do", action]);
    }
    let finished = shop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    let found: Vec<&str> = finished
        .out
        .lines()
        .filter_map(|line| line.strip_prefix("variable   "))
        .collect();
    assert!(
        found
            .iter()
            .all(|line| line.ends_with("proved by two replays")),
        "{}",
        finished.out
    );
    let names: Vec<&str> = found
        .iter()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(names, variables, "{}", finished.out);
    let run = shop.run(
        &[
            "run",
            "visit.jmx",
            "-Jusers=20",
            "--fail-on",
            "errors > 0",
            "--fail-on",
            "samples < 60",
            "-l",
            "visit.jtl",
        ],
        LIMIT,
    );
    assert_eq!(
        run.code,
        Some(0),
        "{}{}\n{}",
        run.out,
        run.err,
        shop.read("visit.jtl")
    );
}

#[test]
fn the_demo_shop() {
    if !has_chromium() {
        return;
    }
    let site = DemoSite::start(0, 0).expect("the site");
    recorded(
        &format!("http://{}/login", site.http),
        &[
            "document.querySelector('[name=username]').value = 'ann'; document.querySelector('[name=password]').value = 'secret'; document.querySelector('#login').submit()",
            "location.href = '/product/3'",
            "document.querySelector('#buy').submit()",
            "document.querySelector('#pay').submit()",
        ],
        &["csrf", "token", "cart_id"],
    );
}

#[test]
fn a_shop_with_other_names_and_forms() {
    if !has_chromium() {
        return;
    }
    let shop = SecondShop::start();
    recorded(
        &shop.url(),
        &[
            "document.querySelector('#in').click()",
            "document.querySelector('#order').click()",
        ],
        &["xsrf_token", "basketRef"],
    );
}
