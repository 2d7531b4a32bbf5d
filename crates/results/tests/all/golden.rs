//! Rows against what JMeter 5.6.3's `CSVSaveService` and `SaveService` wrote for the same samples.

#![allow(clippy::unwrap_used)]

use std::rc::Rc;

use drumfire_results::{
    AssertionResult, DataType, RowFormat, Sample, SampleKind, SaveConfig, SharedText,
};
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn timed(label: &str, start_ms: i64, end_ms: i64, idle_ms: i64) -> Sample {
    let mut sample = Sample::new(label.into(), "".into());
    sample.start_ms = start_ms;
    sample.idle_ms = idle_ms;
    sample.set_end(end_ms);
    sample
}

fn some(text: &str) -> Option<Rc<str>> {
    Some(text.into())
}

/// A sub-result of a sub-result. Its thread name comes from `broken`, which JMeter built on its main thread.
fn deep() -> Sample {
    let mut deep = timed("deep", 1_700_000_000_150, 1_700_000_000_160, 0);
    deep.set_ok();
    deep.bytes = 6;
    deep
}

fn redirect() -> Sample {
    let mut sub = timed("sub", 1_700_000_000_130, 1_700_000_000_200, 0);
    sub.kind = SampleKind::Http;
    sub.code = "302".into();
    sub.message = "Found".into();
    sub.success = true;
    sub.header_bytes = 10;
    sub.sent_bytes = 3;
    sub.method = Some("GET".into());
    sub.data_type = DataType::Binary;
    sub.url = some("http://127.0.0.1:1/r");
    sub
}

fn broken() -> Sample {
    let mut sub = timed("sub2", 1_700_000_000_140, 1_700_000_000_700, 0);
    sub.thread_name = "main".into();
    sub.kind = SampleKind::Http;
    sub.code = "Non HTTP response code: java.net.X".into();
    sub.body_bytes = 9;
    sub.add_child(deep(), true);
    sub
}

fn page() -> Sample {
    let mut page = timed(
        "Home, \"page\" <1>",
        1_700_000_000_123,
        1_700_000_000_523,
        30,
    );
    page.kind = SampleKind::Http;
    page.thread_name = "Group é 1-2".into();
    page.code = "404".into();
    page.message = "Not\nFound & gone".into();
    page.data_type = DataType::Text;
    page.encoding = Some("iso-8859-1".into());
    page.header_bytes = 120;
    page.body_bytes = 5;
    page.sent_bytes = 77;
    page.set_thread_with_children(&"Group é 1-2".into(), 2, 5);
    page.url = some("http://127.0.0.1:1/a?b=c&d='e'");
    page.latency_ms = 11;
    page.connect_ms = 3;
    page.request_headers = some("A: b\nC: \"d\"\n");
    page.response_headers = some("HTTP/1.1 404 Not Found\r\nX: y\n");
    page.response_data = Some(b"h\xe9<p>".into());
    page.method = Some("POST".into());
    page.query_string = some("x=1&y=\t2");
    page.cookies = some("k=v");
    page.redirect_location = some("/else");
    page.result_file_name = some("out,1.bin");
    page.apply_assertion(AssertionResult {
        name: Some("Size".into()),
        ..AssertionResult::default()
    });
    page.apply_assertion(AssertionResult {
        name: Some("Text \"x\"".into()),
        failure: true,
        message: Some("expected <a>,\ngot 'b'".into()),
        ..AssertionResult::default()
    });
    page.apply_assertion(AssertionResult {
        name: Some("E".into()),
        error: true,
        message: Some(SharedText::EMPTY),
        ..AssertionResult::default()
    });
    page.add_child(redirect(), true);
    page.add_child(broken(), true);
    page
}

fn samples() -> [Sample; 3] {
    let mut plain = timed("Java Request", 1_700_000_001_000, 1_700_000_001_005, 0);
    plain.thread_name = "T 1-1".into();
    plain.set_ok();
    plain.data_type = DataType::Text;
    plain.response_data = Some(b"plain".into());
    plain.sampler_data = some("sent\u{1}");
    plain.bytes = 44;
    let empty = Sample::new("empty".into(), "T 1-1".into());
    let mut all = [page(), plain, empty];
    for sample in &mut all {
        sample.variables = vec![some("one, \"1\""), None];
    }
    all
}

/// Every switch on, as `new SampleSaveConfiguration(true)` has it.
fn all_switches(base: &SaveConfig, xml: &str) -> SaveConfig {
    let names = "time latency connectTime timestamp success label code message threadName dataType encoding assertions \
                 subresults responseData samplerData fieldNames responseHeaders requestHeaders responseDataOnError \
                 saveAssertionResultsFailureMessage url bytes sentBytes fileName hostname threadCounts sampleCount \
                 idleTime";
    let flags = names.split_whitespace().map(|name| (name, "true"));
    base.with_flags(flags.chain([("xml", xml)])).unwrap()
}

fn properties(extra: &[(&str, &str)]) -> SaveConfig {
    // JMeter's own jmeter.properties sets this one.
    let start = [("sampleresult.timestamp.start", "true")];
    SaveConfig::from_properties(&|name| {
        let found = extra.iter().chain(&start).find(|(key, _)| *key == name);
        found.map(|(_, value)| (*value).to_owned())
    })
    .unwrap()
}

