//! RegEx User Parameters (`RegExUserParameters`): sets arguments of HTTP Requests to values that a Regular Expression
//! Extractor found, by the names that it found with them.
//!
//! Properties: `RegExUserParameters.regex_ref_name` (the extractor's variable), `RegExUserParameters.param_names_gr_nr` and
//! `RegExUserParameters.param_values_gr_nr` (the groups that hold names and values).

use std::rc::Rc;

use drumfire_elements::pre::regex_user_parameters as facts;
use drumfire_expr::{Raised, Random, Template};
use drumfire_java::values;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::samplers::http::edits::Edit;
use crate::elements::samplers::http::state::edits;
use crate::run::request::Request;
use crate::run::roles::PreProcessor;
use crate::run::view::PreProcessorView;

struct RegExUserParameters {
    name: Template,
    reference: Template,
    names_group: Template,
    values_group: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::pre(RegExUserParameters {
        name: d.name(),
        reference: d.template(facts::NAME.name),
        names_group: d.template(facts::NAMES_GROUP.name),
        values_group: d.template(facts::VALUES_GROUP.name),
    })
}

impl PreProcessor for RegExUserParameters {
    fn process(&self, cx: &mut PreProcessorView) {
        if !edits(cx).applies() {
            return;
        }
        match self.matched_groups(cx) {
            Ok(Some(found)) if !found.is_empty() => edits(cx).add(ArgumentValues(found)),
            Ok(_) => {
                let name = self.name.eval(cx);
                tracing::info!(
                    "RegExUserParameters element: {name} => Referenced RegExp was not found, no parameter will be changed"
                );
            }
            Err(exception) => cx.raise(exception),
        }
    }
}

type Found = Vec<(Option<Rc<str>>, Option<Rc<str>>)>;

impl RegExUserParameters {
    /// `RegExUserParameters#buildParamsMap`: names and values in turn; `None` if the extractor's variables are missing.
    fn matched_groups(&self, cx: &mut PreProcessorView) -> Result<Option<Found>, Raised> {
        let reference = self.reference.eval(cx);
        let (names, values) = (self.names_group.eval(cx), self.values_group.eval(cx));
        let variable = |suffix: &str| {
            cx.vars()
                .get_named(&format!("{reference}_{suffix}"))
                .cloned()
        };
        let group = |number: i32, group: &str| variable(&format!("{number}_g{group}"));
        let Some(count) = variable("matchNr") else {
            return Ok(None);
        };
        if group(1, &names).is_none() || group(1, &values).is_none() {
            return Ok(None);
        }
        let count = values::parse_int(&count).ok_or_else(|| {
            Raised::exception(format!(
                "java.lang.NumberFormatException: For input string: \"{count}\""
            ))
        })?;
        if count < 0 {
            return Err(Raised::exception(format!(
                "java.lang.IllegalArgumentException: Illegal initial capacity: {count}"
            )));
        }
        Ok(Some(
            (1..=count)
                .map(|number| (group(number, &names), group(number, &values)))
                .collect(),
        ))
    }
}

/// Values by the names of arguments; the last of equal names counts.
struct ArgumentValues(Found);

impl Edit for ArgumentValues {
    fn apply(&self, _: &mut Random, request: &mut Request) {
        for argument in &mut request.arguments {
            let row = self
                .0
                .iter()
                .rev()
                .find(|(name, _)| name.as_deref() == Some(&argument.name));
            if let Some((_, Some(value))) = row {
                argument.value = value.to_string();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::samplers::http::state::{user, user_mut};
    use crate::fixture;
    use crate::run::request::RequestArgument;
    use crate::run::view::View;

    const XML: &str = r#"<RegExUserParameters guiclass="RegExUserParametersGui" testclass="RegExUserParameters" testname="r">
        <stringProp name="RegExUserParameters.regex_ref_name">found</stringProp>
        <stringProp name="RegExUserParameters.param_names_gr_nr">1</stringProp>
        <stringProp name="RegExUserParameters.param_values_gr_nr">2</stringProp></RegExUserParameters>"#;

    fn changed(
        variables: &[(&str, &str)],
        arguments: &[(&str, &str)],
    ) -> (Vec<String>, Option<Raised>) {
        let (roles, mut cx) = fixture::decode(XML, decode);
        for (name, value) in variables {
            cx.vars.set_named(name, (*value).into());
        }
        user_mut(&mut cx).edits.begin(true);
        roles
            .pre
            .expect("it is a pre-processor")
            .turn(View::of(&mut cx))
            .done();
        let mut request = Request {
            arguments: arguments
                .iter()
                .map(|(name, value)| RequestArgument::plain(name, value, "="))
                .collect(),
            ..Request::default()
        };
        for edit in user_mut(&mut cx).edits.take() {
            edit.apply(cx.random(), &mut request);
        }
        (
            request
                .arguments
                .into_iter()
                .map(|argument| argument.value)
                .collect(),
            cx.take_raised(),
        )
    }

    #[test]
    fn arguments_get_the_values_found_with_their_names() {
        let variables = [
            ("found_matchNr", "3"),
            ("found_1_g1", "a"),
            ("found_1_g2", "1"),
            ("found_2_g1", "b"),
            ("found_2_g2", "2"),
            ("found_3_g1", "a"),
            ("found_3_g2", "3"),
        ];
        let (values, raised) = changed(&variables, &[("a", "x"), ("c", "y"), ("b", "")]);
        assert_eq!(values, ["3", "y", "2"]);
        assert_eq!(raised, None);
    }

    #[test]
    fn nothing_changes_without_a_match() {
        assert_eq!(
            changed(&[("found_matchNr", "0")], &[("a", "x")]),
            (vec!["x".to_owned()], None)
        );
        assert_eq!(changed(&[], &[("a", "x")]), (vec!["x".to_owned()], None));
    }

    #[test]
    fn a_count_that_is_no_number_ends_the_sample() {
        let variables = [
            ("found_matchNr", "many"),
            ("found_1_g1", "a"),
            ("found_1_g2", "1"),
        ];
        let (_, raised) = changed(&variables, &[]);
        assert_eq!(
            raised,
            Some(Raised::exception(
                "java.lang.NumberFormatException: For input string: \"many\"".to_owned()
            ))
        );
    }

    #[test]
    fn other_samplers_are_not_changed() {
        let (roles, mut cx) = fixture::decode(XML, decode);
        for name in ["found_matchNr", "found_1_g1", "found_1_g2"] {
            cx.vars.set_named(name, "1".into());
        }
        user_mut(&mut cx).edits.begin(false);
        roles
            .pre
            .expect("it is a pre-processor")
            .turn(View::of(&mut cx))
            .done();
        assert!(user(&cx).edits.is_empty());
    }
}
