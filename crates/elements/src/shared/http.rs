//! The fields of HTTP requests and of their defaults.

use crate::form::{
    Language, Property, Saved, Section, choice, code, flag, inner, is, same, secret, section,
    suggested, text, whole,
};
use crate::items;

pub const SERVER: Section = section("Web Server", &[PROTOCOL, DOMAIN, PORT]);

pub const REQUEST: Section = section(
    "HTTP Request",
    &[
        METHOD,
        PATH,
        CONTENT_ENCODING,
        AUTO_REDIRECTS,
        FOLLOW_REDIRECTS,
        USE_KEEPALIVE,
        MULTIPART,
        BROWSER_MULTIPART,
        ARGUMENTS,
        BODY_RAW,
        FILES,
    ],
);

pub const GRAPHQL_REQUEST: Section = section(
    "HTTP Request",
    &[
        METHOD.default("POST").absent("GET"),
        PATH,
        CONTENT_ENCODING,
        AUTO_REDIRECTS,
        FOLLOW_REDIRECTS,
        USE_KEEPALIVE,
        MULTIPART.default("false"),
        BROWSER_MULTIPART.default("false"),
        ARGUMENTS,
        BODY_RAW.default("true"),
    ],
);

pub const DEFAULT_CLIENT: Section = section(
    "Client Implementation",
    &[IMPLEMENTATION.default("HttpClient4")],
);

pub const PARALLEL_EMBEDDED: Section = section(
    "Embedded Resources from HTML Files",
    &[
        EMBEDDED_RESOURCES.default("true"),
        PARALLEL.default("true"),
        PARALLEL_NUMBER,
        EMBEDDED_MATCH,
        EMBEDDED_EXCLUDE,
    ],
);

pub const DEFAULT_REQUEST: Section = section(
    "HTTP Request",
    &[PATH, CONTENT_ENCODING, ARGUMENTS, BODY_RAW],
);

pub const CLIENT: Section = section("Client Implementation", &[IMPLEMENTATION]);

pub const TIMEOUTS: Section = section(
    "Timeouts (milliseconds)",
    &[CONNECT_TIMEOUT, RESPONSE_TIMEOUT],
);

pub const EMBEDDED: Section = section(
    "Embedded Resources from HTML Files",
    &[
        EMBEDDED_RESOURCES,
        PARALLEL,
        PARALLEL_NUMBER,
        EMBEDDED_MATCH,
        EMBEDDED_EXCLUDE,
    ],
);

pub const SOURCE: Section = section("Source address", &[IP_SOURCE_TYPE, IP_SOURCE]);

pub const PROXY: Section = section(
    "Proxy Server",
    &[
        PROXY_SCHEME,
        PROXY_HOST,
        PROXY_PORT,
        PROXY_USER,
        PROXY_PASSWORD,
    ],
);

pub const OPTIONAL: Section = section("Optional Tasks", &[MD5]);

pub const PROTOCOL: Property = text("HTTPSampler.protocol")
    .label("Protocol [http]")
    .absent("http")
    .help("Sets the scheme; the default is `http`.");

pub const DOMAIN: Property = text("HTTPSampler.domain")
    .label("Server Name or IP")
    .help("Names the host, without scheme and port.");

pub const PORT: Property = whole("HTTPSampler.port")
    .label("Port Number")
    .help("Sets the port; empty is the default of the scheme.");

pub const METHOD: Property = suggested(
    "HTTPSampler.method",
    &[
        "COPY",
        "DELETE",
        "GET",
        "HEAD",
        "LOCK",
        "MKCALENDAR",
        "MKCOL",
        "MOVE",
        "OPTIONS",
        "PATCH",
        "POST",
        "PROPFIND",
        "PROPPATCH",
        "PUT",
        "REPORT",
        "SEARCH",
        "TRACE",
        "UNLOCK",
    ],
)
.label("Method")
.default("GET")
.help("Sets the method of the request.");

pub const PATH: Property = text("HTTPSampler.path")
    .label("Path")
    .help("Holds the path with the query, or a whole URL.");

pub const CONTENT_ENCODING: Property =
    suggested("HTTPSampler.contentEncoding", &["UTF-8", "ISO-8859-1"])
        .label("Content encoding")
        .absent("UTF-8")
        .help("Names the charset of the parameters and the body.");

pub const AUTO_REDIRECTS: Property = flag("HTTPSampler.auto_redirects")
    .label("Redirect Automatically")
    .help("Follows redirects within one sample, as the HTTP client does.");

