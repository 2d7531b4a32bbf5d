//! HTTP URL Re-writing Modifier (`URLRewritingModifier`): takes a session id from the previous response and puts it into the
//! request, as an argument or as an extension of the path.
//!
//! Properties: `argument_name`; `path_extension`, `path_extension_no_equals`, `path_extension_no_questionmark` (form of the
//! path's extension); `cache_value` (keep the last value found, default true); `encode` (send the value encoded).

use drumfire_elements::pre::url_rewriting_modifier as facts;
use drumfire_expr::{Raised, Random, Template};
use drumfire_java::charset::Charset;
use drumfire_java::url_coding::url_decode;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};

use crate::decode::Decoder;
use crate::decode::compiled::RegexRules;
use crate::decode::roles::Roles;
use crate::decode::setting::Flag;
use crate::elements::samplers::http::edits::Edit;
use crate::elements::samplers::http::state::edits;
use crate::run::context::StateId;
use crate::run::request::{Request, RequestArgument};
use crate::run::roles::PreProcessor;
use crate::run::view::PreProcessorView;

struct UrlRewritingModifier {
    argument: Template,
    /// The pattern, if everything that it depends on is literal.
    constant: Option<Pattern>,
    form: SessionIdLocation,
    keeps_value: Flag,
    encode: Flag,
    dialect: Dialect,
    state: StateId,
}

/// Where to look for the session id and where to put it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionIdLocation {
    Argument,
    Path {
        equals: bool,
        stops_at_question_mark: bool,
    },
}

/// A user's state between samples.
#[derive(Default)]
struct RewritingState {
    value: String,
    /// The pattern for an argument whose name has variables.
    pattern: Option<(String, Option<Pattern>)>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    d.decoding.keeps_previous = true;
    let argument = d.template(facts::ARGUMENT_NAME.name);
    let mut flag = |name: &str| d.text_now(name).eq_ignore_ascii_case("true");
    let form = if flag(facts::PATH_EXTENSION.name) {
        SessionIdLocation::Path {
            equals: !flag(facts::NO_EQUALS.name),
            stops_at_question_mark: flag(facts::NO_QUESTION_MARK.name),
        }
    } else {
        SessionIdLocation::Argument
    };
    let dialect = RegexRules::new(&d.settings().properties).0;
    let constant = argument
        .literal()
        .and_then(|name| compile(name, form, dialect));
    Roles::pre(UrlRewritingModifier {
        argument,
        constant,
        form,
        keeps_value: Flag::decode(d, facts::CACHE.name, true),
        encode: Flag::decode(d, facts::ENCODE.name, false),
        dialect,
        state: d.new_state(),
    })
}

/// A longer name, which only a variable can have, is not searched for: its pattern could be too large to compile.
const LONGEST_NAME: usize = 64 << 10;

