//! Filters for frames that samplers do not see.

use std::pin::Pin;
use std::time::Instant;

use drumfire_expr::Template;
use drumfire_http::{Frame, Opcode};
use drumfire_java::values::property_bool;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};
use drumfire_results::Sample;

use super::client::WebSocketClient;
use super::frames;
use super::stop::WebSocketFailure;
use crate::decode::Decoder;
use crate::resolve::Element;
use crate::run::context::Context;

/// A frame filter in scope.
pub struct Filter {
    name: Template,
    rule: Rule,
}

enum Rule {
    Text {
        comparison: FilterComparison,
        value: Template,
    },
    Binary {
        comparison: FilterComparison,
        value: Template,
        position: Template,
    },
    Ping {
        pings: bool,
        pongs: bool,
        replies: Template,
    },
}

/// `ComparisonType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FilterComparison {
    how: How,
    negated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Any,
    Equals,
    EqualsRegex,
    Contains,
    ContainsRegex,
    StartsWith,
    EndsWith,
}

impl FilterComparison {
    fn of(name: &str) -> FilterComparison {
        let (negated, positive) = match name.strip_prefix("Not") {
            Some(rest) => (true, rest),
            None => (false, name),
        };
        let how = match positive {
            "Equals" => How::Equals,
            "EqualsRegex" => How::EqualsRegex,
            "Contains" => How::Contains,
            "ContainsRegex" => How::ContainsRegex,
            "StartsWith" => How::StartsWith,
            "EndsWith" => How::EndsWith,
            _ => How::Any,
        };
        FilterComparison { how, negated }
    }
}

/// WebSocket Text Frame Filter (`eu.luminis.jmeter.wssampler.TextFrameFilter`): discards text frames that match `matchValue` by
/// `comparisonType` (`IsPlain` matches all; `Equals`, `Contains`, `StartsWith`, `EndsWith`, `EqualsRegex`, `ContainsRegex`, each
/// also with `Not` before it). A discarded frame becomes a sub-result.
fn text(d: &mut Decoder, config: &Element) -> Rule {
    Rule::Text {
        comparison: FilterComparison::of(&config.props.str("comparisonType")),
        value: d.compile(&config.props.str("matchValue")),
    }
}

/// WebSocket Binary Frame Filter (`eu.luminis.jmeter.wssampler.BinaryFrameFilter`): discards binary frames that match the bytes
/// of `matchValue` by `comparisonType` (those of the text filter without regular expressions); `Contains` compares at
/// `matchPosition` if that is a number.
fn binary(d: &mut Decoder, config: &Element) -> Rule {
    Rule::Binary {
        comparison: FilterComparison::of(&config.props.str("comparisonType")),
        value: d.compile(&config.props.str("matchValue")),
        position: d.compile(&config.props.str("matchPosition")),
    }
}

/// WebSocket Ping/Pong Frame Filter (`eu.luminis.jmeter.wssampler.PingFrameFilter`): discards pings and pongs (`filterType`:
/// `FilterAll`, `FilterPingOnly`, `FilterPongOnly`) and, with `replyToPing`, answers pings.
fn ping(d: &mut Decoder, config: &Element) -> Rule {
    let kind = config.props.str("filterType");
    Rule::Ping {
        pings: kind != "FilterPongOnly",
        pongs: kind != "FilterPingOnly",
        replies: d.compile(&config.props.str("replyToPing")),
    }
}

/// Decodes an element in scope that is a filter.
pub(super) fn decode(d: &mut Decoder, config: &Element) -> Option<Filter> {
    let rule = match config.class.strip_prefix("eu.luminis.jmeter.wssampler.")? {
        "TextFrameFilter" => text(d, config),
        "BinaryFrameFilter" => binary(d, config),
        "PingFrameFilter" => ping(d, config),
        _ => return None,
    };
    Some(Filter {
        name: d.compile(&config.name),
        rule,
    })
}

