//! Regular Expression Extractor (`RegexExtractor`): puts what a pattern finds in a result into variables.
//!
//! Properties: `RegexExtractor.useHeaders` (what is searched, see [`Field`]), `.refname`, `.regex`, `.template`, `.default`,
//! `.default_empty_value`, `.match_number` (0 random, negative all), and the scope.
//!
//! Written are `name` and, per group, `name_g0`, `name_g1`, …, with their number in `name_g`; for a negative match number
//! `name_1`, `name_1_g`, …, with their number in `name_matchNr`. What an earlier sample left beyond that is removed. A
//! variable that JMeter sets to null (a group without part in the match) is undefined here, which only a Debug Sampler
//! could tell apart.

use drumfire_expr::{MatchTemplate, Template, Text};
use drumfire_query::regex::{Captures, Dialect, Pattern};
use drumfire_results::Sample;

use super::field::{DOCUMENT, Field};
use super::variable_names::VariableNames;
use crate::decode::Decoder;
use crate::decode::compiled::{Compiled, RegexRules};
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::{Flag, Whole};
use crate::elements::java;
use crate::run::context::{Context, StateId};
use crate::run::input::Input;
use crate::run::needs::Needs;
use crate::run::roles::PostProcessor;

pub struct RegexExtractor {
    scoped: Scoped,
    field: Field,
    name: Template,
    reference: Template,
    pattern: Compiled<Pattern>,
    dialect: Dialect,
    template: ResultTemplate,
    match_number: Whole,
    default: Template,
    default_is_empty: Flag,
}

/// JMeter splits the template once per user, when it is first needed (`initTemplate`).
enum ResultTemplate {
    Fixed(MatchTemplate),
    PerUser(Template, StateId),
}

pub fn decode(d: &mut Decoder) -> Roles {
    let decoded = RegexExtractor::decode(d);
    if decoded.field == Field::Document && !decoded.scoped.is_variable() {
        return java::instead(d, DOCUMENT, java::post);
    }
    Roles::post(decoded)
}

impl RegexExtractor {
    fn decode(d: &mut Decoder) -> RegexExtractor {
        let rules = RegexRules::new(&d.settings().properties);
        let regex = d.template("RegexExtractor.regex");
        let template = d.template("RegexExtractor.template");
        RegexExtractor {
            scoped: Scoped::extractor(d),
            field: Field::decode(d, "RegexExtractor.useHeaders"),
            name: d.name(),
            reference: d.template("RegexExtractor.refname"),
            pattern: Compiled::new(d, regex, rules),
            dialect: rules.0,
            template: match template.literal() {
                Some(text) => ResultTemplate::Fixed(MatchTemplate::parse(text)),
                None => ResultTemplate::PerUser(template, d.new_state()),
            },
            match_number: Whole::decode(d, "RegexExtractor.match_number", 0),
            default: d.template("RegexExtractor.default"),
            default_is_empty: Flag::decode(d, "RegexExtractor.default_empty_value", false),
        }
    }

    fn template<'a>(
        &'a self,
        cx: &mut Context,
        own: &'a mut Option<MatchTemplate>,
    ) -> &'a MatchTemplate {
        match &self.template {
            ResultTemplate::Fixed(template) => template,
            ResultTemplate::PerUser(template, state) => {
                let known = cx.state::<Option<MatchTemplate>>(*state, || None).clone();
                let known = known.unwrap_or_else(|| {
                    let parsed = MatchTemplate::parse(&template.eval(cx));
                    *cx.state(*state, || None) = Some(parsed.clone());
                    parsed
                });
                own.insert(known)
            }
        }
    }

    /// The texts to be searched; `None` if one of them cannot be made (then the context was told).
    fn texts<'s>(&self, cx: &mut Context, sample: &'s Sample) -> Option<Vec<Text<'s>>> {
        let inputs: Vec<Input<'s>> = self.scoped.inputs(cx, sample).collect();
        if inputs.is_empty() && self.scoped.is_variable() {
            let variable = self.scoped.variable_name(cx).into_string();
            let name = self.name.eval(cx);
            tracing::warn!(
                "No variable '{variable}' found to process by RegexExtractor '{name}', skipping processing"
            );
        }
        let mut texts = Vec::with_capacity(inputs.len());
        for input in &inputs {
            match self.field.text(cx, input) {
                Ok(text) => texts.push(text),
                Err(raised) => {
                    drumfire_expr::Scope::raise(cx, raised);
                    return None;
                }
            }
        }
        Some(texts)
    }
}

