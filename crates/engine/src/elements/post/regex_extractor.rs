//! Regular Expression Extractor (`RegexExtractor`): puts what a pattern finds in a result into variables.
//!
//! Properties: `RegexExtractor.useHeaders` (the part to search: `true` for the response headers, `request_headers`, `url`,
//! `code`, `message`, `unescaped` for the body without HTML entities, `as_document` for the body as Tika reads it; otherwise the
//! body), `.refname`, `.regex`, `.template`, `.default`, `.default_empty_value`, `.match_number` (0 random, negative all), and
//! the scope.
//!
//! It writes `name` and, per group, `name_g0`, `name_g1`, …, and their number to `name_g`. With a negative match number it
//! writes `name_1`, `name_1_g`, …, and the number of matches to `name_matchNr`. It removes further variables of an earlier
//! sample. If a group has no part in the match, JMeter sets its variable to null; here the variable is undefined. Only a
//! Debug Sampler shows the difference.

use std::borrow::Cow;
use std::sync::Arc;

use drumfire_elements::post::regex_extractor as facts;
use drumfire_expr::{MatchTemplate, Template, Text};
use drumfire_query::Matches;
use drumfire_query::regex::{Captures, Dialect, Pattern, Spans};
use drumfire_results::Sample;

use super::field::{self, ExtractorField};
use super::most_matches::MostMatches;
use super::variable_names::VariableNames;
use crate::decode::Decoder;
use crate::decode::compiled::{CompiledProperty, RegexRules, Use};
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::decode::setting::{Choice, Flag, WholeNumber};
use crate::run::context::StateId;
use crate::run::needs::Needs;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::search::Searches;
use crate::run::view::PostProcessorView;

pub struct RegexExtractor {
    scoped: Scoped,
    field: Choice<ExtractorField>,
    name: Template,
    reference: Template,
    pattern: CompiledProperty<Pattern>,
    dialect: Dialect,
    template: ResultTemplate,
    match_number: WholeNumber,
    default: Template,
    default_is_empty: Flag,
    searches: Searches,
    most: MostMatches,
}

/// The template of the result. JMeter splits it once per user, when it is first needed (`initTemplate`).
enum ResultTemplate {
    Fixed(MatchTemplate),
    PerUser(Template, StateId),
}

pub fn decode(d: &mut Decoder) -> Roles {
    let decoded = RegexExtractor::decode(d);
    field::instead(d, &decoded.scoped, &decoded.field).unwrap_or_else(|| Roles::post(decoded))
}

impl RegexExtractor {
    fn decode(d: &mut Decoder) -> RegexExtractor {
        let rules = RegexRules::new(&d.settings().properties);
        let regex = d.template(facts::REGEX.name);
        let template = d.template(facts::TEMPLATE.name);
        RegexExtractor {
            scoped: Scoped::extractor(d),
            field: ExtractorField::decode(d, facts::FIELD.name),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            pattern: CompiledProperty::new(d, regex, rules),
            dialect: rules.0,
            template: match template.literal() {
                Some(text) => ResultTemplate::Fixed(MatchTemplate::parse(text)),
                None => ResultTemplate::PerUser(template, d.new_state()),
            },
            match_number: WholeNumber::decode(d, facts::MATCH_NUMBER.name, 0),
            default: d.template(facts::DEFAULT.name),
            default_is_empty: Flag::decode(d, facts::EMPTY_DEFAULT.name, false),
            searches: Searches::default(),
            most: MostMatches::decode(d),
        }
    }

