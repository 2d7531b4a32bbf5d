//! The frames of responses that cannot be read: status lines, chunks, compressed bodies.

use std::borrow::Cow;

use crate::trace::{Cause, Frame};

const LAZY_READ: Frame = "org.apache.http.client.entity.LazyDecompressingInputStream.read:64";
const LAZY_INIT: &[Frame] = &[
    "org.apache.http.client.entity.LazyDecompressingInputStream.initWrapper:51",
    "org.apache.http.client.entity.LazyDecompressingInputStream.read:63",
];
const GZIP_INIT: &[Frame] = &[
    "java.util.zip.GZIPInputStream.<init>:79",
    "java.util.zip.GZIPInputStream.<init>:91",
    jm!("hc.LaxGZIPInputStream.<init>:42"),
    jm!("HTTPHC4Impl.lambda$static$0:205"),
];
const LAX_GZIP: &[Frame] = &[
    jm!("hc.LaxGZIPInputStream.read:52"),
    "java.io.FilterInputStream.read:106",
    jm!("hc.LaxGZIPInputStream.read:70"),
    LAZY_READ,
];
const LAX_DEFLATE: &[Frame] = &[
    "java.io.FilterInputStream.read:106",
    "org.apache.http.client.entity.DeflateInputStream.read:80",
    jm!("hc.LaxDeflateInputStream.read:71"),
    LAZY_READ,
];
const INFLATE: &[Frame] = &["java.util.zip.InflaterInputStream.read:164"];
const INFLATE_AT_END: &[Frame] = &[
    "java.util.zip.InflaterInputStream.fill:244",
    "java.util.zip.InflaterInputStream.read:158",
];
const GZIP_READ: &[Frame] = &["java.util.zip.GZIPInputStream.read:117"];
const GZIP_READ_TRAILER: &[Frame] = &["java.util.zip.GZIPInputStream.read:119"];

pub const NOT_GZIP: &[&[Frame]] = &[
    &["java.util.zip.GZIPInputStream.readHeader:165"],
    GZIP_INIT,
    LAZY_INIT,
];
pub const GZIP_METHOD: &[&[Frame]] = &[
    &["java.util.zip.GZIPInputStream.readHeader:169"],
    GZIP_INIT,
    LAZY_INIT,
];
pub const GZIP_HEADER_END: &[&[Frame]] = &[
    &[
        "java.util.zip.GZIPInputStream.skipBytes:288",
        "java.util.zip.GZIPInputStream.readHeader:174",
    ],
    GZIP_INIT,
    LAZY_INIT,
];
pub const GZIP_DATA: &[&[Frame]] = &[INFLATE, GZIP_READ, LAX_GZIP];
pub const GZIP_DATA_END: &[&[Frame]] = &[INFLATE_AT_END, GZIP_READ, LAX_GZIP];
pub const GZIP_TRAILER: &[&[Frame]] = &[
    &["java.util.zip.GZIPInputStream.readTrailer:225"],
    GZIP_READ_TRAILER,
    LAX_GZIP,
];
pub const GZIP_TRAILER_END: &[&[Frame]] = &[
    &[
        "java.util.zip.GZIPInputStream.readUByte:268",
        "java.util.zip.GZIPInputStream.readUShort:258",
        "java.util.zip.GZIPInputStream.readUInt:250",
        "java.util.zip.GZIPInputStream.readTrailer:224",
    ],
    GZIP_READ_TRAILER,
    LAX_GZIP,
];
pub const DEFLATE_HEADER_END: &[&[Frame]] = &[
    &[
        "org.apache.http.client.entity.DeflateInputStream.<init>:50",
        jm!("hc.LaxDeflateInputStream.<init>:43"),
        jm!("HTTPHC4Impl.lambda$static$1:208"),
    ],
    LAZY_INIT,
];
pub const DEFLATE: &[&[Frame]] = &[INFLATE, LAX_DEFLATE];
pub const DEFLATE_END: &[&[Frame]] = &[INFLATE_AT_END, LAX_DEFLATE];
pub const BROTLI: &[&[Frame]] = &[&[
    "org.brotli.dec.BrotliInputStream.read:167",
    "java.io.InputStream.read:218",
    LAZY_READ,
]];

const SENSOR: &[Frame] = super::SENSOR;
pub const UNENDED_CHUNK_AT_END: &[&[Frame]] = &[
    &[hc!("io.ChunkedInputStream.getChunkSize:250")],
    super::NEXT_CHUNK,
    SENSOR,
];
pub const NEGATIVE_CHUNK: &[&[Frame]] = &[
    &[
        hc!("io.ChunkedInputStream.nextChunk:224"),
        hc!("io.ChunkedInputStream.read:183"),
    ],
    SENSOR,
];
pub const TRAILER: &[&[Frame]] = &[
    &[
        hc!("io.ChunkedInputStream.parseTrailerHeaders:292"),
        hc!("io.ChunkedInputStream.nextChunk:230"),
        hc!("io.ChunkedInputStream.read:183"),
    ],
    SENSOR,
];

