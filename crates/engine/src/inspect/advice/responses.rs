//! Costly work on responses.

use drumfire_elements::assertions::xpath_assertion;
use drumfire_elements::config::{cache_manager, header_manager, http_defaults};
use drumfire_elements::listeners::{
    composite_result_collector, corrected_result_collector, result_collector,
};
use drumfire_elements::post::xpath_extractor;
use drumfire_elements::shared::http;
use drumfire_jmx::Value;

use super::sight::{AdvisedPlan, is_sampler};
use super::{AdvisedElement, Effect, Rule};
use crate::elements::samplers::stream::rules::{STOPS, is_of_events};
use crate::resolve::Element;

pub const RULES: &[Rule] = &[
    Rule {
        name: "embedded-without-cache",
        effect: Effect::Misleads,
        finding: "embedded resources are fetched without an HTTP Cache Manager",
        reason: "every page fetches all its images, scripts and styles each time, as only a browser's first visit does: the server sees more requests than real users send, and the samples take longer",
        remedy: "add an HTTP Cache Manager beside the Thread Group's samplers, cleared each iteration if each is a new user",
        find: embedded_without_cache,
    },
    Rule {
        name: "xpath-tolerant",
        effect: Effect::Costs,
        finding: "XPath on HTML with 'Use Tidy'",
        reason: "Tidy repairs the whole page and builds a document from it for one value, which costs many times as much as a CSS selector or a boundary",
        remedy: "use a CSS Selector Extractor (a[href], attribute) or a Boundary Extractor",
        find: tolerant_xpath,
    },
    Rule {
        name: "results-with-bodies",
        effect: Effect::Costs,
        finding: "result files that keep the whole response of every sample",
        reason: "the file grows by everything that is downloaded, and each sample costs more, since its body is kept, copied and escaped",
        remedy: "write CSV, or XML with 'Log/Display Only: Errors', or without 'Save Response Data (XML)'",
        find: bodies_in_results,
    },
    Rule {
        name: "listener-without-file",
        effect: Effect::Costs,
        finding: "listeners of the graphical interface that write no file",
        reason: "they do nothing in a run without the interface, here as in JMeter; in the interface they keep every response in memory",
        remedy: "disable them; -l FILE or a Simple Data Writer keeps results, and --report FILE.html shows them",
        find: silent_listeners,
    },
    Rule {
        name: "stream-without-stop",
        effect: Effect::Misleads,
        finding: "GET requests that accept server-sent events, without a stop",
        reason: "a stream of events seldom ends by itself: such a sample lasts until the response timeout, or for ever, here as in JMeter",
        remedy: "set drumfire.stream.stop.events, .data, .json or .after_ms, in the request or with -J",
        find: endless_streams,
    },
];

fn endless_streams<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let properties = &sight.settings.properties;
    if STOPS
        .iter()
        .any(|name| properties.get_trimmed(name).is_some())
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for group in &sight.groups {
        for (sampler, scope) in sight.samplers(group) {
            let defaults = scope.iter().filter(is_default).copied();
            let stops = std::iter::once(sampler)
                .chain(defaults)
                .any(|element| STOPS.iter().any(|name| !element.props.str(name).is_empty()));
            let is_get = sampler.class.starts_with("HTTPSampler")
                && matches!(&*sampler.props.str(http::METHOD.name), "" | "GET");
            if is_get && !stops && scope.iter().any(|element| accepts_events(element)) {
                found.push(AdvisedElement::new(sampler));
            }
        }
    }
    found
}

/// Whether a Header Manager says that requests accept server-sent events.
fn accepts_events(manager: &Element) -> bool {
    if manager.class != header_manager::CLASS {
        return false;
    }
    let headers = manager.props.list("HeaderManager.headers").iter();
    headers
        .filter_map(|header| match &header.value {
            Value::Element(header) => Some(header),
            _ => None,
        })
        .any(|header| {
            header
                .props
                .str("Header.name")
                .eq_ignore_ascii_case("Accept")
                && is_of_events(&header.props.str("Header.value"))
        })
}

fn embedded_without_cache<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    let mut found = Vec::new();
    for group in &sight.groups {
        for (sampler, scope) in sight.samplers(group) {
            let is_http = sampler.class.starts_with("HTTPSampler");
            let fetches = parses(sampler)
                || scope
                    .iter()
                    .filter(is_default)
                    .any(|element| parses(element));
            let has_cache = scope
                .iter()
                .any(|element| element.class == cache_manager::CLASS);
            if is_http && fetches && !has_cache {
                found.push(AdvisedElement::new(sampler));
            }
        }
    }
    found
}

fn parses(element: &Element) -> bool {
    element.props.bool(http::EMBEDDED_RESOURCES.name, false)
}

fn is_default(element: &&&Element) -> bool {
    element.class == http_defaults::CLASS
}

fn tolerant_xpath<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(&[xpath_extractor::CLASS, xpath_assertion::CLASS])
        .filter(|element| {
            element.props.bool(xpath_extractor::TOLERANT.name, false)
                || element.props.bool(xpath_assertion::TOLERANT.name, false)
        })
        .map(|element| {
            let properties = [
                xpath_extractor::TOLERANT.name,
                xpath_assertion::TOLERANT.name,
            ];
            let own = properties.into_iter().find(|name| element.props.has(name));
            AdvisedElement::new(element).about(own.unwrap_or(properties[0]))
        })
        .collect()
}