    fn template(&self, cx: &mut PostProcessorView) -> Cow<'_, MatchTemplate> {
        match &self.template {
            ResultTemplate::Fixed(template) => Cow::Borrowed(template),
            ResultTemplate::PerUser(template, state) => {
                let cached = cx.state::<Option<MatchTemplate>>(*state, || None).clone();
                Cow::Owned(cached.unwrap_or_else(|| {
                    let parsed = MatchTemplate::parse(&template.eval(cx));
                    *cx.state(*state, || None) = Some(parsed.clone());
                    parsed
                }))
            }
        }
    }

    /// The texts to be searched; `None` if one of them cannot be made, which this has raised in the context.
    fn texts<'s>(&self, cx: &mut PostProcessorView, sample: &'s Sample) -> Option<Vec<Text<'s>>> {
        let scope = self.scoped.read(cx);
        let element = (facts::CLASS, &self.name);
        let inputs = scope.inputs_or_warning(cx, sample, element);
        let mut texts = Vec::with_capacity(inputs.len());
        for input in &inputs {
            match ExtractorField::text(&self.field, cx, input) {
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

/// A search that is ready to begin.
struct Search<'a, 's> {
    reference: Text<'a>,
    template: Cow<'a, MatchTemplate>,
    match_number: i32,
    pattern: Use<'a, Pattern>,
    texts: Vec<Text<'s>>,
}

impl Search<'_, '_> {
    /// The total length of the texts, if a search in them may take long.
    fn long_bytes(&self) -> Option<usize> {
        let matches = match self.match_number {
            1 => Matches::First,
            _ => Matches::All,
        };
        let texts = self.texts.iter();
        self.texts
            .iter()
            .any(|text| self.pattern.is_long(text.len(), matches))
            .then(|| texts.map(|text| text.len()).sum())
    }
}

/// A match: the index of its text, and its groups in it.
type Match = (usize, Spans);

/// The matches that the number asks for.
enum Asked {
    One(Option<Match>),
    /// For 0 and negative numbers; with whether the limit left some out.
    All(Vec<Match>, bool),
}

impl RegexExtractor {
    fn search<'a, 's>(
        &'a self,
        cx: &mut PostProcessorView,
        sample: &'s Sample,
    ) -> Option<Search<'a, 's>> {
        let template = self.template(cx);
        let reference = self.reference.eval(cx);
        let match_number = self.match_number.get(cx);
        let default = self.default.eval(cx);
        if !default.is_empty() || self.default_is_empty.get(cx) {
            cx.vars_mut().set_named(&reference, default.into_value());
        }
        let ready = self.pattern.get(cx);
        let Ok(pattern) = ready.outcome else {
            tracing::error!("Error in pattern: '{}'", ready.text);
            return None;
        };
        Some(Search {
            reference,
            template,
            match_number,
            pattern,
            texts: self.texts(cx, sample)?,
        })
    }

    async fn process(&self, cx: &mut PostProcessorView, search: Search<'_, '_>) {
        let (number, most) = (search.match_number, self.most);
        let find = move |texts: &[Text<'_>], pattern: &Arc<Pattern>| {
            let mut matches = texts.iter().enumerate().flat_map(|(index, text)| {
                let matches = pattern.captures_iter(text);
                matches.map(move |captures| (index, captures.into_spans()))
            });
            if let Ok(number @ 1..) = usize::try_from(number) {
                return Asked::One(matches.nth(number - 1));
            }
            let (matches, is_cut) = most.take(matches);
            Asked::All(matches, is_cut)
        };
        let (texts, pattern) = (&*search.texts, &*search.pattern);
        let Some(asked) = self.searches.search(cx, texts, pattern, find).await else {
            return;
        };
        let mut store = Store {
            names: VariableNames::new(&search.reference),
            template: &search.template,
            dialect: self.dialect,
        };
        let captures = |(index, spans): Match| Captures::new(&texts[index], spans);
        let (matches, is_cut) = match asked {
            Asked::One(one) => return store.one(one.map(captures).as_ref(), cx),
            Asked::All(matches, is_cut) => (matches, is_cut),
        };
        if is_cut {
            most.report(cx);
        }
        let matches: Vec<_> = matches.into_iter().map(captures).collect();
        if number < 0 {
            return store.all(&matches, cx);
        }
        let chosen = match matches.len() {
            0 => None,
            count => Some(&matches[cx.random().index(count)]),
        };
        store.one(chosen, cx);
    }
}

impl PostProcessorRole for RegexExtractor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        let Some(search) = self.search(cx, sample) else {
            return Act::Done(());
        };
        self.searches
            .turn_of_long(cx, search.long_bytes(), move |cx| self.process(cx, search))
    }

    fn reads(&self) -> Needs {
        self.scoped.needs(ExtractorField::needs(&self.field))
    }
}

/// Writes matches into variables.
struct Store<'a> {
    names: VariableNames,
    template: &'a MatchTemplate,
    dialect: Dialect,
}

/// The template names a group that the pattern does not have. JMeter stops writing variables there.
struct NoGroup;