/// What the exception of a trailer that is none wraps.
pub fn trailer(line: &str) -> Cause {
    Cause {
        class: PROTOCOL.into(),
        message: Some(format!("Invalid header: {line}").into()),
        frames: (&[
            hc!("io.AbstractMessageParser.parseHeaders:230"),
            hc!("io.AbstractMessageParser.parseHeaders:143"),
            hc!("io.ChunkedInputStream.parseTrailerHeaders:287"),
        ][..])
            .into(),
        unshared: 1,
        cause: None,
    }
}

const PROTOCOL: &str = "org.apache.http.ProtocolException";

/// Which part of a status line cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPart {
    /// There is no dot in the version.
    Version,
    /// The number before the dot.
    Major,
    /// The number after the dot.
    Minor,
    /// The status is not digits.
    Code,
    /// There is no status.
    NoCode,
    /// The status is below 100.
    Range,
}

/// What HttpClient's `ClientProtocolException` wraps when the status line is wrong.
pub fn status_line(part: StatusPart, line: &str) -> Cause {
    const VERSION: &str = "org.apache.http.message.BasicLineParser.parseStatusLine:366";
    const HEAD: Frame = hc!("conn.DefaultHttpResponseParser.parseHead:158");
    const PARSE: Frame = hc!("conn.DefaultHttpResponseParser.parseHead:56");
    const PARSED: Frame = hc!("io.AbstractMessageParser.parse:259");
    macro_rules! parser {
        ($($frame:expr),+) => {
            &[$($frame,)+ HEAD, PARSE, PARSED]
        };
    }
    let (what, frames): (&str, &'static [Frame]) = match part {
        StatusPart::Range => return out_of_range(line),
        StatusPart::Version => (
            "Invalid protocol version number",
            parser!(
                "org.apache.http.message.BasicLineParser.parseProtocolVersion:157",
                VERSION
            ),
        ),
        StatusPart::Major => (
            "Invalid protocol major version number",
            parser!(
                "org.apache.http.message.BasicLineParser.parseProtocolVersion:165",
                VERSION
            ),
        ),
        StatusPart::Minor => (
            "Invalid protocol minor version number",
            parser!(
                "org.apache.http.message.BasicLineParser.parseProtocolVersion:179",
                VERSION
            ),
        ),
        StatusPart::Code => (
            "Status line contains invalid status code",
            parser!("org.apache.http.message.BasicLineParser.parseStatusLine:380"),
        ),
        StatusPart::NoCode => (
            "Status line contains invalid status code",
            parser!("org.apache.http.message.BasicLineParser.parseStatusLine:388"),
        ),
    };
    let message: Cow<'static, str> = format!("{what}: {line}").into();
    Cause {
        class: PROTOCOL.into(),
        message: Some(message.clone()),
        frames: (&[
            hc!("io.AbstractMessageParser.parse:261"),
            hc!("DefaultBHttpClientConnection.receiveResponseHeader:163"),
            hc!("conn.CPoolProxy.receiveResponseHeader:157"),
            "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse:273",
            "org.apache.http.protocol.HttpRequestExecutor.execute:125",
            hc!("execchain.MainClientExec.execute:272"),
            hc!("execchain.ProtocolExec.execute:186"),
            hc!("execchain.RetryExec.execute:89"),
            hc!("execchain.RedirectExec.execute:110"),
            hc!("client.InternalHttpClient.doExecute:185"),
        ][..])
            .into(),
        unshared: 1,
        cause: Some(Box::new(Cause {
            class: "org.apache.http.ParseException".into(),
            message: Some(message),
            frames: frames.into(),
            unshared: 1,
            cause: None,
        })),
    }
}

fn out_of_range(line: &str) -> Cause {
    Cause {
        class: PROTOCOL.into(),
        message: Some(format!("Invalid response: {line}").into()),
        frames: (&[
            "org.apache.http.protocol.HttpRequestExecutor.doReceiveResponse:276",
            "org.apache.http.protocol.HttpRequestExecutor.execute:125",
            hc!("execchain.MainClientExec.execute:272"),
            hc!("execchain.ProtocolExec.execute:186"),
            hc!("execchain.RetryExec.execute:89"),
            hc!("execchain.RedirectExec.execute:110"),
            hc!("client.InternalHttpClient.doExecute:185"),
        ][..])
            .into(),
        unshared: 1,
        cause: None,
    }
}
