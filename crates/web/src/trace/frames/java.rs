//! The frames of `java.net.HttpURLConnection` below JMeter's implementation `Java`.

use crate::trace::{Cause, Frame};

pub const METHOD: &[Frame] = &[
    "java.net.HttpURLConnection.setRequestMethod:489",
    "sun.net.www.protocol.http.HttpURLConnection.setRequestMethod:613",
    jm!("HTTPJavaImpl.setupConnection:193"),
    jm!("HTTPJavaImpl.sample:533"),
];

pub const CAST: &[Frame] = &[
    jm!("HTTPJavaImpl.setupConnection:154"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const HEADER_NAME: Frame = "sun.net.www.protocol.http.HttpURLConnection.checkMessageHeader:580";
pub const HEADER_VALUE: Frame =
    "sun.net.www.protocol.http.HttpURLConnection.checkMessageHeader:600";
pub const HEADER: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.isExternalMessageHeaderAllowed:530",
    "sun.net.www.protocol.http.HttpURLConnection.addRequestProperty:3405",
    jm!("HTTPJavaImpl.setConnectionHeaders:378"),
    jm!("HTTPJavaImpl.setupConnection:194"),
    jm!("HTTPJavaImpl.sample:533"),
];
pub const NO_OUTPUT: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.getOutputStream0:1448",
    "sun.net.www.protocol.http.HttpURLConnection.getOutputStream:1437",
    jm!("PostWriter.sendPostData:109"),
    jm!("HTTPJavaImpl.sendPutData:116"),
    jm!("HTTPJavaImpl.sample:563"),
];

/// `HttpURLConnection` asks for the proxy of an address without a host.
pub const NO_HOST: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect0:1249",
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect:1143",
    "sun.net.www.protocol.http.HttpURLConnection.connect:1072",
    jm!("HTTPJavaImpl.sample:536"),
];

pub fn no_host() -> Cause {
    Cause {
        class: "java.lang.IllegalArgumentException".into(),
        message: Some("protocol = http host = null".into()),
        frames: (&[
            "sun.net.spi.DefaultProxySelector.select:186",
            "sun.net.www.protocol.http.HttpURLConnection.plainConnect0:1247",
        ][..])
            .into(),
        unshared: 1,
        cause: None,
    }
}

pub const UNKNOWN_ENCODING: &[Frame] = &[
    "java.lang.String.lookupCharset:829",
    "java.lang.String.getBytes:1765",
    jm!("PostWriter.setHeaders:309"),
    jm!("HTTPJavaImpl.setPostHeaders:93"),
    jm!("HTTPJavaImpl.setupConnection:200"),
    jm!("HTTPJavaImpl.sample:533"),
];
/// The opening of a file to be sent.
pub const OPEN_PATH: &[Frame] = &[
    "sun.nio.fs.UnixException.translateToIOException:92",
    "sun.nio.fs.UnixException.rethrowAsIOException:106",
    "sun.nio.fs.UnixException.rethrowAsIOException:111",
    "sun.nio.fs.UnixFileSystemProvider.newByteChannel:218",
    "java.nio.file.Files.newByteChannel:380",
    "java.nio.file.Files.newByteChannel:432",
    "java.nio.file.spi.FileSystemProvider.newInputStream:422",
    "java.nio.file.Files.newInputStream:160",
];
pub const SEND_MULTIPART: &[Frame] = &[
    jm!("PostWriter.writeFileToStream:378"),
    jm!("PostWriter.sendPostData:133"),
    jm!("HTTPJavaImpl.sendPostData:112"),
    jm!("HTTPJavaImpl.sample:560"),
];
pub const POST_FILE: &[Frame] = &[
    jm!("PostWriter.writeFileToStream:378"),
    jm!("PostWriter.sendPostData:154"),
    jm!("HTTPJavaImpl.sendPostData:112"),
    jm!("HTTPJavaImpl.sample:560"),
];
pub const PUT_FILE: &[Frame] = &[
    jm!("PostWriter.writeFileToStream:378"),
    jm!("PostWriter.sendPostData:154"),
    jm!("HTTPJavaImpl.sendPutData:116"),
    jm!("HTTPJavaImpl.sample:563"),
];
pub const NO_LOCATION: &[Frame] = &[
    "org.apache.jorphan.util.JOrphanUtils.replaceAllChars:246",
    jm!("HTTPSamplerBase.encodeSpaces:1605"),
    jm!("HTTPSamplerBase.followRedirects:1672"),
];

