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
    let json = Json::parse(body);
    let searched = json_path.as_ref().ok().and_then(|path| path.find_in_text(body));
    let Ok(json) = json else {
        assert!(searched.is_none(), "found in what cannot be parsed");
        return;
    };
    if let Ok(json_path) = json_path {
        if let Some(searched) = searched {
            let found = json_path.find(&json).expect("a search found it");
            assert_eq!(found.len(), 1);
            assert_eq!(format!("{:?}", *found[0]), format!("{searched:?}"));
        }
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
