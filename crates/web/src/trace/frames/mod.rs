//! The frames of the traces, as recorded. Each table reads from the inside out.

use super::{Cause, Frame};

/// A frame of HttpClient's implementation packages.
macro_rules! hc {
    ($frame:literal) => {
        concat!("org.apache.http.impl.", $frame)
    };
}

/// A frame of JMeter's HTTP samplers.
macro_rules! jm {
    ($frame:literal) => {
        concat!("org.apache.jmeter.protocol.http.sampler.", $frame)
    };
}

pub mod damage;
pub mod java;
pub mod property;

pub const SAMPLER: &[Frame] = &[
    jm!("HTTPSamplerBase.sample:1311"),
    jm!("HTTPSamplerBase.sample:1300"),
];
/// The same in an Access Log Sampler.
pub const ACCESS_LOG: &[Frame] = &[
    jm!("HTTPSamplerBase.sample:1311"),
    jm!("AccessLogSampler.sampleWithParser:169"),
    ACCESS_LOG_SAMPLE,
];
pub const ACCESS_LOG_SAMPLE: Frame = jm!("AccessLogSampler.sample:189");
pub const NO_PARSER: Frame = jm!("AccessLogSampler.sampleWithParser:139");
pub const LOG_UNREADABLE: Frame = jm!("AccessLogSampler.sampleWithParser:151");
pub const LOG_ENDED: Frame = jm!("AccessLogSampler.sampleWithParser:166");
pub const FOLLOW: Frame = jm!("HTTPSamplerBase.followRedirects:1682");
pub const DOWNLOAD: Frame = jm!("HTTPSamplerBase.downloadPageResources:1442");
pub const PROCESS_REDIRECT: Frame = jm!("HTTPSamplerBase.resultProcessing:1776");
pub const PROCESS_PAGE: Frame = jm!("HTTPSamplerBase.resultProcessing:1797");
pub const PROCESS: Frame = jm!("HTTPAbstractImpl.resultProcessing:554");

pub const THREAD: &[Frame] = &[
    "org.apache.jmeter.threads.JMeterThread.doSampling:651",
    "org.apache.jmeter.threads.JMeterThread.executeSamplePackage:570",
    "org.apache.jmeter.threads.JMeterThread.processSampler:501",
];
pub const INNER_TRANSACTION: Frame = "org.apache.jmeter.threads.JMeterThread.processSampler:489";
pub const RUN: &[Frame] = &[
    "org.apache.jmeter.threads.JMeterThread.run:268",
    "java.lang.Thread.run:840",
];

pub const POOL: &[Frame] = &[
    jm!("HTTPSamplerBase$ASyncSample.call:2169"),
    jm!("HTTPSamplerBase$ASyncSample.call:2137"),
    "java.util.concurrent.FutureTask.run:264",
    "java.util.concurrent.Executors$RunnableAdapter.call:539",
    "java.util.concurrent.FutureTask.run:264",
    "java.util.concurrent.ThreadPoolExecutor.runWorker:1136",
    "java.util.concurrent.ThreadPoolExecutor$Worker.run:635",
    "java.lang.Thread.run:840",
];

/// `getUrl` with a whole address in the path, without a port, and with one.
pub const GET_URL_WHOLE: Frame = jm!("HTTPSamplerBase.getUrl:1098");
pub const GET_URL_DEFAULT_PORT: Frame = jm!("HTTPSamplerBase.getUrl:1133");
pub const GET_URL_PORT: Frame = jm!("HTTPSamplerBase.getUrl:1135");
/// `url.toURI()` in `HTTPHC4Impl#sample`.
pub const TO_URI: &[Frame] = &[
    "java.net.URI.<init>:623",
    "java.net.URL.toURI:1056",
    jm!("HTTPHC4Impl.sample:625"),
];
pub const MISSING_LOCATION: Frame = jm!("HTTPHC4Impl.sample:694");
pub const TOO_MANY_REDIRECTS: Frame = jm!("HTTPSamplerBase.followRedirects:1712");
pub const RELATIVE_LOCATION: &[Frame] = &[
    "org.apache.jmeter.protocol.http.util.ConversionUtils.makeRelativeURL:198",
    jm!("HTTPSamplerBase.followRedirects:1679"),
];
pub const SANITIZED_LOCATION: &[Frame] = &[
    "org.apache.jmeter.protocol.http.util.ConversionUtils.sanitizeUrl:248",
    jm!("HTTPSamplerBase.followRedirects:1680"),
];
pub const NESTED_TOO_DEEP: Frame = jm!("HTTPSamplerBase.resultProcessing:1786");

