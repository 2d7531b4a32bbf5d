//! Lengths and lines recorded from JMeter.

use std::net::IpAddr;

use super::*;
use crate::body::{Argument, BodySpec, FileArgument};
use crate::redirect::{circular_redirect, missing_location, redirect_url, too_many_redirects};
use crate::status::{ConnectFailure, Damage, Endpoint, Failure, StatusPart};
use crate::url::{Target, Url};

const DIRECT: Place<'static> = sampler(0);

const fn sampler(transactions: u32) -> Place<'static> {
    Place::Sampler {
        client: Client::HttpClient,
        transactions,
    }
}

fn fails(failure: Failure<'_>, host: &str, port: u16, secure: bool) -> Exception {
    let addresses: [IpAddr; 1] = [IpAddr::from([127, 0, 0, 1])];
    failure.exception(&Endpoint {
        host,
        port,
        addresses: &addresses,
        secure,
        proxied: false,
        limited: false,
    })
}

fn refused() -> Exception {
    fails(
        Failure::Connect(ConnectFailure::Refused),
        "127.0.0.1",
        1,
        false,
    )
}

/// The failure of a sampler with these fields on port 18555.
fn of(host: &str, path: &str) -> Exception {
    let target = Target {
        domain: host,
        port: "18555",
        path,
        method: "GET",
        ..Target::default()
    };
    match target.url() {
        Ok(url) => url.wire().unwrap_err(),
        Err(failure) => failure,
    }
}

#[test]
fn a_refused_connection_reads_as_recorded() {
    let trace = refused().trace(&DIRECT);
    let lines: Vec<&str> = trace.lines().collect();
    assert_eq!(
        lines[1],
        "\tat org.apache.http.impl.conn.DefaultHttpClientConnectionOperator.connect(DefaultHttpClientConnectionOperator.java:156)"
    );
    assert_eq!(
        lines[2],
        "\tat org.apache.jmeter.protocol.http.sampler.HTTPHC4Impl$JMeterDefaultHttpClientConnectionOperator.connect(HTTPHC4Impl.java:409)"
    );
    assert_eq!(
        lines[20],
        "\tat java.base/java.lang.Thread.run(Thread.java:840)"
    );
    assert_eq!(
        lines[21],
        "Caused by: java.net.ConnectException: Connection refused"
    );
    assert_eq!(
        lines[22],
        "\tat java.base/sun.nio.ch.Net.connect0(Native Method)"
    );
    assert_eq!(*lines.last().unwrap(), "\t... 19 more");
    assert!(trace.ends_with("more\n"));
    assert_eq!(trace.len() as u64, refused().trace_len(&DIRECT));
}

#[test]
fn a_limit_of_the_time_to_connect_shows_in_the_trace() {
    let addresses = [IpAddr::from([127, 0, 0, 1])];
    let refused = |secure| {
        let endpoint = Endpoint {
            host: "127.0.0.1",
            port: 1,
            addresses: &addresses,
            secure,
            proxied: false,
            limited: true,
        };
        Failure::Connect(ConnectFailure::Refused)
            .exception(&endpoint)
            .trace(&DIRECT)
    };
    assert_eq!(refused(false).len(), 2583);
    assert_eq!(refused(true).len(), 2717);
    assert_eq!(
        refused(false).lines().nth(22),
        Some("\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)")
    );
}

#[test]
fn places_have_the_recorded_lengths() {
    let redirect = Place::Redirect(&DIRECT);
    let resource = Place::Resource(&DIRECT);
    let pool = Place::Pool {
        client: Client::HttpClient,
        depth: 1,
    };
    for (place, length) in [
        (DIRECT, 2542),
        (sampler(1), 2542),
        (sampler(2), 2623),
        (sampler(3), 2704),
        (redirect, 3033),
        (resource, 3039),
        (Place::Redirect(&resource), 3530),
        (Place::Resource(&redirect), 3530),
        (pool, 2663),
        (Place::Redirect(&pool), 3154),
        (Place::Redirect(&sampler(3)), 3195),
    ] {
        assert_eq!(refused().trace_len(&place), length, "{place:?}");
    }
    assert!(redirect.is_redirect() && !resource.is_redirect());
    assert_eq!((Place::Redirect(&resource).depth(), pool.depth()), (1, 1));
}

