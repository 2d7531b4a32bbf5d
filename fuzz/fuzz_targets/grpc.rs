//! Any bytes as frames and messages of gRPC, and as JSON for a request. What is printed can be encoded, and printed again.
#![no_main]

use std::sync::LazyLock;

use drumfire_grpc::{PrintStyle, Schema, compile_texts, messages_of};
use libfuzzer_sys::fuzz_target;

const PROTO: &str = r#"syntax = "proto3"; package t;
    enum Color { UNKNOWN = 0; RED = 1; }
    message All {
        sint32 sint = 1; repeated fixed32 numbers = 2; All inner = 3; Color color = 4; repeated string texts = 5;
        oneof choice { string a_text = 6; All an_inner = 7; } optional bool flag = 8; bytes raw = 9; double number = 10;
        map<string, int64> by_name = 11;
    }
    service S { rpc M(All) returns (All); }"#;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let set = compile_texts(&[("t.proto", PROTO)]).expect("it is sound");
    Schema::of(&set).expect("its types are known")
});

fuzz_target!(|bytes: &[u8]| {
    let message = SCHEMA.method("t.S/M").expect("it has one").input;
    let style = PrintStyle {
        defaults: false,
        own_names: false,
    };
    let print = |bytes: &[u8]| {
        let mut text = String::new();
        SCHEMA
            .print(bytes, message, style, &mut text)
            .map(|()| text)
    };
    let framed: usize = messages_of(bytes).map(|message| message.len() + 5).sum();
    assert!(framed <= bytes.len());
    // As in Java, a map has each of its keys once only after its JSON was read.
    let again = |text: &str| print(&SCHEMA.encode(text, message).ok()?).ok();
    if let Ok(text) = print(bytes)
        && let Some(text) = again(&text)
    {
        assert_eq!(again(&text).as_deref(), Some(&*text));
    }
    if let Ok(json) = std::str::from_utf8(bytes)
        && let Ok(encoded) = SCHEMA.encode(json, message)
    {
        assert!(print(&encoded).is_ok());
    }
});
