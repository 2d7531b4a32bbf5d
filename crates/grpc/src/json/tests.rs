//! Messages to JSON and back. The recorded cases of `compat/` compare whole messages with the plugin's.

use crate::{PrintStyle, Schema, compile};

const PROTO: &str = r#"syntax = "proto3"; package t;
    import "google/protobuf/any.proto"; import "google/protobuf/timestamp.proto"; import "google/protobuf/struct.proto";
    enum Color { UNKNOWN = 0; RED = 1; }
    message Inner { int64 value = 1; Inner inner = 2; }
    message All {
        sint32 sint = 1; repeated fixed32 numbers = 2; map<string, Inner> by_name = 3; Color color = 4;
        oneof choice { string a_text = 5; Inner an_inner = 6; } optional bool flag = 7; bytes raw = 8;
        google.protobuf.Timestamp time = 9; google.protobuf.Any any = 10; google.protobuf.Value value = 11; double number = 12;
    }
    message Old { }"#;
const PROTO2: &str = r#"syntax = "proto2"; package old;
    enum Level { LOW = 1; HIGH = 2; }
    message Old {
        required int32 id = 1; optional string name = 2 [default = "nobody"]; optional Level level = 3;
        repeated int32 packed = 4 [packed = true]; optional group Part = 5 { optional int32 size = 1; }
    }"#;
const DEFAULTS: PrintStyle = PrintStyle {
    defaults: true,
    own_names: true,
};
const SET: PrintStyle = PrintStyle {
    defaults: false,
    own_names: false,
};