pub const FOLLOW_REDIRECTS: Property = flag("HTTPSampler.follow_redirects")
    .label("Follow Redirects")
    .default("true")
    .help("Follows redirects with a sub-sample for each.");

pub const USE_KEEPALIVE: Property = flag("HTTPSampler.use_keepalive")
    .label("Use KeepAlive")
    .default("true")
    .help("Keeps the connection open for the next request.");

pub const MULTIPART: Property = flag("HTTPSampler.DO_MULTIPART_POST")
    .label("Use multipart/form-data")
    .help("Sends the parameters as parts of a form.");

pub const BROWSER_MULTIPART: Property = flag("HTTPSampler.BROWSER_COMPATIBLE_MULTIPART")
    .label("Browser-compatible headers")
    .help("Writes the heads of the parts as browsers do.");

pub const ARGUMENTS: Property = inner("HTTPsampler.Arguments", &items::HTTP_ARGUMENTS)
    .label("Parameters")
    .help("Holds the parameters, or the body as one argument without a name.");

pub const BODY_RAW: Property = flag("HTTPSampler.postBodyRaw")
    .label("Body Data")
    .default("false")
    .help("Says that the arguments are the body as it stands.");

pub const FILES: Property = inner("HTTPsampler.Files", &items::HTTP_FILES)
    .label("Files Upload")
    .help("Lists the files that the request sends.");

pub const IMPLEMENTATION: Property = choice(
    "HTTPSampler.implementation",
    &[same(""), same("HttpClient4"), same("Java")],
)
.label("Implementation")
.help("Names the HTTP client of JMeter whose behaviour the sampler has.");

pub const CONNECT_TIMEOUT: Property = whole("HTTPSampler.connect_timeout")
    .saved(Saved::IntProp)
    .label("Connect")
    .help("Fails the sample if connecting takes longer; empty is the system's limit.");

pub const RESPONSE_TIMEOUT: Property = whole("HTTPSampler.response_timeout")
    .saved(Saved::IntProp)
    .label("Response")
    .help("Fails the sample if the server is silent for longer; empty is no limit.");

pub const EMBEDDED_RESOURCES: Property = flag("HTTPSampler.image_parser")
    .label("Retrieve All Embedded Resources")
    .help("Fetches the images, scripts and styles of a page.");

pub const PARALLEL: Property = flag("HTTPSampler.concurrentDwn")
    .label("Parallel downloads. Number")
    .help("Fetches several of them at once.");

pub const PARALLEL_NUMBER: Property = whole("HTTPSampler.concurrentPool")
    .saved(Saved::IntProp)
    .label("Number")
    .absent("6")
    .help("Says how many are fetched at once.");

pub const EMBEDDED_MATCH: Property = code("HTTPSampler.embedded_url_re", Language::Regex)
    .label("URLs must match")
    .help("Fetches only the addresses that match.");

pub const EMBEDDED_EXCLUDE: Property = code("HTTPSampler.embedded_url_exclude_re", Language::Regex)
    .label("URLs must not match")
    .help("Fetches none of the addresses that match.");

pub const IP_SOURCE_TYPE: Property = choice(
    "HTTPSampler.ipSourceType",
    &[
        is("0", "IP/Hostname"),
        is("1", "Device"),
        is("2", "Device IPv4"),
        is("3", "Device IPv6"),
    ],
)
.saved(Saved::IntProp)
.label("Source address")
.absent("0")
.help("Says whether the source is an address or a network device.");

pub const IP_SOURCE: Property = text("HTTPSampler.ipSource")
    .label("Source address")
    .help("Binds connections to this address or device; several addresses take turns.");

pub const PROXY_SCHEME: Property = text("HTTPSampler.proxyScheme")
    .label("Scheme")
    .help("Sets the scheme of the proxy.");

pub const PROXY_HOST: Property = text("HTTPSampler.proxyHost")
    .label("Server Name or IP")
    .help("Names the proxy; empty is a direct connection.");

pub const PROXY_PORT: Property = whole("HTTPSampler.proxyPort")
    .saved(Saved::IntProp)
    .label("Port Number")
    .help("Sets the port of the proxy.");

pub const PROXY_USER: Property = text("HTTPSampler.proxyUser")
    .label("Username")
    .help("Names the user for the proxy.");

pub const PROXY_PASSWORD: Property = secret("HTTPSampler.proxyPass")
    .label("Password")
    .help("Holds the password for the proxy.");

pub const MD5: Property = flag("HTTPSampler.md5")
    .label("Save response as MD5 hash?")
    .help("Stores the MD5 sum of the body instead of the body.");
