//! The plans in `compat/` and what real JMeter wrote for them: the site they ask, the rows that are compared.
//!
//! A case is a folder with `plan.jmx` and `expected.csv`. The site's reason phrase carries a fingerprint of the request it
//! saw, header order and case included, so an equal row means an equal request.

use std::path::{Path, PathBuf};

use crate::server::{Request, Server, Step};

/// The columns of `expected.csv`: those that do not depend on when and where the plan was run.
pub const COLUMNS: [&str; 11] = [
    "threadName",
    "label",
    "responseCode",
    "responseMessage",
    "dataType",
    "success",
    "failureMessage",
    "bytes",
    "grpThreads",
    "allThreads",
    "URL",
];

/// A row of `expected.csv`.
pub type Row = Vec<String>;

/// The folders of all cases, by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn cases(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let folder = entry?.path();
        if folder.join("plan.jmx").is_file() {
            folders.push(folder);
        }
    }
    folders.sort();
    Ok(folders)
}

/// The rows of a results file that a run against `server` wrote, by thread, in each thread in their order.
///
/// # Errors
/// When this is no CSV, or a column is missing.
pub fn rows(results: &str, server: &Server) -> Result<Vec<Row>, csv::Error> {
    let port = format!(":{}", server.address().port());
    let mut rows = read(&results.replace(&port, ":PORT"))?;
    rows.sort_by(|a, b| a[0].cmp(&b[0]));
    Ok(rows)
}

/// The [`COLUMNS`] of a CSV text.
///
/// # Errors
/// When this is no CSV, or a column is missing.
pub fn read(text: &str) -> Result<Vec<Row>, csv::Error> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers()?.clone();
    let places = COLUMNS.map(|column| heads.iter().position(|head| head == column));
    reader
        .records()
        .map(|record| {
            let record = record?;
            let cell = |place: Option<usize>| {
                place
                    .and_then(|place| record.get(place))
                    .unwrap_or("(no such column)")
                    .to_owned()
            };
            Ok(places.map(cell).to_vec())
        })
        .collect()
}

/// Rows as the text of an `expected.csv`.
///
/// # Errors
/// Never in practice: it writes to memory.
pub fn write(rows: &[Row]) -> Result<String, csv::Error> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(COLUMNS)?;
    for row in rows {
        writer.write_record(row)?;
    }
    let bytes = writer
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first difference in words; none if all rows are equal.
pub fn difference(expected: &[Row], found: &[Row]) -> Option<String> {
    for (index, (wanted, had)) in expected.iter().zip(found).enumerate() {
        let mut cells = COLUMNS.iter().zip(wanted.iter().zip(had));
        if let Some((column, (wanted, had))) = cells.find(|(_, (wanted, had))| wanted != had) {
            return Some(format!(
                "row {} ({}), {column}: JMeter wrote {wanted:?}, this {had:?}",
                index + 1,
                expected[index][1]
            ));
        }
    }
    (expected.len() != found.len())
        .then(|| format!("JMeter wrote {} rows, this {}", expected.len(), found.len()))
}

/// Starts the site.
pub fn site() -> Server {
    Server::start(|request| {
        let (status, headers, body) = answer(request);
        let mark = fingerprint(request);
        let body = if request.method == "HEAD" {
            &[][..]
        } else {
            body.as_bytes()
        };
        let length = if status.starts_with("204") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let mut bytes =
            format!("HTTP/1.1 {status} {mark:08x}\r\n{headers}{length}\r\n").into_bytes();
        bytes.extend_from_slice(body);
        vec![Step::Send(bytes)]
    })
}

/// Status with its reason, header lines, body.
fn answer(request: &Request) -> (String, String, String) {
    let kind = |kind: &str| format!("Content-Type: {kind}\r\n");
    let path = request.target.split('?').next().unwrap_or_default();
    let text = |body: &str| ("200 OK".to_owned(), kind("text/plain"), body.to_owned());
    match path.split('/').skip(1).collect::<Vec<_>>()[..] {
        ["status", code @ "204"] => (format!("{code} Status"), String::new(), String::new()),
        ["status", code] => (
            format!("{code} Status"),
            kind("text/plain"),
            format!("this is {code}\n"),
        ),
        ["redirect", "0"] => text("arrived\n"),
        ["redirect", times] => {
            let next = times
                .parse::<u32>()
                .map_or(0, |times| times.saturating_sub(1));
            (
                "302 Found".to_owned(),
                format!("Location: /redirect/{next}\r\n"),
                String::new(),
            )
        }
        ["bytes", count] => text(&"x".repeat(count.parse().unwrap_or(0))),
        ["cookie", name, value] => (
            "200 OK".to_owned(),
            format!(
                "{}Set-Cookie: {name}={value}; Path=/\r\n",
                kind("text/plain")
            ),
            "set\n".to_owned(),
        ),
        ["json"] => (
            "200 OK".to_owned(),
            kind("application/json"),
            JSON.to_owned(),
        ),
        ["page"] => (
            "200 OK".to_owned(),
            kind("text/html; charset=utf-8"),
            PAGE.to_owned(),
        ),
        ["xml"] => ("200 OK".to_owned(), kind("text/xml"), XML.to_owned()),
        [file] if file.ends_with(".css") => (
            "200 OK".to_owned(),
            kind("text/css"),
            "body { background: url(back.png) }\n".to_owned(),
        ),
        [file] if file.ends_with(".png") => (
            "200 OK".to_owned(),
            kind("image/png"),
            "not really a picture".to_owned(),
        ),
        _ => text(&format!(
            "{} {}\n{}\n",
            request.method,
            request.target,
            body_of_known_length(request)
        )),
    }
}

