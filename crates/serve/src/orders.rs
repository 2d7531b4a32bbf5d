//! Orders to a run, from the page and from other programs.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that a run is asked to do. As subcommands the orders have these comments as their help.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, clap::Subcommand)]
#[serde(
    rename_all = "kebab-case",
    rename_all_fields = "snake_case",
    tag = "order",
    deny_unknown_fields
)]
pub enum Order {
    /// Let users finish their sample, then end
    Stop,
    /// Abort the current samples and end
    StopNow,
    /// Let users finish their sample and wait
    Pause,
    /// Let users go on
    Resume,
    /// Change the users of a thread group; surplus users end after their sample
    Users {
        /// The name of the thread group
        group: String,
        /// How many users
        #[arg(allow_negative_numbers = true)]
        users: u32,
        /// Also if that is more than ten times the plan's number
        #[arg(long)]
        #[serde(default)]
        anyway: bool,
    },
    /// Multiply the rates of open models, arrivals groups and throughput timers
    Rate {
        /// The factor, such as 0.5 or 2; 1 is the plan's own rate
        #[arg(value_parser = factor, allow_negative_numbers = true)]
        factor: f64,
    },
    /// Note an event in the run file, the report and the outputs
    Mark {
        /// The note's text
        text: String,
    },
    /// Set a JMeter property, as __setProperty does
    Set {
        /// Its name
        name: String,
        /// Its value
        value: String,
    },
}

/// Parses a factor for rates.
fn factor(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|factor: &f64| factor.is_finite() && *factor >= 0.0)
        .ok_or_else(|| "give a number that is not below 0, such as 0.5 or 2".to_owned())
}

impl Order {
    /// The paths below `/api/`, as [`Order::read`] knows them.
    pub(crate) const NAMES: [&'static str; 8] = [
        "stop", "stop-now", "pause", "resume", "users", "rate", "mark", "set",
    ];

    /// The name of the order, which is also its path below `/api/`.
    pub fn name(&self) -> &'static str {
        match self {
            Order::Stop => "stop",
            Order::StopNow => "stop-now",
            Order::Pause => "pause",
            Order::Resume => "resume",
            Order::Users { .. } => "users",
            Order::Rate { .. } => "rate",
            Order::Mark { .. } => "mark",
            Order::Set { .. } => "set",
        }
    }

    /// Reads the order of that name from the JSON of a request; an empty body is an empty object.
    pub(crate) fn read(name: &str, body: &[u8]) -> Result<Order, Refused> {
        let mut fields: serde_json::Map<String, serde_json::Value> =
            if body.iter().all(u8::is_ascii_whitespace) {
                serde_json::Map::new()
            } else {
                serde_json::from_slice(body)
                    .map_err(|_| Refused("The body is not a JSON object".to_owned()))?
            };
        fields.insert("order".to_owned(), name.into());
        serde_json::from_value(fields.into()).map_err(|_| {
            Refused(format!(
                "The body does not fit `{name}`: give its fields as the API describes them"
            ))
        })
    }

    /// The JSON that [`Order::read`] reads.
    pub fn body(&self) -> String {
        let mut value = serde_json::to_value(self).unwrap_or_default();
        if let Some(fields) = value.as_object_mut() {
            fields.remove("order");
        }
        value.to_string()
    }
}

/// Why a request is refused, as a sentence for the sender.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl From<String> for Refused {
    fn from(why: String) -> Refused {
        Refused(why)
    }
}

impl From<&str> for Refused {
    fn from(why: &str) -> Refused {
        Refused(why.to_owned())
    }
}

/// Carries out orders without waiting for their effect.
pub trait Steering: Send + Sync {
    /// Carries out an order.
    ///
    /// # Errors
    /// Why it is refused, as a sentence for the sender.
    fn carry_out(&self, order: &Order) -> Result<(), Refused>;
}

impl fmt::Debug for dyn Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steering")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_numbers_that_are_not_below_zero() {
        for text in ["-1", "nan", "inf", "two", ""] {
            assert!(factor(text).is_err(), "{text}");
        }
        assert_eq!((factor("0"), factor("1.5")), (Ok(0.0), Ok(1.5)));
    }

    #[test]
    fn orders_are_read_from_what_they_write() {
        let all = [
            Order::Stop,
            Order::StopNow,
            Order::Pause,
            Order::Resume,
            Order::Users {
                group: "Buyers".to_owned(),
                users: 7,
                anyway: false,
            },
            Order::Rate { factor: 1.5 },
            Order::Mark {
                text: "deployed".to_owned(),
            },
            Order::Set {
                name: "a".to_owned(),
                value: "b".to_owned(),
            },
        ];
        for (order, name) in all.iter().zip(Order::NAMES) {
            assert_eq!(order.name(), name);
            let read = Order::read(name, order.body().as_bytes());
            assert_eq!(read.as_ref(), Ok(order));
        }
        assert_eq!(Order::read("pause", b""), Ok(Order::Pause));
    }

    #[test]
    fn a_body_that_does_not_fit_is_refused() {
        for (name, body) in [
            ("users", "{}"),
            ("users", r#"{"group": "a", "users": -1}"#),
            ("rate", r#"{"factor": "fast"}"#),
            ("mark", "deployed"),
            ("mark", r#"{"text": "a", "more": 1}"#),
        ] {
            assert!(Order::read(name, body.as_bytes()).is_err(), "{name} {body}");
        }
    }
}