/// Receives frames through filters.
#[derive(Clone, Copy)]
pub(super) struct FilterChain<'s> {
    pub filters: &'s [Filter],
    /// Whether discarded frames count towards the sample's size.
    pub counts: bool,
    pub keeps_body: bool,
}

impl<'s> FilterChain<'s> {
    /// `FrameFilter#receiveFrame`: the first filter gets the frames that the others let through. All frames together must arrive
    /// within the time limit, which is checked after each frame, even after one that is let through. A limit of 0 therefore lets
    /// no frame through.
    pub fn receive<'f>(
        self,
        cx: &'f mut Context,
        client: &'f mut WebSocketClient,
        timeout_ms: u64,
        sample: &'f mut Sample,
        left_out: &'f mut Vec<Sample>,
    ) -> Pin<Box<dyn Future<Output = Result<Frame, WebSocketFailure>> + 'f>>
    where
        's: 'f,
    {
        Box::pin(async move {
            let Some((filter, rest)) = self.filters.split_first() else {
                return client.receive(cx, timeout_ms).await;
            };
            let rest = FilterChain {
                filters: rest,
                ..self
            };
            let test = FrameTest::prepare(filter, cx);
            let mut left_ms = timeout_ms;
            loop {
                let begin = Instant::now();
                let start_ms = cx.clock().now_ms();
                let frame = rest.receive(cx, client, left_ms, sample, left_out).await?;
                let spent_ms = begin.elapsed().as_millis() as u64;
                let matches = test.matches(&frame, client);
                if matches {
                    client.discard(cx, &frame)?;
                    let mut child = self.leave_out(cx, filter, &frame, client, sample);
                    child.start_ms = start_ms;
                    child.set_end(cx.clock().now_ms());
                    if test.replies && frame.opcode == Opcode::Ping {
                        child.sent_bytes = client.send(cx, Opcode::Pong, &frame.payload).await?;
                        if self.counts {
                            sample.sent_bytes += child.sent_bytes;
                        }
                    }
                    left_out.push(child);
                }
                if spent_ms >= left_ms {
                    return Err(WebSocketFailure::ReadTimeout);
                }
                left_ms -= spent_ms;
                if !matches {
                    return Ok(frame);
                }
            }
        })
    }

    /// The sub-result of a discarded frame.
    fn leave_out(
        self,
        cx: &mut Context,
        filter: &Filter,
        frame: &Frame,
        client: &WebSocketClient,
        sample: &mut Sample,
    ) -> Sample {
        let label = format!(
            "Discarded {} frame (by filter '{}')",
            frames::kind(frame),
            filter.name.eval(cx)
        );
        let mut child = Sample::new(label.into(), "".into());
        child.success = true;
        let is_binary = client.is_binary(frame);
        child.message = format!("Received {}", frames::shown(frame, is_binary)).into();
        (child.header_bytes, child.body_bytes) = frames::sizes(frame);
        if self.counts {
            sample.header_bytes += child.header_bytes;
            sample.body_bytes += child.body_bytes;
        }
        if self.keeps_body && (is_binary || client.is_text(frame)) {
            child.response_data = Some(frame.payload.as_slice().into());
        }
        child
    }
}

/// A filter's rule, evaluated.
struct FrameTest<'f> {
    filter: &'f Filter,
    value: String,
    pattern: Option<Pattern>,
    bytes: Vec<u8>,
    position: Option<usize>,
    replies: bool,
}

