//! A plan that an editor opens, and its messages: each request gets one response, and the server ends when it is told to.
//!
//! Parts of the input are separated by zero bytes. The first is the plan. Each other part is a message: its first byte selects
//! the method, the next two the position, and the rest is the text that the method takes. An odd first byte begins raw bytes.
#![no_main]

use std::ops::Range;
use std::path::Path;

use drumfire_jmx::Tree;
use drumfire_lsp::fuzzing::messages;
use drumfire_lsp::{Connection, Inspection, Inspector, serve};
use libfuzzer_sys::fuzz_target;
use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

const URI: &str = "file:///no-such-folder/plan.jmx";
const REQUESTS: [&str; 11] = [
    "documentSymbol",
    "foldingRange",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "hover",
    "completion",
    "codeAction",
    "formatting",
];

struct NoFindings;

impl Inspector for NoFindings {
    fn inspect(&self, _: &Path, _: &Tree) -> Inspection {
        Inspection::default()
    }

    fn properties(&self, _: &Path) -> Vec<(String, String)> {
        vec![("host".to_owned(), "h.example".to_owned())]
    }

    fn project(&self, _: &str) -> Vec<(Range<usize>, String)> {
        Vec::new()
    }
}

fn request(id: usize, method: &str, params: Value) -> Message {
    Message::Request(Request::new((id as i32).into(), method.to_owned(), params))
}

fn notification(method: &str, params: Value) -> Message {
    Message::Notification(Notification::new(method.to_owned(), params))
}

/// The message of a part, which is the `id`th.
fn message(id: usize, choice: u8, line: u8, character: u8, text: &str) -> Message {
    let document = json!({ "uri": URI, "version": id });
    let position = json!({ "line": line, "character": character });
    let range = json!({ "start": position, "end": { "line": line, "character": 255 } });
    let Some(name) = REQUESTS.get(usize::from(choice / 2) % (REQUESTS.len() + 1)) else {
        let changes = [match text.strip_prefix('=') {
            Some(whole) => json!({ "text": whole }),
            None => json!({ "range": range, "text": text }),
        }];
        let params = json!({ "textDocument": document, "contentChanges": changes });
        return notification("textDocument/didChange", params);
    };
    let diagnostic = json!({ "range": range, "message": text, "code": text });
    let params = json!({
        "textDocument": document,
        "position": position,
        "range": range,
        "newName": text,
        "context": { "includeDeclaration": choice < 128, "diagnostics": [diagnostic] },
    });
    request(id, &format!("textDocument/{name}"), params)
}

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.split(|byte| *byte == 0);
    let plan = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let opened = json!({ "uri": URI, "languageId": "jmx", "version": 0, "text": plan });
    let mut sent = vec![
        request(0, "initialize", json!({ "capabilities": {} })),
        notification("initialized", json!({})),
        notification("textDocument/didOpen", json!({ "textDocument": opened })),
    ];
    for (id, part) in (1..).zip(parts) {
        match part {
            [choice, line, character, text @ ..] if choice % 2 == 0 => {
                let text = String::from_utf8_lossy(text);
                sent.push(message(id, *choice, *line, *character, &text));
            }
            [_, raw @ ..] => sent.extend(messages(raw)),
            [] => {}
        }
    }
    sent.push(request(usize::from(u16::MAX), "shutdown", Value::Null));
    sent.push(notification("exit", Value::Null));
    let requests = sent.iter().take_while(|message| !is_shutdown(message));
    let requests = requests.filter(|message| matches!(message, Message::Request(_)));
    let asked = requests.count() + 1;
    let (editor, server) = Connection::memory();
    for message in sent {
        editor.sender.send(message).expect("the channel is open");
    }
    let _ = serve(&server, &NoFindings);
    drop(server);
    let responses = editor.receiver.iter();
    let answered = responses
        .filter(|message| matches!(message, Message::Response(_)))
        .count();
    assert_eq!(answered, asked);
});

fn is_shutdown(message: &Message) -> bool {
    matches!(message, Message::Request(request) if request.method == "shutdown")
}
