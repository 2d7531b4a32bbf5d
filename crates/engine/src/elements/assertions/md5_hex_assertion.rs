//! MD5Hex Assertion (`MD5HexAssertion`): compares the MD5 sum of the body.
//!
//! Property: `MD5HexAssertion.size` (the expected sum; the misleading name is JMeter's). It has no scope.

use drumfire_elements::assertions::md5_hex_assertion as facts;
use drumfire_expr::Template;
use drumfire_platform::words::hex;
use drumfire_results::{AssertionResult, Sample};
use md5::{Digest, Md5};

use super::verdict::Name;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::input::Input;
use crate::run::roles::{Act, AssertionRole};
use crate::run::search::Searches;
use crate::run::view::AssertionView;

pub struct Md5HexAssertion {
    name: Name,
    allowed: Template,
    searches: Searches,
}

pub fn decode(d: &mut Decoder) -> Roles {
    Roles::assertion(Md5HexAssertion::decode(d))
}

impl Md5HexAssertion {
    fn decode(d: &mut Decoder) -> Md5HexAssertion {
        Md5HexAssertion {
            name: Name::decode(d),
            allowed: d.template(facts::SUM.name),
            searches: Searches::default(),
        }
    }

    async fn judge(&self, cx: &mut AssertionView, sample: &Sample) -> AssertionResult {
        let data = sample.response_data.as_ref();
        let Some(data) = data.filter(|data| !data.is_empty()) else {
            return self.name.fail_for_null(cx);
        };
        let allowed = self.allowed.eval(cx);
        if allowed.is_empty() {
            return self.name.fail(cx, "MD5Hex to test against is empty");
        }
        self.allowed.repeat(cx, 1); // MD5HexAssertion asks for the length, compares, and quotes
        let allowed = allowed.into_string();
        let sum = self.searches.search(cx, data, &(), |data, ()| sum(data));
        // The run was told to stop, so the check is skipped.
        let Some(sum) = sum.await else {
            return self.name.pass(cx);
        };
        if sum.eq_ignore_ascii_case(&allowed) {
            return self.name.pass(cx);
        }
        self.allowed.repeat(cx, 1);
        self.name.fail(
            cx,
            format!("Error asserting MD5 sum : got {sum} but should have been {allowed}"),
        )
    }
}

/// The sum in hexadecimal digits.
fn sum(data: &[u8]) -> String {
    hex(&Md5::digest(data))
}

impl AssertionRole for Md5HexAssertion {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        let bytes = Input::Result(sample).bytes();
        self.searches
            .turn(cx, bytes, move |cx| self.judge(cx, sample))
    }

    fn row_name(&self) -> &Template {
        self.name.template()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::view::View;

    #[test]
    fn sums_compare_in_any_case() {
        let check = |allowed: &str, body: &str| {
            let xml = format!(
                r#"<MD5HexAssertion guiclass="x" testclass="MD5HexAssertion" testname="m"><stringProp name="MD5HexAssertion.size">{allowed}</stringProp></MD5HexAssertion>"#
            );
            let (assertion, mut cx) = fixture::decode(&xml, Md5HexAssertion::decode);
            assertion
                .turn(View::of(&mut cx), &mut fixture::sample(body))
                .done()
                .message
                .map(|message| message.to_string())
        };
        assert_eq!(check("900150983CD24FB0D6963F7D28E17F72", "abc"), None);
        assert_eq!(
            check("x", "abc").as_deref(),
            Some(
                "Error asserting MD5 sum : got 900150983cd24fb0d6963f7d28e17f72 but should have been x"
            )
        );
        assert_eq!(
            check("", "abc").as_deref(),
            Some("MD5Hex to test against is empty")
        );
        assert_eq!(check("", "").as_deref(), Some("Response was null"));
    }
}