#[test]
fn addresses_that_are_no_uri_have_the_recorded_lengths() {
    for (host, path, length) in [
        ("127.0.0.1", "/${x}", 1162),
        ("127.0.0.1", "/a?b=${x}", 1167),
        ("127.0.0.1", "/a#${x}", 1101),
        ("127.0.0.1", "/a%zz", 1272),
        ("127.0.0.1", "/a?b=%zz", 1275),
        ("${host}", "/a", 1165),
        ("a%zzb", "/a", 1268),
        ("", "http://u{s:p@h/x", 1159),
        ("", "http://", 1079),
        ("", "/a", 1117),
        ("", "http:///x", 1109),
    ] {
        assert_eq!(of(host, path).trace_len(&DIRECT), length, "{host} {path}");
    }
    assert_eq!(of("127.0.0.1", "/${x}").trace_len(&sampler(3)), 1324);
}

#[test]
fn malformed_addresses_have_the_recorded_lengths() {
    assert_eq!(of("", "http://[::g]/x").trace_len(&DIRECT), 1049);
    assert_eq!(of("", "http://h:port/x").trace_len(&DIRECT), 1214);
    assert_eq!(of("http://h", "/a").trace_len(&DIRECT), 814);
    for (protocol, host, port, length) in [
        ("foo", "127.0.0.1", "18555", 799),
        ("foo", "127.0.0.1", "", 847),
        ("${p}", "127.0.0.1", "18555", 800),
        ("", "http://h", "", 862),
        ("", "127.0.0.1", "-5", 801),
    ] {
        let target = Target {
            protocol,
            domain: host,
            port,
            path: "/a",
            method: "GET",
            query: "",
        };
        let failure = target.url().unwrap_err();
        assert_eq!(failure.trace_len(&DIRECT), length, "{protocol} {host}");
        assert_eq!(failure.trace_len(&sampler(2)), length + 81);
    }
}

#[test]
fn connections_fail_with_the_recorded_lengths() {
    let connect = |failure| Failure::Connect(failure);
    for (failure, host, port, secure, length) in [
        (
            connect(ConnectFailure::Refused),
            "localhost",
            1,
            false,
            2551,
        ),
        (connect(ConnectFailure::Refused), "127.0.0.1", 1, true, 2676),
        (
            connect(ConnectFailure::TimedOut),
            "127.0.0.1",
            18556,
            false,
            2476,
        ),
        (
            connect(ConnectFailure::TimedOut),
            "127.0.0.1",
            18556,
            true,
            2610,
        ),
        (
            Failure::UnknownHost { remembered: false },
            "nosuch.invalid",
            80,
            false,
            2495,
        ),
        (
            Failure::UnknownHost { remembered: true },
            "nosuch.invalid",
            80,
            true,
            2209,
        ),
        (
            Failure::UnknownToNameServers,
            "some.test",
            18999,
            false,
            2145,
        ),
    ] {
        assert_eq!(
            fails(failure, host, port, secure).trace_len(&DIRECT),
            length,
            "{failure:?}"
        );
    }
}

#[test]
fn exchanges_fail_with_the_recorded_lengths() {
    use Damage::*;
    use StatusPart::*;
    for (failure, length) in [
        (Failure::ReadTimeout, 2677),
        (Failure::NoResponse, 2068),
        (Failure::Reset, 2599),
        (Failure::MalformedHead, 2245),
        (Failure::BadHeader("no colon here"), 2111),
        (Failure::BadStatusLine(NoCode, "HTTP/1.1"), 2521),
        (Failure::BadStatusLine(Code, "HTTP/1.1 abc OK"), 2535),
        (Failure::BadStatusLine(Range, "HTTP/1.1 99 OK"), 1732),
        (Failure::BadStatusLine(Major, "HTTP/x.y 200 OK"), 2620),
        (Failure::BadStatusLine(Minor, "HTTP/1.y 200 OK"), 2620),
        (Failure::BadStatusLine(Version, "HTTP/2 200 OK"), 2604),
        (Failure::Damaged(NotGzip), 1629),
        (Failure::Damaged(GzipMethod), 1641),
        (Failure::Damaged(GzipHeaderEnd), 1683),
        (Failure::Damaged(GzipData("invalid block type")), 1517),
        (Failure::Damaged(GzipDataEnd), 1611),
        (Failure::Damaged(GzipTrailer), 1518),
        (Failure::Damaged(GzipTrailerEnd), 1730),
        (Failure::Damaged(DeflateHeaderEnd), 1496),
        (Failure::Damaged(Deflate("incorrect data check")), 1437),
        (Failure::Damaged(DeflateEnd), 1529),
        (
            Failure::TruncatedBody {
                expected: 100,
                received: 5,
            },
            1319,
        ),
        (
            Failure::TruncatedChunk {
                expected: 16,
                received: 3,
            },
            1273,
        ),
        (Failure::MissingClosingChunk, 1464),
        (Failure::BadChunkHeader("zz"), 1423),
        (Failure::MissingChunkEnd, 1441),
        (Failure::UnendedChunk, 1432),
        (Failure::NegativeChunk, 1333),
        (Failure::BadTrailer("foo"), 1810),
    ] {
        let exception = fails(failure, "127.0.0.1", 18555, false);
        assert_eq!(exception.trace_len(&DIRECT), length, "{failure:?}");
    }
}

