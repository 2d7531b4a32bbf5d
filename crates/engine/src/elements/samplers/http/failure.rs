//! Failures as JMeter reports them: the response code and message of its failed samples (`HTTPSamplerBase#errorResult`).

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use drumfire_http::{
    BadChunk, Coded, DecodeFailure, Failure, FailureKind, Http2Failure, Http3Failure, Phase,
    StatusLinePart, Target, TlsFailure,
};
use drumfire_java::Exception;
use drumfire_results::{DataType, Sample, SampleKind};
use drumfire_web::property::Client;
use drumfire_web::status::{ConnectFailure, EncodingError, Endpoint, ExchangeFailure, StatusPart};
use drumfire_web::url::Url;

use super::settings::{
    MAX_BODY_BYTES, MAX_CONTENT_CODINGS, MAX_DECODED_BYTES, MAX_HEAD_BYTES, MAX_INTERIM_HEADS,
    took_too_long,
};
use super::transfer::TransferFailure;
use crate::elements::samplers::stream::rules::MAX_EVENT_BYTES;
use crate::run::context::Context;
use crate::run::needs::Needs;

/// Turns the sample into a failed one. As JMeter does, it stores the stack trace as response data, here without frames; the
/// text counts as received bytes unless a body was counted before (`SampleResult#getBodySizeAsLong`).
pub fn apply(sample: &mut Sample, exception: &Exception, needs: Needs) {
    sample.data_type = DataType::Text;
    sample.code = exception.response_code().into();
    sample.message = exception.response_message().into();
    sample.success = false;
    let trace = exception.trace();
    if sample.body_bytes == 0 {
        sample.body_bytes = trace.len() as u64;
    }
    sample.response_data = needs.body.then(|| trace.into_bytes().into());
}

/// The sample of a failure that only `HTTPSamplerBase#sample()` catches: it has neither label nor address
/// (`errorResult(e, new HTTPSampleResult())`).
pub fn nameless(cx: &Context, exception: &Exception, needs: Needs) -> Box<Sample> {
    let mut sample = Box::new(Sample::new("".into(), cx.thread_name.clone()));
    sample.kind = SampleKind::Http;
    sample.start_ms = cx.clock().now_ms();
    apply(&mut sample, exception, needs);
    sample.set_end(sample.start_ms);
    sample
}

/// The exception JMeter would have caught.
pub fn exception(
    trouble: &TransferFailure,
    url: &Url,
    target: &Target,
    client: Client,
) -> Exception {
    match trouble {
        TransferFailure::Java(exception) => exception.clone(),
        TransferFailure::Interrupted(_) => {
            Exception::new("java.net.SocketException", "Socket closed")
        }
        TransferFailure::Exchange(failure) => {
            if let FailureKind::Http2(kind) = failure.kind {
                return of_http2(kind);
            }
            if let FailureKind::Http3(kind) = failure.kind {
                return of_http3(kind);
            }
            if let Some(exception) = beyond_limit(&failure.kind) {
                return exception;
            }
            if let FailureKind::ProxyRefused(refusal) = &failure.kind {
                let line = String::from_utf8_lossy(refusal.status_line());
                let message = format!("Unable to tunnel through proxy. Proxy returns \"{line}\"");
                return Exception::new("java.io.IOException", message);
            }
            let endpoint = match &target.proxy {
                Some(proxy) => Endpoint {
                    host: &proxy.host,
                    port: proxy.port,
                    addresses: &failure.addresses,
                },
                None => Endpoint {
                    host: url.host(),
                    port: target.port,
                    addresses: &failure.addresses,
                },
            };
            let failure = of_exchange(failure, endpoint.host);
            match client {
                Client::HttpClient | Client::File => failure.exception(&endpoint),
                Client::Java | Client::OldJava | Client::AccessLog => {
                    failure.java_exception(&endpoint)
                }
            }
        }
    }
}

/// How long a JVM remembers that a name is unknown (`networkaddress.cache.negative.ttl`).
const REMEMBERED: Duration = Duration::from_secs(10);

/// The maximum number of names remembered.
const MAX_REMEMBERED: usize = 10_000;

/// Whether the name already failed to resolve shortly before. The whole process shares the memory of such names, as a JVM does.
fn was_unknown(host: &str) -> bool {
    static UNKNOWN: Mutex<BTreeMap<Box<str>, Instant>> = Mutex::new(BTreeMap::new());
    let Ok(mut unknown) = UNKNOWN.lock() else {
        return false;
    };
    let now = Instant::now();
    if unknown
        .get(host)
        .is_some_and(|asked| now.duration_since(*asked) < REMEMBERED)
    {
        return true;
    }
    if unknown.len() >= MAX_REMEMBERED {
        unknown.clear();
    }
    unknown.insert(host.into(), now);
    false
}

