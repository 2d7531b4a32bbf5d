//! `Url` against what Java 17 answered for the same addresses.
//!
//! A row of `data/java_net_url.tsv` is: context, spec, then either `EXC class: message`, or the URL's text, its parts
//! `authority|userInfo|host|port|path|query|ref`, the outcome of `toURI()` and that of JMeter's `ConversionUtils.sanitizeUrl`.

use drumfire_java::Exception;
use drumfire_web::url::Url;

fn shown(part: Option<&str>) -> &str {
    part.unwrap_or("null")
}

fn parts(url: &Url) -> String {
    format!(
        "{}|{}|{}|{}|{}|{}|{}",
        shown(url.authority()),
        shown(url.user_info()),
        url.host(),
        url.port().unwrap_or(-1),
        url.path(),
        shown(url.query()),
        shown(url.reference()),
    )
}

fn resolve(context: &str, spec: &str) -> Result<Url, Exception> {
    if context.is_empty() {
        Url::parse(spec)
    } else {
        Url::parse(context)?.join(spec)
    }
}

#[test]
fn every_recorded_address_comes_out_as_in_java() {
    let mut wrong = Vec::new();
    for row in include_str!("../data/java_net_url.tsv")
        .split('\n')
        .filter(|row| !row.is_empty())
    {
        let columns: Vec<&str> = row.split('\t').collect();
        let (context, spec) = (columns[0], columns[1].replace("\\t", "\t"));
        let url = match resolve(context, &spec) {
            Ok(url) => url,
            Err(failure) => {
                if columns[2] != format!("EXC {failure}") {
                    wrong.push(format!("{row}\n   failed: {failure}"));
                }
                continue;
            }
        };
        if columns[2] != url.as_str() || columns.get(3) != Some(&&*parts(&url)) {
            wrong.push(format!("{row}\n   text {url} parts {}", parts(&url)));
            continue;
        }
        check_uri(&url, columns[4], row, &mut wrong);
        match (url.sanitized(), columns[5].starts_with("EXC ")) {
            (Ok(clean), false) if clean.as_str() == columns[5] => {}
            (Err(failure), true) if failure.message.as_deref() == Some(&columns[5][4..]) => {}
            // Java sanitizes to a URI; its conversion back to a URL drops the slashes of an empty authority.
            (Ok(clean), false) if columns[5].replacen(":///", ":/", 1) == clean.as_str() => {}
            (outcome, _) => wrong.push(format!("{row}\n   sanitized {outcome:?}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// `toURI` itself is private; its failure shows in `wire`, its normalized form in `normalized`.
fn check_uri(url: &Url, recorded: &str, row: &str, wrong: &mut Vec<String>) {
    if let Some(failure) = recorded.strip_prefix("EXC ") {
        let outcome = url.wire().map(|_| ()).map_err(|e| e.to_string());
        if outcome.as_ref().err().map(String::as_str) != Some(failure) {
            wrong.push(format!("{row}\n   wire {outcome:?}"));
        }
        return;
    }
    let normal = recorded
        .rsplit('|')
        .next()
        .expect("a recorded URI has several columns");
    match url.normalized() {
        Ok(normalized) if normalized.as_str() == normal => {}
        outcome => wrong.push(format!("{row}\n   normalized {outcome:?}")),
    }
}
