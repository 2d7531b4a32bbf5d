//! Warns about properties of the command line that nothing reads. Most of them are misspelt.

use std::collections::BTreeSet;

use drumfire_elements::{May, is_script};
use drumfire_java::file_server;
use drumfire_jmx::{
    Diagnostic, Effect, KNOWN_PROPERTIES, Props, Value, did_you_mean, known_property,
};

use super::provenance::property_read;
use crate::inspect::advice::AdvisedPlan;
use crate::inspect::advice::references::{has_word, is_call, references};

/// One warning for each property of the command line that has no effect.
pub fn properties(sight: &AdvisedPlan) -> Vec<Diagnostic> {
    let given = &sight.settings.given;
    if given.is_empty() {
        return Vec::new();
    }
    let reads = Reads::of(sight);
    given.iter().filter_map(|name| reads.judge(name)).collect()
}

/// The properties that the plan reads or may read.
#[derive(Default)]
struct Reads<'p> {
    /// Literal names in calls of `__P` and `__property`.
    names: BTreeSet<&'p str>,
    /// Arguments of other functions, which may be names.
    arguments: BTreeSet<&'p str>,
    /// Texts of scripts, which may hold a name.
    scripts: Vec<&'p str>,
    /// Scripts in files.
    files: Vec<String>,
    /// Some element may read any property: it computes the name, or runs code that is not in the plan.
    is_open: bool,
}

impl<'p> Reads<'p> {
    fn of(sight: &AdvisedPlan<'p>) -> Reads<'p> {
        let mut reads = Reads::default();
        for element in sight.all.iter().copied() {
            let class = element.class.as_str();
            reads.is_open |= drumfire_elements::of_class(class)
                .is_none_or(|facts| facts.may.contains(&May::ReadAnyProperty));
            reads.text(&element.name);
            reads.props(&element.props, is_script(class));
            if is_script(class) {
                reads.script_file(&element.props, sight);
            }
        }
        reads
    }

    fn script_file(&mut self, props: &Props, sight: &AdvisedPlan) {
        for prop in props {
            let text = prop.value.as_str();
            let is_file = prop.name.to_ascii_lowercase().ends_with("filename");
            if !is_file || text.trim().is_empty() {
                continue;
            }
            let file = file_server::resolve(text.trim(), &sight.settings.base_dir);
            match drumfire_platform::files::read_regular_text(&file) {
                Ok(script) => self.files.push(script),
                Err(_) => self.is_open = true,
            }
        }
    }

    fn props(&mut self, props: &'p Props, is_script: bool) {
        for prop in props {
            self.value(&prop.value, is_script);
        }
    }

    fn value(&mut self, value: &'p Value, is_script: bool) {
        match value {
            Value::Str(text) if is_script => {
                self.scripts.push(text);
                self.text(text);
            }
            Value::Str(text) => self.text(text),
            Value::Element(element) => {
                self.text(&element.name);
                self.props(&element.props, is_script);
            }
            Value::List(items) | Value::Map(items) => {
                for item in items {
                    self.value(&item.value, is_script);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &'p str) {
        if !text.contains("${__") {
            return;
        }
        for call in references(text).into_iter().filter(|text| is_call(text)) {
            let is_read = call.starts_with("__P(") || call.starts_with("__property(");
            match property_read(call) {
                Some(name) => {
                    self.names.insert(name);
                }
                None if is_read => self.is_open = true,
                None => {}
            }
            if !is_read {
                let inside = call.split_once('(').map_or("", |(_, inside)| inside);
                let arguments = inside.split([',', '(', ')']).map(str::trim);
                self.arguments.extend(arguments);
                self.scripts.push(call);
            }
        }
    }

    /// A warning, if nothing reads the property.
    fn judge(&self, name: &str) -> Option<Diagnostic> {
        let is_read = self.names.contains(name)
            || self.arguments.contains(name)
            || self.scripts.iter().any(|text| has_word(text, name))
            || self.files.iter().any(|text| has_word(text, name));
        if is_read {
            return None;
        }
        match known_property(name).map(|known| known.effect) {
            Some(Effect::None(why)) => {
                let message = format!("the property `{name}` has no effect: {why}");
                let finding = Diagnostic::warning("property-without-effect", message);
                return Some(finding.help(format!("leave out -J{name}")));
            }
            Some(_) => return None,
            None => {}
        }
        let near = did_you_mean(name, self.names.iter().copied()).or_else(|| {
            let known = KNOWN_PROPERTIES
                .iter()
                .flat_map(|section| section.properties)
                .map(|property| property.name)
                .filter(|name| !name.ends_with('*'));
            did_you_mean(name, known)
        });
        if self.is_open && near.is_none() {
            return None;
        }
        let message = format!("nothing in the plan reads the property `{name}`");
        let finding = Diagnostic::warning("property-unread", message);
        Some(finding.help(match near {
            Some(near) => format!("did you mean `{near}`?"),
            None if self.names.is_empty() => {
                format!("read it in the plan with ${{__P({name})}}, or leave out -J{name}")
            }
            None => {
                let names: Vec<String> = self
                    .names
                    .iter()
                    .take(8)
                    .map(|name| format!("`{name}`"))
                    .collect();
                format!("the plan reads {}", names.join(", "))
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{codes, findings, group};

    fn told(users: &str, inside: &str, given: &[(&str, &str)]) -> Vec<drumfire_jmx::Diagnostic> {
        findings(&group(users, "1", inside), given, Path::new(""))
    }

    #[test]
    fn a_misspelt_property_is_told_with_the_name_that_was_probably_meant() {
        let found = told("${__P(users,1)}", "", &[("usres", "50")]);
        assert_eq!(codes(&found), ["property-unread"]);
        assert!(!found[0].is_error());
        assert!(found[0].message.contains("`usres`"));
        assert_eq!(found[0].help.as_deref(), Some("did you mean `users`?"));
        let found = told("1", "", &[("sumariser.name", "")]);
        assert_eq!(
            found[0].help.as_deref(),
            Some("did you mean `summariser.name`?")
        );
    }

    #[test]
    fn a_property_that_something_reads_is_fine() {
        assert!(told("${__P(users,1)}", "", &[("users", "5")]).is_empty());
        assert!(told("1", "", &[("summariser.interval", "5")]).is_empty());
        let counter = r#"<DebugSampler guiclass="g" testclass="DebugSampler" testname="${__isPropDefined(stage)}"/><hashTree/>"#;
        assert!(told("1", counter, &[("stage", "x")]).is_empty());
    }

    #[test]
    fn a_property_of_jmeters_without_effect_is_told_why() {
        let found = told("1", "", &[("jmeter.laf", "x")]);
        assert_eq!(codes(&found), ["property-without-effect"]);
        assert!(
            found[0].message.contains("graphical"),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn where_a_name_is_computed_nothing_is_told() {
        let users = "${__P(${which},1)}";
        assert!(told(users, "", &[("quite_other", "50")]).is_empty());
    }
}
