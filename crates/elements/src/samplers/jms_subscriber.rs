//! JMS Subscriber.

use crate::form::{ElementFacts, Property, Role, Saved, choice, flag, is, section, text, whole};
use crate::shared::jms;

pub const CLASS: &str = "SubscriberSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JMS Subscriber", "JMSSubscriberGui")
        .help("Receives messages of a queue or topic.")
        .sections(&[
            jms::CONNECTION,
            section(
                "Subscription",
                &[
                    DURABLE_ID,
                    CLIENT_ID,
                    SELECTOR,
                    STORE_RESPONSE,
                    TIMEOUT,
                    CLIENT_CHOICE,
                    STOP_BETWEEN_SAMPLES,
                    PAUSE_AFTER_ERROR,
                    SEPARATOR,
                ],
            ),
        ]);

pub const DURABLE_ID: Property = text("jms.durableSubscriptionId")
    .label("Durable Subscription ID")
    .help("Names the durable subscription.");

pub const CLIENT_ID: Property = text("jms.clientId")
    .label("Client ID")
    .help("Names this client to the broker.");

pub const SELECTOR: Property = text("jms.selector")
    .label("JMS Selector")
    .help("Takes only the messages that meet this condition.");

pub const STORE_RESPONSE: Property = flag("jms.read_response")
    .saved(Saved::StringProp)
    .label("Store Response")
    .default("true")
    .help("Stores the messages as the response.");

pub const TIMEOUT: Property = whole("jms.timeout")
    .label("Timeout (ms)")
    .help("Waits at most this many milliseconds.");

pub const CLIENT_CHOICE: Property = choice(
    "jms.client_choice",
    &[
        is(
            "jms_subscriber_on_message",
            "Use MessageListener.onMessage()",
        ),
        is("jms_subscriber_receive", "Use MessageConsumer.receive()"),
    ],
)
.label("Client")
.default("jms_subscriber_receive")
.help("Says whether messages are asked for or delivered.");

pub const STOP_BETWEEN_SAMPLES: Property = flag("jms.stop_between_samples")
    .label("Stop between samples?")
    .help("Takes no messages between two samples.");

pub const PAUSE_AFTER_ERROR: Property = whole("jms_error_pause_between")
    .label("Pause between errors (ms)")
    .help("Waits this many milliseconds after an error.");

pub const SEPARATOR: Property = text("jms.separator")
    .label("Separator")
    .help("Stands between messages in the response.");
