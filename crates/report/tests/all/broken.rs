//! The messages about broken result files: each with the exact text that users get.

use std::path::Path;

use drumfire_report::jtl::{JtlOptions, read};

const HEADER: &str = "timeStamp,elapsed,label,responseCode,success\n";
const NO_RESULTS: &str = "give a file that -l or a listener of a run wrote; for CSV without a header, set the jmeter.save.saveservice.* properties of that run";
const NO_LINES: &str = "this is not a result file: it does not consist of lines of text";
const NO_ROW: &str =
    ":1: this is not a result file: its first line is neither a header nor a row of 17 fields";

/// The message, or for a file that can be read in part the warning behind `warning: `.
fn told(bytes: &[u8]) -> String {
    match read(Path::new("r.jtl"), bytes, &JtlOptions::default()) {
        Ok(jtl) if jtl.warnings.is_empty() => format!("{} rows", jtl.rows),
        Ok(jtl) => format!("warning: {}", jtl.warnings.join("; ")),
        Err(error) => error.to_string(),
    }
}

fn check(cases: &[(&str, Vec<u8>, String)]) {
    for (name, bytes, expected) in cases {
        assert_eq!(told(bytes), *expected, "{name}");
    }
}

fn rows(rows: &str) -> Vec<u8> {
    format!("{HEADER}{rows}").into_bytes()
}

#[test]
fn files_of_other_kinds_are_refused() {
    let none = |what: &str| format!("r.jtl{what}\nhint: {NO_RESULTS}");
    let root = |name: &str| {
        none(&format!(
            ": this is not a result file: it starts with <{name}>"
        ))
    };
    let empty = "r.jtl: the file is empty\nhint: was the run stopped before its first sample, or is this another run's file?";
    let utf_16: Vec<u8> = HEADER.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check(&[
        ("empty", Vec::new(), empty.to_owned()),
        ("blank", b" \n\n".to_vec(), empty.to_owned()),
        (
            "page",
            b"<!DOCTYPE html><html></html>".to_vec(),
            root("html"),
        ),
        (
            "plan",
            b"<?xml version=\"1.0\"?><jmeterTestPlan/>".to_vec(),
            "r.jtl: this is not a result file: it starts with <jmeterTestPlan>\nhint: this is a plan: write `drumfire run PLAN.jmx`".to_owned(),
        ),
        ("json", b"{\"samples\": []}\n".to_vec(), none(NO_ROW)),
        ("text", b"hello world\n".to_vec(), none(NO_ROW)),
        (
            "binary",
            (0..=255).collect(),
            none(&format!(": {NO_LINES}")),
        ),
        ("UTF-16", utf_16, none(&format!(": {NO_LINES}"))),
        (
            "endless line",
            vec![b'a'; 3 << 20],
            none(&format!(": {NO_LINES}")),
        ),
    ]);
}

#[test]
fn bad_rows_are_named() {
    let write_again = "delete the line, or write the file again";
    let stamps = "milliseconds and dates such as 2024/01/31 13:00:05.250 are read";
    let good = "1700000000000,1,a,200,true\n";
    let at =
        |place: &str, message: &str, help: &str| format!("r.jtl:{place}: {message}\nhint: {help}");
    check(&[
        (
            "no elapsed time",
            b"timeStamp,label\n1,a\n".to_vec(),
            at(
                "1",
                "there is no column elapsed",
                "a report needs timeStamp and elapsed; run the plan with jmeter.save.saveservice.time=true and a timestamp_format other than none",
            ),
        ),
        (
            "header only",
            rows(""),
            "warning: there are no samples".to_owned(),
        ),
        (
            "letters",
            rows(&format!("{good}abc,1,b,200,true\n{good}")),
            at("3", "'abc' is not a time stamp", stamps),
        ),
        (
            "huge",
            rows(&format!("99999999999999999999,5,a,200,true\n{good}")),
            at("2", "'99999999999999999999' is not a time stamp", stamps),
        ),
        (
            "no number",
            rows(&format!("1700000000000,x,a,200,true\n{good}")),
            at("2", "column elapsed: 'x' is not a number", write_again),
        ),
        (
            "few fields",
            rows(&format!("1700000000000,1\n{good}")),
            at(
                "2",
                "2 fields where 5 are expected",
                &format!(
                    "{write_again}; with an unquoted delimiter in a text, no reader can tell the fields apart"
                ),
            ),
        ),
        (
            "cut off",
            rows(&format!("{good}17000")),
            "warning: the last line (3) is cut off and was left out: 1 fields where 5 are expected"
                .to_owned(),
        ),
        (
            "another charset",
            [HEADER.as_bytes(), b"1700000000000,1,caf\xe9,200,true\n"].concat(),
            "1 rows".to_owned(),
        ),
    ]);
}

#[test]
fn broken_xml_is_read_as_far_as_it_goes_and_entities_do_not_grow() {
    let of = |inner: &str| format!("<testResults version=\"1.2\">{inner}").into_bytes();
    let sample = "<httpSample t=\"1\" ts=\"1700000000000\" lb=\"a\" s=\"true\"/>";
    let entities: String = (0..30)
        .map(|level| format!("<!ENTITY e{} \"&e{level};&e{level};\">", level + 1))
        .collect();
    let laughs = format!(
        "<!DOCTYPE r [<!ENTITY e0 \"ha\">{entities}]><testResults><sample t=\"1\" ts=\"1\" lb=\"&e30;\" s=\"true\"/></testResults>"
    );
    check(&[
        ("laughs", laughs.into_bytes(), "1 rows".to_owned()),
        (
            "no number",
            of("<httpSample t=\"x\" ts=\"1\"/></testResults>"),
            "r.jtl: sample 1: t: 'x' is not a number\nhint: the file is not one that JMeter wrote; write it again".to_owned(),
        ),
        ("no end", of(sample), "warning: the file is cut off or damaged after sample 1; what comes before was read".to_owned()),
        (
            "cut off",
            of(&format!("{sample}<httpSample t=\"1\" ts=\"17")),
            "warning: the file is cut off or damaged after sample 1; what comes before was read".to_owned(),
        ),
    ]);
}
