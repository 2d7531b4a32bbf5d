//! Result files as JMeter writes them, and as they are found after a crash. Golden values are what JMeter 5.6.3's
//! dashboard says of the same rows.

use std::path::Path;
use std::rc::Rc;

use drumfire_report::jtl::{self, Jtl, JtlOptions, Selection};
use drumfire_report::{RunFile, statistics_json};
use drumfire_results::SaveConfig;
use jiff::tz::TimeZone;
use serde_json::Value;

const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";
const ROWS: &str = "\
1700000000000,100,Home,200,OK,TG 1-1,text,true,,1000,120,1,1,http://127.0.0.1/,90,0,10
1700000000200,200,Login,200,OK,TG 1-1,text,true,,2000,130,1,1,http://127.0.0.1/l,150,0,0
1700000000500,900,Home,500,Oops,TG 1-1,text,false,,300,120,1,1,http://127.0.0.1/,800,0,0
1700000001500,60,Login,200,OK,TG 1-1,text,false,Test failed: text expected,2000,130,1,1,http://127.0.0.1/l,50,0,0
1700000001600,1600,Buy,200,\"Number of samples in transaction : 2, number of failing samples : 1\",TG 1-1,,false,,4000,260,1,1,null,0,7,0
1700000003600,33,Home,200,OK,TG 1-2,text,true,,1000,120,1,2,http://127.0.0.1/,30,0,3
1700000003633,34,Home-0,302,Moved,TG 1-2,text,true,,1000,120,1,2,http://127.0.0.1/,30,0,3
";

fn read_with(text: &str, options: &JtlOptions) -> Result<Jtl, String> {
    jtl::read(Path::new("run.jtl"), text.as_bytes(), options).map_err(|error| error.to_string())
}

fn read(text: &str) -> Jtl {
    read_with(text, &JtlOptions::default()).expect("this file is good")
}

fn refused(text: &str) -> String {
    read_with(text, &JtlOptions::default()).expect_err("this file is not good")
}

#[test]
fn statistics_are_those_of_jmeters_dashboard() {
    let run = RunFile::of_result_file(
        Path::new("run.jtl"),
        read(&(HEADER.to_owned() + ROWS)).recording,
    );
    let all: Value = serde_json::from_str(&statistics_json(&run, [None; 3])).expect("it is JSON");
    let total = serde_json::json!({
        "transaction": "Total", "sampleCount": 6, "errorCount": 2, "errorPct": 33.333332_f32,
        "meanResTime": 221.16666666666666, "medianResTime": 80.0, "minResTime": 33.0, "maxResTime": 900.0,
        "pct1ResTime": 900.0, "pct2ResTime": 900.0, "pct3ResTime": 900.0,
        "throughput": 1.636214889555495, "receivedKBytesPerSec": 1.9440704254158714, "sentKBytesPerSec": 0.1970701527133897
    });
    for (name, value) in total.as_object().expect("an object") {
        let found = &all["Total"][name];
        match (value.as_f64(), found.as_f64()) {
            (Some(value), Some(found)) => assert!(
                (value - found).abs() < 1e-6,
                "{name}: {found} is not {value}"
            ),
            _ => assert_eq!(found, value, "{name}"),
        }
    }
    assert_eq!(all["Login"]["medianResTime"], 130.0);
    assert_eq!(all["Login"]["pct1ResTime"], 200.0);
    assert_eq!(
        (&all["Buy"]["sampleCount"], &all["Buy"]["throughput"]),
        (&1.into(), &0.625.into())
    );
    assert_eq!(all.as_object().expect("an object").len(), 5);
}

