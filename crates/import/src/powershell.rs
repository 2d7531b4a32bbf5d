//! Imports requests as browsers copy them for PowerShell: `Invoke-WebRequest -Uri … -Headers @{…}`.

use std::iter::Peekable;
use std::str::Chars;

use crate::curl;
use crate::draft::{Draft, DraftStep};
use crate::exchange::{Request, RequestBody};
use crate::options::ImportError;
use crate::text::PlanText;
use crate::url::Address;

const COMMANDS: [&str; 4] = ["invoke-webrequest", "invoke-restmethod", "iwr", "irm"];

/// Whether a text calls one of the commands.
pub(crate) fn is_powershell(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.contains(COMMANDS[0]) || lower.contains(COMMANDS[1])
}

/// A draft of all requests in a script.
///
/// # Errors
/// No command has an address.
pub fn import(text: &str) -> Result<Draft, ImportError> {
    let mut draft = Draft::new("PowerShell");
    let mut steps = Vec::new();
    let mut agent = None;
    let text = text.replace("\r\n", "\n");
    for words in statements(&text) {
        let Some(first) = words.first().and_then(Word::plain) else {
            continue;
        };
        let first = first.to_ascii_lowercase();
        if COMMANDS.contains(&first.as_str()) {
            let request = request(&words[1..], agent.as_deref(), &mut draft);
            steps.extend(request.map(DraftStep::from));
        } else if first.ends_with(".useragent") {
            agent = words.last().and_then(Word::plain).map(str::to_owned);
        } else if first.contains(".cookies.add") {
            draft.leave_out("cookies of the session, which the plan gets from the server");
        } else if !first.starts_with('$') {
            draft.leave_out(&format!("commands that are not web requests ({first})"));
        }
    }
    const REMEDY: &str = "Copy it from the browser: Network, Copy, Copy as PowerShell";
    draft.with_steps(steps, ("no web request with an address", REMEDY))
}

fn request(words: &[Word], agent: Option<&str>, draft: &mut Draft) -> Option<Request> {
    let (mut url, mut method, mut body, mut kind) = (None, None, None, None);
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let Some(option) = word.option() else {
            url = url.or_else(|| word.plain());
            continue;
        };
        match option.as_str() {
            "-usebasicparsing" | "-skipcertificatecheck" | "-skiphttperrorcheck" => continue,
            _ => {}
        }
        let value = words.next_if(|word| word.option().is_none());
        match (option.as_str(), value) {
            ("-uri", Some(value)) => url = value.plain(),
            ("-method", Some(value)) => method = value.plain(),
            ("-body", Some(value)) => body = value.plain(),
            ("-contenttype", Some(value)) => kind = value.plain(),
            ("-useragent", Some(value)) => {
                fields.extend(
                    value
                        .plain()
                        .map(|agent| ("User-Agent".to_owned(), agent.to_owned())),
                );
            }
            ("-headers", Some(Word::Table(pairs))) => fields.extend(pairs.iter().cloned()),
            ("-websession" | "-sessionvariable" | "-outfile" | "-timeoutsec", _) => {}
            (option, _) => draft.warn(format!(
                "PowerShell option `{option}` is not known and was ignored"
            )),
        }
    }
    let url = url?;
    let Some(address) = Address::parse(url) else {
        draft.leave_out(&format!("addresses that are not HTTP ({url})"));
        return None;
    };
    let usual = if body.is_some() { "POST" } else { "GET" };
    let address = address.without_dot_segments();
    let mut request = Request::new(&method.unwrap_or(usual).to_ascii_uppercase(), address);
    fields.retain(|(name, _)| is_own_field(name));
    request.headers = fields
        .into_iter()
        .map(|(name, value)| (PlanText::from(name), PlanText::from(value)))
        .collect();
    if let Some(agent) = agent {
        request.default_header("User-Agent", agent);
    }
    let is_form = kind.is_none_or(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    if let Some(body) = body {
        request.body = match curl::form_fields(body).filter(|_| is_form) {
            Some(fields) => RequestBody::Form(fields),
            None => RequestBody::Raw(body.into()),
        };
    }
    if let Some(kind) = kind.filter(|_| !matches!(request.body, RequestBody::Form(_))) {
        request.default_header("Content-Type", kind);
    }
    Some(request)
}

