//! JMS Publisher.

use crate::form::{
    ElementFacts, FileUse, Property, Role, choice, file, flag, inner, is, section, suggested, text,
    whole,
};
use crate::items;
use crate::shared::jms;

pub const CLASS: &str = "PublisherSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JMS Publisher", "JMSPublisherGui")
        .help("Sends messages to a queue or topic.")
        .sections(&[
            jms::CONNECTION,
            section(
                "Message",
                &[
                    NON_PERSISTENT,
                    EXPIRATION,
                    PRIORITY,
                    MESSAGE_PROPERTIES,
                    MESSAGE_TYPE,
                    MESSAGE_SOURCE,
                    FILE_ENCODING,
                    TEXT_MESSAGE,
                    INPUT_FILE,
                    FOLDER,
                ],
            ),
        ]);

pub const NON_PERSISTENT: Property = flag("jms.non_persistent")
    .label("Use non-persistent delivery mode?")
    .help("Lets the broker forget the message when it stops.");

pub const EXPIRATION: Property = whole("jms.expiration")
    .label("Expiration (ms)")
    .help("Lets the message expire after this many milliseconds.");

pub const PRIORITY: Property = whole("jms.priority")
    .label("Priority (0-9)")
    .help("Sets the priority, from 0 to 9.");

pub const MESSAGE_PROPERTIES: Property = inner("jms.jmsProperties", &items::JMS_PROPERTIES)
    .label("JMS Properties")
    .help("Lists the properties of the message.");

pub const MESSAGE_TYPE: Property = choice(
    "jms.config_msg_type",
    &[
        is("jms_bytes_message", "Bytes Message"),
        is("jms_map_message", "Map Message"),
        is("jms_object_message", "Object Message"),
        is("jms_text_message", "Text Message"),
    ],
)
.label("Message type")
.default("jms_text_message")
.help("Says what kind of message it is.");

pub const MESSAGE_SOURCE: Property = choice(
    "jms.config_choice",
    &[
        is("jms_use_file", "From file"),
        is(
            "jms_use_random_file",
            "Random File from folder specified below",
        ),
        is("jms_use_text", "Textarea"),
    ],
)
.label("Message source")
.default("jms_use_text")
.help("Says where the message comes from.");

pub const FILE_ENCODING: Property = suggested(
    "jms.file_encoding",
    &[
        "ISO-8859-1",
        "US-ASCII",
        "UTF-16",
        "UTF-16BE",
        "UTF-16LE",
        "UTF-8",
    ],
)
.label("Content encoding")
.help("Names the charset of the file, or whether variables in it are replaced.");

pub const TEXT_MESSAGE: Property = text("jms.text_message")
    .label("Text Message or Object Message serialized to XML by XStream")
    .help("Holds the message.");

pub const INPUT_FILE: Property = file("jms.input_file", FileUse::Read)
    .label("Filename")
    .help("Names a file that holds the message.");

pub const FOLDER: Property = file("jms.random_path", FileUse::Read)
    .label("Filename")
    .help("Names a folder from which a file is chosen at random.");