fn of_exchange<'f>(failure: &'f Failure, host: &str) -> ExchangeFailure<'f> {
    let connecting = matches!(failure.phase, Phase::Resolve | Phase::Connect);
    match &failure.kind {
        FailureKind::UnknownHost => ExchangeFailure::UnknownHost {
            remembered: was_unknown(host),
        },
        FailureKind::UnknownToNameServers => ExchangeFailure::UnknownToNameServers,
        FailureKind::Refused => ExchangeFailure::Connect(ConnectFailure::Refused),
        FailureKind::ConnectTimeout if connecting || failure.phase == Phase::TlsHandshake => {
            ExchangeFailure::Connect(ConnectFailure::TimedOut)
        }
        FailureKind::ConnectTimeout => ExchangeFailure::Socket("Connection timed out"),
        FailureKind::ReadTimeout => ExchangeFailure::ReadTimeout,
        FailureKind::WriteTimeout => ExchangeFailure::WriteTimeout,
        FailureKind::TookTooLong { .. } => ExchangeFailure::Socket("the exchange took too long"),
        FailureKind::HostUnreachable => ExchangeFailure::Connect(ConnectFailure::HostUnreachable),
        FailureKind::NetworkUnreachable => {
            ExchangeFailure::Connect(ConnectFailure::NetworkUnreachable)
        }
        FailureKind::AddressNotAvailable => {
            ExchangeFailure::Connect(ConnectFailure::NoLocalAddress)
        }
        FailureKind::TooManyFiles => ExchangeFailure::Socket("Too many open files"),
        FailureKind::Reset => ExchangeFailure::Reset,
        FailureKind::BrokenPipe => ExchangeFailure::BrokenPipe,
        FailureKind::ClosedBeforeResponse => ExchangeFailure::NoResponse,
        FailureKind::BadHeader(line) => ExchangeFailure::BadHeader(line),
        FailureKind::BadStatusLine { line, part } => {
            ExchangeFailure::BadStatusLine(status_part(*part), line)
        }
        FailureKind::HeadTooLarge { .. }
        | FailureKind::TooManyInterimHeads { .. }
        | FailureKind::TooManyCodings { .. }
        | FailureKind::BodyTooLarge { .. }
        | FailureKind::DecodedTooLarge { .. }
        | FailureKind::EventTooLarge { .. } => ExchangeFailure::Socket("the response is too large"),
        FailureKind::NoValidResponse(_) | FailureKind::UnexpectedInterim(_) => {
            ExchangeFailure::MalformedHead
        }
        FailureKind::TruncatedBody { expected, received } => ExchangeFailure::TruncatedBody {
            expected: *expected,
            received: *received,
        },
        FailureKind::TruncatedChunk { expected, actual } => ExchangeFailure::TruncatedChunk {
            expected: *expected,
            received: *actual,
        },
        FailureKind::MissingLastChunk => ExchangeFailure::MissingClosingChunk,
        FailureKind::BadChunk(chunk) => of_chunk(chunk),
        FailureKind::Tls(tls) => of_tls(tls),
        FailureKind::Decode(failure) => ExchangeFailure::Damaged(damage(failure)),
        FailureKind::ProxyRefused(_) => ExchangeFailure::Socket("Proxy refused the connection"),
        FailureKind::File(_) => ExchangeFailure::File("the file could not be read"),
        FailureKind::Http2(_) => ExchangeFailure::Socket("HTTP/2 failed"),
        FailureKind::Http3(_) => ExchangeFailure::Socket("HTTP/3 failed"),
        FailureKind::Io(_) => ExchangeFailure::Socket("input/output error"),
    }
}

/// The exception for a response beyond a limit that JMeter does not have. The message names the property that sets the limit.
fn beyond_limit(kind: &FailureKind) -> Option<Exception> {
    let (part, limit, unit, property) = match kind {
        FailureKind::HeadTooLarge { limit } => ("head", *limit as u64, "bytes", MAX_HEAD_BYTES),
        FailureKind::BodyTooLarge { limit } => ("body", *limit, "bytes", MAX_BODY_BYTES),
        FailureKind::DecodedTooLarge { limit } => {
            ("decoded body", *limit, "bytes", MAX_DECODED_BYTES)
        }
        FailureKind::EventTooLarge { limit } => ("event", *limit as u64, "bytes", MAX_EVENT_BYTES),
        FailureKind::TooManyInterimHeads { limit } => (
            "start",
            *limit as u64,
            "interim responses",
            MAX_INTERIM_HEADS,
        ),
        FailureKind::TooManyCodings { limit } => (
            "Content-Encoding",
            *limit as u64,
            "codings",
            MAX_CONTENT_CODINGS,
        ),
        FailureKind::TookTooLong { limit } => {
            let class = "java.net.SocketTimeoutException";
            return Some(Exception::new(class, took_too_long(*limit)));
        }
        _ => return None,
    };
    let message = format!("the response's {part} exceeds {limit} {unit} ({property})");
    Some(Exception::new("java.io.IOException", message))
}

