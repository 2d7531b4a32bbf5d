//! A sampler's properties as the Debug PostProcessor lists them (`DebugPostProcessor#formatPropertyIterator`): those of the
//! plan's file and those that configuration elements add, in the order of their names.

use std::collections::BTreeMap;

use drumfire_elements::config::{
    auth_manager, cache_manager, cookie_manager, dns_cache_manager, header_manager,
    keystore_configuration, user_defined_variables,
};
use drumfire_elements::items;
use drumfire_elements::samplers::{self as facts, java_request};
use drumfire_expr::{Scope, Template};
use drumfire_jmx::{Element as Nested, Prop, Props, Value, full_class_name};

use super::defaults::{is_defaults, is_made_by};
use super::{http, java_sampler, tcp_sampler};
use crate::decode::Decoder;
use crate::resolve::Element;

/// Managers that become properties of HTTP Requests (`HTTPSamplerBase#addTestElement`); the nearest one counts.
const MANAGERS: [(&str, &str); 6] = [
    (auth_manager::CLASS, "HTTPSampler.auth_manager"),
    (cache_manager::CLASS, "HTTPSampler.cache_manager"),
    (cookie_manager::CLASS, "HTTPSampler.cookie_manager"),
    (dns_cache_manager::CLASS, "HTTPSampler.dns_cache_manager"),
    (header_manager::CLASS, "HTTPSampler.header_manager"),
    (
        keystore_configuration::CLASS,
        "HTTPSampler.keystore_configuration",
    ),
];

/// Names and values of the properties of the sampler that is being decoded.
pub fn decode(d: &mut Decoder, configs: &[&Element]) -> Vec<(String, Template)> {
    let element = d.element;
    let is_http = [
        facts::http_request::CLASS,
        facts::old_http_request::CLASS,
        facts::ajp_sampler::CLASS,
    ]
    .contains(&element.class.as_str());
    let mut texts = BTreeMap::new();
    add(&mut texts, &element.props);
    for config in configs {
        // One protocol's defaults do not apply to another's samplers (`AbstractSampler#applies`).
        let guis: &[&str] = match element.class.as_str() {
            java_request::CLASS => &java_sampler::CONFIG_GUIS,
            facts::tcp_sampler::CLASS => &tcp_sampler::CONFIG_GUIS,
            _ => &["org.apache.jmeter.config.gui.SimpleConfigGui"],
        };
        let applies = if is_http {
            http::is_applicable(config)
        } else {
            is_made_by(config, guis)
        };
        if is_defaults(config) && applies {
            add(&mut texts, &config.props);
        }
    }
    if element.class == java_request::CLASS {
        // `JavaSampler#sample` adds its name to its arguments.
        let arguments: &mut String = texts.entry("arguments".to_owned()).or_default();
        if !arguments.is_empty() {
            arguments.push('&');
        }
        arguments.push_str("TestElement.name");
        arguments.push_str(&element.name);
        arguments.push_str("()");
    }
    if is_http {
        for (class, name) in MANAGERS {
            if let Some(manager) = configs.iter().find(|config| config.class == class) {
                texts.insert(name.to_owned(), object(class, manager.id));
            }
        }
    }
    for (name, text) in [
        ("enabled", "true"),
        ("gui_class", full_class_name(&element.gui_class)),
        ("name", &element.name),
        ("test_class", full_class_name(&element.class)),
    ] {
        texts.insert(format!("TestElement.{name}"), text.to_owned());
    }
    let listed = texts.into_iter();
    listed
        .map(|(name, text)| (name, d.compile(&text)))
        .collect()
}

/// Adds a line for each property.
pub fn list(listing: &[(String, Template)], cx: &mut dyn Scope, out: &mut String) {
    for (name, value) in listing {
        out.push_str(name);
        out.push('=');
        value.eval_into(cx, out);
        out.push('\n');
    }
}