pub const TOO_MANY: &str = "Server redirected too many  times (20)";

pub fn too_many_redirects() -> Cause {
    chained(
        "java.net.ProtocolException",
        TOO_MANY,
        &[
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream0:2045",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream:1626",
            "sun.net.www.protocol.http.HttpURLConnection.getHeaderField:3293",
            "java.net.URLConnection.getHeaderFieldLong:639",
            "java.net.URLConnection.getContentLengthLong:509",
            "java.net.URLConnection.getContentLength:493",
            jm!("HTTPJavaImpl.readResponse:233"),
        ],
    )
}

pub const REFUSED: &[Frame] = &[
    "sun.nio.ch.Net.connect0:0",
    "sun.nio.ch.Net.connect:579",
    "sun.nio.ch.Net.connect:568",
    "sun.nio.ch.NioSocketImpl.connect:593",
];
/// The same where the plan limits the time to connect.
pub const REFUSED_LIMITED: &[Frame] = &[
    "sun.nio.ch.Net.pollConnect:0",
    "sun.nio.ch.Net.pollConnectNow:672",
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:547",
    "sun.nio.ch.NioSocketImpl.connect:602",
];
pub const UNKNOWN_HOST: &[Frame] = &["sun.nio.ch.NioSocketImpl.connect:572"];
pub const TIMED_OUT: &[Frame] = &[
    "sun.nio.ch.NioSocketImpl.timedFinishConnect:551",
    "sun.nio.ch.NioSocketImpl.connect:602",
];

const PLAIN_SOCKET: &[Frame] = &[
    "java.net.Socket.connect:633",
    "java.net.Socket.connect:583",
    "sun.net.NetworkClient.doConnect:183",
];
const LIMITED_SOCKET: &[Frame] = &[
    "java.net.Socket.connect:633",
    "sun.net.NetworkClient.doConnect:178",
];
const TLS_SOCKET: &[Frame] = &[
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    "sun.security.ssl.SSLSocketImpl.connect:304",
    "sun.security.ssl.BaseSSLSocketImpl.connect:174",
    "sun.net.NetworkClient.doConnect:183",
];
const LIMITED_TLS_SOCKET: &[Frame] = &[
    "java.net.SocksSocketImpl.connect:327",
    "java.net.Socket.connect:633",
    "sun.security.ssl.SSLSocketImpl.connect:304",
    "sun.net.NetworkClient.doConnect:178",
];
const OPEN: &[Frame] = &[
    "sun.net.www.http.HttpClient.openServer:533",
    "sun.net.www.http.HttpClient.openServer:638",
];
const OPEN_PROXY: &[Frame] = &[
    "sun.net.www.http.HttpClient.openServer:533",
    "sun.net.www.http.HttpClient$1.run:592",
    "sun.net.www.http.HttpClient$1.run:590",
    "java.security.AccessController.doPrivileged:569",
    "sun.net.www.http.HttpClient.privilegedOpenServer:589",
    "sun.net.www.http.HttpClient.openServer:633",
];
const NEW_CLIENT: &[Frame] = &[
    "sun.net.www.http.HttpClient.<init>:281",
    "sun.net.www.http.HttpClient.New:386",
    "sun.net.www.http.HttpClient.New:408",
    "sun.net.www.protocol.http.HttpURLConnection.getNewHttpClient:1324",
];
const NEW_TLS_CLIENT: &[Frame] = &[
    "sun.net.www.protocol.https.HttpsClient.<init>:266",
    "sun.net.www.protocol.https.HttpsClient.New:380",
    "sun.net.www.protocol.https.AbstractDelegateHttpsURLConnection.getNewHttpClient:193",
];
const CONNECT: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect0:1257",
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect:1143",
    "sun.net.www.protocol.http.HttpURLConnection.connect:1072",
    jm!("HTTPJavaImpl.sample:536"),
];
const CONNECT_PROXY: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect0:1302",
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect:1143",
    "sun.net.www.protocol.http.HttpURLConnection.connect:1072",
    jm!("HTTPJavaImpl.sample:536"),
];
const CONNECT_TLS: &[Frame] = &[
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect0:1257",
    "sun.net.www.protocol.http.HttpURLConnection.plainConnect:1143",
    "sun.net.www.protocol.https.AbstractDelegateHttpsURLConnection.connect:179",
    "sun.net.www.protocol.https.HttpsURLConnectionImpl.connect:142",
    jm!("HTTPJavaImpl.sample:536"),
];