/// The exception for a failure of HTTP/2, with the messages of Jetty's client, which BlazeMeter's plugin uses
/// (`HttpReceiverOverHTTP2`, `HttpConnectionOverHTTP2`). JMeter itself has none.
fn of_http2(kind: Http2Failure) -> Exception {
    let class = "java.util.concurrent.ExecutionException";
    match kind {
        Http2Failure::Closed => Exception::new(class, "java.nio.channels.ClosedChannelException"),
        Http2Failure::Unsendable => Exception::new(
            "java.io.IOException",
            "the request cannot be expressed in HTTP/2",
        ),
        Http2Failure::Reset(_) | Http2Failure::GoAway(_) | Http2Failure::Broken(_) => {
            let mut name = kind.code_name().unwrap_or("unknown").to_ascii_lowercase();
            if !name.ends_with("_error") && !name.ends_with("_required") {
                name.push_str("_error");
            }
            Exception::new(class, format!("java.io.IOException: {name}"))
        }
    }
}

/// The exception for a failure of HTTP/3, with messages like those of HTTP/2 and the codes as RFC 9114 and RFC 9000 name them.
fn of_http3(kind: Http3Failure) -> Exception {
    let class = "java.util.concurrent.ExecutionException";
    let code = kind.code_name().unwrap_or("unknown code");
    let message = match kind {
        Http3Failure::Closed | Http3Failure::GoAway => {
            return Exception::new(class, "java.nio.channels.ClosedChannelException");
        }
        Http3Failure::Unsendable => {
            return Exception::new(
                "java.io.IOException",
                "the request cannot be expressed in HTTP/3",
            );
        }
        Http3Failure::Silence => {
            let message = "the server's QUIC idle timeout passed without an answer";
            return Exception::new("java.net.SocketTimeoutException", message);
        }
        Http3Failure::Reset(_) => format!("stream reset: {code}"),
        Http3Failure::ClosedFor(_) => format!("connection closed: {code}"),
        Http3Failure::Broken(_) => format!("protocol broken: {code}"),
        Http3Failure::Quic(_) => format!("QUIC failed: {code}"),
    };
    Exception::new(class, format!("java.io.IOException: {message}"))
}

fn of_chunk(chunk: &BadChunk) -> ExchangeFailure<'_> {
    match chunk {
        BadChunk::MissingLineEnd => ExchangeFailure::UnendedChunk,
        BadChunk::NoLineEnd => ExchangeFailure::MissingChunkEnd,
        BadChunk::Size(text) => ExchangeFailure::BadChunkHeader(text),
        BadChunk::Trailer(text) => ExchangeFailure::BadTrailer(text),
        BadChunk::NegativeSize => ExchangeFailure::NegativeChunk,
    }
}

fn status_part(part: StatusLinePart) -> StatusPart {
    match part {
        StatusLinePart::Version => StatusPart::Version,
        StatusLinePart::MajorVersion => StatusPart::Major,
        StatusLinePart::MinorVersion => StatusPart::Minor,
        StatusLinePart::Code => StatusPart::Code,
        StatusLinePart::Range => StatusPart::Range,
    }
}

fn damage(failure: &DecodeFailure) -> EncodingError<'_> {
    match failure {
        DecodeFailure::NotGzip => EncodingError::NotGzip,
        DecodeFailure::Checksum => EncodingError::GzipTrailer,
        DecodeFailure::UnexpectedEnd(coded) => match coded {
            Coded::GzipHeader => EncodingError::GzipHeaderEnd,
            Coded::GzipData => EncodingError::GzipDataEnd,
            Coded::GzipTrailer => EncodingError::GzipTrailerEnd,
            Coded::DeflateHeader => EncodingError::DeflateHeaderEnd,
            Coded::Deflate => EncodingError::DeflateEnd,
            Coded::Brotli => EncodingError::Brotli,
        },
        DecodeFailure::Corrupt(coded, text) => match coded {
            Coded::GzipHeader => EncodingError::GzipMethod,
            Coded::GzipData | Coded::GzipTrailer => EncodingError::GzipData(text),
            Coded::DeflateHeader | Coded::Deflate => EncodingError::Deflate(text),
            Coded::Brotli => EncodingError::Brotli,
        },
    }
}

fn of_tls(tls: &TlsFailure) -> ExchangeFailure<'_> {
    match tls {
        TlsFailure::Closed => ExchangeFailure::TlsClosed,
        TlsFailure::NotTls => ExchangeFailure::TlsNotSpoken,
        TlsFailure::Alert(_) => ExchangeFailure::TlsAlert(tls.alert_name().unwrap_or("unknown")),
        TlsFailure::ProtocolVersion => ExchangeFailure::TlsAlert("protocol_version"),
        TlsFailure::MessageTooLarge(size) => ExchangeFailure::TlsMessageTooLarge(*size),
        TlsFailure::Certificate(text) | TlsFailure::Other(text) => ExchangeFailure::Tls(text),
    }
}
