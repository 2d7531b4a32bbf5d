//! Responses that are broken in one way each, and what becomes of them: as recorded from JMeter 5.6.3.

use drumfire_testkit::program::{LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server};

/// The bytes that the server sends before it closes the connection, and the sample then: code, message and received bytes
/// (`-`: not compared, as with failures, whose size is that of Java's stack trace). `!` stands for `Non HTTP response code: ` and `Non HTTP response message: `, `HOST` for the server.
#[rustfmt::skip]
const RESPONSES: &[(&str, &[u8], &str)] = &[
    ("bytes", b"\0\x01\x02garbage\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("nothing", b"", "!org.apache.http.NoHttpResponseException|!HOST failed to respond|-"),
    ("text", b"hello world", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("http 0.9", b"<html>hi</html>", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("no status", b"HTTP/1.1\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("status of letters", b"HTTP/1.1 abc OK\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("negative status", b"HTTP/1.1 -200 OK\r\nContent-Length: 0\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("status 99", b"HTTP/1.1 99 OK\r\nContent-Length: 0\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("status 1000", b"HTTP/1.1 1000 OK\r\nContent-Length: 0\r\n\r\n", "1000|OK|39"),
    ("version of letters", b"HTTP/x.y 200 OK\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("http 2", b"HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("http 3", b"HTTP/3.0 200 OK\r\nContent-Length: 0\r\n\r\n", "200|OK|38"),
    ("header without a colon", b"HTTP/1.1 200 OK\r\nBad header\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("header without a name", b"HTTP/1.1 200 OK\r\n: x\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("half a head", b"HTTP/1.1 200 OK\r\nContent-Le", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("status line only", b"HTTP/1.1 200 OK", "200|OK|-"),
    ("early close", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "!org.apache.http.ConnectionClosedException|!Premature end of Content-Length delimited message body (expected: 10; received: 5)|-"),
    ("negative length", b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n12345", "200|OK|44"),
    ("huge length", b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n12345", "200|OK|62"),
    ("length of letters", b"HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n12345", "200|OK|45"),
    ("chunk size of letters", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n", "!org.apache.http.MalformedChunkCodingException|!Bad chunk header: zz|-"),
    ("negative chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n", "!org.apache.http.MalformedChunkCodingException|!Negative chunk size|-"),
    ("huge chunk cut off", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\nabc", "!org.apache.http.TruncatedChunkException|!Truncated chunk (expected size: 1,099,511,627,775; actual size: 3)|-"),
    ("chunk size overflow", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFFF\r\nabc", "!org.apache.http.MalformedChunkCodingException|!Bad chunk header: FFFFFFFFFFFFFFFFFFF|-"),
    ("chunk too long", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n0\r\n\r\n", "!org.apache.http.MalformedChunkCodingException|!Unexpected content at the end of chunk|-"),
    ("chunk cut off", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nabc", "!org.apache.http.TruncatedChunkException|!Truncated chunk (expected size: 10; actual size: 3)|-"),
    ("no last chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "!org.apache.http.ConnectionClosedException|!Premature end of chunk coded message body: closing chunk expected|-"),
    ("no chunk", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "!org.apache.http.ConnectionClosedException|!Premature end of chunk coded message body: closing chunk expected|-"),
    ("bad traile", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nfoo\r\n\r\n", "!org.apache.http.MalformedChunkCodingException|!Invalid footer: Invalid header: foo|-"),
    ("unknown transfer encoding", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nabc", "200|OK|48"),
    ("gzip that is none", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 16\r\n\r\nthis is not gzip", "!java.util.zip.ZipException|!Not in GZIP format|-"),
    ("gzip cut off", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3", "!java.io.EOFException|!Unexpected end of ZLIB input stream|-"),
    ("empty gzip", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", "200|OK|62"),
    ("gzip of garbage", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 20\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "!java.util.zip.ZipException|!invalid block type|-"),
    ("gzip with another check sum", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 34\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3F\x85\x87\x9e0\0\0\0\0\0\xcc\x01\0\0", "!java.util.zip.ZipException|!Corrupt GZIP trailer|-"),
    ("gzip with another length", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 34\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3F\x85\x87\x9e0\0\xdf\xf4;\xc2\0\0\0\x01", "!java.util.zip.ZipException|!Corrupt GZIP trailer|-"),
    ("gzip and rubbish", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 42\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3F\x85\x87\x9e0\0\xdf\xf4;\xc2\xcc\x01\0\0trailing", "200|OK|105"),
    ("gzip of another method", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 34\r\n\r\n\x1f\x8b\x07\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3F\x85\x87\x9e0\0\xdf\xf4;\xc2\xcc\x01\0\0", "!java.util.zip.ZipException|!Unsupported compression method|-"),
    ("half a gzip heade", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n\x1f\x8b\x08\0\0", "!java.io.EOFException|!null|-"),
    ("deflate of garbage", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 5\r\n\r\n\xff\xff\xff\xff\xff", "!java.util.zip.ZipException|!invalid block type|-"),
    ("deflate cut off", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 8\r\n\r\nx\x9c\xcbH\xcd\xc9\xc9\xcf", "!java.io.EOFException|!Unexpected end of ZLIB input stream|-"),
    ("deflate with another check sum", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 13\r\n\r\nx\x9c\xcbH\xcd\xc9\xc9\x07\0\x06,\x02x", "!java.util.zip.ZipException|!incorrect data check|-"),
    ("brotli that is none", b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 17\r\n\r\nnot brotli at all", "!java.io.IOException|!Brotli stream decoding failed|-"),
    ("unknown content encoding", b"HTTP/1.1 200 OK\r\nContent-Encoding: rot13\r\nContent-Length: 3\r\n\r\nabc", "200|OK|66"),
    ("minor version of letters", b"HTTP/1.y 200 OK\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("version without a dot", b"HTTP/11 200 OK\r\n\r\n", "!org.apache.http.client.ClientProtocolException|!null|-"),
    ("chunk without its line end", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc", "!org.apache.http.MalformedChunkCodingException|!CRLF expected at end of chunk|-"),
    ("gzip without its length", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03\xcbH\xcd\xc9\xc9W\xc8@'3F\x85\x87\x9e0\0\xdf\xf4;\xc2", "!java.io.EOFException|!null|-"),
    ("gzip of two bytes", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b", "!java.io.EOFException|!null|-"),
    ("gzip of nine bytes", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02", "!java.io.EOFException|!null|-"),
    ("gzip header only", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03", "!java.io.EOFException|!Unexpected end of ZLIB input stream|-"),
    ("deflate of one byte", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 1\r\n\r\nx", "!java.util.zip.ZipException|!Unexpected end of stream|-"),
    ("empty deflate", b"HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: 0\r\n\r\n", "200|OK|65"),
    ("empty brotli", b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 0\r\n\r\n", "200|OK|60"),
    ("brotli cut off", b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 6\r\n\r\n\x8b\x05\x80hel", "!java.io.IOException|!Brotli stream decoding failed|-"),
    ("gzip that looks too far back", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 14\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\x02\x03K\x04\x12\0", "!java.util.zip.ZipException|!invalid distance too far back|-"),
    ("switching protocols", b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "!org.apache.http.NoHttpResponseException|!HOST failed to respond|-"),
    ("continue and nothing", b"HTTP/1.1 100 Continue\r\n\r\n", "!org.apache.http.NoHttpResponseException|!HOST failed to respond|-"),
    ("redirect loop", b"HTTP/1.1 302 Found\r\nLocation: /loc\r\nContent-Length: 0\r\n\r\n", "!java.io.IOException|!Exceeded maximum number of redirects: 20|-"),
    ("redirect to no address", b"HTTP/1.1 302 Found\r\nLocation: http://[bad\r\nContent-Length: 0\r\n\r\n", "!java.net.MalformedURLException|!Invalid authority field: [bad|-"),
    ("redirect to nothing", b"HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n", "!java.io.IOException|!Exceeded maximum number of redirects: 20|-"),
    ("redirect without location", b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n", "!java.lang.IllegalArgumentException|!Missing location header in redirect for GET http://HOST/ HTTP/1.1|-"),
    ("redirect with a space", b"HTTP/1.1 302 Found\r\nLocation: /a b\r\nContent-Length: 0\r\n\r\n", "404|Not Found|-"),
    ("unknown charset", b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=nonsense\r\nContent-Length: 3\r\n\r\nabc", "200|OK|84"),
    ("bad cookie", b"HTTP/1.1 200 OK\r\nSet-Cookie: ;;;=\r\nContent-Length: 3\r\n\r\nabc", "200|OK|59"),
    ("nul in a heade", b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n", "200|OK|46"),
    ("latin 1 in a heade", b"HTTP/1.1 200 OK\r\nX: \xe9\r\nContent-Length: 0\r\n\r\n", "200|OK|44"),
    ("rubbish before the head", b"\r\n\r\njunk\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "200|OK|50"),
    ("bare line feeds", b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "200|OK|-"),
];

/// Writes the response data, so that bodies are read.
const READER: &str = r#"<ResultCollector guiclass="SimpleDataWriter" testclass="ResultCollector" testname="w"><objProp><name>saveConfig</name><value class="SampleSaveConfiguration"><xml>true</xml><label>true</label><code>true</code><message>true</message><bytes>true</bytes><responseData>true</responseData></value></objProp><stringProp name="filename">r.xml</stringProp></ResultCollector><hashTree/>"#;

fn plan(port: u16, listener: &str) -> String {
    let samplers: String = RESPONSES
        .iter()
        .enumerate()
        .map(|(number, (name, ..))| {
            format!(
                r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="{name}"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">/{number}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp><boolProp name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy><hashTree/>"#
            )
        })
        .collect();
    drumfire_testkit::plans::plan(&format!(
        r#"{listener}
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">1</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree>
{samplers}</hashTree>"#
    ))
}

fn attribute<'x>(element: &'x str, name: &str) -> &'x str {
    let start = format!(" {name}=\"");
    let rest = element.split_once(&start).map_or("", |(_, rest)| rest);
    rest.split('"').next().unwrap_or("")
}

#[test]
fn every_response_becomes_what_it_becomes_in_jmeter() {
    compare(READER, &[]);
}

#[test]
fn it_becomes_the_same_where_nothing_reads_bodies() {
    let written = [
        "-l",
        "r.xml",
        "-Jjmeter.save.saveservice.output_format=xml",
        "-Jjmeter.save.saveservice.subresults=false",
    ];
    compare("", &written);
}

fn compare(listener: &str, options: &[&str]) {
    let server = Server::start(|request| {
        let found = match request.target.as_str() {
            "/loc" => RESPONSES.iter().find(|(name, ..)| *name == "redirect loop"),
            target => target[1..]
                .parse()
                .ok()
                .and_then(|number: usize| RESPONSES.get(number)),
        };
        match found {
            Some((_, bytes, _)) => vec![ResponseStep::Send(bytes.to_vec()), ResponseStep::Close],
            None => vec![ResponseStep::Send(NOT_FOUND.to_vec()), ResponseStep::Close],
        }
    });
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let port = server.address().port();
    workshop.write("p.jmx", plan(port, listener));
    let words = [&["-n", "-t", "p.jmx"], options].concat();
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let xml = workshop.read("r.xml");
    let samples: Vec<&str> = xml.split("<httpSample").skip(1).collect();
    assert_eq!(samples.len(), RESPONSES.len());
    let mut wrong = Vec::new();
    for (number, ((name, _, expected), sample)) in RESPONSES.iter().zip(samples).enumerate() {
        let code = attribute(sample, "rc").replace("Non HTTP response code: ", "!");
        let message = attribute(sample, "rm")
            .replace("Non HTTP response message: ", "!")
            .replace(&format!("127.0.0.1:{port}"), "HOST")
            .replace(&format!("HOST/{number} "), "HOST/ ");
        let bytes = if expected.ends_with("|-") {
            "-"
        } else {
            attribute(sample, "by")
        };
        let found = format!("{code}|{message}|{bytes}");
        if attribute(sample, "lb") != *name || found != *expected {
            wrong.push(format!("{name}\n  wanted {expected}\n  found  {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