pub const UNKNOWN_IMPLEMENTATION: &[Frame] = &[
    jm!("HTTPSamplerFactory.getImplementation:98"),
    jm!("HTTPSamplerProxy.sample:61"),
];

/// Below `createHttpRequest`, which refuses methods.
pub const UNKNOWN_METHOD: &[Frame] = &[
    jm!("HTTPHC4Impl.createHttpRequest:830"),
    jm!("HTTPHC4Impl.sample:626"),
];
/// Where `setupHttpEntityEnclosingRequestData` puts a body together.
pub const SET_CHARSET: Frame = jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1543");
pub const PARSE_ARGUMENT_TYPE: Frame = jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1584");
pub const CREATE_ARGUMENT_TYPE: Frame = jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1586");
pub const PARSE_FILE_TYPE: Frame = jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1602");
pub const ADD_FILE: Frame = jm!("HTTPHC4Impl.setupHttpEntityEnclosingRequestData:1603");
/// Below `setupHttpEntityEnclosingRequestData`.
pub const SET_UP: &[Frame] = &[
    jm!("HTTPHC4Impl.handleMethod:891"),
    jm!("HTTPHC4Impl.sample:646"),
];
pub const ILLEGAL_CHARSET: &[Frame] = &[
    "java.nio.charset.Charset.checkName:304",
    "java.nio.charset.Charset.lookup2:480",
    "java.nio.charset.Charset.lookup:460",
    "java.nio.charset.Charset.forName:524",
];
pub const UNKNOWN_CHARSET: Frame = "java.nio.charset.Charset.forName:527";
/// Below `Charset.forName` when a content type names the character set.
pub const CONTENT_TYPE_CHARSET: &[Frame] = &[
    "org.apache.http.entity.ContentType.create:271",
    "org.apache.http.entity.ContentType.create:261",
    "org.apache.http.entity.ContentType.parse:319",
];
pub const INVALID_CONTENT_TYPE: Frame = "org.apache.http.entity.ContentType.parse:321";
pub const BLANK_CONTENT_TYPE: &[Frame] = &[
    "org.apache.http.util.Args.notBlank:74",
    "org.apache.http.entity.ContentType.create:228",
];
pub const RESERVED_IN_CONTENT_TYPE: &[Frame] = &[
    "org.apache.http.util.Args.check:36",
    "org.apache.http.entity.ContentType.create:229",
];
pub const BLANK_PART_NAME: &[Frame] = &[
    "org.apache.http.util.Asserts.notBlank:64",
    "org.apache.http.entity.mime.FormBodyPartBuilder.build:96",
    "org.apache.http.entity.mime.MultipartEntityBuilder.addPart:148",
];

/// `HttpClient#execute` and its caller in JMeter.
const CLIENT: &[Frame] = &[
    hc!("client.CloseableHttpClient.execute:83"),
    jm!("HTTPHC4Impl.executeRequest:940"),
    jm!("HTTPHC4Impl.sample:651"),
];

/// The execution chain below the main one.
const CHAIN: &[Frame] = &[
    hc!("execchain.ProtocolExec.execute:186"),
    hc!("execchain.RetryExec.execute:89"),
    hc!("execchain.RedirectExec.execute:110"),
    hc!("client.InternalHttpClient.doExecute:185"),
];

