//! The chunks of chat completions, as OpenAI's API and its likes stream them: JSON with `choices[].delta`, and at the end `usage`.

use drumfire_query::json::{Json, Value};

/// The members of a delta that hold text or what stands for it.
const TEXTS: [&str; 5] = [
    "content",
    "reasoning_content",
    "reasoning",
    "refusal",
    "tool_calls",
];

/// The content of a chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chunk {
    /// Whether it has text. The first chunk often has only the role, the last only the reason of the end.
    pub has_text: bool,
    /// The number of tokens of the whole answer, which the last chunk may tell.
    pub tokens: Option<u64>,
}

impl Chunk {
    /// Reads the data of an event; anything but a chunk brings nothing.
    pub fn read(data: &[u8]) -> Chunk {
        let Ok(json) = std::str::from_utf8(data).map_err(drop).and_then(parse) else {
            return Chunk::default();
        };
        let root = json.root();
        let choices = match root.get("choices") {
            Some(Value::Array(choices)) => choices.as_slice(),
            _ => &[],
        };
        let usage = root.get("usage");
        let tokens = usage.and_then(|usage| usage.get("completion_tokens"));
        Chunk {
            has_text: choices.iter().any(has_text),
            tokens: match tokens {
                Some(Value::Number(number)) => Some(number.as_f64() as u64),
                _ => None,
            },
        }
    }
}

fn parse(text: &str) -> Result<Json<'_>, ()> {
    Json::parse(text).map_err(drop)
}

/// Whether a choice has text: in its delta, or in the older form of completions itself.
fn has_text(choice: &Value<'_>) -> bool {
    let is_filled = |value: Option<&Value<'_>>| match value {
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(parts)) => !parts.is_empty(),
        _ => false,
    };
    let delta = choice.get("delta");
    is_filled(choice.get("text"))
        || delta.is_some_and(|delta| TEXTS.iter().any(|name| is_filled(delta.get(name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_tokens_of_chunks() {
        let read = |data: &str| {
            let chunk = Chunk::read(data.as_bytes());
            (chunk.has_text, chunk.tokens)
        };
        let delta = |delta: &str| {
            read(&format!(
                "{{\"choices\":[{{\"index\":0,\"delta\":{delta}}}]}}"
            ))
        };
        assert_eq!(delta(r#"{"role":"assistant","content":""}"#), (false, None));
        assert_eq!(delta(r#"{"content":"Hi"}"#), (true, None));
        assert_eq!(delta(r#"{"reasoning_content":"so"}"#), (true, None));
        assert_eq!(delta(r#"{"tool_calls":[{"index":0}]}"#), (true, None));
        assert_eq!(delta("{}"), (false, None));
        assert_eq!(read(r#"{"choices":[{"text":"a"}]}"#), (true, None));
        let usage = r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":42}}"#;
        assert_eq!(read(usage), (false, Some(42)));
        assert_eq!(read(r#"{"choices":[],"usage":null}"#), (false, None));
        assert_eq!(read("[DONE]"), (false, None));
        assert_eq!(Chunk::read(b"\xff"), Chunk::default());
    }
}