/// 300 rows with failures, a transaction and a label beyond ASCII, and what JMeter 5.6.3 (`-g`) makes of them.
#[test]
fn every_field_is_that_of_a_recorded_dashboard() {
    let rows = include_str!("../data/dashboard.csv");
    let run = RunFile::of_result_file(Path::new("dashboard.csv"), read(rows).recording);
    let parse = |text: &str| -> Value { serde_json::from_str(text).expect("it is JSON") };
    let found = parse(&statistics_json(&run, [None; 3]));
    let expected = parse(include_str!("../data/dashboard.json"));
    let names = |all: &Value| -> Vec<String> {
        let all = all.as_object().expect("an object");
        let mut names: Vec<String> = all.keys().cloned().collect();
        names.sort();
        names
    };
    assert_eq!(names(&found), names(&expected));
    for label in names(&expected) {
        assert_eq!(names(&found[&label]), names(&expected[&label]));
        for field in names(&expected[&label]) {
            let (found, expected) = (&found[&label][&field], &expected[&label][&field]);
            match (found.as_f64(), expected.as_f64()) {
                // JMeter's error share is a float, its rates are doubles.
                (Some(found), Some(expected)) => assert!(
                    (found - expected).abs() <= expected.abs() * 1e-6,
                    "{label}, {field}: {found} is not {expected}"
                ),
                _ => assert_eq!(found, expected, "{label}, {field}"),
            }
        }
    }
}

#[test]
fn a_row_without_an_end_is_refused_in_bounded_memory() {
    use std::io::Read as _;
    let options = JtlOptions {
        row_bytes: 1 << 20,
        ..JtlOptions::default()
    };
    let row = "1700000000000,5,a,200,OK,t,text,true,,1,1,1,1,u,1,0,0\n";
    let rows = format!("{HEADER}{}", row.repeat(100_000));
    let whole = jtl::read(Path::new("r.jtl"), rows.as_bytes(), &options);
    assert_eq!(whole.expect("its rows are short").rows, 100_000);
    let endless = rows.as_bytes().chain(std::io::repeat(b'x'));
    let error =
        jtl::read(Path::new("r.jtl"), endless, &options).expect_err("the last row never ends");
    assert!(error.to_string().contains("drumfire.max_row_bytes"));
    let xml = b"<testResults>\n<sample t='1' ts='1700000000000' lb='".as_slice();
    let endless = xml.chain(std::io::repeat(b'x'));
    let error = jtl::read(Path::new("r.jtl"), endless, &options).expect_err("the label never ends");
    assert!(error.to_string().contains("drumfire.max_row_bytes"));
}

#[test]
fn other_percentiles_may_be_asked_for() {
    let rows: String = (1..=9)
        .map(|ms| format!("1700000000000,{ms},a,200,OK,t,text,true,,1,1,1,1,u,1,0,0\n"))
        .collect();
    let run = RunFile::of_result_file(
        Path::new("run.jtl"),
        read(&(HEADER.to_owned() + &rows)).recording,
    );
    let all: Value = serde_json::from_str(&statistics_json(&run, [Some(10.0), None, Some(85.0)]))
        .expect("it is JSON");
    // DescriptiveStatistics goes between neighbours: 0.85 of 10 is 8.5.
    let row = &all["a"];
    assert_eq!(
        (
            &row["pct1ResTime"],
            &row["pct2ResTime"],
            &row["pct3ResTime"]
        ),
        (&1.0.into(), &9.0.into(), &8.5.into())
    );
}

#[test]
fn any_delimiter_any_columns_any_order() {
    for delimiter in ["\t", ";", "|"] {
        let text = "label,success,elapsed,timeStamp,host\na,true,5,1700000000000,x\na,false,7,1700000000005,x\n".replace(',', delimiter);
        let jtl = read(&text);
        let label = &jtl.recording.labels[0];
        assert_eq!(
            (jtl.rows, label.count, label.errors, label.service.max()),
            (2, 2, 1, 7_000),
            "{delimiter:?}"
        );
        assert_eq!(jtl.warnings, [""; 0]);
    }
}