/// From the connection operator to the main chain; the last but one is another line for a proxy.
const OPERATOR: &[Frame] = &[
    jm!("HTTPHC4Impl$JMeterDefaultHttpClientConnectionOperator.connect:409"),
    hc!("conn.PoolingHttpClientConnectionManager.connect:376"),
];
const ESTABLISH_DIRECT: Frame = hc!("execchain.MainClientExec.establishRoute:393");
const ESTABLISH_PROXY: Frame = hc!("execchain.MainClientExec.establishRoute:401");
const ESTABLISH: Frame = hc!("execchain.MainClientExec.execute:236");
const EXCHANGE: Frame = hc!("execchain.MainClientExec.execute:272");

/// Below the reading of a response head.
const RECEIVE: &[Frame] = &[
    hc!("DefaultBHttpClientConnection.receiveResponseHeader:163"),
    hc!("conn.CPoolProxy.receiveResponseHeader:157"),
    "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse:273",
    "org.apache.http.protocol.HttpRequestExecutor.execute:125",
];

const PARSE: &[Frame] = &[
    hc!("conn.DefaultHttpResponseParser.parseHead:56"),
    hc!("io.AbstractMessageParser.parse:259"),
];

/// Between a read of the socket and the parser of response heads.
const READ_LINE: &[Frame] = &[
    "sun.nio.ch.NioSocketImpl.read:355",
    "sun.nio.ch.NioSocketImpl$1.read:808",
    "java.net.Socket$SocketInputStream.read:966",
    hc!("io.SessionInputBufferImpl.streamRead:137"),
    hc!("io.SessionInputBufferImpl.fillBuffer:153"),
    hc!("io.SessionInputBufferImpl.readLine:280"),
    hc!("conn.DefaultHttpResponseParser.parseHead:138"),
];

/// Below the reading of a body.
const READ_BODY: &[Frame] = &[
    jm!("HTTPSamplerBase.readResponse:1950"),
    jm!("HTTPAbstractImpl.readResponse:475"),
    jm!("HTTPHC4Impl.sample:678"),
];
const SENSOR: &[Frame] = &[
    "org.apache.http.conn.EofSensorInputStream.read:135",
    "org.apache.http.conn.EofSensorInputStream.read:148",
];

/// A phase of an exchange with what lies below it.
#[derive(Clone, Copy)]
pub enum Phase {
    /// The connection operator, directly or through a proxy.
    Connect { proxied: bool },
    /// Reading the response head.
    Head,
    /// The execution as a whole.
    Execute,
    /// Reading the body.
    Body,
}

/// The frames below `phase`, down to the implementation's `sample`.
pub fn below(phase: Phase) -> impl Iterator<Item = Frame> {
    let tables: [&[Frame]; 5] = match phase {
        Phase::Connect { proxied: false } => {
            [OPERATOR, &[ESTABLISH_DIRECT, ESTABLISH], CHAIN, CLIENT, &[]]
        }
        Phase::Connect { proxied: true } => {
            [OPERATOR, &[ESTABLISH_PROXY, ESTABLISH], CHAIN, CLIENT, &[]]
        }
        Phase::Head => [PARSE, RECEIVE, &[EXCHANGE], CHAIN, CLIENT],
        Phase::Execute => [CLIENT, &[], &[], &[], &[]],
        Phase::Body => [READ_BODY, &[], &[], &[], &[]],
    };
    tables.into_iter().flatten().copied()
}

pub const NO_HOST: Frame = hc!("client.CloseableHttpClient.determineTarget:95");
pub const NO_SCHEME: Frame = hc!("conn.DefaultHttpClientConnectionOperator.connect:109");
pub const PORT_OUT_OF_RANGE: &[Frame] = &[
    "java.net.InetSocketAddress.checkPort:152",
    "java.net.InetSocketAddress.<init>:197",
    hc!("conn.DefaultHttpClientConnectionOperator.connect:137"),
];
pub const REFUSED: Frame = hc!("conn.DefaultHttpClientConnectionOperator.connect:156");
pub const CONNECT_TIMED_OUT: Frame = hc!("conn.DefaultHttpClientConnectionOperator.connect:151");
pub const NO_RESPONSE: Frame = hc!("conn.DefaultHttpResponseParser.parseHead:141");
pub const NOT_HTTP: Frame = hc!("client.InternalHttpClient.doExecute:187");

