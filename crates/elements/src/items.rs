//! Elements within properties: arguments, header fields, cookies, files, and the loops of thread groups.

use crate::controllers::loop_controller;
use crate::form::{
    FileUse, Item, Kind, Language, Property, Saved, choice, code, file, flag, items, same, secret,
    text, whole,
};

pub const NAME: Property = text("Argument.name")
    .label("Name")
    .help("Names the argument.");

pub const VALUE: Property = text("Argument.value")
    .label("Value")
    .help("Holds the value.");

pub const DESCRIPTION: Property = text("Argument.desc")
    .label("Description")
    .help("Describes the argument for readers.");

pub const METADATA: Property = text("Argument.metadata")
    .default("=")
    .help("Stands between name and value.");

/// A name with a value.
pub const ARGUMENT: Item = Item {
    class: "Argument",
    fields: &[NAME, VALUE, DESCRIPTION, METADATA],
};

/// A variable with its value.
pub const VARIABLE: Item = Item {
    class: "Argument",
    fields: &[VARIABLE_NAME, VALUE, DESCRIPTION, METADATA],
};

pub const VARIABLE_NAME: Property = text("Argument.name")
    .label("Name")
    .sets()
    .help("Names the variable.");

/// The list within an `Arguments` element.
const LIST: &str = "Arguments.arguments";

/// A list of arguments.
pub const ARGUMENTS: Item = arguments(&[items(LIST, &ARGUMENT).help("Lists the arguments.")]);

/// A list of variables.
pub const VARIABLES: Item = arguments(&[items(LIST, &VARIABLE).help("Lists the variables.")]);

/// The parameters of an HTTP request.
pub const HTTP_ARGUMENTS: Item =
    arguments(&[items(LIST, &HTTP_ARGUMENT).help("Lists the parameters.")]);

const fn arguments(fields: &'static [Property]) -> Item {
    Item {
        class: "Arguments",
        fields,
    }
}

/// A parameter of an HTTP request.
pub const HTTP_ARGUMENT: Item = Item {
    class: "HTTPArgument",
    fields: &[
        NAME,
        VALUE,
        ENCODE,
        CONTENT_TYPE,
        USE_EQUALS,
        METADATA,
        DESCRIPTION,
    ],
};

pub const ENCODE: Property = flag("HTTPArgument.always_encode")
    .label("URL Encode?")
    .help("Encodes name and value for URLs.");

pub const CONTENT_TYPE: Property = text("HTTPArgument.content_type")
    .label("Content-Type")
    .help("Names the content type of the part in a form of several parts.");

pub const USE_EQUALS: Property = flag("HTTPArgument.use_equals")
    .label("Include Equals?")
    .default("true")
    .help("Sends the equals sign even if the value is empty.");

/// A header field.
pub const HEADER: Item = Item {
    class: "Header",
    fields: &[HEADER_NAME, HEADER_VALUE],
};

pub const HEADER_NAME: Property = text("Header.name").label("Name").help("Names the field.");

pub const HEADER_VALUE: Property = text("Header.value").label("Value").help("Holds its value.");

/// A cookie.
pub const COOKIE: Item = Item {
    class: "Cookie",
    fields: &[
        COOKIE_VALUE,
        COOKIE_DOMAIN,
        COOKIE_PATH,
        COOKIE_SECURE,
        COOKIE_EXPIRES,
        COOKIE_PATH_SPECIFIED,
        COOKIE_DOMAIN_SPECIFIED,
    ],
};

pub const COOKIE_VALUE: Property = text("Cookie.value").label("Value").help("Holds its value.");

pub const COOKIE_DOMAIN: Property = text("Cookie.domain")
    .label("Domain")
    .help("Names the host or domain that gets it.");

pub const COOKIE_PATH: Property = text("Cookie.path")
    .label("Path")
    .help("Limits it to addresses that begin with this path.");

pub const COOKIE_SECURE: Property = flag("Cookie.secure")
    .label("Secure")
    .help("Limits it to HTTPS.");

pub const COOKIE_EXPIRES: Property = whole("Cookie.expires")
    .saved(Saved::LongProp)
    .default("0")
    .help("Holds the second at which it expires; 0 is never.");

pub const COOKIE_PATH_SPECIFIED: Property = flag("Cookie.path_specified")
    .default("true")
    .help("Says that the path was given.");

pub const COOKIE_DOMAIN_SPECIFIED: Property = flag("Cookie.domain_specified")
    .default("true")
    .help("Says that the domain was given.");

