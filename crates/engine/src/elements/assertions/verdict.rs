//! The results of assertions, and their names (`AssertionResult`).

use std::rc::Rc;

use drumfire_expr::Template;
use drumfire_results::{AssertionResult, SharedText};

use crate::base::exception_text::ExceptionText;
use crate::decode::Decoder;
use crate::run::context::StateId;
use crate::run::view::AssertionView;

/// The name of an assertion. A literal name is created once per user.
pub struct Name {
    template: Template,
    state: Option<StateId>,
}

impl Name {
    pub fn decode(d: &mut Decoder) -> Name {
        let template = d.name();
        let state = template.literal().map(|_| d.new_state());
        Name { template, state }
    }

    pub fn template(&self) -> &Template {
        &self.template
    }

    fn text(&self, cx: &mut AssertionView) -> Rc<str> {
        match (self.state, self.template.literal()) {
            (Some(state), Some(name)) => cx.state::<Rc<str>>(state, || name.into()).clone(),
            _ => self.template.eval(cx).into_value(),
        }
    }

    /// The result of an assertion that holds.
    pub fn pass(&self, cx: &mut AssertionView) -> AssertionResult {
        AssertionResult {
            name: Some(self.text(cx).into()),
            ..AssertionResult::default()
        }
    }

    /// The result of an assertion that holds and to which JMeter gives an empty message, which hides those of later
    /// assertions in result rows.
    pub fn pass_with_empty_message(&self, cx: &mut AssertionView) -> AssertionResult {
        AssertionResult {
            message: Some(SharedText::EMPTY),
            ..self.pass(cx)
        }
    }

    /// The result of an assertion that does not hold.
    pub fn fail(&self, cx: &mut AssertionView, message: impl Into<SharedText>) -> AssertionResult {
        AssertionResult {
            failure: true,
            message: Some(message.into()),
            ..self.pass(cx)
        }
    }

    /// The result if there is no response data to test (`AssertionResult#setResultForNull`).
    pub fn fail_for_null(&self, cx: &mut AssertionView) -> AssertionResult {
        self.fail(cx, "Response was null")
    }

    /// Makes a result of a check's outcome. If `is_inverted`, a failed check passes, and a check that holds fails with the
    /// message of `of_inverted`.
    pub fn judged(
        &self,
        cx: &mut AssertionView,
        outcome: Result<(), ExceptionText>,
        is_inverted: bool,
        of_inverted: impl FnOnce(&mut AssertionView) -> String,
    ) -> AssertionResult {
        match (outcome, is_inverted) {
            (Ok(()), false) | (Err(_), true) => self.pass_with_empty_message(cx),
            (Err(message), false) => self.fail(cx, message),
            (Ok(()), true) => {
                let message = of_inverted(cx);
                self.fail(cx, message)
            }
        }
    }

    /// The result of an assertion that cannot be evaluated.
    pub fn error(&self, cx: &mut AssertionView, message: impl Into<SharedText>) -> AssertionResult {
        AssertionResult {
            error: true,
            message: Some(message.into()),
            ..self.pass(cx)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    #[test]
    fn a_plain_name_is_shared_and_a_computed_one_follows_its_variables() {
        let name = |name: &str| {
            fixture::decode(
                &format!(
                    r#"<XMLAssertion guiclass="x" testclass="XMLAssertion" testname="{name}"/>"#
                ),
                Name::decode,
            )
        };
        let (plain, mut cx) = name("a");
        let cx = View::of(&mut cx);
        assert!(Rc::ptr_eq(&plain.text(cx), &plain.text(cx)));
        let (computed, mut cx) = name("a${v}");
        cx.vars.set_named("v", "1".into());
        let verdict = computed.fail_for_null(View::of(&mut cx));
        assert_eq!(verdict.name.as_deref(), Some("a1"));
        assert_eq!(
            (verdict.failure, verdict.error, verdict.message.as_deref()),
            (true, false, Some("Response was null"))
        );
    }
}
