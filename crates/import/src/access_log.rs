//! Imports access logs of nginx and Apache (common and combined): the same requests at their original rate.

use std::borrow::Cow;

use jiff::Timestamp;

use crate::draft::{Draft, DraftLoad, Transaction};
use crate::exchange::Request;
use crate::names;
use crate::options::{ImportError, ImportOptions};
use crate::text::PlanText;
use crate::url::Address;

/// One request of a log. Times are in seconds.
struct Line<'t> {
    time_s: i64,
    method: &'t str,
    target: Cow<'t, str>,
}

/// The most intervals into which the rate is divided; more would make the schedule unreadable.
const MOST_STRETCHES: i64 = 60;

/// Whether most of the first lines look like an access log.
pub fn is_access_log(text: &str) -> bool {
    let first = || text.lines().filter(|line| !line.trim().is_empty()).take(10);
    let good = first().filter(|line| line_of(line).is_some()).count();
    good > 0 && good * 2 > first().count()
}

/// A draft of a log: one sampler reads the method and path of each request from a CSV file, and the arrival rate follows the
/// log.
///
/// # Errors
/// No line holds a request that can be repeated.
pub fn import(text: &str, options: &ImportOptions) -> Result<Draft, ImportError> {
    let mut draft = Draft::new("Access log");
    let server = options.server.as_deref().unwrap_or("http://localhost");
    let Some(base) = Address::parse(server) else {
        let error = ImportError::new(format!("`{server}` is not an address of a server"));
        return Err(error.hint("name one: `--server https://shop.example`"));
    };
    if options.server.is_none() {
        draft.warn("the log does not name its server: requests go to http://localhost; name it with `--server`");
    }
    let mut times = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let Some(line) = line_of(line) else {
            draft.leave_out("lines that are not requests");
            continue;
        };
        if !matches!(line.method, "GET" | "HEAD" | "OPTIONS") {
            draft.leave_out(&format!(
                "{} requests, whose bodies a log does not have",
                line.method
            ));
            continue;
        }
        let Some(request) = request(&line, &base) else {
            draft.leave_out("requests without a path");
            continue;
        };
        times.push(line.time_s);
        let path = request.address.path.template();
        draft
            .data
            .rows
            .push(vec![names::label(&request), request.method, path]);
    }
    if times.is_empty() {
        return Err(ImportError::nothing(
            "no line of the log is a request that can be repeated",
            "Name a log in the common or combined format with GET or HEAD requests",
            &draft,
        ));
    }
    draft.data.names = ["label", "method", "path"].map(str::to_owned).into();
    draft.data.is_used_once = true;
    draft.load = DraftLoad::Pace(stretches(&times));
    let address = Address {
        path: PlanText::variable("path"),
        ..base
    };
    let mut request = Request::new("${method}", address);
    request.name = Some("${label}".to_owned());
    draft.transactions.push(Transaction {
        steps: vec![request.into()],
        ..Transaction::default()
    });
    Ok(draft)
}

fn request(line: &Line<'_>, base: &Address) -> Option<Request> {
    let address = if line.target.contains("://") {
        // A proxy's log holds whole addresses.
        Address::parse(&line.target)?
    } else {
        let target = line.target.starts_with('/').then_some(&line.target)?;
        let parsed = Address::parse(&format!("http://h{target}"))?;
        Address {
            path: parsed.path,
            ..base.clone()
        }
    };
    Some(Request::new(line.method, address))
}

/// `host ident user [time] "METHOD target HTTP/x" status …`
fn line_of(line: &str) -> Option<Line<'_>> {
    let (_, rest) = line.split_once('[')?;
    let (time, rest) = rest.split_once(']')?;
    let (_, rest) = rest.split_once('"')?;
    let request = &rest[..end_of_quoted(rest)?];
    let (method, target) = request.split_once(' ')?;
    let target = match target.rsplit_once(" HTTP/") {
        Some((target, _)) => target,
        None => target,
    };
    let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
    is_method.then_some(Line {
        time_s: seconds(time)?,
        method,
        target: unescaped(target),
    })
}