/// Credentials for addresses.
pub const AUTHORIZATION: Item = Item {
    class: "Authorization",
    fields: &[
        AUTHORIZATION_URL,
        AUTHORIZATION_USER,
        AUTHORIZATION_PASSWORD,
        AUTHORIZATION_DOMAIN,
        AUTHORIZATION_REALM,
        AUTHORIZATION_MECHANISM,
    ],
};

pub const AUTHORIZATION_URL: Property = text("Authorization.url")
    .label("Base URL")
    .help("Begins the addresses that the credentials are for.");

pub const AUTHORIZATION_USER: Property = text("Authorization.username")
    .label("Username")
    .help("Names the user.");

pub const AUTHORIZATION_PASSWORD: Property = secret("Authorization.password")
    .label("Password")
    .help("Holds the password.");

pub const AUTHORIZATION_DOMAIN: Property = text("Authorization.domain")
    .label("Domain")
    .help("Names the Windows domain for NTLM.");

pub const AUTHORIZATION_REALM: Property = text("Authorization.realm")
    .label("Realm")
    .help("Names the realm that the server must ask for.");

pub const AUTHORIZATION_MECHANISM: Property = choice(
    "Authorization.mechanism",
    &[
        same("BASIC"),
        same("BASIC_DIGEST"),
        same("DIGEST"),
        same("KERBEROS"),
    ],
)
.label("Mechanism")
.help("Says how the user logs in.");

/// The files of an HTTP request.
pub const HTTP_FILES: Item = Item {
    class: "HTTPFileArgs",
    fields: &[FILE_LIST],
};

pub const FILE_LIST: Property = items("HTTPFileArgs.files", &HTTP_FILE).help("Lists the files.");

/// A file of an HTTP request.
pub const HTTP_FILE: Item = Item {
    class: "HTTPFileArg",
    fields: &[FILE_PATH, FILE_PARAMETER, FILE_TYPE],
};

pub const FILE_PATH: Property = file("File.path", FileUse::Upload)
    .label("File Path")
    .help("Names the file.");

pub const FILE_PARAMETER: Property = text("File.paramname")
    .label("Parameter Name")
    .help("Names the parameter that holds the file.");

pub const FILE_TYPE: Property = text("File.mimetype")
    .label("MIME Type")
    .help("Names the content type of the file.");

/// A host with its addresses.
pub const STATIC_HOST: Item = Item {
    class: "StaticHost",
    fields: &[HOST_NAME, HOST_ADDRESS],
};

pub const HOST_NAME: Property = text("StaticHost.Name")
    .label("Host")
    .help("Names the host.");

pub const HOST_ADDRESS: Property = text("StaticHost.Address")
    .label("Hostname or IP address")
    .help("Lists its addresses, with commas between them.");

/// A pattern that Compare Assertions replace.
pub const SUBSTITUTION: Item = Item {
    class: "SubstitutionElement",
    fields: &[SUBSTITUTION_PATTERN, SUBSTITUTION_TEXT],
};

pub const SUBSTITUTION_PATTERN: Property = code("regex", Language::Regex)
    .label("Regex String")
    .help("Holds the pattern.");

pub const SUBSTITUTION_TEXT: Property = text("substitute")
    .label("Substitution")
    .help("Replaces what matches.");

/// The changes of an LDAP request.
pub const LDAP_ARGUMENTS: Item = Item {
    class: "LDAPArguments",
    fields: &[items(LIST, &LDAP_ARGUMENT).help("Lists the changes.")],
};

/// The change of an attribute.
pub const LDAP_ARGUMENT: Item = Item {
    class: "LDAPArgument",
    fields: &[NAME, VALUE, LDAP_OPERATION, METADATA],
};

pub const LDAP_OPERATION: Property = text("Argument.opcode")
    .label("opcode")
    .help("Says whether the value is added, replaced or deleted.");

/// The properties of a JMS message.
pub const JMS_PROPERTIES: Item = Item {
    class: "JMSProperties",
    fields: &[items("JMSProperties.properties", &JMS_PROPERTY).help("Lists the properties.")],
};

/// A property of a JMS message.
pub const JMS_PROPERTY: Item = Item {
    class: "JMSProperty",
    fields: &[JMS_NAME, JMS_VALUE, JMS_TYPE],
};

pub const JMS_NAME: Property = text("JMSProperty.name")
    .label("Name")
    .help("Names the property.");

pub const JMS_VALUE: Property = text("JMSProperty.value")
    .label("Value")
    .help("Holds its value.");

pub const JMS_TYPE: Property = text("JMSProperty.type")
    .label("Type")
    .help("Names the Java class of the value.");