/// From the socket down to the implementation; `limited` if the plan limits the time to connect.
pub fn connect(tls: bool, proxied: bool, limited: bool) -> impl Iterator<Item = Frame> {
    let socket = match (tls && !proxied, limited) {
        (false, false) => PLAIN_SOCKET,
        (false, true) => LIMITED_SOCKET,
        (true, false) => TLS_SOCKET,
        (true, true) => LIMITED_TLS_SOCKET,
    };
    let rest: [&[Frame]; 3] = match (tls, proxied) {
        (_, true) => [OPEN_PROXY, NEW_CLIENT, CONNECT_PROXY],
        (true, false) => [OPEN, NEW_TLS_CLIENT, CONNECT_TLS],
        (false, false) => [OPEN, NEW_CLIENT, CONNECT],
    };
    std::iter::once(socket).chain(rest).flatten().copied()
}

/// `getResponseCode`, which throws a copy of the first failure with that as its cause.
pub const CHAINED: &[Frame] = &[
    "jdk.internal.reflect.NativeConstructorAccessorImpl.newInstance0:0",
    "jdk.internal.reflect.NativeConstructorAccessorImpl.newInstance:77",
    "jdk.internal.reflect.DelegatingConstructorAccessorImpl.newInstance:45",
    "java.lang.reflect.Constructor.newInstanceWithCaller:500",
    "java.lang.reflect.Constructor.newInstance:481",
    "sun.net.www.protocol.http.HttpURLConnection$10.run:2094",
    "sun.net.www.protocol.http.HttpURLConnection$10.run:2089",
    "java.security.AccessController.doPrivileged:569",
    "sun.net.www.protocol.http.HttpURLConnection.getChainedException:2088",
    "sun.net.www.protocol.http.HttpURLConnection.getInputStream0:1646",
    "sun.net.www.protocol.http.HttpURLConnection.getInputStream:1626",
    "java.net.HttpURLConnection.getResponseCode:529",
    jm!("HTTPJavaImpl.readResponse:268"),
    jm!("HTTPJavaImpl.sample:567"),
];

/// The cause of a chained failure shares the frames from `HTTPJavaImpl.sample` on.
fn chained(class: &'static str, message: &'static str, frames: &'static [Frame]) -> Cause {
    Cause {
        class: class.into(),
        message: Some(message.into()),
        frames: frames.into(),
        unshared: CHAINED.len() - 1,
        cause: None,
    }
}

pub fn read_timed_out() -> Cause {
    chained(
        "java.net.SocketTimeoutException",
        "Read timed out",
        &[
            "sun.nio.ch.NioSocketImpl.timedRead:288",
            "sun.nio.ch.NioSocketImpl.implRead:314",
            "sun.nio.ch.NioSocketImpl.read:355",
            "sun.nio.ch.NioSocketImpl$1.read:808",
            "java.net.Socket$SocketInputStream.read:966",
            "java.io.BufferedInputStream.fill:244",
            "java.io.BufferedInputStream.read1:284",
            "java.io.BufferedInputStream.read:343",
            "sun.net.www.http.HttpClient.parseHTTPHeader:826",
            "sun.net.www.http.HttpClient.parseHTTP:761",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream0:1725",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream:1626",
            "sun.net.www.protocol.http.HttpURLConnection.getHeaderField:3293",
            "java.net.URLConnection.getHeaderFieldLong:639",
            "java.net.URLConnection.getContentLengthLong:509",
            "java.net.URLConnection.getContentLength:493",
            jm!("HTTPJavaImpl.readResponse:233"),
        ],
    )
}

