//! Messages between a recording that goes on and its user.

use serde_json::Value;

/// An order of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// Begin a transaction of this name.
    Name(String),
    /// Leave requests out from now on, or record again.
    Pause(bool),
}

/// A message of the recording.
#[derive(Debug, Clone)]
pub enum Seen {
    /// A sentence about something that is not a request, such as a failed handshake.
    Note(String),
    /// An order that was carried out, also one that came from the recorded page.
    Done(Order),
    /// A request, at each of its stages.
    Exchange(SeenExchange),
}

/// A request and what is known of its response.
#[derive(Debug, Clone)]
pub struct SeenExchange {
    /// Its index among all requests of the recording, those that are left out included.
    pub number: usize,
    /// How far it is.
    pub stage: Stage,
    /// Its entry of the HAR, without the texts of bodies.
    pub entry: Value,
    /// The bytes of the response's body so far.
    pub bytes: u64,
    /// Whether the recording was paused, so that the HAR lacks it.
    pub is_left_out: bool,
}

/// The stage of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It was sent.
    Sent,
    /// The head of its response is there.
    Answered,
    /// Nothing follows.
    Complete,
}

impl Seen {
    /// The line that a terminal shows; requests have one when their response begins.
    pub fn line(&self) -> Option<String> {
        match self {
            Seen::Note(note) => Some(note.clone()),
            Seen::Done(Order::Name(name)) => Some(format!("step {name}")),
            Seen::Done(Order::Pause(true)) => Some("paused".to_owned()),
            Seen::Done(Order::Pause(false)) => Some("recording".to_owned()),
            Seen::Exchange(exchange) => {
                let request = &exchange.entry["request"];
                let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
                (exchange.stage == Stage::Answered).then(|| {
                    let status = &exchange.entry["response"]["status"];
                    format!(
                        "{status} {} {}",
                        text(&request["method"]),
                        text(&request["url"])
                    )
                })
            }
        }
    }
}