impl<'f> FrameTest<'f> {
    /// `prepareFilter`.
    fn prepare(filter: &'f Filter, cx: &mut Context) -> FrameTest<'f> {
        let mut test = FrameTest {
            filter,
            value: String::new(),
            pattern: None,
            bytes: Vec::new(),
            position: None,
            replies: false,
        };
        match &filter.rule {
            Rule::Text { comparison, value } => {
                test.value = value.eval(cx).into_string();
                if matches!(comparison.how, How::EqualsRegex | How::ContainsRegex) {
                    let compiled =
                        Pattern::compile(&test.value, Dialect::Java, RegexOptions::default());
                    test.pattern = compiled.ok();
                }
            }
            Rule::Binary {
                value, position, ..
            } => {
                let text = value.eval(cx).into_string();
                test.bytes = frames::parse_binary(&text).unwrap_or_else(|| {
                    tracing::error!(
                        "a binary frame filter will filter nothing: its match value is '{text}'"
                    );
                    Vec::new()
                });
                test.position = position.eval(cx).parse().ok();
            }
            Rule::Ping { replies, .. } => test.replies = property_bool(&replies.eval(cx)),
        }
        test
    }

    fn matches(&self, frame: &Frame, client: &WebSocketClient) -> bool {
        match &self.filter.rule {
            Rule::Ping { pings, pongs, .. } => match frame.opcode {
                Opcode::Ping => *pings,
                Opcode::Pong => *pongs,
                _ => false,
            },
            Rule::Text { comparison, .. } if client.is_text(frame) => {
                self.matches_text(*comparison, &String::from_utf8_lossy(&frame.payload))
            }
            Rule::Binary { comparison, .. } if client.is_binary(frame) => {
                self.matches_bytes(*comparison, &frame.payload)
            }
            _ => false,
        }
    }

    fn matches_text(&self, comparison: FilterComparison, text: &str) -> bool {
        let value = self.value.as_str();
        let pattern = |look: &dyn Fn(&Pattern) -> bool| self.pattern.as_ref().is_some_and(look);
        let matches = match comparison.how {
            How::Any => return true,
            How::Equals => text == value,
            How::Contains => text.contains(value),
            How::StartsWith => text.starts_with(value),
            How::EndsWith => text.ends_with(value),
            How::EqualsRegex => pattern(&|pattern| pattern.full_match(text)),
            How::ContainsRegex => pattern(&|pattern| pattern.is_match(text)),
        };
        matches != comparison.negated
    }

    fn matches_bytes(&self, comparison: FilterComparison, bytes: &[u8]) -> bool {
        let value = self.bytes.as_slice();
        let matches = match (comparison.how, self.position) {
            (How::Equals, _) => bytes == value,
            (How::Contains, Some(at)) => {
                !value.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(value))
            }
            (How::Contains, None) => frames::contains(bytes, value),
            (How::StartsWith, _) => bytes.starts_with(value),
            (How::EndsWith, _) => bytes.ends_with(value),
            (How::Any | How::EqualsRegex | How::ContainsRegex, _) => return true,
        };
        matches != comparison.negated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(comparison: &str, value: &str, frame: &str) -> bool {
        let comparison = FilterComparison::of(comparison);
        let filter = Filter {
            name: Template::raw("f"),
            rule: Rule::Text {
                comparison,
                value: Template::raw(value),
            },
        };
        let test = FrameTest {
            filter: &filter,
            value: value.to_owned(),
            pattern: Pattern::compile(value, Dialect::Java, RegexOptions::default()).ok(),
            bytes: frames::parse_binary(value).unwrap_or_default(),
            position: None,
            replies: false,
        };
        match comparison.how {
            How::Equals if value == "cafe" => test.matches_bytes(comparison, &[0xca, 0xfe]),
            _ => test.matches_text(comparison, frame),
        }
    }

    #[test]
    fn comparisons() {
        for (comparison, value, frame, expected) in [
            ("IsPlain", "", "x", true),
            ("Equals", "abc", "abc", true),
            ("NotEquals", "abc", "abc", false),
            ("Contains", "b", "abc", true),
            ("NotContains", "x", "abc", true),
            ("StartsWith", "ab", "abc", true),
            ("NotEndsWith", "bc", "abc", false),
            ("EqualsRegex", "a.", "abc", false),
            ("ContainsRegex", "a.", "abc", true),
            ("NotContainsRegex", "a.", "abc", false),
            ("Equals", "cafe", "", true),
        ] {
            assert_eq!(
                text(comparison, value, frame),
                expected,
                "{comparison} {value} {frame}"
            );
        }
    }
}