fn schema() -> Schema {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in [("t.proto", PROTO), ("old.proto", PROTO2)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let set = compile(folder.path(), &[]).expect("it is sound");
    Schema::of(&set).expect("its types are known")
}

fn there_and_back(json: &str, name: &str, style: PrintStyle) -> Result<String, String> {
    let schema = schema();
    let id = schema.message_named(name).expect("a message");
    let bytes = schema.encode(json, id).map_err(|error| error.to_string())?;
    let mut out = String::new();
    schema
        .print(&bytes, id, style, &mut out)
        .map_err(|error| error.to_string())?;
    Ok(out.replace('\n', "").replace("  ", ""))
}

#[test]
fn what_is_set_comes_back() {
    for json in [
        r#"{"sint": -3,"numbers": [1, 2],"byName": {"a": {"value": "7"}},"color": "RED"}"#,
        r#"{"aText": "x","flag": false,"raw": "AQ=="}"#,
        r#"{"anInner": {"inner": {"value": "-1"}},"time": "2024-02-29T00:00:00Z"}"#,
        r#"{"any": {"@type": "x/t.Inner","value": "5"},"value": {"a": [1.0, null]},"number": 1.0E30}"#,
    ] {
        assert_eq!(there_and_back(json, "t.All", SET).as_deref(), Ok(json));
    }
    let defaults = there_and_back("", "t.Inner", DEFAULTS);
    assert_eq!(defaults.as_deref(), Ok(r#"{"value": "0"}"#));
}

#[test]
fn texts_are_escaped_wherever_that_is_needed() {
    let plain = "é\u{2027}\u{202A}".repeat(20);
    for escaped in [
        r#"\""#,
        r"\n",
        r"\u0001",
        r"\u003c\u003d\u003e\u0026\u0027",
        r"\u2028",
        r"\u2029",
    ] {
        let before = (0..40).map(|length| "x".repeat(length));
        for before in before.chain([plain.clone()]) {
            let json = format!(r#"{{"aText": "{before}{escaped}{plain}"}}"#);
            assert_eq!(there_and_back(&json, "t.All", SET), Ok(json));
        }
    }
}

#[test]
fn proto2_has_defaults_groups_and_required_fields() {
    let json = r#"{"id": 1, "packed": [1, 300], "part": {"size": 2}, "level": "NONE"}"#;
    let shown =
        r#"{"id": 1,"name": "nobody","level": "LOW","packed": [1, 300],"part": {"size": 2}}"#;
    assert_eq!(
        there_and_back(json, "old.Old", DEFAULTS).as_deref(),
        Ok(shown)
    );
    let missing = there_and_back("{}", "old.Old", DEFAULTS);
    assert_eq!(
        missing,
        Err("the required field `id` is missing".to_owned())
    );
}

#[test]
fn faults_name_the_path_to_the_field() {
    for (json, fault) in [
        (
            r#"{"numbers": [1, -2]}"#,
            "in `numbers[1]`: `-2` is not of the type `fixed32`",
        ),
        (
            r#"{"byName": {"a": {"value": {}}}}"#,
            "in `byName.a.value`: an object is not of the type `int64`",
        ),
        (
            r#"{"anInner": 3}"#,
            "in `anInner`: expected an object for `t.Inner`, but found a number",
        ),
        (
            r#"{"aText": "", "anInner": {}}"#,
            "`anInner` and `aText` are of one `oneof`; leave one out",
        ),
        (r#"{"by_name": {}, "byName": {}}"#, "`by_name` is set twice"),
        (
            r#"{"numbers": 1}"#,
            "in `numbers`: expected an array, but found a number",
        ),
        (
            r#"{"numbers": [null]}"#,
            "in `numbers[0]`: null is not allowed",
        ),
        (
            r#"{"time": "today"}"#,
            "in `time`: `today` is not a time such as `2026-01-31T12:00:00Z`",
        ),
        (r#"{"raw": "%"}"#, "in `raw`: `%` is not base64"),
        (
            r#"{"any": {"a": 1}}"#,
            "in `any`: `@type` is missing, which names the message in `Any`",
        ),
        (
            r#"{"any": {"@type": "x/no"}}"#,
            "in `any`: the type `x/no` in `@type` is unknown",
        ),
        ("[]", "expected an object for `t.All`, but found an array"),
    ] {
        assert_eq!(
            there_and_back(json, "t.All", SET),
            Err(fault.to_owned()),
            "{json}"
        );
    }
}

#[test]
fn parts_of_a_message_are_merged_and_damaged_ones_refused() {
    let schema = schema();
    let id = schema.message_named("t.All").expect("a message");
    let mut out = String::new();
    // Two parts of `an_inner`, then a text, which clears it; then two parts again.
    let bytes = [
        0x32, 2, 8, 1, 0x2A, 1, b'x', 0x32, 2, 8, 2, 0x32, 2, 0x12, 0,
    ];
    schema.print(&bytes, id, SET, &mut out).expect("a message");
    assert_eq!(
        out.replace([' ', '\n'], ""),
        r#"{"anInner":{"value":"2","inner":{}}}"#
    );
    for damaged in [&[0x32, 9][..], &[0x2A, 1, 0xFF], &[0x12, 3, 1, 2, 3]] {
        assert!(
            schema.print(damaged, id, SET, &mut out).is_err(),
            "{damaged:?}"
        );
    }
    let deep: Vec<u8> = (0..150).fold(Vec::new(), |inner, _| {
        let mut outer = vec![0x12];
        crate::wire::put_varint(&mut outer, inner.len() as u64);
        [outer, inner].concat()
    });
    let inner = schema.message_named("t.Inner").expect("a message");
    assert!(schema.print(&deep, inner, SET, &mut out).is_err());
}

#[test]
fn examples_fit_their_messages() {
    let schema = schema();
    for name in ["t.All", "old.Old", "t.Inner", "t.Old"] {
        let id = schema.message_named(name).expect("a message");
        let example = schema.example(id);
        schema
            .encode(&example, id)
            .unwrap_or_else(|error| panic!("{name}: {error} in {example}"));
    }
    let inner = schema.message_named("t.Inner").expect("a message");
    let shown = schema.example(inner).replace([' ', '\n'], "");
    assert_eq!(
        shown,
        r#"{"value":0,"inner":{"value":0,"inner":{"value":0,"inner":{}}}}"#
    );
}

#[test]
fn no_bytes_and_no_text_make_it_panic() {
    let schema = schema();
    let id = schema.message_named("t.All").expect("a message");
    let text = schema.example(id);
    let bytes = schema.encode(&text, id).expect("it fits");
    // Knuth's generator; the same numbers each time.
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    for _ in 0..5000 {
        let mut damaged = bytes.clone();
        for _ in 0..=random(4) {
            let at = random(damaged.len());
            damaged[at] = random(256) as u8;
        }
        damaged.truncate(random(bytes.len() * 2).max(1));
        let mut out = String::new();
        let _ = schema.print(&damaged, id, DEFAULTS, &mut out);
        let mut letters: Vec<char> = text.chars().collect();
        for _ in 0..=random(3) {
            let at = random(letters.len());
            letters[at] = [
                '{', '}', '[', ']', '"', '\\', ',', ':', '-', '9', 'é', '/', '*',
            ][random(13)];
        }
        let _ = schema.encode(&letters.into_iter().collect::<String>(), id);
    }
}
