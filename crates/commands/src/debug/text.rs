//! A sample of a debugging session as text.

use crate::terminal::format::counted;
use std::borrow::Cow;
use std::fmt::Write as _;

use drumfire_engine::{ElementKind, SampleView};
use drumfire_platform::secrets::{self, MASK};

use super::session::{DebugStep, Shown};

/// The longest body that is printed, in characters.
const MOST_BODY: usize = 2_000;
/// The longest value of a variable that is printed, in characters.
const MOST_VALUE: usize = 200;

/// Whether passwords, tokens and cookies are shown as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Secrets(pub bool);

impl Secrets {
    /// Header fields, masked unless secrets are shown.
    pub fn headers<'t>(self, text: &'t str) -> Cow<'t, str> {
        if self.0 {
            Cow::Borrowed(text)
        } else {
            secrets::headers(text)
        }
    }

    /// A URL or body, masked unless secrets are shown.
    pub fn fields<'t>(self, text: &'t str) -> Cow<'t, str> {
        if self.0 {
            Cow::Borrowed(text)
        } else {
            secrets::text(text)
        }
    }

    /// The value of a variable, masked unless secrets are shown.
    pub fn value<'t>(self, name: &str, value: &'t str) -> Cow<'t, str> {
        if self.0 {
            Cow::Borrowed(value)
        } else {
            secrets::shown(name, value)
        }
    }

    /// Cookies, masked unless secrets are shown.
    pub fn cookies(self, text: &str) -> &str {
        if self.0 || text.is_empty() {
            text
        } else {
            MASK
        }
    }
}

/// Renders the sample of this number with its steps, request and response.
pub fn render(number: usize, shown: &Shown, secrets: Secrets) -> String {
    let mut text = String::new();
    let Shown {
        thread_name,
        sample,
        steps,
        ..
    } = shown;
    head(&mut text, &format!("{number}"), sample);
    let before = steps
        .iter()
        .take_while(|step| step.turn.part != ElementKind::Sampler);
    let after = steps
        .iter()
        .skip_while(|step| step.turn.part != ElementKind::Sampler);
    before.for_each(|step| render_step(&mut text, step, secrets));
    exchange(&mut text, sample, secrets);
    after.for_each(|step| render_step(&mut text, step, secrets));
    for (name, fault) in &sample.assertions {
        let _ = match fault {
            Some(why) => writeln!(text, "    ✗ {name}: {why}"),
            None => writeln!(text, "    ✓ {name}"),
        };
    }
    children(&mut text, &sample.children, 2);
    let _ = writeln!(text, "    ({thread_name})\n");
    text
}

fn head(text: &mut String, number: &str, sample: &SampleView) {
    let sign = if sample.success { "✓" } else { "✗" };
    let _ = writeln!(
        text,
        "{number}  {sign} {}  {} {}  {:.1} ms",
        sample.label,
        sample.code,
        sample.message,
        sample.elapsed_us as f64 / 1000.0
    );
}

fn exchange(text: &mut String, sample: &SampleView, secrets: Secrets) {
    if !sample.url.is_empty() {
        let _ = writeln!(
            text,
            "    {} {}",
            sample.method,
            secrets.fields(&sample.url)
        );
    }
    lines(text, "    > ", &secrets.headers(&sample.request_headers));
    if !sample.cookies.is_empty() {
        let _ = writeln!(text, "    > Cookie: {}", secrets.cookies(&sample.cookies));
    }
    body(text, "    > ", &secrets.fields(&sample.request_body), false);
    lines(text, "    < ", &secrets.headers(&sample.response_headers));
    body(
        text,
        "    < ",
        &secrets.fields(&sample.response_body),
        sample.is_binary,
    );
    if !sample.url.is_empty() {
        let _ = writeln!(
            text,
            "    connect {} ms, first byte {} ms; {} bytes sent, {} received",
            sample.connect_ms, sample.latency_ms, sample.sent_bytes, sample.received_bytes
        );
    }
}

fn lines(text: &mut String, before: &str, block: &str) {
    for line in block.lines().filter(|line| !line.trim().is_empty()) {
        let _ = writeln!(text, "{before}{}", line.trim_end());
    }
}