/// Whether a plan must send a field. JMeter or the connection sets some fields itself, and Chromium also lists parts of the
/// request line among the fields.
fn is_own_field(name: &str) -> bool {
    let others = [
        "authority",
        "method",
        "path",
        "scheme",
        "host",
        "cookie",
        "content-length",
        "accept-encoding",
    ];
    !others.contains(&name.to_ascii_lowercase().as_str()) && !name.starts_with(':')
}

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    /// Without quotes: an option, a variable, a name.
    Bare(String),
    Quoted(String),
    /// `@{ name = value }`.
    Table(Vec<(String, String)>),
}

impl Word {
    fn plain(&self) -> Option<&str> {
        match self {
            Word::Bare(text) | Word::Quoted(text) => Some(text),
            Word::Table(_) => None,
        }
    }

    /// The name of an option, in lower case.
    fn option(&self) -> Option<String> {
        match self {
            Word::Bare(text) if text.starts_with('-') => Some(text.to_ascii_lowercase()),
            _ => None,
        }
    }
}

/// Splits a script into statements. A line end ends one unless a backtick precedes it.
fn statements(text: &str) -> Vec<Vec<Word>> {
    let mut reader = PowerShellReader {
        rest: text.chars().peekable(),
    };
    let mut all = vec![Vec::new()];
    while let Some(sign) = reader.rest.peek().copied() {
        let word = match sign {
            '\n' | ';' | '|' => {
                reader.rest.next();
                all.push(Vec::new());
                continue;
            }
            '#' => {
                while reader.rest.next_if(|sign| *sign != '\n').is_some() {}
                continue;
            }
            // The brace closes a block that another command opened.
            sign if sign.is_whitespace() || sign == '}' => {
                reader.rest.next();
                continue;
            }
            '`' => {
                reader.rest.next();
                reader.rest.next();
                continue;
            }
            '"' | '\'' => Word::Quoted(reader.quoted()),
            '(' => Word::Quoted(reader.parenthesized()),
            '@' => {
                reader.rest.next();
                match reader.rest.peek() {
                    Some('{') => Word::Table(reader.table()),
                    _ => continue,
                }
            }
            _ => Word::Bare(reader.bare()),
        };
        if let Some(words) = all.last_mut() {
            words.push(word);
        }
    }
    all
}

struct PowerShellReader<'t> {
    rest: Peekable<Chars<'t>>,
}

impl PowerShellReader<'_> {
    fn bare(&mut self) -> String {
        let mut text = String::new();
        while let Some(sign) = self.rest.next_if(|sign| !is_end(sign)) {
            text.push(sign);
            // The arguments of a method call do not matter.
            if sign == '(' {
                self.skip_to_closing(1);
            }
        }
        text
    }

    /// Reads the first quoted text in parentheses, as in `([Text.Encoding]::UTF8.GetBytes("…"))`.
    fn parenthesized(&mut self) -> String {
        self.skip_to_closing(0).unwrap_or_default()
    }

    /// Skips to the end of the parentheses, of which `depth` are open. Returns the first quoted text before it.
    fn skip_to_closing(&mut self, mut depth: usize) -> Option<String> {
        let mut first = None;
        while let Some(sign) = self.rest.peek().copied() {
            match sign {
                '"' | '\'' => {
                    let text = self.quoted();
                    first.get_or_insert(text);
                    continue;
                }
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            self.rest.next();
            if depth == 0 {
                break;
            }
        }
        first
    }

    /// Reads a text in quotes. A doubled quote stands for one; in double quotes a backtick escapes.
    fn quoted(&mut self) -> String {
        let Some(quote) = self.rest.next() else {
            return String::new();
        };
        let mut text = String::new();
        while let Some(sign) = self.rest.next() {
            match sign {
                sign if sign == quote => match self.rest.next_if_eq(&quote) {
                    Some(quote) => text.push(quote),
                    None => break,
                },
                '`' if quote == '"' => match self.rest.next() {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some('0') => text.push('\0'),
                    Some(other) => text.push(other),
                    None => {}
                },
                '$' if quote == '"' && self.rest.peek() == Some(&'(') => {
                    text.extend(self.character());
                }
                sign => text.push(sign),
            }
        }
        text
    }

    /// Reads `$([char]233)`, as browsers write characters beyond ASCII.
    fn character(&mut self) -> Option<char> {
        let mut inside = String::new();
        while let Some(sign) = self.rest.next_if(|sign| !"\"\n".contains(*sign)) {
            inside.push(sign);
            if sign == ')' {
                break;
            }
        }
        let number = inside.strip_prefix("([char]")?.strip_suffix(')')?;
        char::from_u32(number.trim().parse().ok()?)
    }

    /// Reads `{ "name" = "value"; … }` up to its closing brace.
    fn table(&mut self) -> Vec<(String, String)> {
        self.rest.next();
        let mut pairs = Vec::new();
        let mut words: Vec<String> = Vec::new();
        while let Some(sign) = self.rest.peek().copied() {
            match sign {
                '}' => {
                    self.rest.next();
                    break;
                }
                '"' | '\'' => {
                    let text = self.quoted();
                    words.push(text);
                }
                '=' | ';' => drop(self.rest.next()),
                sign if sign.is_whitespace() => drop(self.rest.next()),
                _ => {
                    let mut text = String::new();
                    let is_end = |sign: &char| sign.is_whitespace() || "=;}\"'".contains(*sign);
                    while let Some(sign) = self.rest.next_if(|sign| !is_end(sign)) {
                        text.push(sign);
                    }
                    words.push(text);
                }
            }
            if let [name, value] = words.as_slice() {
                pairs.push((name.clone(), value.clone()));
                words.clear();
            }
        }
        pairs
    }
}

