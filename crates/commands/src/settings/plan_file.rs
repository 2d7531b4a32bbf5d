//! The plan that a command line names: whether there is such a file, and what is probably meant if not.

use std::path::{Path, PathBuf};

use drumfire_platform::causes::missing;
use drumfire_platform::spelling::{absent, did_you_mean};

use crate::exit_codes::Exit;
use crate::refusal::Refusal;

/// Last labels of host names that no extension of a file looks like.
const DOMAINS: [&str; 14] = [
    "com", "org", "net", "io", "dev", "app", "edu", "gov", "de", "uk", "fr", "test", "local",
    "example",
];

/// The plan, if the file exists.
///
/// # Errors
/// The plan that the user probably meant: an address, a file in the folder, or a file of a similar name.
pub fn existing_plan(plan: &Path) -> Result<PathBuf, Refusal> {
    if plan.is_dir() {
        return Err(folder(plan));
    }
    // Pipes and devices can be read, too.
    if plan.exists() {
        return Ok(plan.to_path_buf());
    }
    let text = plan.to_string_lossy();
    let refusal = |why: String, hint: String| Err(Refusal::new(Exit::PlanRefused, why).hint(hint));
    match address(&text) {
        Some(MeantAddress::Web(url)) => refusal(
            format!(
                "`{text}` is neither a plan nor an address that begins with http:// or https://"
            ),
            format!("write `drumfire run {url}`"),
        ),
        Some(MeantAddress::Other(scheme)) => refusal(
            format!(
                "`{text}` is an address of `{scheme}`, and a run of an address needs http:// or https://"
            ),
            "put the request into a plan, and name the plan".to_owned(),
        ),
        None => refusal(missing(plan), absent(plan)),
    }
}

/// The refusal of a folder, with a plan in it.
fn folder(folder: &Path) -> Refusal {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let plans = entries.map(|entry| entry.path()).filter(|path| {
        let ending = path.extension();
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case("jmx")) && path.is_file()
    });
    let why = format!("`{}` is a folder", folder.display());
    Refusal::new(Exit::PlanRefused, why).hint(match plans.min() {
        Some(plan) => format!("write `{}`, or another plan in it", plan.display()),
        None => "name a plan (.jmx)".to_owned(),
    })
}

/// An address in the place of a plan.
#[derive(Debug, PartialEq, Eq)]
enum MeantAddress {
    /// The address with its scheme.
    Web(String),
    /// The scheme of an address that is not one of HTTP.
    Other(String),
}

/// The address that a text without a correct scheme means, if it looks like one.
fn address(text: &str) -> Option<MeantAddress> {
    if let Some((scheme, rest)) = text.split_once("://") {
        let is_web = ["http", "https"].contains(&scheme);
        let near = if is_web {
            Some(scheme)
        } else {
            did_you_mean(scheme, ["http", "https"])
        };
        return Some(match near {
            Some(near) => MeantAddress::Web(format!("{near}://{}", rest.trim_start_matches('/'))),
            None => MeantAddress::Other(scheme.to_owned()),
        });
    }
    for scheme in ["https", "http"] {
        let rest = text
            .strip_prefix(scheme)
            .map(|rest| rest.trim_start_matches(':'));
        if let Some(rest) =
            rest.filter(|rest| rest.len() < text.len() - scheme.len() || rest.starts_with("//"))
        {
            let rest = rest.trim_start_matches('/');
            return (!rest.is_empty()).then(|| MeantAddress::Web(format!("{scheme}://{rest}")));
        }
    }
    let authority = text.split(['/', '?']).next()?;
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let has_port = port
        .is_some_and(|port| !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit()));
    let last = host.rsplit('.').next()?.to_ascii_lowercase();
    let is_name = !host.is_empty()
        && host
            .bytes()
            .all(|sign| sign.is_ascii_alphanumeric() || b".-[]:".contains(&sign));
    let is_host = host == "localhost"
        || host.parse::<std::net::Ipv4Addr>().is_ok()
        || (host.contains('.') && DOMAINS.contains(&last.as_str()));
    (is_name && (has_port || (port.is_none() && is_host)))
        .then(|| MeantAddress::Web(format!("http://{text}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_correct_scheme_gets_one() {
        for (text, meant) in [
            ("127.0.0.1:80", "http://127.0.0.1:80"),
            ("localhost", "http://localhost"),
            ("localhost/cart?a=1", "http://localhost/cart?a=1"),
            ("shop:8080/x", "http://shop:8080/x"),
            ("shop.example.com/x", "http://shop.example.com/x"),
            ("htp://h/x", "http://h/x"),
            ("htps://h/x", "https://h/x"),
            ("http:/h", "http://h"),
            ("http:h", "http://h"),
            ("http//h", "http://h"),
            ("https:///h", "https://h"),
        ] {
            let meant = MeantAddress::Web(meant.to_owned());
            assert_eq!(address(text), Some(meant), "{text}");
        }
        let other = MeantAddress::Other("ftp".to_owned());
        assert_eq!(address("ftp://h"), Some(other));
    }

    #[test]
    fn a_file_name_is_not_an_address() {
        for text in [
            "plan.jmx",
            "plans/plan.jmx",
            "plan",
            "http.jmx",
            "C:\\plans\\a.jmx",
            "a.b/plan.jmx",
            "httpd/plan.jmx",
        ] {
            assert_eq!(address(text), None, "{text}");
        }
    }
}