#[test]
fn a_closed_tls_handshake_has_the_recorded_length() {
    let exception = fails(Failure::TlsClosed, "127.0.0.1", 18555, true);
    assert_eq!(exception.trace_len(&DIRECT), 3124);
}

#[test]
fn redirects_fail_with_the_recorded_lengths() {
    let url = Url::parse("http://127.0.0.1:18555/noloc").unwrap();
    assert_eq!(missing_location("GET", &url).trace_len(&DIRECT), 852);
    let circle = Url::parse("http://127.0.0.1:18555/loop").unwrap();
    assert_eq!(circular_redirect(&circle).trace_len(&DIRECT), 1554);
    assert_eq!(too_many_redirects(20).trace_len(&DIRECT), 1108);
    let failure = redirect_url(&url, "foo://x/y", true).unwrap_err();
    assert_eq!(failure.trace_len(&DIRECT), 1295);
    let failure = redirect_url(&url, "http://[::g]/x", true).unwrap_err();
    assert_eq!(failure.trace_len(&DIRECT), 1497);
}

/// The length of the trace of a body that cannot be put together.
fn of_body(spec: BodySpec<'_>) -> u64 {
    spec.build(None, |_| 0).unwrap_err().trace_len(&DIRECT)
}

const FORM: BodySpec<'static> = BodySpec {
    method: "POST",
    raw: false,
    multipart: true,
    browser_compatible: false,
    content_encoding: "",
    arguments: &[],
    files: &[],
    following_redirect: false,
    add_content_type_if_missing: false,
    pieces: &[],
};

fn argument(content_type: &'static str) -> Argument<'static> {
    Argument {
        name: "x",
        value: "1",
        metadata: "=",
        always_encode: true,
        content_type,
    }
}

fn file(param_name: &'static str, mime_type: &'static str) -> FileArgument<'static> {
    FileArgument {
        path: "a.txt",
        resolved: std::path::Path::new("/a.txt"),
        param_name,
        mime_type,
    }
}

#[test]
fn bodies_that_cannot_be_put_together_have_the_recorded_lengths() {
    let files = [
        (file("f", ""), 1062),
        (file("f", "text/plain; charset=nonsense"), 1263),
        (file("f", "text/plain; charset=a b"), 1454),
        (file(" ", "a/b"), 1229),
    ];
    for (file, length) in files {
        let files = &[file];
        assert_eq!(of_body(BodySpec { files, ..FORM }), length, "{file:?}");
    }
    let arguments = [
        (argument(" "), 1124),
        (argument("a,b"), 1140),
        (argument(";"), 1063),
        (argument("a/b; charset=zzz"), 1258),
    ];
    for (argument, length) in arguments {
        let arguments = &[argument];
        let found = of_body(BodySpec { arguments, ..FORM });
        assert_eq!(found, length, "{argument:?}");
    }
    for (content_encoding, length) in [("nonsense", 1060), ("a b", 1251)] {
        let found = of_body(BodySpec {
            content_encoding,
            ..FORM
        });
        assert_eq!(found, length, "{content_encoding}");
    }
    let method = "G T";
    assert_eq!(of_body(BodySpec { method, ..FORM }), 891);
}
