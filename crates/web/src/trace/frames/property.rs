//! The frames of HTTP samplers that read their properties. Each table reads from the inside out.

use crate::trace::Frame;

/// A frame of JMeter's core.
macro_rules! core {
    ($frame:literal) => {
        concat!("org.apache.jmeter.", $frame)
    };
}

/// A frame of JMeter's HTTP protocol.
macro_rules! http {
    ($frame:literal) => {
        concat!("org.apache.jmeter.protocol.http.", $frame)
    };
}

/// Below a function's `execute`.
pub const FUNCTION: &[Frame] = &[
    core!("engine.util.CompoundVariable.execute:139"),
    core!("engine.util.CompoundVariable.execute:114"),
    core!("testelement.property.FunctionProperty.getStringValue:104"),
];

const GET: Frame = core!("testelement.TestElement.get:276");
const GET_STRING: Frame = core!("testelement.TestElement.getString:285");
const GET_NUMBER: Frame = core!("testelement.TestElement.get:327");
const NUMBER: Frame = core!("testelement.property.AbstractProperty.getIntValue:110");

pub const PATH: &[Frame] = &[
    GET,
    jm!("HTTPSamplerBase.getPath:519"),
    jm!("HTTPSamplerBase.getUrl:1094"),
];
pub const DOMAIN: &[Frame] = &[
    GET_STRING,
    jm!("HTTPSamplerBase.getDomain:845"),
    jm!("HTTPSamplerBase.getUrl:1100"),
];
pub const PROTOCOL: &[Frame] = &[
    GET_STRING,
    jm!("HTTPSamplerBase.getProtocol:470"),
    jm!("HTTPSamplerBase.getUrl:1101"),
];
pub const METHOD: &[Frame] = &[
    GET,
    jm!("HTTPSamplerBase.getMethod:544"),
    jm!("HTTPSamplerBase.getUrl:1102"),
];
pub const PORT: &[Frame] = &[
    GET_STRING,
    jm!("HTTPSamplerBase.getPortIfSpecified:788"),
    jm!("HTTPSamplerBase.isProtocolDefaultPort:806"),
    jm!("HTTPSamplerBase.getUrl:1132"),
];
pub const CONTENT_ENCODING: &[Frame] = &[GET, jm!("HTTPSamplerBase.getContentEncoding:561")];
pub const ARGUMENT_NAME: &[Frame] = &[GET, core!("config.Argument.getName:135")];
pub const ARGUMENT_VALUE: &[Frame] = &[GET, core!("config.Argument.getValue:154")];
pub const HEADER_NAME: &[Frame] = &[GET, http!("control.Header.getName:78")];
pub const HEADER_VALUE: &[Frame] = &[GET, http!("control.Header.getValue:97")];
pub const FILE_PATH: &[Frame] = &[
    GET,
    http!("util.HTTPFileArg.getPath:224"),
    jm!("HTTPSamplerBase.hasNoMissingFile:452"),
];
pub const FILE_PARAMETER: &[Frame] = &[
    GET,
    http!("util.HTTPFileArg.getParamName:185"),
    jm!("HTTPSamplerBase.getSendFileAsPostBody:396"),
];
pub const FILE_TYPE: &[Frame] = &[GET, http!("util.HTTPFileArg.getMimeType:204")];
pub const CONNECT_TIMEOUT: &[Frame] = &[
    NUMBER,
    GET_NUMBER,
    jm!("HTTPSamplerBase.getConnectTimeout:853"),
    jm!("HTTPAbstractImpl.getConnectTimeout:172"),
];
pub const RESPONSE_TIMEOUT: &[Frame] = &[
    NUMBER,
    GET_NUMBER,
    jm!("HTTPSamplerBase.getResponseTimeout:861"),
    jm!("HTTPAbstractImpl.getResponseTimeout:319"),
];
pub const PROXY_HOST: &[Frame] = &[
    GET,
    jm!("HTTPSamplerBase.getProxyHost:873"),
    jm!("HTTPAbstractImpl.getProxyHost:283"),
];
pub const SOURCE: &[Frame] = &[
    GET,
    jm!("HTTPSamplerBase.getIpSource:2085"),
    jm!("HTTPAbstractImpl.getIpSource:223"),
    jm!("HTTPAbstractImpl.getIpSourceAddress:234"),
];
pub const NAME: &[Frame] = &[
    GET,
    core!("testelement.AbstractTestElement.getName:286"),
    jm!("HTTPAbstractImpl.configureSampleLabel:604"),
];

pub const QUERY: &[Frame] = &[jm!("HTTPSamplerBase.getUrl:1121")];
pub const QUERY_NAME: &[Frame] = &[
    http!("util.HTTPArgument.getEncodedName:259"),
    jm!("HTTPSamplerBase.getQueryString:1188"),
    jm!("HTTPSamplerBase.getUrl:1121"),
];
pub const QUERY_VALUE: &[Frame] = &[
    http!("util.HTTPArgument.getEncodedValue:251"),
    jm!("HTTPSamplerBase.getQueryString:1206"),
    jm!("HTTPSamplerBase.getUrl:1121"),
];
pub const ENCODED_VALUE: &[Frame] = &[http!("util.HTTPArgument.getEncodedValue:251")];
pub const SENDS_VALUES: &[Frame] = &[jm!("HTTPSamplerBase.getSendParameterValuesAsPostBody:415")];