fn format(config: SaveConfig) -> RowFormat {
    let variables = ["first".to_owned(), "second".to_owned()].into();
    RowFormat {
        zone: TimeZone::UTC,
        ..RowFormat::new(config, variables, "host-1".into())
    }
}

fn rows(format: &RowFormat) -> String {
    let mut out = Vec::new();
    if !format.config.xml {
        format.write_head(&mut out);
    }
    for sample in samples() {
        format.write_sample(&sample, &mut out);
    }
    String::from_utf8(out).unwrap()
}

macro_rules! golden {
    ($config:expr, $file:literal) => {
        let expected = include_str!(concat!("../data/", $file));
        for (number, (mine, theirs)) in rows(&format($config))
            .lines()
            .zip(expected.lines())
            .enumerate()
        {
            assert_eq!(mine, theirs, "{} line {}", $file, number + 1);
        }
        assert_eq!(rows(&format($config)), expected);
    };
}

#[test]
fn csv_with_all_columns() {
    golden!(all_switches(&properties(&[]), "false"), "all.csv");
}

#[test]
fn csv_by_default() {
    golden!(properties(&[]), "default.csv");
}

#[test]
fn csv_with_a_date_pattern_that_needs_quotes() {
    let pattern = [(
        "jmeter.save.saveservice.timestamp_format",
        "dd.MM.yyyy, HH:mm:ss",
    )];
    golden!(properties(&pattern), "dated.csv");
}

#[test]
fn xml_with_everything() {
    golden!(all_switches(&properties(&[]), "true"), "all.xml");
}

#[test]
fn xml_by_default() {
    let xml = [("jmeter.save.saveservice.output_format", "xml")];
    golden!(properties(&xml), "default.xml");
}

#[test]
fn xml_with_nothing() {
    golden!(
        properties(&[]).with_flags([("xml", "true")]).unwrap(),
        "none.xml"
    );
}

#[test]
fn a_stamp_without_a_format_leaves_its_field_out() {
    let none = [("jmeter.save.saveservice.timestamp_format", "none")];
    let flags = [
        ("timestamp", "true"),
        ("label", "true"),
        ("fieldNames", "true"),
    ];
    let mut format = format(properties(&none).with_flags(flags).unwrap());
    format.variables = [].into();
    let mut out = Vec::new();
    format.write_head(&mut out);
    format.write_sample(&timed("a", 1, 2, 0), &mut out);
    assert_eq!(String::from_utf8(out).unwrap(), "timeStamp,label\na\n");
}

#[test]
fn sub_results_are_written_eleven_deep() {
    let mut sample = timed("0", 1, 2, 0);
    for depth in 1..=15 {
        let mut outer = timed(&depth.to_string(), 1, 2, 0);
        outer.attach_child(sample, false);
        sample = outer;
    }
    let mut out = Vec::new();
    let csv = format(
        properties(&[])
            .with_flags([("label", "true"), ("subresults", "true")])
            .unwrap(),
    );
    assert_eq!(csv.write_sample(&sample, &mut out), 12);
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 12);
}

#[test]
fn response_data_in_an_unknown_charset_says_so() {
    let flags = [("xml", "true"), ("responseDataOnError", "true")];
    let mut format = format(properties(&[]).with_flags(flags).unwrap());
    format.variables = [].into();
    let mut sample = timed("a", 1, 2, 0);
    sample.data_type = DataType::Text;
    sample.encoding = Some("no-such".into());
    let mut out = Vec::new();
    format.write_sample(&sample, &mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "<sample>\n  <responseData class=\"java.lang.String\">Unsupported encoding in response data, cannot record: \
         java.io.UnsupportedEncodingException: no-such</responseData>\n</sample>\n"
    );
}

#[test]
fn a_new_xml_file_starts_with_its_instruction() {
    let pi = [
        ("jmeter.save.saveservice.xml_pi", "<?pi?>"),
        ("jmeter.save.saveservice.output_format", "xml"),
    ];
    let mut out = Vec::new();
    format(properties(&pi)).write_head(&mut out);
    assert_eq!(
        String::from_utf8(out).unwrap(),
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<?pi?>\n<testResults version=\"1.2\">\n"
    );
}

proptest! {
    #[test]
    fn quoted_rows_read_back(label in ".*", code in "[,;\t\"\r\na]*", message in "[^\0]*", delimiter in prop::sample::select(vec![',', ';', '\t', '|'])) {
        // The elapsed time comes first: the reader would take a byte order mark there as its own.
        let flags = [("time", "true"), ("label", "true"), ("code", "true"), ("message", "true"), ("success", "true")];
        let text = if delimiter == '\t' { "\\t".to_owned() } else { delimiter.to_string() };
        let base = properties(&[("jmeter.save.saveservice.default_delimiter", text.as_str())]);
        let format = format(base.with_flags(flags).unwrap());
        let mut sample = timed(&label, 1, 2, 0);
        sample.code = code.clone().into();
        sample.message = message.clone().into();
        sample.variables = vec![some(&message)];
        let mut out = Vec::new();
        format.write_sample(&sample, &mut out);
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter as u8).from_reader(out.as_slice());
        let row = reader.records().next().unwrap().unwrap();
        let fields: Vec<&str> = row.iter().collect();
        prop_assert_eq!(fields, ["1", label.as_str(), &code, &message, "false", &message, "null"]);
    }
}