/// A name that the system does not know, as looked up and as remembered.
pub const UNKNOWN_HOST: &[Frame] = &[
    "java.net.Inet6AddressImpl.lookupAllHostAddr:0",
    "java.net.InetAddress$PlatformNameService.lookupAllHostAddr:934",
    "java.net.InetAddress.getAddressesFromNameService:1543",
    "java.net.InetAddress$NameServiceAddresses.get:852",
];
pub const KNOWN_TO_BE_UNKNOWN: &[Frame] = &["java.net.InetAddress$CachedAddresses.get:801"];
pub const RESOLVE: &[Frame] = &[
    "java.net.InetAddress.getAllByName0:1533",
    "java.net.InetAddress.getAllByName:1385",
    "java.net.InetAddress.getAllByName:1306",
    hc!("conn.SystemDefaultDnsResolver.resolve:45"),
    CONNECT,
];
pub const ASKED_NAME_SERVERS: &[Frame] = &[
    "org.apache.jmeter.protocol.http.control.DNSCacheManager.customRequestLookup:278",
    "org.apache.jmeter.protocol.http.control.DNSCacheManager.requestLookup:258",
    "org.apache.jmeter.protocol.http.control.DNSCacheManager.resolve:165",
    CONNECT,
];
const CONNECT: Frame = hc!("conn.DefaultHttpClientConnectionOperator.connect:112");

pub const READ_TIMED_OUT: &[&[Frame]] = &[
    &[
        "sun.nio.ch.NioSocketImpl.timedRead:288",
        "sun.nio.ch.NioSocketImpl.implRead:314",
    ],
    READ_LINE,
];
pub const RESET: &[&[Frame]] = &[&["sun.nio.ch.NioSocketImpl.implRead:328"], READ_LINE];

pub const TRUNCATED_BODY: &[&[Frame]] = &[&[hc!("io.ContentLengthInputStream.read:178")], SENSOR];
pub const TRUNCATED_CHUNK: &[&[Frame]] = &[&[hc!("io.ChunkedInputStream.read:197")], SENSOR];
pub const MISSING_CHUNK: &[&[Frame]] = &[
    &[hc!("io.ChunkedInputStream.getChunkSize:263")],
    NEXT_CHUNK,
    SENSOR,
];
pub const BAD_CHUNK: &[&[Frame]] = &[
    &[hc!("io.ChunkedInputStream.getChunkSize:274")],
    NEXT_CHUNK,
    SENSOR,
];
pub const UNENDED_CHUNK: &[&[Frame]] = &[
    &[hc!("io.ChunkedInputStream.getChunkSize:254")],
    NEXT_CHUNK,
    SENSOR,
];
const NEXT_CHUNK: &[Frame] = &[
    hc!("io.ChunkedInputStream.nextChunk:222"),
    hc!("io.ChunkedInputStream.read:183"),
];

const CONNECT_CALLED: Frame = hc!("conn.DefaultHttpClientConnectionOperator.connect:142");
const PLAIN_SOCKET: Frame =
    "org.apache.http.conn.socket.PlainConnectionSocketFactory.connectSocket:75";
const TLS_SOCKET: Frame = "org.apache.http.conn.ssl.SSLConnectionSocketFactory.connectSocket:368";
const LAZY_TLS_SOCKET: Frame = jm!("hc.LazyLayeredConnectionSocketFactory.connectSocket:87");

