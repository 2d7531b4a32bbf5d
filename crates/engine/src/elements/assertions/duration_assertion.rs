//! Duration Assertion (`DurationAssertion`): fails samples that took too long.
//!
//! Properties: `DurationAssertion.duration` in milliseconds (0 or less: never fails), and the scope.

use drumfire_elements::assertions::duration_assertion as facts;
use drumfire_expr::Template;
use drumfire_results::{AssertionResult, Sample};
use drumfire_web::status::grouped;

use super::verdict::Name;
use crate::base::number;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::scoped::Scoped;
use crate::run::needs::Needs;
use crate::run::roles::{Assertion, ResultScope};
use crate::run::view::AssertionView;

pub struct DurationAssertion {
    name: Name,
    scoped: Scoped,
    allowed_ms: Template,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(DurationAssertion::decode(d))
}

impl DurationAssertion {
    fn decode(d: &mut Decoder) -> DurationAssertion {
        DurationAssertion {
            name: Name::decode(d),
            scoped: Scoped::assertion(d),
            allowed_ms: d.template(facts::DURATION.name),
        }
    }
}

impl Assertion for DurationAssertion {
    fn check(&self, cx: &mut AssertionView, sample: &mut Sample) -> AssertionResult {
        let allowed_ms = number::long(&self.allowed_ms.eval(cx));
        if allowed_ms <= 0 || sample.elapsed_ms <= allowed_ms {
            return self.name.pass(cx);
        }
        let message = format!(
            "The operation lasted too long: It took {} milliseconds, but should not have lasted longer than {} milliseconds.",
            grouped(sample.elapsed_ms),
            grouped(allowed_ms)
        );
        self.name.fail(cx, message)
    }

    fn scope(&self, cx: &mut AssertionView) -> ResultScope {
        self.scoped.scope(cx)
    }

    fn name(&self) -> &Template {
        self.name.template()
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    #[test]
    fn only_longer_samples_fail() {
        let check = |duration: &str, elapsed_ms: i64| {
            let xml = format!(
                r#"<DurationAssertion guiclass="x" testclass="DurationAssertion" testname="d"><stringProp name="DurationAssertion.duration">{duration}</stringProp></DurationAssertion>"#
            );
            let (assertion, mut cx) = fixture::decode(&xml, DurationAssertion::decode);
            let verdict = assertion.check(
                View::of(&mut cx),
                &mut Sample {
                    elapsed_ms,
                    ..Sample::default()
                },
            );
            assert_eq!(verdict.failure, verdict.message.is_some());
            verdict.message.map(|message| message.to_string())
        };
        assert_eq!(check("1000", 1000), None);
        assert_eq!(
            check("1000", 1001).as_deref(),
            Some(
                "The operation lasted too long: It took 1,001 milliseconds, but should not have lasted longer than 1,000 milliseconds."
            )
        );
        assert_eq!(check("", 5), None);
        assert_eq!(check("soon", 5), None);
    }
}
