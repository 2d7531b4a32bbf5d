//! A sample as a cURL command.

use drumfire_engine::SampleView;

/// Header fields that cURL writes itself.
const OWN_FIELDS: [&str; 4] = ["host", "content-length", "connection", "transfer-encoding"];

/// The command that sends the same request; `None` if the sample is not an HTTP sample.
pub fn command(sample: &SampleView) -> Option<String> {
    if sample.method.is_empty() || !sample.url.starts_with("http") {
        return None;
    }
    let mut words = vec!["curl".to_owned()];
    if sample.method != "GET" {
        words.push(format!("-X {}", sample.method));
    }
    words.push(quoted(&sample.url));
    for line in sample.request_headers.lines() {
        let name = line.split(':').next().unwrap_or_default().trim();
        let is_own = OWN_FIELDS.iter().any(|own| name.eq_ignore_ascii_case(own));
        if !name.is_empty() && line.contains(':') && !is_own {
            words.push(format!("-H {}", quoted(line.trim())));
        }
    }
    let has_cookies = sample
        .request_headers
        .to_ascii_lowercase()
        .contains("cookie:");
    if !sample.cookies.is_empty() && !has_cookies {
        words.push(format!("-b {}", quoted(&sample.cookies)));
    }
    if !sample.request_body.is_empty() && sample.method != "GET" {
        words.push(format!("--data-raw {}", quoted(&sample.request_body)));
    }
    Some(words.join(" \\\n  "))
}

/// A word of the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_a_command() {
        let sample = SampleView {
            method: "POST".to_owned(),
            url: "http://a.example/login?x=1".to_owned(),
            request_headers: "Host: a.example\nX-It: it's\nContent-Length: 3\n".to_owned(),
            cookies: "a=1".to_owned(),
            request_body: "b=2".to_owned(),
            ..SampleView::default()
        };
        let expected = r"curl \
  -X POST \
  'http://a.example/login?x=1' \
  -H 'X-It: it'\''s' \
  -b 'a=1' \
  --data-raw 'b=2'";
        assert_eq!(command(&sample).as_deref(), Some(expected));
        assert_eq!(command(&SampleView::default()), None);
    }
}