/// `AbstractTestElement#addProperty`: takes properties that are missing or empty, and appends to lists of arguments.
fn add(texts: &mut BTreeMap<String, String>, props: &Props) {
    for prop in props {
        let text = shown(&prop.value);
        match texts.get_mut(prop.name.as_str()) {
            Some(known) if known.is_empty() => *known = text,
            Some(known) if is_arguments(&prop.value) && !text.is_empty() => {
                known.push('&');
                known.push_str(&text);
            }
            Some(_) => {}
            None => {
                texts.insert(prop.name.to_string(), text);
            }
        }
    }
}

fn is_arguments(value: &Value) -> bool {
    matches!(value, Value::Element(element) if element.class == user_defined_variables::CLASS)
}

/// `JMeterProperty#getStringValue`.
fn shown(value: &Value) -> String {
    match value {
        Value::Element(element) => match element.class.as_str() {
            user_defined_variables::CLASS => joined(
                &element.props,
                user_defined_variables::VARIABLES.name,
                "&",
                argument,
            ),
            class if class == items::HTTP_FILES.class => {
                joined(&element.props, items::FILE_LIST.name, "\n", file)
            }
            class => object(class, element.props.iter().count()),
        },
        Value::List(items) => {
            let items: Vec<_> = items.iter().map(|item| shown(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.as_str().into_owned(),
    }
}

fn joined(props: &Props, list: &str, separator: &str, text: fn(&Nested) -> String) -> String {
    let items = props.list(list).iter();
    let texts: Vec<_> = items
        .filter_map(|item: &Prop| match &item.value {
            Value::Element(element) => Some(text(element)),
            _ => None,
        })
        .collect();
    texts.join(separator)
}

fn argument(element: &Nested) -> String {
    let of = |name: &str| element.props.str(name).into_owned();
    format!(
        "{}{}{}({})",
        of("Argument.name"),
        of("Argument.metadata"),
        of("Argument.value"),
        of("Argument.desc")
    )
}

fn file(element: &Nested) -> String {
    let of = |name: &str| element.props.str(name).into_owned();
    format!(
        "path:'{}'|param:'{}'|mimetype:'{}'",
        of("File.path"),
        of("File.paramname"),
        of("File.mimetype")
    )
}

/// The text of an object without a `toString` of its own. In JMeter the number is a hash of the object's content.
fn object(class: &str, number: usize) -> String {
    let hash = (number as u32).wrapping_mul(0x9e37_79b9) | 0x8000_0000;
    format!("{}@{hash:x}", full_class_name(class))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn properties_are_listed_by_name_with_arguments_and_files_as_texts() {
        let xml = r#"<HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="home ${n}">
            <stringProp name="HTTPSampler.path">/${n}</stringProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
            <elementProp name="HTTPsampler.Arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
            <elementProp name="a" elementType="HTTPArgument"><stringProp name="Argument.name">a</stringProp><stringProp name="Argument.value">1</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>
            <elementProp name="b" elementType="HTTPArgument"><stringProp name="Argument.name">b</stringProp><stringProp name="Argument.value">${n}</stringProp><stringProp name="Argument.metadata">=</stringProp></elementProp>
            </collectionProp></elementProp>
            <elementProp name="HTTPsampler.Files" elementType="HTTPFileArgs"><collectionProp name="HTTPFileArgs.files">
            <elementProp name="f" elementType="HTTPFileArg"><stringProp name="File.path">f</stringProp><stringProp name="File.paramname">p</stringProp><stringProp name="File.mimetype">t/t</stringProp></elementProp>
            </collectionProp></elementProp></HTTPSamplerProxy>"#;
        let (listing, mut cx, _) = fixture::decode_with_findings(&[], xml, |d| decode(d, &[]));
        cx.vars.set_named("n", "5".into());
        let mut out = String::new();
        list(&listing, &mut cx, &mut out);
        assert_eq!(
            out,
            "HTTPSampler.path=/5\nHTTPSampler.use_keepalive=true\nHTTPsampler.Arguments=a=1()&b=5()\n\
             HTTPsampler.Files=path:'f'|param:'p'|mimetype:'t/t'\nTestElement.enabled=true\n\
             TestElement.gui_class=org.apache.jmeter.protocol.http.control.gui.HttpTestSampleGui\n\
             TestElement.name=home 5\n\
             TestElement.test_class=org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy\n"
        );
    }
}