const REFUSED_PLAIN: &[Frame] = &[
    "sun.nio.ch.Net.connect0:0",
    "sun.nio.ch.Net.connect:579",
    "sun.nio.ch.Net.connect:568",
    "sun.nio.ch.NioSocketImpl.connect:593",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    PLAIN_SOCKET,
    CONNECT_CALLED,
];
const REFUSED_TLS: &[Frame] = &[
    "sun.nio.ch.Net.connect0:0",
    "sun.nio.ch.Net.connect:579",
    "sun.nio.ch.Net.connect:568",
    "sun.nio.ch.NioSocketImpl.connect:593",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    TLS_SOCKET,
    LAZY_TLS_SOCKET,
    CONNECT_CALLED,
];
const REFUSED_PLAIN_LIMITED: &[Frame] = &[
    "sun.nio.ch.Net.pollConnect:0",
    "sun.nio.ch.Net.pollConnectNow:672",
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:547",
    "sun.nio.ch.NioSocketImpl.connect:602",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    PLAIN_SOCKET,
    CONNECT_CALLED,
];
const REFUSED_TLS_LIMITED: &[Frame] = &[
    "sun.nio.ch.Net.pollConnect:0",
    "sun.nio.ch.Net.pollConnectNow:672",
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:547",
    "sun.nio.ch.NioSocketImpl.connect:602",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    TLS_SOCKET,
    LAZY_TLS_SOCKET,
    CONNECT_CALLED,
];
const TIMED_OUT_PLAIN: &[Frame] = &[
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:551",
    "sun.nio.ch.NioSocketImpl.connect:602",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    PLAIN_SOCKET,
    CONNECT_CALLED,
];
const TIMED_OUT_TLS: &[Frame] = &[
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:551",
    "sun.nio.ch.NioSocketImpl.connect:602",
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    TLS_SOCKET,
    LAZY_TLS_SOCKET,
    CONNECT_CALLED,
];

/// What HttpClient's `HttpHostConnectException` wraps. A proxy is always spoken to in plain text first; `limited` if the
/// plan limits the time to connect.
pub fn refused(tls: bool, limited: bool) -> Cause {
    let frames = match (tls, limited) {
        (false, false) => REFUSED_PLAIN,
        (true, false) => REFUSED_TLS,
        (false, true) => REFUSED_PLAIN_LIMITED,
        (true, true) => REFUSED_TLS_LIMITED,
    };
    Cause {
        class: "java.net.ConnectException".into(),
        message: Some("Connection refused".into()),
        frames: frames.into(),
        unshared: 1,
        cause: None,
    }
}

/// What HttpClient's `ConnectTimeoutException` wraps.
pub fn timed_out(tls: bool) -> Cause {
    let frames = if tls { TIMED_OUT_TLS } else { TIMED_OUT_PLAIN };
    Cause {
        class: "java.net.SocketTimeoutException".into(),
        message: Some("Connect timed out".into()),
        frames: frames.into(),
        unshared: 1,
        cause: None,
    }
}

/// What HttpClient's `ClientProtocolException` wraps when the answer is not HTTP.
pub fn not_http() -> Cause {
    const FRAMES: &[Frame] = &[
        hc!("conn.DefaultHttpResponseParser.parseHead:149"),
        hc!("conn.DefaultHttpResponseParser.parseHead:56"),
        hc!("io.AbstractMessageParser.parse:259"),
        hc!("DefaultBHttpClientConnection.receiveResponseHeader:163"),
        hc!("conn.CPoolProxy.receiveResponseHeader:157"),
        "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse:273",
        "org.apache.http.protocol.HttpRequestExecutor.execute:125",
        hc!("execchain.MainClientExec.execute:272"),
        hc!("execchain.ProtocolExec.execute:186"),
        hc!("execchain.RetryExec.execute:89"),
        hc!("execchain.RedirectExec.execute:110"),
        hc!("client.InternalHttpClient.doExecute:185"),
    ];
    let message = Some("The server failed to respond with a valid HTTP response".into());
    Cause {
        class: "org.apache.http.ProtocolException".into(),
        message,
        frames: FRAMES.into(),
        unshared: 1,
        cause: None,
    }
}