/// A metric of a Prometheus Listener.
pub const COLLECTOR: Item = Item {
    class: "com.github.johrstrom.collector.BaseCollectorConfig",
    fields: &[
        COLLECTOR_NAME,
        COLLECTOR_HELP,
        COLLECTOR_LABELS,
        COLLECTOR_TYPE,
        COLLECTOR_BUCKETS,
        COLLECTOR_LISTEN_TO,
        COLLECTOR_MEASURING,
    ],
};

pub const COLLECTOR_NAME: Property = text("collector.metric_name")
    .label("Name")
    .help("Names the metric.");

pub const COLLECTOR_HELP: Property = text("collector.help")
    .label("Help")
    .help("Describes the metric.");

pub const COLLECTOR_LABELS: Property = Property {
    kind: Kind::List,
    ..text("collector.labels")
        .label("Labels")
        .reads()
        .help("Lists labels: `label`, `code`, `thread_group`, or a variable.")
};

pub const COLLECTOR_TYPE: Property = choice(
    "collector.type",
    &[
        same("COUNTER"),
        same("GAUGE"),
        same("HISTOGRAM"),
        same("SUMMARY"),
        same("SUCCESS_RATIO"),
    ],
)
.label("Type")
.help("Says what kind of metric it is.");

pub const COLLECTOR_BUCKETS: Property = text("collector.quantiles_or_buckets")
    .label("Buckets or Quantiles")
    .help("Lists the bounds of a histogram, or the quantiles of a summary.");

pub const COLLECTOR_LISTEN_TO: Property = choice(
    "listener.collector.listen_to",
    &[same("samples"), same("assertions")],
)
.label("Listen to")
.help("Says whether samples or assertions count.");

pub const COLLECTOR_MEASURING: Property = text("listener.collector.measuring")
    .label("Measuring")
    .help("Says what is measured.");

/// The loop of a thread group.
pub const LOOP: Item = Item {
    class: loop_controller::CLASS,
    fields: &[loop_controller::LOOPS, loop_controller::CONTINUE_FOREVER],
};

/// The controller of an open model.
pub const OPEN_MODEL: Item = Item {
    class: "OpenModelThreadGroupController",
    fields: &[],
};

/// The controller of BlazeMeter's thread groups.
pub const VIRTUAL_USER: Item = Item {
    class: "com.blazemeter.jmeter.control.VirtualUserController",
    fields: &[],
};

/// The settings of a Mailer Visualizer.
pub const MAILER: Item = Item {
    class: "MailerModel",
    fields: &[
        MAIL_FROM,
        MAIL_TO,
        MAIL_FAILURE_LIMIT,
        MAIL_FAILURE_SUBJECT,
        MAIL_SUCCESS_LIMIT,
        MAIL_SUCCESS_SUBJECT,
        MAIL_SERVER,
        MAIL_PORT,
        MAIL_LOGIN,
        MAIL_PASSWORD,
        MAIL_SECURITY,
    ],
};

pub const MAIL_FROM: Property = text("MailerModel.fromAddress")
    .label("From")
    .help("Holds the sender.");

pub const MAIL_TO: Property = text("MailerModel.addressie")
    .label("Addressee(s)")
    .help("Lists the receivers, with commas between them.");

pub const MAIL_FAILURE_LIMIT: Property = whole("MailerModel.failureLimit")
    .label("Failure Limit")
    .default("2")
    .help("Sends a mail after more failed samples than this.");

pub const MAIL_FAILURE_SUBJECT: Property = text("MailerModel.failureSubject")
    .label("Failure Subject")
    .help("Holds the subject of that mail.");

pub const MAIL_SUCCESS_LIMIT: Property = whole("MailerModel.successLimit")
    .label("Success Limit")
    .default("2")
    .help("Sends a mail after more successful samples than this, if there was a failure.");

pub const MAIL_SUCCESS_SUBJECT: Property = text("MailerModel.successSubject")
    .label("Success Subject")
    .help("Holds the subject of that mail.");

pub const MAIL_SERVER: Property = text("MailerModel.smtpHost")
    .label("Host")
    .help("Names the mail server.");

pub const MAIL_PORT: Property = whole("MailerModel.smtpPort")
    .label("Port")
    .default("25")
    .help("Sets its port.");

pub const MAIL_LOGIN: Property = text("MailerModel.login")
    .label("Login")
    .help("Names the user.");

pub const MAIL_PASSWORD: Property = secret("MailerModel.password")
    .label("Password")
    .help("Holds the password.");

pub const MAIL_SECURITY: Property = choice(
    "MailerModel.authType",
    &[same("NONE"), same("SSL"), same("TLS")],
)
.label("Connection security")
.help("Says how the connection is secured.");