#[test]
fn without_a_header_the_columns_are_those_of_the_properties() {
    let jtl = read(ROWS);
    assert_eq!(jtl.rows, 7);
    assert!(
        jtl.warnings[0].contains("jmeter.save.saveservice"),
        "{:?}",
        jtl.warnings
    );
    assert_eq!(jtl.recording.errors.list().len(), 2);
    let columns = SaveConfig {
        message: false,
        thread_name: false,
        data_type: false,
        failure_message: false,
        bytes: false,
        sent_bytes: false,
        thread_counts: false,
        url: false,
        latency: false,
        idle_time: false,
        connect_time: false,
        ..SaveConfig::default()
    };
    let jtl = read_with(
        "1700000000000,5,a,200,true\n",
        &JtlOptions {
            columns,
            ..JtlOptions::default()
        },
    )
    .expect("it is good");
    assert_eq!((jtl.rows, jtl.recording.labels[0].errors), (1, 0));
}

#[test]
fn texts_may_hold_delimiters_quotes_and_line_ends() {
    let rows = "1700000000000,5,\"a, \"\"b\"\"\nc\",500,\"x\r\ny\",t,text,false,,1,1,1,1,u,1,0,0\n1700000000000,5,d,200,OK,t,text,true,,1,1,1,1,u,1,0,0\n";
    let jtl = read(&(HEADER.to_owned() + rows));
    let labels: Vec<&str> = jtl
        .recording
        .labels
        .iter()
        .map(|label| label.label.as_str())
        .collect();
    assert_eq!(labels, ["a, \"b\"\nc", "d"]);
    assert_eq!(jtl.recording.errors.list()[0].message, "x\r\ny");
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out_with_a_warning() {
    for end in [
        "1700000009",
        "1700000009000,12,Ho",
        "1700000009000,12,\"Ho",
        "1700000009000,12,Home,200,OK,TG 1-1,text,tr",
    ] {
        let jtl = read(&format!("{HEADER}{ROWS}{end}"));
        assert_eq!((jtl.rows, jtl.warnings.len()), (7, 1), "{end}");
        assert!(
            jtl.warnings[0].starts_with("the last line (9) is cut off"),
            "{:?}",
            jtl.warnings
        );
    }
}

#[test]
fn a_bad_line_is_named_with_its_remedy() {
    let rows = ROWS.replacen(",200,Login", ",20x0,Login", 1);
    let told = refused(&format!("{HEADER}{rows}"));
    assert!(
        told.starts_with("run.jtl:3: column elapsed: '20x0' is not a number\nhint: "),
        "{told}"
    );
    let rows = ROWS.replacen("1700000000200,200,", "", 1);
    assert!(
        refused(&format!("{HEADER}{rows}"))
            .starts_with("run.jtl:3: 15 fields where 17 are expected\nhint: ")
    );
    assert!(
        refused("elapsed,label,success\n1,a,true\n")
            .starts_with("run.jtl:1: there is no column timeStamp\nhint: ")
    );
    assert!(refused("").starts_with("run.jtl: the file is empty\nhint: "));
}

#[test]
fn headers_of_files_that_were_put_together_name_the_columns_from_there_on() {
    assert_eq!(
        read(&format!("\u{feff}{HEADER}{ROWS}{HEADER}{ROWS}")).rows,
        14
    );
    let other = "elapsed,timeStamp,success,label\n70,1700000009000,false,Home\n";
    for text in [
        format!("{HEADER}{ROWS}{other}"),
        format!("{ROWS}{other}"),
        format!("{other}{HEADER}{ROWS}"),
    ] {
        let jtl = read(&text);
        let home = jtl.recording.labels.iter();
        let home = home.filter(|label| label.label == "Home").map(|label| {
            let longest = label.service.max() / 1000;
            (label.count, label.errors, longest)
        });
        assert_eq!(home.collect::<Vec<_>>(), [(4, 2, 900)], "{text}");
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let row = |i: i64| {
        format!(
            "{},{},a,200,OK,t,text,{},,1,1,1,1,u,1,0,0\n",
            1_700_000_000_000 + i * 700,
            i % 97,
            i % 10 != 0
        )
    };
    let in_order: String = (0..3_000).map(row).collect();
    let backwards: String = (0..3_000).rev().map(row).collect();
    // As if the second half had been written first, and then both at once.
    let mixed: String = (0..3_000).map(|i| row((i * 1_501) % 3_000)).collect();
    let expected = read(&(HEADER.to_owned() + &in_order)).recording;
    for text in [backwards, mixed] {
        let found = read(&(HEADER.to_owned() + &text)).recording;
        assert_eq!(found.rows(), expected.rows());
        assert!(found.timeline.total() == expected.timeline.total());
        assert!(found.timeline.label(0) == expected.timeline.label(0));
    }
}

#[test]
fn columns_may_be_missing_but_for_the_time_stamp_and_the_elapsed_time() {
    let jtl = read("timeStamp,elapsed\n1700000000000,5\n1700000000005,7\n");
    let label = &jtl.recording.labels[0];
    assert_eq!(
        (label.label.as_str(), label.count, label.errors),
        ("", 2, 0)
    );
    let jtl = read(
        "timeStamp,elapsed,label,responseCode,success\n1700000000000,5,a,200,true\n1700000000005,7,a,500,false\n",
    );
    assert_eq!(jtl.recording.errors.list()[0].code, "500");
    for header in ["timeStamp,label,success", "label,elapsed,success"] {
        assert!(refused(&format!("{header}\n1,a,true\n")).contains("there is no column"));
    }
}

#[test]
fn time_stamps_may_be_dates_and_may_be_the_end() {
    let options = JtlOptions {
        stamp_at_start: false,
        zone: TimeZone::UTC,
        ..JtlOptions::default()
    };
    let jtl = read_with(
        "timeStamp,elapsed,label,success\n2023/11/14 22:13:20.000,250,a,true\n",
        &options,
    )
    .expect("it is good");
    let label = &jtl.recording.labels[0];
    assert_eq!(
        (label.first_start_ms, label.last_end_ms),
        (1_699_999_999_750, 1_700_000_000_000)
    );
}

#[test]
fn aggregated_rows_count_for_all_their_samples() {
    let jtl = read(
        "timeStamp,elapsed,label,SampleCount,ErrorCount\n1700000000000,5,a,10,1\n1700000000000,5,a,10,0\n",
    );
    assert_eq!(
        (
            jtl.recording.labels[0].count,
            jtl.recording.labels[0].errors
        ),
        (20, 1)
    );
}

const XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testResults version="1.2">
<httpSample t="100" it="0" lt="90" ct="10" ts="1700000000000" s="true" lb="Home &amp; away" rc="200" rm="OK" tn="TG 1-1" dt="text" by="1000" sby="120" ng="1" na="1">
  <httpSample t="40" it="0" lt="30" ct="3" ts="1700000000000" s="true" lb="Home-0" rc="302" rm="Moved" tn="TG 1-1" dt="text" by="500" sby="60" ng="1" na="1"/>
</httpSample>
<httpSample t="200" ts="1700000000200" s="false" lb="Login" rc="200" rm="OK" tn="TG 1-1" by="2000" sby="130" na="1">
  <assertionResult><name>says hello</name><failure>true</failure><error>false</error><failureMessage>no &lt;hello&gt;&#x0;</failureMessage></assertionResult>
  <requestHeader class="java.lang.String">Accept: */*
</requestHeader>
  <responseData class="java.lang.String">&lt;html/&gt;</responseData>
  <java.net.URL>http://127.0.0.1/l</java.net.URL>
</httpSample>
<sample t="300" ts="1700000000500" s="true" lb="Buy" rc="200" rm="Number of samples in transaction : 2, number of failing samples : 0" tn="TG 1-1">
  <httpSample t="150" ts="1700000000500" s="true" lb="Cart" rc="200" rm="OK" tn="TG 1-1"/>
  <httpSample t="150" ts="1700000000650" s="true" lb="Pay" rc="200" rm="OK" tn="TG 1-1"/>
</sample>
"#;

#[test]
fn xml_counts_samples_with_their_sub_results_once() {
    let jtl = read(&format!("{XML}</testResults>\n"));
    let labels: Vec<_> = jtl
        .recording
        .labels
        .iter()
        .map(|label| (label.label.as_str(), label.transaction, label.bytes))
        .collect();
    assert_eq!(
        labels,
        [
            ("Home & away", false, 1000),
            ("Login", false, 2000),
            ("Buy", true, 0),
            ("Cart", false, 0),
            ("Pay", false, 0)
        ]
    );
    assert_eq!(jtl.recording.total().count, 4);
    assert_eq!((jtl.rows, jtl.warnings.len()), (3, 0));
}

#[test]
fn xml_shows_the_first_failing_sample() {
    let jtl = read(&format!("{XML}</testResults>\n"));
    let kinds = jtl.recording.errors.list();
    let first = kinds[0].first.as_ref().expect("the first sample");
    assert_eq!(kinds[0].message, "no <hello>\u{fffd}");
    assert_eq!(first.assertions, ["says hello: no <hello>\u{fffd}"]);
    assert_eq!(
        (first.response_body.as_str(), first.url.as_str()),
        ("<html/>", "http://127.0.0.1/l")
    );
    assert_eq!(first.request_headers, "Accept: */*\n");
}

#[test]
fn xml_that_was_cut_off_is_read_up_to_there() {
    for end in [
        "",
        "<httpSample t=\"1",
        "<httpSample t=\"1\" ts=\"1700000000900\" s=\"true\" lb=\"x\"><res",
    ] {
        let jtl = read(&format!("{XML}{end}"));
        assert_eq!((jtl.rows, jtl.warnings.len()), (3, 1), "{end}");
    }
    let told = refused("<testResults version=\"1.2\"><httpSample t=\"1\"/></testResults>");
    assert!(
        told.starts_with("run.jtl: sample 1: there is no time stamp (ts)\nhint: "),
        "{told}"
    );
}

#[test]
fn labels_and_a_stretch_of_time_may_be_chosen() {
    let selection = Selection {
        label: Some(Rc::new(|label| {
            label.starts_with("Home") || label == "Cart"
        })),
        from_ms: Some(1_700_000_000_500),
        to_ms: Some(1_700_000_003_600),
    };
    let options = JtlOptions {
        selection,
        ..JtlOptions::default()
    };
    let counted = |text: &str| -> Vec<(String, u64)> {
        let recording = read_with(text, &options).expect("it is good").recording;
        let labels = recording.labels.into_iter();
        let used = labels.filter(|label| label.count > 0);
        used.map(|label| (label.label, label.count)).collect()
    };
    assert_eq!(
        counted(&(HEADER.to_owned() + ROWS)),
        [("Home".to_owned(), 2)]
    );
    // The transaction is not wished for; what is inside it is.
    assert_eq!(
        counted(&format!("{XML}</testResults>")),
        [("Cart".to_owned(), 1)]
    );
}

#[test]
fn the_stretch_of_time_comes_from_jmeters_properties() {
    let selection = |format: Option<&'static str>, end: &'static str| {
        Selection::from_properties(&|name: &str| {
            match name {
                "jmeter.reportgenerator.start_date" => Some("20240131130005"),
                "jmeter.reportgenerator.end_date" => Some(end),
                "jmeter.reportgenerator.date_format" => format,
                _ => None,
            }
            .map(str::to_owned)
        })
    };
    let there = jiff::civil::date(2024, 1, 31).at(13, 0, 5, 0);
    let there = there.to_zoned(TimeZone::system()).expect("a moment");
    let chosen = selection(None, "").expect("a good date");
    assert_eq!(
        (chosen.from_ms, chosen.to_ms),
        (Some(there.timestamp().as_millisecond()), None)
    );
    let refused = selection(Some("yyyyMMddHHmmss"), "tomorrow").expect_err("no date");
    assert_eq!(
        refused.to_string(),
        "jmeter.reportgenerator.end_date: 'tomorrow' is not a date of the form yyyyMMddHHmmss \
         (jmeter.reportgenerator.date_format)"
    );
    assert!(selection(Some("HH:mm"), "13:00").is_err());
}
