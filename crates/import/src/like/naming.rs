//! The names that JMeter's recorder gives to requests (`DefaultSamplerCreator.computeSamplerName`).

use crate::exchange::Request;

/// The settings of names.
#[derive(Debug, Clone)]
pub struct Naming {
    /// 0: prefix and path; 1: the prefix alone; 2: the prefix before the path; 3: a user-defined format.
    pub mode: i32,
    /// Such as `#{counter,number,000} - #{path} (#{name})`.
    pub format: String,
    /// The prefix.
    pub prefix: String,
}

/// The format of `proxy.sampler_format`.
const USUAL_FORMAT: &str = "#{counter,number,000} - #{path} (#{name})";

impl Naming {
    /// The name of a request with this number. `prefix` is the name of its transaction, if the user typed one.
    ///
    /// Where only the prefix is wanted and there is none, JMeter names a request like `-7`. Here it is named
    /// by its path.
    pub fn name(&self, request: &Request, prefix: Option<&str>, number: usize) -> String {
        let prefix = prefix.unwrap_or(&self.prefix);
        let path = path(request);
        match self.mode {
            1 if !prefix.is_empty() => format!("{prefix}-{number}"),
            2 => format!("{prefix}-{number} {path}").trim_start().to_owned(),
            3 => self.formatted(request, prefix, &path, number),
            _ => format!("{prefix}{path}-{number}"),
        }
    }

    fn formatted(&self, request: &Request, prefix: &str, path: &str, number: usize) -> String {
        let format = match self.format.trim() {
            "" => USUAL_FORMAT,
            format => format,
        };
        let address = &request.address;
        let scheme = address.scheme.template();
        let port = match address.port.template().as_str() {
            "" if scheme == "https" => "443".to_owned(),
            "" => "80".to_owned(),
            port => port.to_owned(),
        };
        let host = address.host.template();
        let mut name = String::new();
        let mut rest = format;
        while let Some((before, after)) = rest.split_once("#{") {
            name.push_str(before);
            let Some((field, after)) = after.split_once('}') else {
                name.push_str("#{");
                rest = after;
                continue;
            };
            let (key, style) = field.split_once(',').unwrap_or((field, ""));
            match key {
                "name" => name.push_str(prefix),
                "path" => name.push_str(path),
                "method" => name.push_str(&request.method),
                "host" => name.push_str(&host),
                "scheme" => name.push_str(&scheme),
                "port" => name.push_str(&shown(port.parse().unwrap_or(0), style)),
                "url" => {
                    let path = address.path.template();
                    let port = address.port.template();
                    let colon = if port.is_empty() { "" } else { ":" };
                    name.push_str(&format!("{scheme}://{host}{colon}{port}{path}"));
                }
                "counter" => name.push_str(&shown(number, style)),
                _ => name.push_str(&format!("#{{{field}}}")),
            }
            rest = after;
        }
        name.push_str(rest);
        name
    }
}

/// The path for the name. JMeter strips the query if the method has no body.
fn path(request: &Request) -> String {
    match request.method.as_str() {
        "POST" | "PUT" | "PATCH" => request.address.path.template(),
        _ => request.address.bare_path(),
    }
}

/// A number in the notation of Java's `MessageFormat`: with commas, or by a pattern of zeros such as
/// `number,000`.
fn shown(number: usize, style: &str) -> String {
    let pattern = style
        .strip_prefix("number")
        .unwrap_or("")
        .trim_start_matches(',')
        .trim();
    let digits = number.to_string();
    if pattern.is_empty() {
        let mut grouped = String::new();
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(digit);
        }
        grouped
    } else {
        let width = pattern.chars().filter(|&c| c == '0').count();
        // The formatter refuses longer numbers.
        let width = width.min(usize::from(u16::MAX));
        format!("{number:0width$}")
    }
}