/// Where the quoted text ends. Apache writes a quote within it as `\"`.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// Undoes the escapes of nginx (`\x22`) and Apache (`\"`, `\\`, `\t`).
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after
            .get(1..3)
            .and_then(|code| std::str::from_utf8(code).ok())
            .and_then(|code| u8::from_str_radix(code, 16).ok());
        (rest, _) = match (first, after.first(), code) {
            (b'\\', Some(b'x'), Some(code)) => (&after[3..], bytes.push(code)),
            (b'\\', Some(b't'), _) => (&after[1..], bytes.push(b'\t')),
            (b'\\', Some(b'n'), _) => (&after[1..], bytes.push(b'\n')),
            (b'\\', Some(b'r'), _) => (&after[1..], bytes.push(b'\r')),
            (b'\\', Some(sign @ (b'"' | b'\\')), _) => (&after[1..], bytes.push(*sign)),
            _ => (after, bytes.push(*first)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned().into()
}

/// `10/Oct/2000:13:55:36 -0700`, in seconds since the Unix epoch; UTC without a zone.
fn seconds(time: &str) -> Option<i64> {
    let (date, zone) = time.split_once(' ').unwrap_or((time, "+0000"));
    let time = Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", format!("{date} {zone}"));
    time.ok().map(Timestamp::as_second)
}

/// Arrival rates per second, over intervals of equal length.
fn stretches(times: &[i64]) -> Vec<(f64, u64)> {
    let (Some(&first), Some(&last)) = (times.iter().min(), times.iter().max()) else {
        return Vec::new();
    };
    let whole = last.saturating_sub(first).saturating_add(1);
    let length = (whole + MOST_STRETCHES - 1) / MOST_STRETCHES;
    let length = length.max(1);
    let count = usize::try_from((whole + length - 1) / length)
        .unwrap_or(1)
        .clamp(1, 60);
    let mut requests = vec![0_u32; count];
    for time in times {
        let stretch = usize::try_from((time - first) / length).unwrap_or(0);
        requests[stretch.min(count - 1)] += 1;
    }
    let seconds = length.unsigned_abs();
    let rate = |count: u32| (f64::from(count) / seconds as f64 * 1000.0).round() / 1000.0;
    requests
        .into_iter()
        .map(|count| (rate(count), seconds))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
127.0.0.1 - ann [10/Oct/2000:13:55:36 -0700] \"GET /a?x=1 HTTP/1.0\" 200 2326
::1 - - [10/Oct/2000:13:55:37 -0700] \"GET /a?x=1 HTTP/1.1\" 200 5 \"http://ref/\" \"Mozilla \\\"x\\\"\"
::1 - - [10/Oct/2000:13:55:39 -0700] \"POST /b HTTP/1.1\" 200 5 \"-\" \"-\"
::1 - - [10/Oct/2000:13:55:39 -0700] \"\\x16\\x03\" 400 0
::1 - - [10/Oct/2000:22:55:39 +0200] \"GET /c HTTP/1.1\" 404 5
";

    #[test]
    fn times_are_told_from_other_text() {
        assert_eq!(seconds("10/Oct/2000:13:55:36 -0700"), Some(971_211_336));
        assert_eq!(seconds("10/Oct/2000:13:55:36"), Some(971_186_136));
        assert_eq!(seconds("02/Oct/2000:13:55:36 -07011111111111111"), None);
        assert_eq!(seconds("02/Oct/2000:13:55:36 "), None);
    }

    #[test]
    fn requests_are_counted_and_keep_their_pace() {
        assert!(is_access_log(LOG));
        let draft = import(LOG, &ImportOptions::default()).expect("requests");
        let paths: Vec<&str> = draft.data.rows.iter().map(|row| row[2].as_str()).collect();
        assert_eq!(paths, ["/a?x=1", "/a?x=1", "/c"]);
        let csv = draft.data_text().expect("rows");
        assert!(
            csv.starts_with("label,method,path\nGET /a,GET,/a?x=1\n"),
            "{csv}"
        );
        assert_eq!(
            draft.load,
            DraftLoad::Pace(vec![(1.0, 1), (1.0, 1), (0.0, 1), (1.0, 1)])
        );
        assert_eq!(draft.left_out.values().sum::<usize>(), 2);
        let wrong = ImportOptions {
            server: Some("nonsense".to_owned()),
            ..ImportOptions::default()
        };
        assert!(import(LOG, &wrong).is_err());
        assert!(!is_access_log("hello\nworld"));
    }
}
