//! Boundary Extractor (`BoundaryExtractor`): puts the text between two boundaries into variables.
//!
//! Properties: `BoundaryExtractor.useHeaders` (the part to search: `true` for the response headers, `request_headers`, `url`,
//! `code`, `message`, `unescaped` for the body without HTML entities, `as_document` for the body as Tika reads it; otherwise the
//! body), `.refname`, `.lboundary`, `.rboundary`, `.match_number` (0 random, negative all), `.default`, `.default_empty_value`,
//! and the scope. Without a name the sample is discarded.

use std::rc::Rc;

use drumfire_elements::post::boundary_extractor as facts;
use drumfire_expr::{Raised, Template, Text};
use drumfire_query::boundary::Boundary;
use drumfire_results::Sample;

use super::field::{self, ExtractorField};
use super::most_matches::MostMatches;
use super::variable_names::VariableNames;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::{ScopeReading, Scoped};
use crate::decode::setting::{Choice, Flag, WholeNumber};
use crate::run::needs::Needs;
use crate::run::roles::PostProcessor;
use crate::run::view::PostProcessorView;

pub struct BoundaryExtractor {
    scoped: Scoped,
    field: Choice<ExtractorField>,
    name: Template,
    reference: Template,
    left: Template,
    right: Template,
    /// Both boundaries, if the plan's are literal.
    boundary: Option<Boundary>,
    match_number: WholeNumber,
    default: Template,
    default_is_empty: Flag,
    most: MostMatches,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let decoded = BoundaryExtractor::decode(d);
    field::instead(d, &decoded.scoped, &decoded.field).unwrap_or_else(|| Roles::post(decoded))
}

impl BoundaryExtractor {
    fn decode(d: &mut Decoder) -> BoundaryExtractor {
        let (left, right) = (d.template(facts::LEFT.name), d.template(facts::RIGHT.name));
        BoundaryExtractor {
            scoped: Scoped::extractor(d),
            field: ExtractorField::decode(d, facts::FIELD.name),
            name: d.name(),
            reference: d.template(facts::NAME.name),
            boundary: left
                .literal()
                .zip(right.literal())
                .map(|(left, right)| Boundary::new(left, right)),
            left,
            right,
            match_number: WholeNumber::decode(d, facts::MATCH_NUMBER.name, 0),
            default: d.template(facts::DEFAULT.name),
            default_is_empty: Flag::decode(d, facts::EMPTY_DEFAULT.name, false),
            most: MostMatches::decode(d),
        }
    }

    fn texts<'s>(
        &self,
        cx: &mut PostProcessorView,
        scope: &ScopeReading<'_>,
        sample: &'s Sample,
    ) -> Result<Vec<Text<'s>>, Raised> {
        let element = ("Boundary Extractor", &self.name);
        let inputs = scope.inputs_or_warning(cx, sample, element).into_iter();
        let texts: Vec<Text<'s>> = inputs
            .map(|input| ExtractorField::text(&self.field, cx, &input))
            .collect::<Result<_, _>>()?;
        Ok(texts)
    }

    /// The fragments to be stored: all of them for a random choice or a negative number, else the chosen one.
    fn extract(
        &self,
        cx: &mut PostProcessorView,
        is_variable: bool,
        texts: &[Text<'_>],
        number: i32,
    ) -> Vec<Rc<str>> {
        let made;
        let (left, right) = (self.left.eval(cx), self.right.eval(cx));
        let boundary = match &self.boundary {
            Some(boundary) => boundary,
            None => {
                made = Boundary::new(&left, &right);
                &made
            }
        };
        let mut matches = texts.iter().flat_map(|text| boundary.find_iter(text));
        if number <= 0 {
            let (matches, is_cut) = self.most.take(matches.map(Rc::from));
            if is_cut {
                self.most.report(cx);
            }
            return matches;
        }
        // If a boundary is empty, a variable has only one fragment, which is taken whatever number the plan wants.
        let is_open = left.is_empty() || right.is_empty();
        let skipped = if is_variable && is_open {
            0
        } else {
            number as usize - 1
        };
        matches.nth(skipped).map(Rc::from).into_iter().collect()
    }
}