impl PostProcessor for RegexExtractor {
    fn process(&self, cx: &mut Context, sample: &mut Sample) {
        let mut own = None;
        let template = self.template(cx, &mut own);
        let reference = self.reference.eval(cx);
        let match_number = self.match_number.get(cx);
        let default = self.default.eval(cx);
        if !default.is_empty() || self.default_is_empty.get(cx) {
            cx.vars.set_named(&reference, default.into_value());
        }
        let ready = self.pattern.get(cx);
        let Ok(pattern) = ready.outcome else {
            tracing::error!("Error in pattern: '{}'", ready.text);
            return;
        };
        let Some(texts) = self.texts(cx, sample) else {
            return;
        };
        let mut matches = texts.iter().flat_map(|text| pattern.captures_iter(text));
        let mut store = Store {
            names: VariableNames::new(&reference),
            template,
            dialect: self.dialect,
        };
        if match_number < 0 {
            let matches: Vec<Captures> = matches.collect();
            store.all(&matches, cx);
            return;
        }
        let chosen = if match_number == 0 {
            let matches: Vec<Captures> = matches.collect();
            (!matches.is_empty()).then(|| matches[cx.random().index(matches.len())].clone())
        } else {
            matches.nth(match_number as usize - 1)
        };
        store.one(chosen.as_ref(), cx);
    }

    fn needs(&self) -> Needs {
        self.scoped.needs(self.field.needs())
    }
}

/// Writes matches into variables.
struct Store<'a> {
    names: VariableNames,
    template: &'a MatchTemplate,
    dialect: Dialect,
}

/// A template names a group that the pattern does not have: JMeter stops where it is.
struct NoGroup;