fn is_end(sign: &char) -> bool {
    sign.is_whitespace() || ";|}\"'".contains(*sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPIED: &str = "$session = New-Object Microsoft.PowerShell.Commands.WebRequestSession\r\n\
        $session.UserAgent = \"Mozilla/5.0 (X11)\"\r\n\
        $session.Cookies.Add((New-Object System.Net.Cookie(\"sid\", \"a;b\", \"/\", \"shop.example\")))\r\n\
        Invoke-WebRequest -UseBasicParsing -Uri \"https://shop.example/api/cart?x=1`$2\" `\r\n\
        -Method \"POST\" `\r\n-WebSession $session `\r\n-Headers @{\r\n\"authority\"=\"shop.example\"\r\n  \"x-csrf\"=\"a=b\"\r\n  \"accept\"=\"*/*\"\r\n} `\r\n\
        -ContentType \"application/json\" `\r\n-Body \"{`\"name`\":`\"caf$([char]233)`\"}\"\r\n\
        Invoke-RestMethod 'http://h/login' -Body 'user=it''s me&x=1' -Frob y # last\r\n";

    #[test]
    fn requests_as_browsers_copy_them() {
        assert!(is_powershell(COPIED) && !is_powershell("curl http://h/"));
        let draft = import(COPIED).expect("requests");
        let requests: Vec<&Request> = draft.steps().map(|step| &step.request).collect();
        let [first, second] = requests.as_slice() else {
            panic!("{requests:?}")
        };
        assert_eq!(first.method, "POST");
        assert_eq!(first.address.path.template(), "/api/cart?x=1$2");
        assert_eq!(first.body, RequestBody::Raw("{\"name\":\"café\"}".into()));
        let names: Vec<&str> = first
            .headers
            .iter()
            .filter_map(|(name, _)| name.literal())
            .collect();
        assert_eq!(names, ["x-csrf", "accept", "User-Agent", "Content-Type"]);
        assert_eq!(first.header("x-csrf"), Some("a=b"));
        assert_eq!(second.method, "POST");
        assert_eq!(
            second.body,
            RequestBody::Form(vec![
                ("user".into(), "it's me".into()),
                ("x".into(), "1".into())
            ])
        );
        assert_eq!(draft.warnings.len(), 1, "{:?}", draft.warnings);
        assert_eq!(draft.left_out.len(), 1, "{:?}", draft.left_out);
    }

    #[test]
    fn scripts_without_a_request() {
        for text in [
            "Invoke-WebRequest -Uri 'ftp://h/'",
            "Invoke-WebRequest",
            "iwr -Uri $url",
        ] {
            assert!(import(text).is_err(), "{text}");
        }
        // Unclosed quotes, tables and parentheses end with the text.
        for text in [
            "Invoke-WebRequest \"http://h/",
            "} iwr http://h/ }",
            "iwr http://h/ -Headers @{ a",
            "irm http://h/ -Body ((\"x",
        ] {
            assert!(import(text).is_ok(), "{text}");
        }
    }
}
