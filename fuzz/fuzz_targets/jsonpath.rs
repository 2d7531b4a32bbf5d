//! Any path on any body: the first line is the path, the rest the body.
#![no_main]

use drumfire_query::jmespath::JmesPath;
use drumfire_query::json::Json;
use drumfire_query::jsonpath::JsonPath;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (path, body) = text.split_once('\n').unwrap_or((text, "{}"));
    let json_path = JsonPath::compile(path);
    let jmes_path = JmesPath::compile(path);
    let Ok(json) = Json::parse(body) else { return };
    if let Ok(json_path) = json_path {
        let _ = json_path.is_definite();
        if let Ok(found) = json_path.find(&json) {
            for node in found {
                let _ = format!("{:?}", *node);
            }
        }
        let _ = json_path.read(&json);
    }
    if let Ok(jmes_path) = jmes_path {
        if let Ok(found) = jmes_path.search(&json) {
            let _ = (found.text(), found.values());
        }
    }
});