impl Store<'_> {
    fn one(&mut self, chosen: Option<&Captures<'_>>, cx: &mut Context) {
        let previous = self.names.take_match_count(&mut cx.vars);
        match chosen {
            Some(captures) => {
                if self.save(None, captures, cx).is_err() {
                    return;
                }
            }
            None => self.remove_groups(None, cx),
        }
        self.remove_left_over(0, previous, cx);
    }

    fn all(&mut self, matches: &[Captures<'_>], cx: &mut Context) {
        let previous = self.names.take_match_count(&mut cx.vars);
        self.remove_groups(None, cx);
        self.names.set_match_count(matches.len(), &mut cx.vars);
        for (index, captures) in matches.iter().enumerate() {
            if self.save(Some(index as i32 + 1), captures, cx).is_err() {
                return;
            }
        }
        self.remove_left_over(matches.len() as i32, previous, cx);
    }

    fn remove_left_over(&mut self, kept: i32, previous: i32, cx: &mut Context) {
        for number in kept + 1..=previous {
            cx.vars
                .remove_named(self.named(Some(number), format_args!("")));
            self.remove_groups(Some(number), cx);
        }
    }

    /// `name`, or `name_number`, with something behind it.
    fn named(&mut self, number: Option<i32>, suffix: std::fmt::Arguments<'_>) -> &str {
        match number {
            Some(number) => self.names.with(format_args!("_{number}{suffix}")),
            None => self.names.with(suffix),
        }
    }

    fn groups_before(&mut self, number: Option<i32>, cx: &Context) -> i32 {
        let count = cx.vars.get_named(self.named(number, format_args!("_g")));
        count
            .and_then(|count| drumfire_expr::values::parse_int(count))
            .unwrap_or(0)
    }

    /// `generateResult` and `saveGroups`.
    fn save(
        &mut self,
        number: Option<i32>,
        captures: &Captures<'_>,
        cx: &mut Context,
    ) -> Result<(), NoGroup> {
        let Ok(text) = self.template.render(captures, self.dialect) else {
            tracing::warn!("Error while generating result");
            return Err(NoGroup);
        };
        cx.vars
            .set_named(self.named(number, format_args!("")), text.into());
        let before = self.groups_before(number, cx);
        for (index, group) in captures.groups().enumerate() {
            let name = self.named(number, format_args!("_g{index}"));
            match group {
                Some(text) => cx.vars.set_named(name, text.into()),
                None => drop(cx.vars.remove_named(name)),
            }
        }
        let groups = captures.len() as i32;
        let mut count = itoa::Buffer::new();
        cx.vars.set_named(
            self.named(number, format_args!("_g")),
            count.format(groups - 1).into(),
        );
        for index in groups..=before {
            cx.vars
                .remove_named(self.named(number, format_args!("_g{index}")));
        }
        Ok(())
    }

    /// `removeGroups`.
    fn remove_groups(&mut self, number: Option<i32>, cx: &mut Context) {
        let groups = self.groups_before(number, cx);
        cx.vars.remove_named(self.named(number, format_args!("_g")));
        for index in 0..=groups {
            cx.vars
                .remove_named(self.named(number, format_args!("_g{index}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    struct Bench {
        extractor: RegexExtractor,
        cx: Context,
    }

    fn bench(regex: &str, template: &str, number: &str, more: &str) -> Bench {
        let xml = format!(
            r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="r">
            <stringProp name="RegexExtractor.refname">v</stringProp><stringProp name="RegexExtractor.regex">{regex}</stringProp>
            <stringProp name="RegexExtractor.template">{template}</stringProp>
            <stringProp name="RegexExtractor.match_number">{number}</stringProp>{more}</RegexExtractor>"#
        );
        let (extractor, cx) = fixture::decode(&xml, RegexExtractor::decode);
        Bench { extractor, cx }
    }

    impl Bench {
        fn run(&mut self, body: &str) -> Vec<String> {
            self.extractor
                .process(&mut self.cx, &mut fixture::sample(body));
            fixture::variables(&self.cx, "v")
        }
    }

    #[test]
    fn one_match_is_stored_with_its_groups() {
        let mut bench = bench(r"id=(\d)(x)?", "$1$-$2$-$7$", "2", "");
        assert_eq!(
            bench.run("id=1x id=2 id=3"),
            ["v=2-null-null", "v_g=2", "v_g0=id=2", "v_g1=2"]
        );
        // Nothing found: the old value stays, its groups do not.
        assert_eq!(bench.run("id=1"), ["v=2-null-null"]);
    }

    #[test]
    fn the_default_replaces_the_old_value() {
        let mut with_text = bench(
            "(b)",
            "$1$",
            "1",
            r#"<stringProp name="RegexExtractor.default">none</stringProp>"#,
        );
        assert_eq!(with_text.run("abc"), ["v=b", "v_g=1", "v_g0=b", "v_g1=b"]);
        assert_eq!(with_text.run("xyz"), ["v=none"]);
        let mut empty = bench(
            "(b)",
            "$1$",
            "1",
            r#"<boolProp name="RegexExtractor.default_empty_value">true</boolProp>"#,
        );
        assert_eq!(empty.run("xyz"), ["v="]);
    }

    #[test]
    fn all_matches_are_stored_and_left_overs_removed() {
        let mut bench = bench(r"(\d)", "$1$", "-1", "");
        assert_eq!(
            bench.run("1 2"),
            [
                "v_1=1",
                "v_1_g=1",
                "v_1_g0=1",
                "v_1_g1=1",
                "v_2=2",
                "v_2_g=1",
                "v_2_g0=2",
                "v_2_g1=2",
                "v_matchNr=2"
            ]
        );
        assert_eq!(
            bench.run("7"),
            ["v_1=7", "v_1_g=1", "v_1_g0=7", "v_1_g1=7", "v_matchNr=1"]
        );
        assert_eq!(bench.run(""), ["v_matchNr=0"]);
    }

    #[test]
    fn zero_takes_any_match() {
        let mut bench = bench(r"\d", "$0$", "0", "");
        let seen: std::collections::BTreeSet<String> =
            (0..100).map(|_| bench.run("1 2 3")[0].clone()).collect();
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), ["v=1", "v=2", "v=3"]);
    }

    #[test]
    fn a_malformed_pattern_leaves_all_but_the_default() {
        let xml = r#"<RegexExtractor guiclass="x" testclass="RegexExtractor" testname="r">
            <stringProp name="RegexExtractor.refname">v</stringProp><stringProp name="RegexExtractor.regex">(</stringProp>
            <stringProp name="RegexExtractor.default">none</stringProp></RegexExtractor>"#;
        let (extractor, mut cx, findings) =
            fixture::decode_with_findings(&[], xml, RegexExtractor::decode);
        assert_eq!(findings.len(), 1);
        cx.vars.set_named("v_matchNr", "3".into());
        extractor.process(&mut cx, &mut fixture::sample("("));
        assert_eq!(fixture::variables(&cx, "v"), ["v=none", "v_matchNr=3"]);
    }

    #[test]
    fn sub_results_and_variables_are_searched_by_scope() {
        let mut children = bench(
            r"\d+",
            "$0$",
            "2",
            r#"<stringProp name="Sample.scope">children</stringProp>"#,
        );
        let mut sample = fixture::sample("0");
        sample.children = vec![fixture::sample("1"), fixture::sample("22")];
        children.extractor.process(&mut children.cx, &mut sample);
        assert_eq!(fixture::variables(&children.cx, "v")[0], "v=22");
        let scope = r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">w</stringProp>"#;
        let mut variable = bench("[a-z]", "$0$", "1", scope);
        assert_eq!(variable.run("x"), [""; 0]);
        variable.cx.vars.set_named("w", "1b".into());
        assert_eq!(variable.run("x")[0], "v=b");
        assert_eq!(variable.extractor.needs(), Needs::NOTHING);
    }

    #[test]
    fn a_computed_template_is_fixed_at_its_first_use() {
        let mut bench = bench("(a)(b)", "${t}", "1", "");
        bench.cx.vars.set_named("t", "$1$".into());
        assert_eq!(bench.run("ab")[0], "v=a");
        bench.cx.vars.set_named("t", "$2$".into());
        assert_eq!(bench.run("ab")[0], "v=a");
    }
}
