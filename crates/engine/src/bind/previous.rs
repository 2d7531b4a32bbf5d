//! Finds out whether a plan reads a user's previous result. If it does, every sampler retains its body, so this must be known
//! before the first sampler is decoded.

use drumfire_elements::is_script;
use drumfire_elements::post::debug_post_processor;
use drumfire_elements::pre::{html_link_parser, url_rewriting_modifier};
use drumfire_expr::Properties;
use drumfire_jmx::Props;

use crate::bind::functions;
use crate::decode::script_words::{self, sees_results};
use crate::elements;
use crate::resolve::Element;
use crate::run::needs::Needs;

/// Elements that read the previous result (`JMeterContext#getPreviousResult`).
const CLASSES: [&str; 2] = [url_rewriting_modifier::CLASS, html_link_parser::CLASS];
/// Functions that may read it: `__regexFunction` unless it is given a variable, and script functions if their script does.
const FUNCTION: &str = "__regexFunction";
const SCRIPTS: [&str; 3] = ["__groovy", "__BeanShell", "__javaScript"];

/// The parts of the previous result that elements and functions of the plan read.
pub fn needs(element: &Element, properties: &Properties) -> Needs {
    let mut needs = own_needs(element, properties);
    for child in &element.children {
        needs = needs.and(self::needs(child, properties));
    }
    needs
}

/// Whether the plan has a Debug PostProcessor that lists the properties of its sampler.
pub fn lists_samplers(element: &Element) -> bool {
    let is_one = element.class == debug_post_processor::CLASS
        && element
            .props
            .str(debug_post_processor::SAMPLER_PROPERTIES.name)
            != "false";
    is_one || element.children.iter().any(lists_samplers)
}

fn own_needs(element: &Element, properties: &Properties) -> Needs {
    if looks_back(&element.class, &element.props, properties) {
        return Needs::ALL;
    }
    let mut needs = element
        .props
        .texts()
        .map(text_needs)
        .fold(text_needs(&element.name), Needs::and);
    needs.body |= CLASSES.contains(&element.class.as_str());
    needs
}

fn text_needs(text: &str) -> Needs {
    let mut needs = Needs::NOTHING;
    let mut has_script = false;
    for name in functions::calls(text) {
        if functions::is_foreign(name) {
            return Needs::ALL; // its code receives the result
        }
        needs.body |= name == FUNCTION;
        has_script |= SCRIPTS.contains(&name);
    }
    if has_script && script_words::text_sees(text) {
        Needs::ALL
    } else {
        needs
    }
}

/// Whether an element's code may read the result before its own sample, which samplers must then retain.
fn looks_back(class: &str, props: &Props, properties: &Properties) -> bool {
    let is_before = ["PreProcessor", "Timer", "Sampler"]
        .iter()
        .any(|role| class.ends_with(role));
    let is_foreign = elements::entry(class).is_none();
    is_foreign || (is_before && is_script(class) && sees_results(class, props, properties))
}
