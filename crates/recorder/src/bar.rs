//! The bar in a recorded page: it names steps, pauses, expects a selected text, and ends the recording. Scripts of `--do` may call
//! the same functions: `drumfire.step('Pay')`, `drumfire.pause(true)`, `drumfire.expect('Thank you')`, `drumfire.stop()`.

use serde_json::{Value, json};

/// The function by which the page calls the recorder.
pub const BINDING: &str = "__drumfireRecorder";

/// What the page asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Wish {
    /// Begin a transaction of this name.
    Step(String),
    /// Leave requests out from now on, or record again.
    Pause(bool),
    /// Expect this text in the newest response that holds it.
    Expect(String),
    /// Tell the page what it shows.
    State,
    /// End the recording.
    Stop,
}

impl Wish {
    /// Reads the call of a page, which may be any text.
    pub fn read(text: &str) -> Option<Wish> {
        let call: Value = serde_json::from_str(text).ok()?;
        let text = || {
            let text = call["text"].as_str().unwrap_or("").trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        match call["do"].as_str()? {
            "step" => text().map(Wish::Step),
            "pause" => Some(Wish::Pause(call["on"] == true)),
            "expect" => text().map(Wish::Expect),
            "state" => Some(Wish::State),
            "stop" => Some(Wish::Stop),
            _ => None,
        }
    }
}

/// The script that runs first in each document.
pub fn script(is_shown: bool) -> String {
    let shown = if is_shown { "drumfire.bar();" } else { "" };
    format!("if (window === window.top) {{ {FUNCTIONS} {shown} }}")
}

/// The script that shows a message in the bar.
pub fn tell(message: &str) -> String {
    format!("window.drumfire && drumfire.tell({})", json!(message))
}

/// The script that shows the step and whether the recording is paused.
pub fn state(step: &str, is_paused: bool) -> String {
    format!(
        "window.drumfire && drumfire.show({}, {is_paused})",
        json!(step)
    )
}

/// A page may forbid styles in attributes, so the bar sets them by script, in a tree of its own.
const FUNCTIONS: &str = include_str!("bar.js");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_a_page_are_read() {
        let own = |text: &str| text.to_owned();
        for (text, wish) in [
            (
                r#"{"do":"step","text":" Pay "}"#,
                Some(Wish::Step(own("Pay"))),
            ),
            (r#"{"do":"step","text":" "}"#, None),
            (r#"{"do":"pause","on":true}"#, Some(Wish::Pause(true))),
            (
                r#"{"do":"expect","text":"Thanks"}"#,
                Some(Wish::Expect(own("Thanks"))),
            ),
            (r#"{"do":"stop"}"#, Some(Wish::Stop)),
            ("stop", None),
            (r#"{"do":"x"}"#, None),
        ] {
            assert_eq!(Wish::read(text), wish, "{text}");
        }
    }
}