impl Store<'_> {
    fn one(&mut self, chosen: Option<&Captures<'_>>, cx: &mut PostProcessorView) {
        let previous = self.names.take_match_count(cx.vars_mut());
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

    fn all(&mut self, matches: &[Captures<'_>], cx: &mut PostProcessorView) {
        let previous = self.names.take_match_count(cx.vars_mut());
        self.remove_groups(None, cx);
        self.names.set_match_count(matches.len(), cx.vars_mut());
        for (index, captures) in matches.iter().enumerate() {
            if self.save(Some(index as i32 + 1), captures, cx).is_err() {
                return;
            }
        }
        self.remove_left_over(matches.len() as i32, previous, cx);
    }

    fn remove_left_over(&mut self, kept: i32, previous: i32, cx: &mut PostProcessorView) {
        for number in kept + 1..=previous {
            cx.vars_mut().remove_named(self.named(Some(number), ""));
            self.remove_groups(Some(number), cx);
        }
    }

    /// `name` or `name_number`, followed by a suffix.
    fn named(&mut self, number: Option<i32>, suffix: &str) -> &str {
        let mut digits = itoa::Buffer::new();
        match number {
            Some(number) => self.names.with(&["_", digits.format(number), suffix]),
            None => self.names.with(&[suffix]),
        }
    }

    /// `name_gindex` or `name_number_gindex`.
    fn named_group(&mut self, number: Option<i32>, index: impl itoa::Integer) -> &str {
        let (mut digits, mut group) = (itoa::Buffer::new(), itoa::Buffer::new());
        let group = group.format(index);
        match number {
            Some(number) => (self.names).with(&["_", digits.format(number), "_g", group]),
            None => self.names.with(&["_g", group]),
        }
    }

    fn groups_before(&mut self, number: Option<i32>, cx: &PostProcessorView) -> i32 {
        let count = cx.vars().get_named(self.named(number, "_g"));
        count
            .and_then(|count| drumfire_java::values::parse_int(count))
            .unwrap_or(0)
    }

    /// `generateResult` and `saveGroups`.
    fn save(
        &mut self,
        number: Option<i32>,
        captures: &Captures<'_>,
        cx: &mut PostProcessorView,
    ) -> Result<(), NoGroup> {
        let Ok(text) = self.template.render(captures, self.dialect) else {
            tracing::warn!("Error while generating result");
            return Err(NoGroup);
        };
        cx.vars_mut().set_named(self.named(number, ""), text.into());
        let before = self.groups_before(number, cx);
        for (index, group) in captures.groups().enumerate() {
            let name = self.named_group(number, index);
            match group {
                Some(text) => cx.vars_mut().set_named(name, text.into()),
                None => drop(cx.vars_mut().remove_named(name)),
            }
        }
        let groups = captures.len() as i32;
        let mut count = itoa::Buffer::new();
        cx.vars_mut()
            .set_named(self.named(number, "_g"), count.format(groups - 1).into());
        for index in groups..=before {
            cx.vars_mut().remove_named(self.named_group(number, index));
        }
        Ok(())
    }

    /// `removeGroups`.
    fn remove_groups(&mut self, number: Option<i32>, cx: &mut PostProcessorView) {
        let groups = self.groups_before(number, cx);
        cx.vars_mut().remove_named(self.named(number, "_g"));
        for index in 0..=groups {
            cx.vars_mut().remove_named(self.named_group(number, index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    struct ExtractorFixture {
        extractor: RegexExtractor,
        cx: Context,
    }

    fn bench(regex: &str, template: &str, number: &str, more: &str) -> ExtractorFixture {
        let xml = format!(
            r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="r">
            <stringProp name="RegexExtractor.refname">v</stringProp><stringProp name="RegexExtractor.regex">{regex}</stringProp>
            <stringProp name="RegexExtractor.template">{template}</stringProp>
            <stringProp name="RegexExtractor.match_number">{number}</stringProp>{more}</RegexExtractor>"#
        );
        let (extractor, cx) = fixture::decode(&xml, RegexExtractor::decode);
        ExtractorFixture { extractor, cx }
    }

    impl ExtractorFixture {
        fn run(&mut self, body: &str) -> Vec<String> {
            let mut sample = fixture::sample(body);
            self.extractor
                .turn(View::of(&mut self.cx), &mut sample)
                .done();
            fixture::variables(&self.cx, "v")
        }

        async fn run_apart(&mut self, body: &str) -> Vec<String> {
            let mut sample = fixture::sample(body);
            let act = self.extractor.turn(View::of(&mut self.cx), &mut sample);
            assert!(matches!(act, Act::Wait(_)));
            act.finish().await;
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
        extractor
            .turn(View::of(&mut cx), &mut fixture::sample("("))
            .done();
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
        children
            .extractor
            .turn(View::of(&mut children.cx), &mut sample)
            .done();
        assert_eq!(fixture::variables(&children.cx, "v")[0], "v=22");
        let scope = r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">w</stringProp>"#;
        let mut variable = bench("[a-z]", "$0$", "1", scope);
        assert_eq!(variable.run("x"), [""; 0]);
        variable.cx.vars.set_named("w", "1b".into());
        assert_eq!(variable.run("x")[0], "v=b");
        assert_eq!(variable.extractor.reads(), Needs::NOTHING);
    }

    #[test]
    fn a_computed_template_is_fixed_at_its_first_use() {
        let mut bench = bench("(a)(b)", "${t}", "1", "");
        bench.cx.vars.set_named("t", "$1$".into());
        assert_eq!(bench.run("ab")[0], "v=a");
        bench.cx.vars.set_named("t", "$2$".into());
        assert_eq!(bench.run("ab")[0], "v=a");
    }

    #[tokio::test]
    async fn a_long_search_on_a_thread_finds_the_same() {
        let long: String = (0..5_000).map(|n| format!("<a id={n}> ")).collect();
        let long = long + &"x".repeat(70_000) + "\n";
        for (number, expected) in [("1", "v=0"), ("3", "v=2"), ("-1", "v_5000=4999")] {
            // `$` makes the pattern one that is always long.
            let mut bench = bench(r"id=(\d+)(?:&gt;|$)", "$1$", number, "");
            let found = bench.run_apart(&long).await;
            assert!(found.iter().any(|one| one == expected), "{number}");
            bench
                .extractor
                .searches
                .note(long.len(), Default::default());
            assert_eq!(bench.run(&long), found, "{number}");
        }
        let mut none = bench("nowhere(.)$", "$1$", "1", "");
        assert!(
            none.run_apart(&long)
                .await
                .iter()
                .all(|one| !one.starts_with("v="))
        );
    }
}