pub fn closed() -> Cause {
    chained(
        "java.net.SocketException",
        "Unexpected end of file from server",
        &[
            "sun.net.www.http.HttpClient.parseHTTPHeader:954",
            "sun.net.www.http.HttpClient.parseHTTP:761",
            "sun.net.www.http.HttpClient.parseHTTPHeader:951",
            "sun.net.www.http.HttpClient.parseHTTP:761",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream0:1725",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream:1626",
            "sun.net.www.protocol.http.HttpURLConnection.getHeaderField:3293",
            "java.net.URLConnection.getHeaderFieldLong:639",
            "java.net.URLConnection.getContentLengthLong:509",
            "java.net.URLConnection.getContentLength:493",
            jm!("HTTPJavaImpl.readResponse:233"),
        ],
    )
}

pub fn reset() -> Cause {
    chained(
        "java.net.SocketException",
        "Connection reset",
        &[
            "sun.nio.ch.NioSocketImpl.implRead:328",
            "sun.nio.ch.NioSocketImpl.read:355",
            "sun.nio.ch.NioSocketImpl$1.read:808",
            "java.net.Socket$SocketInputStream.read:966",
            "java.io.BufferedInputStream.fill:244",
            "java.io.BufferedInputStream.read1:284",
            "java.io.BufferedInputStream.read:343",
            "sun.net.www.http.HttpClient.parseHTTPHeader:826",
            "sun.net.www.http.HttpClient.parseHTTP:761",
            "sun.net.www.http.HttpClient.parseHTTP:785",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream0:1725",
            "sun.net.www.protocol.http.HttpURLConnection.getInputStream:1626",
            "sun.net.www.protocol.http.HttpURLConnection.getHeaderField:3293",
            "java.net.URLConnection.getHeaderFieldLong:639",
            "java.net.URLConnection.getContentLengthLong:509",
            "java.net.URLConnection.getContentLength:493",
            jm!("HTTPJavaImpl.readResponse:233"),
        ],
    )
}

pub const TRUNCATED_CHUNK: &[Frame] = &[
    "sun.net.www.http.ChunkedInputStream.fastRead:257",
    "sun.net.www.http.ChunkedInputStream.read:698",
];
pub const MISSING_CHUNK: &[Frame] = &[
    "sun.net.www.http.ChunkedInputStream.readAheadBlocking:567",
    "sun.net.www.http.ChunkedInputStream.readAhead:611",
    "sun.net.www.http.ChunkedInputStream.read:705",
];
pub const BAD_CHUNK: &[Frame] = &[
    "sun.net.www.http.ChunkedInputStream.processRaw:320",
    "sun.net.www.http.ChunkedInputStream.readAheadBlocking:574",
    "sun.net.www.http.ChunkedInputStream.readAhead:611",
    "sun.net.www.http.ChunkedInputStream.read:705",
];
/// Below the reading of a body.
pub const READ_BODY: &[Frame] = &[
    "java.io.FilterInputStream.read:132",
    "sun.net.www.protocol.http.HttpURLConnection$HttpInputStream.read:3735",
    "sun.net.www.protocol.http.HttpURLConnection$HttpInputStream.read:3728",
    "org.apache.commons.io.input.ProxyInputStream.read:184",
    jm!("HTTPSamplerBase.readResponse:1950"),
    jm!("HTTPAbstractImpl.readResponse:475"),
    jm!("HTTPJavaImpl.readResponse:296"),
    jm!("HTTPJavaImpl.sample:567"),
];