const JSON: &str = r#"{"id": 7, "name": "lamp", "price": 12.50, "tags": ["home", "light"], "stock": {"here": true, "there": null},
 "items": [{"sku": "a1", "n": 3}, {"sku": "b2", "n": 5}, {"sku": "c3", "n": 0}]}
"#;

const PAGE: &str = "<!DOCTYPE html>
<html><head><title>A &amp; B</title><link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"icon\" href=\"/icon.png\"></head>
<body><img src=\"one.png\"><img src=\"one.png\"><img src=\"/two.png\"><a href=\"/next?id=42\">next</a>
<form><input type=\"hidden\" name=\"token\" value=\"t-1234\"><input name=\"token2\" value=\"t-5678\"></form>
<ul><li class=\"x\">first</li><li class=\"x\">second</li><li>third</li></ul></body></html>
";

const XML: &str = "<?xml version=\"1.0\"?>
<order id=\"12\"><line sku=\"a1\">3</line><line sku=\"b2\">5</line></order>
";

/// The boundary of a multipart request.
fn boundary(request: &Request) -> Option<&str> {
    let (_, boundary) = request.header("content-type")?.split_once("boundary=")?;
    boundary.split(';').next()
}

/// The body, without its multipart boundary.
fn body_of_known_length(request: &Request) -> String {
    let body = String::from_utf8_lossy(&request.body);
    match boundary(request) {
        Some(boundary) => body.replace(boundary, "BOUNDARY"),
        None => body.into_owned(),
    }
}

/// FNV-1a over method, target, header lines and body; the client's name, the port and multipart boundaries, which are of
/// any length, left out.
fn fingerprint(request: &Request) -> u32 {
    let boundary = boundary(request);
    let mut text = format!("{} {}\n", request.method, request.target);
    for line in request.head.lines().skip(1).filter(|line| !line.is_empty()) {
        let shown = match line.split_once(':') {
            Some((name, _)) if name.eq_ignore_ascii_case("user-agent") => name,
            Some((name, _))
                if boundary.is_some() && name.eq_ignore_ascii_case("content-length") =>
            {
                name
            }
            Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                &line[..name.len() + 1 + value.rfind(':').unwrap_or(value.len())]
            }
            _ => line,
        };
        text.push_str(shown);
        text.push('\n');
    }
    text.push_str(&body_of_known_length(request));
    if let Some(boundary) = boundary {
        text = text.replace(boundary, "BOUNDARY");
    }
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str, body: &str) -> Request {
        Request {
            connection: 0,
            method: "POST".to_owned(),
            target: "/a".to_owned(),
            head: head.to_owned(),
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn the_fingerprint_sees_headers_and_body_but_not_place_and_client() {
        let one = fingerprint(&request(
            "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\n\r\n",
            "b",
        ));
        assert_eq!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:22\r\nUser-Agent: yy\r\n\r\n",
                "b"
            ))
        );
        assert_ne!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\nA: 1\r\n\r\n",
                "b"
            ))
        );
        assert_ne!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\n\r\n",
                "c"
            ))
        );
    }

    #[test]
    fn boundaries_are_left_out() {
        let parts = |boundary: &str| {
            request(
                &format!(
                    "POST /a HTTP/1.1\r\nContent-Type: multipart/form-data; boundary={boundary}\r\nContent-Length: {}\r\n\r\n",
                    boundary.len()
                ),
                &format!("--{boundary}\r\n"),
            )
        };
        assert_eq!(fingerprint(&parts("abc")), fingerprint(&parts("wxyz")));
    }

    #[test]
    fn rows_survive_writing_and_differences_are_told() {
        let row: Row = COLUMNS
            .iter()
            .map(|column| format!("{column}, \"q\""))
            .collect();
        let text = write(std::slice::from_ref(&row)).expect("memory");
        assert_eq!(read(&text).expect("CSV"), std::slice::from_ref(&row));
        assert_eq!(
            difference(std::slice::from_ref(&row), std::slice::from_ref(&row)),
            None
        );
        let mut other = row.clone();
        other[4] = "bin".to_owned();
        let told = difference(&[row], &[other]).expect("they differ");
        assert!(
            told.contains("dataType") && told.contains("\"bin\""),
            "{told}"
        );
        assert_eq!(
            difference(&[], &[vec![]]).as_deref(),
            Some("JMeter wrote 0 rows, this 1")
        );
    }
}