impl PostProcessor for BoundaryExtractor {
    fn process(&self, cx: &mut PostProcessorView, sample: &mut Sample) {
        let reference = self.reference.eval(cx);
        if reference.is_empty() {
            let name = self.name.eval(cx);
            let message = format!(
                "java.lang.IllegalArgumentException: One of the mandatory properties is missing in Boundary Extractor:{name}"
            );
            return cx.raise(Raised::exception(message));
        }
        self.reference.repeat(cx, 1); // BoundaryExtractor#validateAndGetProperties asks twice
        let default = self.default.eval(cx);
        if !drumfire_java::text::is_blank(&default) || self.default_is_empty.get(cx) {
            cx.vars_mut().set_named(&reference, default.into_value());
        }
        let number = self.match_number.get(cx);
        let mut names = VariableNames::new(&reference);
        let previous = names.take_match_count(cx.vars_mut());
        let mut last_number = 0;
        let scope = self.scoped.read(cx);
        match self.texts(cx, &scope, sample) {
            Ok(texts) => {
                let extracted = self.extract(cx, scope.is_variable(), &texts, number);
                if number < 0 {
                    last_number = extracted.len();
                    names.set_match_count(extracted.len(), cx.vars_mut());
                    for (index, fragment) in extracted.into_iter().enumerate() {
                        names.set_numbered(index + 1, fragment, cx.vars_mut());
                    }
                } else if !extracted.is_empty() {
                    let chosen = cx.random().index(extracted.len());
                    cx.vars_mut()
                        .set_named(&reference, extracted[chosen].clone());
                }
            }
            Err(raised) => {
                let name = self.name.eval(cx);
                tracing::warn!("{name}: Error while generating result. {raised}");
            }
        }
        names.remove_numbered(last_number as i32 + 1..=previous, cx.vars_mut());
    }

    fn needs(&self) -> Needs {
        self.scoped.needs(ExtractorField::needs(&self.field))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::view::View;

    fn extractor(left: &str, right: &str, number: i32, more: &str) -> (BoundaryExtractor, Context) {
        let xml = format!(
            r#"<BoundaryExtractor guiclass="BoundaryExtractorGui" testclass="BoundaryExtractor" testname="b">
            <stringProp name="BoundaryExtractor.refname">v</stringProp><stringProp name="BoundaryExtractor.lboundary">{left}</stringProp>
            <stringProp name="BoundaryExtractor.rboundary">{right}</stringProp>
            <stringProp name="BoundaryExtractor.match_number">{number}</stringProp>{more}</BoundaryExtractor>"#
        );
        fixture::decode(&xml, BoundaryExtractor::decode)
    }

    fn run(extractor: &BoundaryExtractor, cx: &mut Context, body: &str) -> Vec<String> {
        extractor.process(View::of(cx), &mut fixture::sample(body));
        assert_eq!(cx.take_raised(), None);
        fixture::variables(cx, "v")
    }

    #[test]
    fn one_fragment_by_number() {
        let (second, mut cx) = extractor(
            "[",
            "]",
            2,
            r#"<stringProp name="BoundaryExtractor.default">none</stringProp>"#,
        );
        assert_eq!(run(&second, &mut cx, "[a][b]"), ["v=b"]);
        assert_eq!(run(&second, &mut cx, "[a]"), ["v=none"]);
    }

    #[test]
    fn all_fragments_and_left_overs() {
        let (all, mut cx) = extractor("[", "]", -1, "");
        assert_eq!(
            run(&all, &mut cx, "[a][b]"),
            ["v_1=a", "v_2=b", "v_matchNr=2"]
        );
        assert_eq!(run(&all, &mut cx, "[c]"), ["v_1=c", "v_matchNr=1"]);
        assert_eq!(run(&all, &mut cx, ""), ["v_matchNr=0"]);
    }

    #[test]
    fn a_blank_default_counts_only_when_asked_for() {
        let (kept, mut cx) = extractor(
            "[",
            "]",
            1,
            r#"<stringProp name="BoundaryExtractor.default"> </stringProp>"#,
        );
        cx.vars.set_named("v", "old".into());
        assert_eq!(run(&kept, &mut cx, ""), ["v=old"]);
        let (empty, mut cx) = extractor(
            "[",
            "]",
            1,
            r#"<boolProp name="BoundaryExtractor.default_empty_value">true</boolProp>"#,
        );
        assert_eq!(run(&empty, &mut cx, ""), ["v="]);
    }

    #[test]
    fn open_ends_of_a_variable_ignore_the_number() {
        let scope = r#"<stringProp name="Sample.scope">variable</stringProp><stringProp name="Scope.variable">w</stringProp>"#;
        let (variable, mut cx) = extractor("[", "", 3, scope);
        cx.vars.set_named("w", "x[rest".into());
        assert_eq!(run(&variable, &mut cx, ""), ["v=rest"]);
        let (body, mut cx) = extractor("[", "", 3, "");
        assert_eq!(run(&body, &mut cx, "x[rest"), [""; 0]);
    }

    #[test]
    fn without_a_name_the_sample_is_lost() {
        let xml = r#"<BoundaryExtractor guiclass="x" testclass="BoundaryExtractor" testname="b"/>"#;
        let (extractor, mut cx) = fixture::decode(xml, BoundaryExtractor::decode);
        extractor.process(View::of(&mut cx), &mut fixture::sample("x"));
        assert!(
            matches!(cx.take_raised(), Some(raised @ Raised::Exception(_)) if raised.to_string().ends_with("Boundary Extractor:b"))
        );
    }
}