/// The listeners that write files.
const COLLECTORS: &[&str] = &[
    result_collector::CLASS,
    corrected_result_collector::CLASS,
    composite_result_collector::CLASS,
];

fn bodies_in_results<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(COLLECTORS)
        .filter(|element| !element.props.str(result_collector::FILE.name).is_empty())
        .filter(|element| {
            !element
                .props
                .bool(result_collector::ERRORS_ONLY.name, false)
        })
        .filter(|element| says(element, "xml") && says(element, "responseData"))
        .map(|element| {
            AdvisedElement::with(element, element.props.str(result_collector::FILE.name))
                .about(result_collector::FILE.name)
        })
        .collect()
}

fn says(element: &Element, flag: &str) -> bool {
    let config = element.props.object(result_collector::SAVE_CONFIG.name);
    config.and_then(|config| config.text_of(flag)) == Some("true")
}

fn silent_listeners<'p>(sight: &AdvisedPlan<'p>) -> Vec<AdvisedElement<'p>> {
    sight
        .of(COLLECTORS)
        .filter(below_samplers)
        .filter(|element| !has_file(element))
        .map(|element| AdvisedElement::new(element).about(result_collector::FILE.name))
        .collect()
}

fn has_file(element: &Element) -> bool {
    !matches!(
        element.props.value(result_collector::FILE.name),
        None | Some(Value::Null)
    ) && !element.props.str(result_collector::FILE.name).is_empty()
}

fn below_samplers(element: &&Element) -> bool {
    !is_sampler(element)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{advice_with, element, group, http, rules};

    #[test]
    fn embedded_resources_want_a_cache_in_scope() {
        let page = http(&[("HTTPSampler.image_parser", "true")], "");
        let cache = element("CacheManager", "cache", &[], "");
        assert_eq!(rules(&group(&page)), ["embedded-without-cache: request"]);
        assert_eq!(rules(&group(&[page.as_str(), &cache].concat())), [""; 0]);
        assert_eq!(rules(&[group(&page), cache.clone()].concat()), [""; 0]);
        // Another controller's cache is out of scope.
        let other = element("GenericController", "other", &[], &cache);
        assert_eq!(rules(&group(&[page, other].concat())).len(), 1);
        let defaults = element(
            "ConfigTestElement",
            "defaults",
            &[("HTTPSampler.image_parser", "true")],
            "",
        );
        let both = [defaults, http(&[], "")].concat();
        assert_eq!(rules(&group(&both)), ["embedded-without-cache: request"]);
    }

    #[test]
    fn streams_of_events_want_a_stop() {
        let accepts = |value: &str| {
            format!(
                r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="accepts"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">accept</stringProp><stringProp name="Header.value">{value}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#
            )
        };
        let events = accepts("text/event-stream");
        let stream = |more: &[(&str, &str)], accepts: &str| rules(&group(&http(more, accepts)));
        let found = ["stream-without-stop: request"];
        assert_eq!(stream(&[], &events), found);
        assert_eq!(stream(&[("drumfire.stream", "sse")], &events), found);
        let stopped = [("drumfire.stream.stop.events", "5")];
        assert_eq!(stream(&stopped, &events), [""; 0]);
        assert_eq!(stream(&[("HTTPSampler.method", "POST")], &events), [""; 0]);
        assert_eq!(stream(&[], &accepts("text/html")), [""; 0]);
        let defaults = element("ConfigTestElement", "defaults", &stopped, "");
        let both = [defaults, http(&[], &events)].concat();
        assert_eq!(rules(&group(&both)), [""; 0]);
        let run = [("drumfire.stream.stop.after_ms", "500")];
        assert!(advice_with(&run, &group(&http(&[], &events))).is_empty());
    }

    #[test]
    fn tolerant_xpath_is_named() {
        let extractor = |tolerant| {
            element(
                "XPathExtractor",
                "x",
                &[("XPathExtractor.tolerant", tolerant)],
                "",
            )
        };
        assert_eq!(rules(&group(&extractor("true"))), ["xpath-tolerant: x"]);
        assert_eq!(rules(&group(&extractor("false"))), [""; 0]);
        let assertion = element("XPathAssertion", "a", &[("XPath.tolerant", "true")], "");
        assert_eq!(rules(&group(&assertion)), ["xpath-tolerant: a"]);
    }

    fn collector(file: &str, flags: &str, more: &[(&str, &str)]) -> String {
        let config = format!(
            r#"<objProp><name>saveConfig</name><value class="SampleSaveConfiguration">{flags}</value></objProp></ResultCollector>"#
        );
        let props = [&[("filename", file)], more].concat();
        element("ResultCollector", "results", &props, "").replacen("</ResultCollector>", &config, 1)
    }

    #[test]
    fn only_xml_with_all_bodies_is_huge() {
        let all = "<xml>true</xml><responseData>true</responseData>";
        assert_eq!(
            rules(&collector("r.xml", all, &[])),
            ["results-with-bodies: results (r.xml)"]
        );
        let errors = [("ResultCollector.error_logging", "true")];
        assert_eq!(rules(&collector("r.xml", all, &errors)), [""; 0]);
        let csv = "<xml>false</xml><responseData>true</responseData>";
        assert_eq!(rules(&collector("r.csv", csv, &[])), [""; 0]);
        assert_eq!(
            rules(&collector("", all, &[])),
            ["listener-without-file: results"]
        );
    }
}
