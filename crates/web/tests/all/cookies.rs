//! The cookie store against what JMeter's `CookieManager` did with the same headers, under all nine policies.
//!
//! A row of `data/cookies.txt` is: address that sets | `Set-Cookie` values separated by `~` | addresses to send to | policy |
//! exception | stored cookies, each followed by `~` | `Cookie` header for each address, each followed by `^`. A stored
//! cookie is `name=value,domain,path,secure,expires,path_specified,domain_specified,version`, with `now+` for a time
//! counted from the recording.

use drumfire_web::cookies::{Cookie, CookieSettings, CookieStore, Policy};
use drumfire_web::url::Url;

/// 2026-11-21, when the rows were recorded.
const NOW_MS: i64 = 1_795_227_000_000;

fn shown(cookie: &Cookie) -> String {
    let expires = match cookie.expires_s {
        0 => "0".to_owned(),
        s if (NOW_MS / 1000 - 5..NOW_MS / 1000 + 200).contains(&s) => "now+".to_owned(),
        s => s.to_string(),
    };
    format!(
        "{}={},{},{},{},{expires},{},{},{}~",
        cookie.name,
        cookie.value,
        cookie.domain,
        cookie.path,
        cookie.secure,
        cookie.path_specified,
        cookie.domain_specified,
        cookie.version
    )
}

#[test]
fn every_recorded_cookie_is_kept_and_sent_as_in_jmeter() {
    let mut wrong = Vec::new();
    for row in include_str!("../data/cookies.txt").lines() {
        let columns: Vec<&str> = row.split('|').collect();
        let [from, headers, to, policy, _, stored, sent] = columns.as_slice() else {
            panic!("{row}");
        };
        let policy = Policy::from_name(policy).expect(policy);
        let settings = CookieSettings {
            policy,
            ..CookieSettings::default()
        };
        let from = Url::parse(from).unwrap();
        let mut store = CookieStore::default();
        for header in headers.replace("\\t", "\t").split('~') {
            let added = store.add_from_headers(&settings, [header.into()], &from, NOW_MS, |_| {});
            assert_eq!(added, Ok(()));
        }
        let kept: String = store.cookies().iter().map(shown).collect();
        let header = |to: &str| {
            store
                .header(&settings, &Url::parse(to).unwrap())
                .unwrap_or("null".into())
                + "^"
        };
        let goes: String = to.split(',').map(header).collect();
        if kept != *stored || goes != *sent {
            wrong.push(format!("{row}\n   kept {kept}\n   goes {goes}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// Rows of `data/plan_cookies.txt`: cookies of a plan as `name=value,domain,path,version`, separated by `~` | policy |
/// address | `Cookie` header.
#[test]
fn every_cookie_of_a_plan_is_sent_as_in_jmeter() {
    let mut wrong = Vec::new();
    for row in include_str!("../data/plan_cookies.txt").lines() {
        let columns: Vec<&str> = row.split('|').collect();
        let [cookies, policy, url, sent] = columns.as_slice() else {
            panic!("{row}");
        };
        let settings = CookieSettings {
            policy: Policy::from_name(policy).expect(policy),
            ..CookieSettings::default()
        };
        let store = CookieStore::new(cookies.split('~').map(plan_cookie));
        let header = store.header(&settings, &Url::parse(url).unwrap());
        if header.as_deref().unwrap_or("null") != *sent {
            wrong.push(format!("{row}\n   goes {header:?}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn plan_cookie(text: &str) -> Cookie {
    let columns: Vec<&str> = text.split(',').collect();
    let (name, value) = columns[0]
        .split_once('=')
        .expect("a cookie has a name and a value");
    Cookie {
        name: name.into(),
        value: value.into(),
        domain: columns[1].into(),
        path: columns[2].into(),
        secure: false,
        expires_s: 0,
        path_specified: true,
        domain_specified: true,
        version: columns[3].parse().expect("the version is a number"),
    }
}
