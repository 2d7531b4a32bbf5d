//! The recording browser: bodies that a page leaves behind, cookies of redirects, scripts that fail, and the bar.

use drumfire_testkit::program::Finished;
use drumfire_testkit::server::{ResponseStep, Server, respond};
use serde_json::Value;

use super::{LIMIT, has_chromium, workshop};

/// A site whose first page leads on as soon as it has an answer, and whose second was reached by two redirects with a cookie each.
fn site() -> Server {
    Server::start(|request| {
        let page = |more: &str, body: &str| {
            let head = format!(
                "{more}Content-Type: text/html\r\nContent-Length: {}\r\n",
                body.len()
            );
            format!("HTTP/1.1 200 OK\r\n{head}\r\n{body}").into_bytes()
        };
        let path = request.target.split('?').next().unwrap_or("");
        let answer = match path {
            "/" => page(
                "",
                "<title>First</title><button onclick=\"fetch('/last').then(a => a.json()).then(a => { location.href = '/a?order=' + a.order })\">Go</button>",
            ),
            "/last" => respond(
                "200 OK",
                "Cache-Control: no-store\r\n",
                "{\"order\":\"q7Zx9LmT3kPw\"}",
            ),
            "/a" => respond(
                "302 Found",
                "Set-Cookie: one=1; Path=/\r\nLocation: /b\r\n",
                "",
            ),
            "/b" => respond(
                "302 Found",
                "Set-Cookie: two=2; Path=/\r\nLocation: /c\r\n",
                "",
            ),
            "/c" => page(
                "Set-Cookie: three=3; Path=/\r\n",
                "<title>Second</title><p>Thank you</p>",
            ),
            "/quiet" => respond("200 OK", "", "quiet"),
            _ => respond("404 Not Found", "", ""),
        };
        vec![ResponseStep::Send(answer)]
    })
}

/// Records a visit with these scripts; returns the end of the program, the recording and the plan.
fn recorded(scripts: &[&str]) -> (Finished, Value, String) {
    let (site, shop) = (site(), workshop());
    let url = site.url("/");
    let mut words = vec!["record", &url, "--browser", "--headless", "--no-think-time"];
    words.extend(["-o", "visit.jmx", "--har", "visit.har"]);
    words.extend(scripts.iter().flat_map(|script| ["--do", script]));
    let finished = shop.run(&words, LIMIT);
    let has = |name: &str| shop.files().iter().any(|file| file == name);
    let har = if has("visit.har") {
        serde_json::from_str(&shop.read("visit.har")).expect("a HAR")
    } else {
        Value::Null
    };
    let plan = if has("visit.jmx") {
        shop.read("visit.jmx")
    } else {
        String::new()
    };
    (finished, har, plan)
}

fn entry<'h>(har: &'h Value, end: &str) -> &'h Value {
    let mut entries = har["log"]["entries"].as_array().expect("entries").iter();
    let is_own = |entry: &&Value| {
        entry["request"]["url"]
            .as_str()
            .is_some_and(|url| url.contains(end))
    };
    entries.find(is_own).expect("it was recorded")
}

#[test]
fn the_last_answer_of_a_page_and_the_cookies_of_its_redirects_are_recorded() {
    if !has_chromium() {
        return;
    }
    let (finished, har, plan) = recorded(&["document.querySelector('button').click()"]);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    let body = &entry(&har, "/last")["response"]["content"]["text"];
    assert_eq!(body, "{\"order\":\"q7Zx9LmT3kPw\"}");
    for (path, cookie) in [("/a?", "one=1"), ("/b", "two=2"), ("/c", "three=3")] {
        let headers = entry(&har, path)["response"]["headers"]
            .as_array()
            .expect("headers");
        let cookies: Vec<&str> = headers
            .iter()
            .filter(|field| {
                field["name"]
                    .as_str()
                    .is_some_and(|name| name.eq_ignore_ascii_case("set-cookie"))
            })
            .filter_map(|field| field["value"].as_str())
            .collect();
        assert_eq!(cookies, [format!("{cookie}; Path=/")], "{path}");
    }
    assert!(plan.contains("/a?order=${order}"), "{plan}");
}

#[test]
fn a_script_that_throws_ends_the_recording() {
    if !has_chromium() {
        return;
    }
    let scripts = [
        "location.href = '/c'",
        "document.querySelector('#none').click()",
    ];
    let (finished, _, plan) = recorded(&scripts);
    assert_eq!(finished.code, Some(1), "{}{}", finished.out, finished.err);
    assert!(
        finished
            .err
            .contains("script 2 of `--do` failed: TypeError"),
        "{}",
        finished.err
    );
    assert_eq!(plan, "");
}

#[test]
fn the_bar_names_steps_pauses_expects_and_stops() {
    if !has_chromium() {
        return;
    }
    let press = |id: &str| format!("drumfire.bar().getElementById('{id}').click()");
    let name = "{ const name = drumfire.bar().getElementById('name'); name.value = 'Thank the guest'; name.dispatchEvent(new Event('change')); }";
    let select = format!(
        "getSelection().selectAllChildren(document.querySelector('p')); {}",
        press("expect")
    );
    let (pause, stop) = (press("pause"), press("stop"));
    let scripts = [
        name,
        "location.href = '/c'",
        &select,
        &pause,
        "fetch('/quiet')",
        &pause,
        "fetch('/last')",
        &stop,
        "fetch('/none')",
    ];
    let (finished, har, plan) = recorded(&scripts);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    assert!(plan.contains("testname=\"Thank the guest\""), "{plan}");
    assert!(plan.contains(">Thank you</stringProp>"), "{plan}");
    let urls = har.to_string();
    assert!(
        !urls.contains("/quiet") && urls.contains("/last") && !urls.contains("/none"),
        "{urls}"
    );
}