fn body(text: &mut String, before: &str, content: &str, is_binary: bool) {
    if content.is_empty() {
        return;
    }
    let _ = writeln!(text, "{}", before.trim_end());
    if is_binary {
        let _ = writeln!(text, "{before}(no text)");
        return;
    }
    let shown: String = content.chars().take(MOST_BODY).collect();
    lines(text, before, &shown);
    if shown.len() < content.len() {
        let _ = writeln!(
            text,
            "{before}… {}",
            counted((content.len() - shown.len()) as u64, "more byte")
        );
    }
}

fn render_step(text: &mut String, step: &DebugStep, secrets: Secrets) {
    let class = step.turn.class.rsplit('.').next().unwrap_or_default();
    // Assertions are printed with their verdicts.
    if step.changes.is_empty() && step.turn.part != ElementKind::PostProcessor {
        return;
    }
    if step.changes.is_empty() {
        let _ = writeln!(text, "    {} ({class}) changed nothing", step.turn.name);
    }
    for change in &step.changes {
        let shown = |value: &Option<String>| {
            value.as_ref().map(|value| {
                let value = secrets.value(&change.name, value);
                let cut: String = value.chars().take(MOST_VALUE).collect();
                format!("{cut:?}")
            })
        };
        let change_text = match (shown(&change.before), shown(&change.after)) {
            (None, Some(after)) => format!("+ {} = {after}", change.name),
            (Some(before), Some(after)) => format!("~ {} = {after}, was {before}", change.name),
            (Some(before), None) => format!("- {}, was {before}", change.name),
            (None, None) => continue,
        };
        let _ = writeln!(text, "    {change_text}  by {} ({class})", step.turn.name);
    }
}

fn children(text: &mut String, children: &[SampleView], depth: usize) {
    for child in children {
        head(text, &"  ".repeat(depth), child);
        self::children(text, &child.children, depth + 1);
    }
}

#[cfg(test)]
mod tests {
    use drumfire_engine::ElementTurn;

    use super::*;
    use crate::debug::session::Change;

    fn shown() -> Shown {
        let step = |part, name: &str, class: &str, changes| DebugStep {
            turn: ElementTurn {
                part,
                name: name.to_owned(),
                class: class.to_owned(),
                place: None,
            },
            changes,
        };
        let change = |name: &str, before: Option<&str>, after: Option<&str>| Change {
            name: name.to_owned(),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
        };
        Shown {
            thread_name: "Users 1-1".to_owned(),
            sample: SampleView {
                label: "Log in".to_owned(),
                code: "200".to_owned(),
                message: "OK".to_owned(),
                success: false,
                elapsed_us: 12_340,
                url: "http://a.example/login".to_owned(),
                method: "POST".to_owned(),
                request_headers: "Authorization: Bearer x\nAccept: */*\n".to_owned(),
                request_body: "user=a&password=hidden".to_owned(),
                response_body: "hello".to_owned(),
                assertions: vec![
                    ("is fine".to_owned(), None),
                    ("has it".to_owned(), Some("no".to_owned())),
                ],
                ..SampleView::default()
            },
            steps: vec![
                step(
                    ElementKind::PreProcessor,
                    "count",
                    "CounterConfig",
                    vec![change("n", Some("1"), Some("2"))],
                ),
                step(
                    ElementKind::Sampler,
                    "Log in",
                    "HTTPSamplerProxy",
                    Vec::new(),
                ),
                step(
                    ElementKind::PostProcessor,
                    "token",
                    "RegexExtractor",
                    vec![change("token", None, Some("t0p"))],
                ),
                step(
                    ElementKind::PostProcessor,
                    "nothing",
                    "x.JSONPostProcessor",
                    Vec::new(),
                ),
            ],
            variables: Default::default(),
        }
    }

    #[test]
    fn a_sample_is_told_in_the_order_of_its_elements() {
        let text = render(3, &shown(), Secrets(false));
        let expected = "3  ✗ Log in  200 OK  12.3 ms
    ~ n = \"2\", was \"1\"  by count (CounterConfig)
    POST http://a.example/login
    > Authorization: ***
    > Accept: */*
    >
    > user=a&password=***
    <
    < hello
    connect 0 ms, first byte 0 ms; 0 bytes sent, 0 received
    + token = \"***\"  by token (RegexExtractor)
    nothing (JSONPostProcessor) changed nothing
    ✓ is fine
    ✗ has it: no
    (Users 1-1)

";
        assert_eq!(text, expected);
        let open = render(3, &shown(), Secrets(true));
        assert!(
            open.contains("password=hidden") && open.contains("\"t0p\""),
            "{open}"
        );
    }
}
