//! The properties of a sampler, merged with those of HTTP Request Defaults in scope.

use std::collections::BTreeMap;

use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_jmx::{Prop, Value};

use crate::decode::Decoder;
use crate::elements::samplers::defaults::is_defaults;
use crate::resolve::Element;
use crate::run::property::Flag;

const ARGUMENTS: &str = "HTTPsampler.Arguments";

/// Request Defaults (`ConfigTestElement`): settings for the samplers in its scope that have none of their own (HTTP Request
/// Defaults, Login Config Element, Simple Config Element).
///
/// Its properties are the sampler's; arguments and files are added to the sampler's.
pub(super) struct Merged<'p> {
    props: BTreeMap<&'p str, &'p Prop>,
    pub arguments: Vec<&'p Prop>,
    pub files: Vec<&'p Prop>,
}

impl<'p> Merged<'p> {
    /// `AbstractTestElement#addProperty`: an empty text counts as a missing property; collections are appended to.
    pub fn new(sampler: &'p Element, configs: &[&'p Element]) -> Merged<'p> {
        let mut merged = Merged {
            props: BTreeMap::new(),
            arguments: Vec::new(),
            files: Vec::new(),
        };
        merged.add(sampler);
        for config in configs.iter().filter(|config| is_defaults(config)) {
            merged.add(config);
        }
        merged
    }

    fn add(&mut self, element: &'p Element) {
        for prop in &element.props {
            match (&*prop.name, &prop.value) {
                (ARGUMENTS, Value::Element(arguments)) => self
                    .arguments
                    .extend(arguments.props.list("Arguments.arguments")),
                ("HTTPsampler.Files", Value::Element(files)) => {
                    self.files.extend(files.props.list("HTTPFileArgs.files"))
                }
                (name, _) => {
                    let missing = self.props.get(name).is_none_or(
                        |known| matches!(&known.value, Value::Str(text) if text.is_empty()),
                    );
                    if missing {
                        self.props.insert(name, prop);
                    }
                }
            }
        }
    }

    pub fn template(&self, d: &mut Decoder, name: &str) -> Template {
        match self.props.get(name) {
            Some(prop) => d.compile(&prop.value.as_str()),
            None => Template::raw(""),
        }
    }

    /// The value of a property that may be missing.
    pub fn present(&self, d: &mut Decoder, name: &str) -> Option<Template> {
        let is_present = self.props.contains_key(name);
        is_present.then(|| self.template(d, name))
    }

    pub fn or(&self, d: &mut Decoder, name: &str, default: &str) -> Template {
        let template = self.template(d, name);
        if template.is_empty_literal() {
            Template::raw(default)
        } else {
            template
        }
    }

    /// The value of a property whose default applies only if the property is missing altogether.
    pub fn if_missing(&self, d: &mut Decoder, name: &str, default: &str) -> Template {
        if self.props.contains_key(name) {
            self.template(d, name)
        } else {
            Template::raw(default)
        }
    }

    pub fn flag(&self, d: &mut Decoder, name: &str) -> Flag {
        self.flag_or(d, name, false)
    }

    /// A flag that may be missing.
    pub fn flag_or(&self, d: &mut Decoder, name: &str, default: bool) -> Flag {
        match self.props.get(name).map(|prop| &prop.value) {
            Some(Value::Str(text)) => Flag::of(d.compile(text)),
            Some(value) => Flag::Fixed(value.as_bool()),
            None => Flag::Fixed(default),
        }
    }

    /// The value of a flag that holds for the whole run.
    pub fn fixed_flag(&self, d: &mut Decoder, name: &str, default: bool) -> bool {
        match self.flag_or(d, name, default) {
            Flag::Fixed(value) => value,
            Flag::Computed(template) => values::property_bool(&d.now(&template)),
        }
    }
}