/// What HttpClient's `ClientProtocolException` wraps when a header line has no colon.
pub fn bad_header(line: &str) -> Cause {
    const FRAMES: &[Frame] = &[
        hc!("io.AbstractMessageParser.parseHeaders:230"),
        hc!("io.AbstractMessageParser.parse:266"),
        hc!("DefaultBHttpClientConnection.receiveResponseHeader:163"),
        hc!("conn.CPoolProxy.receiveResponseHeader:157"),
        "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse:273",
        "org.apache.http.protocol.HttpRequestExecutor.execute:125",
        hc!("execchain.MainClientExec.execute:272"),
        hc!("execchain.ProtocolExec.execute:186"),
        hc!("execchain.RetryExec.execute:89"),
        hc!("execchain.RedirectExec.execute:110"),
        hc!("client.InternalHttpClient.doExecute:185"),
    ];
    let message = Some(format!("Invalid header: {line}").into());
    Cause {
        class: "org.apache.http.ProtocolException".into(),
        message,
        frames: FRAMES.into(),
        unshared: 1,
        cause: None,
    }
}

/// What HttpClient's `ClientProtocolException` wraps when automatic redirects come back to `address`.
pub fn circular(address: &str) -> Cause {
    const FRAMES: &[Frame] = &[
        hc!("client.DefaultRedirectStrategy.getLocationURI:193"),
        hc!("client.DefaultRedirectStrategy.getRedirect:223"),
        hc!("execchain.RedirectExec.execute:126"),
        hc!("client.InternalHttpClient.doExecute:185"),
    ];
    let message = Some(format!("Circular redirect to '{address}'").into());
    Cause {
        class: "org.apache.http.client.CircularRedirectException".into(),
        message,
        frames: FRAMES.into(),
        unshared: 1,
        cause: None,
    }
}

/// A TLS handshake that the peer ends by closing the connection.
pub const TLS_CLOSED: &[Frame] = &[
    "sun.security.ssl.SSLSocketImpl.handleEOF:1719",
    "sun.security.ssl.SSLSocketImpl.decode:1518",
    "sun.security.ssl.SSLSocketImpl.readHandshakeRecord:1425",
    "sun.security.ssl.SSLSocketImpl.startHandshake:455",
    "sun.security.ssl.SSLSocketImpl.startHandshake:426",
    "org.apache.http.conn.ssl.SSLConnectionSocketFactory.createLayeredSocket:436",
    "org.apache.http.conn.ssl.SSLConnectionSocketFactory.connectSocket:384",
    LAZY_TLS_SOCKET,
    CONNECT_CALLED,
];

/// What Java's `SSLHandshakeException` wraps then.
pub fn tls_closed() -> Cause {
    const FRAMES: &[Frame] = &[
        "sun.security.ssl.SSLSocketInputRecord.read:489",
        "sun.security.ssl.SSLSocketInputRecord.readHeader:478",
        "sun.security.ssl.SSLSocketInputRecord.decode:160",
        "sun.security.ssl.SSLTransport.decode:111",
        "sun.security.ssl.SSLSocketImpl.decode:1510",
    ];
    Cause {
        class: "java.io.EOFException".into(),
        message: Some("SSL peer shut down incorrectly".into()),
        frames: FRAMES.into(),
        unshared: 2,
        cause: None,
    }
}

