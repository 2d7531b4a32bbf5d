//! Faults of FTP Requests that are known before the run: what would fail every sample, or is not honoured.

use drumfire_elements::Property;
use drumfire_elements::shared::ftp as facts;
use drumfire_java::values::{parse_int, property_bool};
use drumfire_jmx::Diagnostic;

use super::sampler::CONFIG_GUIS;
use crate::elements::samplers::defaults::{is_defaults, is_made_by};
use crate::resolve::Element;

/// Whether FTP Requests may take properties that they lack from this element.
pub fn may_add_properties(element: &Element) -> bool {
    is_defaults(element) && is_made_by(element, &CONFIG_GUIS)
}

/// Checks an FTP Request. `value` gives a property's value if it is known before the run; `is_alone` says that no element adds
/// properties; `remedy` is added to the help of errors.
pub fn faults(
    element: &Element,
    value: &mut dyn FnMut(&str) -> Option<String>,
    is_alone: bool,
    remedy: &str,
) -> Vec<Diagnostic> {
    let mut known = |property: &Property| value(property.name);
    let mut is_empty = |property| is_alone && known(property).is_some_and(|text| text.is_empty());
    let lacks_server = is_empty(&facts::SERVER);
    let lacks_remote = is_empty(&facts::REMOTE_FILE);
    let lacks_source = is_empty(&facts::INPUTDATA) && is_empty(&facts::LOCAL_FILE);
    let mut is_filled = |property| known(property).is_some_and(|text| !text.is_empty());
    let has_text = is_filled(&facts::INPUTDATA);
    let has_file = is_filled(&facts::LOCAL_FILE);
    let direction = known(&facts::UPLOAD).map(|text| property_bool(&text));
    let saves = known(&facts::SAVE_RESPONSE).is_some_and(|text| property_bool(&text));
    let port = known(&facts::PORT).filter(|port| !port.is_empty() && parse_int(port).is_none());
    let mut found = Vec::new();
    let mut warn = |property: &Property, why: String| {
        let finding = element.warning("ftp-setting", format!("{why}, in '{}'", element.name));
        found.push(finding.about(property.name));
    };
    if lacks_server {
        warn(
            &facts::SERVER,
            "no server is named, so this machine is taken".to_owned(),
        );
    }
    if lacks_remote {
        warn(
            &facts::REMOTE_FILE,
            "no remote file is named, which servers refuse".to_owned(),
        );
    }
    if let Some(port) = port {
        warn(
            &facts::PORT,
            format!("the port `{port}` is not a number, so 21 is taken"),
        );
    }
    match direction {
        Some(true) if has_text && has_file => {
            let why = "the local file is not read, because there are local file contents";
            warn(&facts::LOCAL_FILE, why.to_owned());
        }
        Some(false) if has_text => {
            let why = "the local file contents are not used, because the request fetches a file";
            warn(&facts::INPUTDATA, why.to_owned());
        }
        _ => {}
    }
    if direction == Some(true) && saves {
        let why = "a request that stores a file has no response to save";
        warn(&facts::SAVE_RESPONSE, why.to_owned());
    }
    if direction == Some(true) && lacks_source {
        let message = format!("there is nothing to store, in '{}'", element.name);
        let help = format!("name a local file, or fill in local file contents, {remedy}");
        let finding = element.error("ftp-nothing-to-store", message);
        found.push(finding.about(facts::LOCAL_FILE.name).help(help));
    }
    found
}
