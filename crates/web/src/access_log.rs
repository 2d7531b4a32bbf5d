//! Extracts requests from a server's access log, as JMeter's `TCLogParser` does.

use drumfire_java::Exception;

/// The request of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedRequest<'l> {
    /// The part before the first question mark; the whole line if no path was found in it.
    pub path: &'l str,
    /// The part between the first question mark and the next.
    pub query: Option<&'l str>,
}

/// Reads the lines of one log.
#[derive(Clone, Debug, Default)]
pub struct LogParser {
    method: Option<&'static str>,
}

impl LogParser {
    /// The method of the latest line that names one.
    pub fn method(&self) -> Option<&'static str> {
        self.method
    }

    /// Extracts the request of a non-empty line; `None` if the line consists of question marks only.
    pub fn parse<'l>(&mut self, line: &'l str) -> Option<LoggedRequest<'l>> {
        let url = self.url(line);
        let mut parts = url.split('?').filter(|part| !part.is_empty());
        Some(LoggedRequest {
            path: parts.next()?,
            query: parts.next(),
        })
    }

    /// `TCLogParser#cleanURL`: the first word that starts with a slash in the first quoted part that names a method.
    fn url<'l>(&mut self, line: &'l str) -> &'l str {
        if !line.contains('"') || !self.finds_method(line) {
            return line;
        }
        let mut parts = line.split('"').filter(|part| !part.is_empty());
        let Some(part) = parts.find(|part| self.finds_method(part)) else {
            return line;
        };
        for word in part.split(' ').filter(|word| !word.is_empty()) {
            if let Some(method) = METHODS.iter().find(|own| own.eq_ignore_ascii_case(word)) {
                self.method = Some(method);
            }
            if word.starts_with('/') {
                return word;
            }
        }
        line
    }

    /// `TCLogParser#checkMethod`.
    fn finds_method(&mut self, text: &str) -> bool {
        let method = METHODS.iter().find(|method| text.contains(**method));
        self.method = method.copied().or(self.method);
        method.is_some()
    }
}

const METHODS: [&str; 3] = ["GET", "POST", "HEAD"];

/// Why an Access Log Sampler has no request (`AccessLogSampler#sampleWithParser`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoRequest {
    /// There is no parser, or no file for it.
    Parser,
    /// The file cannot be read or parsed.
    Unreadable,
    /// The log has ended.
    Ended,
}

impl NoRequest {
    /// The failure that the sample shows.
    pub fn exception(self) -> Exception {
        let error = "java.lang.Error";
        let (class, message) = match self {
            NoRequest::Parser => (
                "org.apache.jorphan.util.JMeterException",
                "No Parser available",
            ),
            NoRequest::Unreadable => (error, "Problem parsing the log file"),
            NoRequest::Ended => (error, "No entries found"),
        };
        Exception::new(class, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Method, path and query of each line, as JMeter 5.6.3 requested them.
    fn requests(lines: &[&str]) -> Vec<String> {
        let mut parser = LogParser::default();
        let mut shown = Vec::new();
        for line in lines {
            let request = parser.parse(line);
            let method = parser.method().unwrap_or("-");
            shown.push(match request {
                None => "none".to_owned(),
                Some(LoggedRequest { path, query }) => {
                    format!("{method} {path} {}", query.unwrap_or("-"))
                }
            });
        }
        shown
    }

    #[test]
    fn lines_of_logs() {
        assert_eq!(
            requests(&[
                "/first",
                "1.1.1.1 - - [x] \"GET /a?b=c HTTP/1.1\" 200 132",
                "1.1.1.1 - - [x] \"POST /form?a=1&b=%20&c HTTP/1.1\" 200 8",
                "\"HEAD /head HTTP/1.0\" 200 0",
                "\"PUT /put HTTP/1.1\"",
                "/plain?q=1",
                "- \"get /lower HTTP/1.1\" 200",
                "\"GET /agent HTTP/1.1\" \"http://x/POST\" \"Mozilla GET\"",
                "/late \"POST HTTP/1.1\"",
                "?",
                "/two?a=1?b=2",
                "/open?",
                "GET /unquoted?a=b",
                "\"post GET /mixed\"",
            ]),
            [
                "- /first -",
                "GET /a b=c",
                "POST /form a=1&b=%20&c",
                "HEAD /head -",
                "HEAD \"PUT /put HTTP/1.1\" -",
                "HEAD /plain q=1",
                "HEAD - \"get /lower HTTP/1.1\" 200 -",
                "GET /agent -",
                "POST /late \"POST HTTP/1.1\" -",
                "none",
                "POST /two a=1",
                "POST /open -",
                "POST GET /unquoted a=b",
                "GET /mixed -",
            ]
        );
    }
}
