//! JMS Point-to-Point.

use crate::form::{
    ElementFacts, Property, Role, Saved, choice, flag, inner, is, section, text, whole,
};
use crate::items;

pub const CLASS: &str = "JMSSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JMS Point-to-Point", "JMSSamplerGui")
        .help("Sends a message to a queue and, if asked, waits for the answer.")
        .sections(&[
            section(
                "JMS Resources",
                &[
                    CONNECTION_FACTORY,
                    SEND_QUEUE,
                    RECEIVE_QUEUE,
                    SELECTOR,
                    AGGREGATE,
                ],
            ),
            section(
                "Message properties",
                &[
                    COMMUNICATION_STYLE,
                    ONE_WAY,
                    REQUEST_ID,
                    RESPONSE_ID,
                    TIMEOUT,
                    EXPIRATION,
                    PRIORITY,
                    NON_PERSISTENT,
                    CONTENT,
                    MESSAGE_PROPERTIES,
                ],
            ),
            section(
                "JNDI Properties",
                &[CONTEXT_FACTORY, PROVIDER_URL, JNDI_PROPERTIES],
            ),
        ]);

pub const CONNECTION_FACTORY: Property = text("JMSSampler.queueconnectionfactory")
    .label("QueueConnection Factory")
    .help("Names the connection factory.");

pub const SEND_QUEUE: Property = text("JMSSampler.SendQueue")
    .label("JNDI name Request queue")
    .help("Names the queue for requests.");

pub const RECEIVE_QUEUE: Property = text("JMSSampler.ReceiveQueue")
    .label("JNDI name Receive queue")
    .help("Names the queue of answers; empty is a temporary queue.");

pub const SELECTOR: Property = text("JMSSampler.jmsSelector")
    .label("JMS Selector")
    .help("Takes only the messages that meet this condition.");

pub const AGGREGATE: Property = whole("JMSSampler.jmsNumberOfSamplesToAggregate")
    .label("Number of samples to aggregate")
    .help("Reads this many messages in one sample.");

pub const COMMUNICATION_STYLE: Property = choice(
    "JMSSampler.communicationStyle",
    &[
        is("0", "request_only"),
        is("1", "request_reply"),
        is("2", "read"),
        is("3", "browse"),
        is("4", "clear"),
    ],
)
.saved(Saved::IntProp)
.label("Communication style")
.default("0")
.help("Says whether it sends, waits, reads, looks or empties.");

pub const ONE_WAY: Property =
    flag("JMSSampler.isOneway").help("Said in old plans that no answer is awaited.");

pub const REQUEST_ID: Property = flag("JMSSampler.useReqMsgIdAsCorrelId")
    .label("Use Request Message Id")
    .default("false")
    .help("Finds the answer by the id of the request.");

pub const RESPONSE_ID: Property = flag("JMSSampler.useResMsgIdAsCorrelId")
    .label("Use Response Message Id")
    .help("Finds the answer by its own id.");

pub const TIMEOUT: Property = whole("JMSSampler.timeout")
    .label("Timeout (ms)")
    .help("Waits at most this many milliseconds.");

pub const EXPIRATION: Property = whole("JMSSampler.expiration")
    .label("Expiration (ms)")
    .help("Lets the message expire after this many milliseconds.");

pub const PRIORITY: Property = whole("JMSSampler.priority")
    .label("Priority (0-9)")
    .help("Sets the priority, from 0 to 9.");

pub const NON_PERSISTENT: Property = flag("JMSSampler.isNonPersistent")
    .label("Use non-persistent delivery mode?")
    .default("false")
    .help("Lets the broker forget the message when it stops.");

pub const CONTENT: Property = text("HTTPSamper.xml_data")
    .label("Content")
    .help("Holds the message.");

pub const MESSAGE_PROPERTIES: Property = inner("arguments", &items::JMS_PROPERTIES)
    .label("JMS Properties")
    .help("Lists the properties of the message.");

pub const CONTEXT_FACTORY: Property = text("JMSSampler.initialContextFactory")
    .label("Initial Context Factory")
    .help("Names the class that looks names up.");

pub const PROVIDER_URL: Property = text("JMSSampler.contextProviderUrl")
    .label("Provider URL")
    .help("Holds the address of the broker.");

pub const JNDI_PROPERTIES: Property = inner("JMSSampler.jndiProperties", &items::ARGUMENTS)
    .label("JNDI Properties")
    .help("Lists more settings of the look-up.");