/// What `MalformedURLException` wraps when `URLStreamHandler.parseURL` fails at `line`.
pub fn parse_url(message: String, line: UrlSyntax) -> Cause {
    let (class, frames): (_, &'static [Frame]) = match line {
        UrlSyntax::Port => (
            "java.lang.NumberFormatException",
            &[
                "java.lang.NumberFormatException.forCharSequence:83",
                "java.lang.Integer.parseInt:751",
                "java.net.URLStreamHandler.parseURL:237",
                "java.net.URL.<init>:703",
            ],
        ),
        UrlSyntax::Ipv6Port => (
            "java.lang.NumberFormatException",
            &[
                "java.lang.NumberFormatException.forCharSequence:83",
                "java.lang.Integer.parseInt:751",
                "java.net.URLStreamHandler.parseURL:219",
                "java.net.URL.<init>:703",
            ],
        ),
        UrlSyntax::Host => (
            ILLEGAL_ARGUMENT,
            &[
                "java.net.URLStreamHandler.parseURL:209",
                "java.net.URL.<init>:703",
            ],
        ),
        UrlSyntax::AfterIpv6 => (
            ILLEGAL_ARGUMENT,
            &[
                "java.net.URLStreamHandler.parseURL:223",
                "java.net.URL.<init>:703",
            ],
        ),
        UrlSyntax::OpenIpv6 => (
            ILLEGAL_ARGUMENT,
            &[
                "java.net.URLStreamHandler.parseURL:228",
                "java.net.URL.<init>:703",
            ],
        ),
        UrlSyntax::PortRange => (
            ILLEGAL_ARGUMENT,
            &[
                "java.net.URLStreamHandler.parseURL:247",
                "java.net.URL.<init>:703",
            ],
        ),
    };
    Cause {
        class: class.into(),
        message: Some(message.into()),
        frames: frames.into(),
        unshared: 1,
        cause: None,
    }
}

const ILLEGAL_ARGUMENT: &str = "java.lang.IllegalArgumentException";

/// Where `URLStreamHandler.parseURL` gives up.
#[derive(Clone, Copy)]
pub enum UrlSyntax {
    Host,
    Port,
    Ipv6Port,
    PortRange,
    OpenIpv6,
    AfterIpv6,
}

/// Sending a file that cannot be opened, as the whole body and as a part.
pub const OPEN_FILE: &[Frame] = &[
    "java.io.FileInputStream.open0:0",
    "java.io.FileInputStream.open:216",
    "java.io.FileInputStream.<init>:157",
];
/// Below the opening of a file that `HTTPFileImpl` reads.
pub const READ_FILE: &[Frame] = &[
    "java.io.FileInputStream.<init>:111",
    "sun.net.www.protocol.file.FileURLConnection.connect:86",
    "sun.net.www.protocol.file.FileURLConnection.getInputStream:189",
    jm!("HTTPFileImpl.sample:59"),
];
pub const BAD_FILE_ESCAPE: &[Frame] = &[
    "sun.net.www.ParseUtil.decode:204",
    "sun.net.www.protocol.file.Handler.openConnection:80",
    "sun.net.www.protocol.file.Handler.openConnection:72",
    "java.net.URL.openConnection:1094",
    jm!("HTTPFileImpl.sample:58"),
];
pub const SEND_FILE: &[Frame] = &["org.apache.http.entity.FileEntity.writeTo:108"];
pub const SEND_PART: &[Frame] = &[
    "org.apache.http.entity.mime.content.FileBody.writeTo:116",
    jm!("HTTPHC4Impl$ViewableFileBody.writeTo:1527"),
    "org.apache.http.entity.mime.AbstractMultipartForm.doWriteTo:134",
    "org.apache.http.entity.mime.AbstractMultipartForm.writeTo:157",
    "org.apache.http.entity.mime.MultipartFormEntity.writeTo:113",
];
const SEND: &[Frame] = &[
    hc!("DefaultBHttpClientConnection.sendRequestEntity:156"),
    hc!("conn.CPoolProxy.sendRequestEntity:152"),
    "org.apache.http.protocol.HttpRequestExecutor.doSendRequest:238",
    jm!("HTTPHC4Impl$2.doSendRequest:463"),
    "org.apache.http.protocol.HttpRequestExecutor.execute:123",
    EXCHANGE,
];

/// The frames below the writing of a request body.
pub fn below_send() -> impl Iterator<Item = Frame> {
    [SEND, CHAIN, CLIENT].into_iter().flatten().copied()
}