pub const CLIENT_ENCODING: &[Frame] = &[
    jm!("HTTPAbstractImpl.getContentEncoding:180"),
    jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1542"),
];
pub const CLIENT_SENDS_VALUES: &[Frame] = &[
    jm!("HTTPAbstractImpl.getSendParameterValuesAsPostBody:343"),
    jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1639"),
];
pub const CLIENT_PART_NAME: &[Frame] =
    &[jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1576")];
pub const CLIENT_PART: &[Frame] = &[jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1588")];
pub const CLIENT_FORM: &[Frame] = &[
    jm!("HTTPHC4Impl.createUrlEncodedFormEntity:1810"),
    jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1670"),
];
pub const CLIENT_RAW: &[Frame] = &[jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1658")];
pub const CLIENT_FILES: &[Frame] = &[
    jm!("HTTPSamplerBase.getUseMultipart:447"),
    jm!("HTTPAbstractImpl.getUseMultipart:379"),
    jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1548"),
];
pub const CLIENT_FILE_TYPE: &[Frame] =
    &[jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1602")];
pub const CLIENT_HEADER_NAME: &[Frame] = &[jm!("HTTPHC4Impl.setConnectionHeaders:1408")];
pub const CLIENT_HEADER_VALUE: &[Frame] = &[jm!("HTTPHC4Impl.setConnectionHeaders:1411")];
pub const CLIENT_SETUP: &[Frame] = &[
    jm!("HTTPHC4Impl.setupRequest:1308"),
    jm!("HTTPHC4Impl.sample:627"),
];
/// A Cookie Manager is asked for the cookies of an address without a host.
pub const COOKIES: &[Frame] = &[
    "org.apache.http.util.Args.notBlank:74",
    "org.apache.http.cookie.CookieOrigin.<init>:52",
    "org.apache.jmeter.protocol.http.control.HC4CookieHandler.getCookiesForUrl:228",
    "org.apache.jmeter.protocol.http.control.HC4CookieHandler.getCookieHeaderForURL:179",
    "org.apache.jmeter.protocol.http.control.CookieManager.getCookieHeaderForURL:357",
];
pub const CLIENT_COOKIES: &[Frame] = &[
    jm!("HTTPHC4Impl.setConnectionCookie:1382"),
    jm!("HTTPHC4Impl.setupRequest:1310"),
    jm!("HTTPHC4Impl.sample:627"),
];
pub const JAVA_COOKIES: &[Frame] = &[
    jm!("HTTPJavaImpl.setConnectionCookie:342"),
    jm!("HTTPJavaImpl.setupConnection:195"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const CLIENT_CONNECT_TIMEOUT: &[Frame] = &[
    jm!("HTTPHC4Impl.setupRequest:1290"),
    jm!("HTTPHC4Impl.sample:627"),
];
pub const CLIENT_RESPONSE_TIMEOUT: &[Frame] = &[
    jm!("HTTPHC4Impl.setupRequest:1285"),
    jm!("HTTPHC4Impl.sample:627"),
];
pub const CLIENT_SOURCE: &[Frame] = &[
    jm!("HTTPHC4Impl.setupRequest:1278"),
    jm!("HTTPHC4Impl.sample:627"),
];
pub const CLIENT_KEY: &[Frame] = &[
    jm!("HTTPHC4Impl.createHttpClientKey:1191"),
    jm!("HTTPHC4Impl.sample:620"),
];
pub const CLIENT_RESULT: &[Frame] = &[
    jm!("HTTPHC4Impl.createSampleResult:906"),
    jm!("HTTPHC4Impl.sample:613"),
];
/// Below `setupHttpEntityEnclosingRequestData`.
pub use super::SET_UP as CLIENT_BODY;

pub const JAVA_ENCODING: &[Frame] = &[jm!("PostWriter.setHeaders:177")];
pub const JAVA_FILES: &[Frame] = &[
    jm!("HTTPSamplerBase.getUseMultipart:447"),
    jm!("PostWriter.setHeaders:183"),
];
pub const JAVA_PART: &[Frame] = &[jm!("PostWriter.setHeaders:200")];
pub const JAVA_FILE_TYPE: &[Frame] = &[jm!("PostWriter.setHeaders:215")];
pub const JAVA_NAMES: &[Frame] = &[jm!("PostWriter.setHeaders:274")];
pub const JAVA_FORM: &[Frame] = &[
    http!("util.HTTPArgument.getEncodedValue:251"),
    jm!("HTTPSamplerBase.getQueryString:1206"),
    jm!("PostWriter.setHeaders:281"),
];
pub const JAVA_RAW: &[Frame] = &[jm!("PostWriter.setHeaders:304")];
pub const JAVA_POST: &[Frame] = &[
    jm!("HTTPJavaImpl.setPostHeaders:93"),
    jm!("HTTPJavaImpl.setupConnection:200"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_PUT: &[Frame] = &[
    jm!("PutWriter.setHeaders:89"),
    jm!("HTTPJavaImpl.setPutHeaders:98"),
    jm!("HTTPJavaImpl.setupConnection:202"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_HEADER_NAME: &[Frame] = &[
    jm!("HTTPJavaImpl.setConnectionHeaders:375"),
    jm!("HTTPJavaImpl.setupConnection:194"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_HEADER_VALUE: &[Frame] = &[
    jm!("HTTPJavaImpl.setConnectionHeaders:376"),
    jm!("HTTPJavaImpl.setupConnection:194"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_CONNECT_TIMEOUT: &[Frame] = &[
    jm!("HTTPJavaImpl.setupConnection:160"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_RESPONSE_TIMEOUT: &[Frame] = &[
    jm!("HTTPJavaImpl.setupConnection:165"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_PROXY: &[Frame] = &[
    jm!("HTTPJavaImpl.setupConnection:147"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const JAVA_RESULT: &[Frame] = &[jm!("HTTPJavaImpl.sample:512")];