/// `URLRewritingModifier#initRegex`; `None` for a name that is too long.
fn compile(argument: &str, form: SessionIdLocation, dialect: Dialect) -> Option<Pattern> {
    if argument.len() > LONGEST_NAME {
        return None;
    }
    let name = quote(argument);
    let text = match form {
        SessionIdLocation::Path {
            equals,
            stops_at_question_mark,
        } => {
            let equals = if equals { "=" } else { "" };
            let end = if stops_at_question_mark { "?" } else { "" };
            format!(r#";{name}{equals}([^"'<>&\s;{end}]*)"#)
        }
        SessionIdLocation::Argument => format!(
            r#"[;\?&]{name}=([^"'<>&\s;\\]*)|\s[Nn][Aa][Mm][Ee]\s*=\s*["']{name}["'][^>]*\s[vV][Aa][Ll][Uu][Ee]\s*=\s*["']([^"']*)["']|\s[vV][Aa][Ll][Uu][Ee]\s*=\s*["']([^"']*)["'][^>]*\s[Nn][Aa][Mm][Ee]\s*=\s*["']{name}["']"#
        ),
    };
    let options = RegexOptions {
        multiline: true,
        ..RegexOptions::default()
    };
    Pattern::compile(&text, dialect, options).ok()
}

/// `Perl5Compiler#quotemeta`: a backslash before everything except letters, digits and underscores.
fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() && !c.is_ascii_alphanumeric() && c != '_' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The first group that took part in the first match, or an empty text.
fn extract(pattern: &Pattern, text: &str) -> String {
    let Some(groups) = pattern.captures(text) else {
        return String::new();
    };
    (1..groups.len())
        .find_map(|group| groups.get(group))
        .unwrap_or_default()
        .to_owned()
}

impl PreProcessor for UrlRewritingModifier {
    fn process(&self, cx: &mut PreProcessorView) {
        let Some(previous) = cx.previous.clone().filter(|_| edits(cx).applies()) else {
            return;
        };
        let text = crate::base::body::text(&previous, cx.default_charset()).into_owned();
        let argument = self.argument.eval(cx).into_string();
        let keeps_value = self.keeps_value.get(cx);
        let encode = self.encode.get(cx);
        let state = cx.state(self.state, RewritingState::default);
        let mut value = match &self.constant {
            Some(pattern) => extract(pattern, &text),
            None => match state.pattern(&argument, self) {
                Some(pattern) => extract(pattern, &text),
                None => String::new(),
            },
        };
        if keeps_value {
            if value.is_empty() {
                value.clone_from(&state.value);
            } else {
                state.value.clone_from(&value);
            }
        }
        match self.session(argument, value, encode) {
            Ok(session) => edits(cx).add(session),
            Err(exception) => cx.raise(exception),
        }
    }
}

impl RewritingState {
    fn pattern(&mut self, argument: &str, modifier: &UrlRewritingModifier) -> Option<&Pattern> {
        if self
            .pattern
            .as_ref()
            .is_some_and(|(known, _)| known != argument)
        {
            self.pattern = None;
        }
        self.pattern
            .get_or_insert_with(|| {
                (
                    argument.to_owned(),
                    compile(argument, modifier.form, modifier.dialect),
                )
            })
            .1
            .as_ref()
    }
}

impl UrlRewritingModifier {
    fn session(
        &self,
        name: String,
        value: String,
        encode: bool,
    ) -> Result<RewrittenSession, Raised> {
        let argument = match self.form {
            SessionIdLocation::Path { .. } => RequestArgument::plain(&name, &value, "="),
            SessionIdLocation::Argument if encode => RequestArgument {
                always_encode: true,
                ..RequestArgument::plain(&name, &value, "=")
            },
            // An encoded value is stored decoded.
            SessionIdLocation::Argument => {
                RequestArgument::decoded(&name, &value).ok_or_else(|| {
                    let fault = url_decode(&value, &Charset::UTF_8)
                        .err()
                        .map(|exception| exception.to_string());
                    Raised::exception(fault.unwrap_or_default())
                })?
            }
        };
        Ok(RewrittenSession {
            name,
            value,
            argument,
            form: self.form,
        })
    }
}

struct RewrittenSession {
    name: String,
    value: String,
    argument: RequestArgument,
    form: SessionIdLocation,
}

impl Edit for RewrittenSession {
    /// `URLRewritingModifier#modify`.
    fn apply(&self, _: &mut Random, request: &mut Request) {
        let SessionIdLocation::Path { equals, .. } = self.form else {
            request
                .arguments
                .retain(|argument| argument.name != self.name);
            request.arguments.push(self.argument.clone());
            return;
        };
        let mut path = request.path.replace(' ', "%20");
        if let Some(at) = path.find(&format!(";{}", self.name)) {
            // A question mark before the session id stays with all that follows it, as in JMeter.
            let query = path
                .find('?')
                .map(|query| path[query..].to_owned())
                .unwrap_or_default();
            path.truncate(at);
            path.push_str(&query);
        }
        let equals = if equals { "=" } else { "" };
        request.set_path(&format!("{path};{}{equals}{}", self.name, self.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::samplers::http::state::user_mut;
    use crate::fixture;
    use crate::run::context::Context;
    use crate::run::roles::PreProcessorRole;
    use crate::run::view::View;
    use std::rc::Rc;

    struct RewriterFixture {
        pre: std::sync::Arc<dyn PreProcessorRole>,
        cx: Context,
    }

    fn bench(properties: &str) -> RewriterFixture {
        let xml = format!(
            r#"<URLRewritingModifier guiclass="URLRewritingModifierGui" testclass="URLRewritingModifier" testname="u">
            <stringProp name="argument_name">sid</stringProp>{properties}</URLRewritingModifier>"#
        );
        let (roles, cx) = fixture::decode(&xml, decode);
        RewriterFixture {
            pre: roles.pre.expect("it is a pre-processor"),
            cx,
        }
    }

    impl RewriterFixture {
        /// Path and arguments of a GET after the modifier saw a page.
        fn sent(&mut self, page: &str, path: &str) -> String {
            self.cx.facts_mut().previous = Some(Rc::new(fixture::sample(page)));
            user_mut(&mut self.cx).edits.begin(true);
            self.pre.turn(View::of(&mut self.cx)).done();
            let mut request = Request {
                method: "GET".into(),
                path: path.into(),
                ..Request::default()
            };
            request.arguments = vec![
                RequestArgument::plain("sid", "old", "="),
                RequestArgument::plain("b", "c", "="),
            ];
            for edit in user_mut(&mut self.cx).edits.take() {
                edit.apply(self.cx.random(), &mut request);
            }
            let arguments: Vec<String> = request
                .arguments
                .iter()
                .map(|argument| format!("{}={}", argument.name, argument.value))
                .collect();
            format!("{} {}", request.path, arguments.join("&"))
        }
    }

    fn flags(names: &[&str]) -> String {
        names
            .iter()
            .map(|name| format!(r#"<boolProp name="{name}">true</boolProp>"#))
            .collect()
    }

    #[test]
    fn the_argument_takes_the_value_from_links_and_fields() {
        let mut bench = bench("");
        assert_eq!(
            bench.sent(r#"<a href="x?sid=1A%20&y=2">"#, "/p"),
            "/p b=c&sid=1A "
        );
        assert_eq!(
            bench.sent(r#"<input name="sid" value="v1">"#, "/p"),
            "/p b=c&sid=v1"
        );
        assert_eq!(
            bench.sent(r#"<input value='v2' id=x NAME='sid'>"#, "/p"),
            "/p b=c&sid=v2"
        );
        assert_eq!(
            bench.sent("nothing", "/p"),
            "/p b=c&sid=v2",
            "the last value is kept"
        );
    }

    #[test]
    fn a_name_that_is_too_long_is_found_nowhere() {
        let name = "n".repeat(LONGEST_NAME + 1);
        assert!(compile(&name, SessionIdLocation::Argument, Dialect::Oro).is_none());
        assert!(compile("n(", SessionIdLocation::Argument, Dialect::Oro).is_some());
    }

    #[test]
    fn without_cache_a_missing_value_is_empty() {
        let mut bench = bench(r#"<boolProp name="cache_value">false</boolProp>"#);
        bench.sent("?sid=1", "/p");
        assert_eq!(bench.sent("nothing", "/p"), "/p b=c&sid=");
    }

    #[test]
    fn the_path_is_extended() {
        let mut with_equals = bench(&flags(&["path_extension"]));
        assert_eq!(
            with_equals.sent("x;sid=7?a'", "/p"),
            "/p;sid=7 sid=old&b=c&a="
        );
        assert_eq!(
            bench(&flags(&["path_extension"])).sent("x;sid=7'", "/p;sid=6"),
            "/p;sid=7 sid=old&b=c"
        );
        let plain = flags(&[
            "path_extension",
            "path_extension_no_equals",
            "path_extension_no_questionmark",
        ]);
        assert_eq!(
            bench(&plain).sent("x;sid7?a", "/p q"),
            "/p%20q;sid7 sid=old&b=c"
        );
    }

    #[test]
    fn a_value_that_cannot_be_decoded_ends_the_sample() {
        let mut bench = bench("");
        bench.sent("?sid=%zz", "/p");
        assert!(matches!(bench.cx.take_raised(), Some(Raised::Exception(_))));
    }
}
