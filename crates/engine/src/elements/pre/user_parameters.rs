//! User Parameters (`UserParameters`): variables with different values for each user.
//!
//! Properties: `UserParameters.names`, `UserParameters.thread_values` (one list of values per user; if there are fewer lists
//! than users, lists are used again), `UserParameters.per_iteration` (set at each iteration of the controller around,
//! instead of before each sampler). Only one user at a time sets its values.

use std::sync::Arc;

use drumfire_elements::pre::user_parameters as facts;
use drumfire_expr::Template;
use drumfire_java::values;
use drumfire_jmx::{Prop, Value};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::controllers::Hook;
use crate::run::pops::TurnLock;
use crate::run::roles::{IterationListener, PreProcessor};
use crate::run::view::PreProcessorView;

struct UserParameters {
    names: Vec<Template>,
    user_values: Vec<Vec<Template>>,
    per_iteration: Template,
    /// Functions such as `__CSVRead` rely on one user's values being evaluated together.
    turn: TurnLock,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let props = d.element.props.clone();
    let names = templates(d, props.list(facts::NAMES.name));
    for name in names.iter().filter_map(Template::literal) {
        d.decoding.compiler.intern(name);
    }
    let lists = props
        .list(facts::USER_VALUES.name)
        .iter()
        .map(|list| match &list.value {
            Value::List(items) => templates(d, items),
            _ => Vec::new(),
        });
    let user_values = lists.collect();
    let per_iteration = d.template(facts::PER_ITERATION.name);
    let parameters = Arc::new(UserParameters {
        names,
        user_values,
        per_iteration,
        turn: TurnLock::default(),
    });
    Roles {
        pre: Some(parameters.clone()),
        each_iteration: Some(Hook::Element(parameters)),
        ..Roles::default()
    }
}

fn templates(d: &mut Decoder, items: &[Prop]) -> Vec<Template> {
    items
        .iter()
        .map(|item| d.compile(&item.value.as_str()))
        .collect()
}

impl PreProcessor for UserParameters {
    fn process(&self, cx: &mut PreProcessorView) {
        if !self.is_per_iteration(cx) {
            self.set_values(cx);
        }
    }
}

impl IterationListener for UserParameters {
    fn iteration_start(&self, cx: &mut PreProcessorView, _: i32) {
        if cx.alive && self.is_per_iteration(cx) {
            self.set_values(cx);
            cx.ended_by_exception();
        }
    }
}

impl UserParameters {
    fn is_per_iteration(&self, cx: &mut PreProcessorView) -> bool {
        values::property_bool(&self.per_iteration.eval(cx))
    }

    fn set_values(&self, cx: &mut PreProcessorView) {
        if self.user_values.is_empty() {
            return;
        }
        let _turn = self.turn.take();
        let values = &self.user_values[cx.number as usize % self.user_values.len()];
        for (name, value) in self.names.iter().zip(values) {
            let name = name.eval(cx);
            let value = value.eval(cx).into_value();
            cx.vars_mut().set_named(&name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    fn xml(per_iteration: bool) -> String {
        format!(
            r#"<UserParameters guiclass="UserParametersGui" testclass="UserParameters" testname="u">
            <collectionProp name="UserParameters.names"><stringProp name="1">a</stringProp><stringProp name="2">b_${{a}}</stringProp></collectionProp>
            <collectionProp name="UserParameters.thread_values">
              <collectionProp name="1"><stringProp name="1">x</stringProp><stringProp name="2">${{a}}y</stringProp><stringProp name="3">more</stringProp></collectionProp>
              <collectionProp name="2"><stringProp name="1">z</stringProp></collectionProp>
            </collectionProp>
            <boolProp name="UserParameters.per_iteration">{per_iteration}</boolProp></UserParameters>"#
        )
    }

    #[test]
    fn each_user_has_its_own_list_and_lists_are_used_again() {
        let (roles, mut cx) = fixture::decode(&xml(false), decode);
        let pre = roles.pre.expect("it is a pre-processor");
        pre.turn(View::of(&mut cx)).done();
        assert_eq!(fixture::variables(&cx, ""), ["a=x", "b_x=xy"]);
        cx.facts_mut().number = 3;
        pre.turn(View::of(&mut cx)).done();
        assert_eq!(fixture::variables(&cx, "a"), ["a=z"]);
    }

    #[test]
    fn values_are_set_before_samplers_or_at_iterations() {
        let (roles, mut cx) = fixture::decode(&xml(true), decode);
        roles
            .pre
            .expect("it is a pre-processor")
            .turn(View::of(&mut cx))
            .done();
        assert!(fixture::variables(&cx, "").is_empty());
        roles
            .each_iteration
            .expect("it listens")
            .iteration_start(&mut cx, 1);
        assert_eq!(fixture::variables(&cx, "a"), ["a=x"]);
    }
}
