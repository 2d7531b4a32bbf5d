//! `RegexFunction`.

use std::sync::Arc;

use drumfire_java::values::{parse_float, parse_int};
use drumfire_query::regex::{Captures, Dialect, Pattern, RegexOptions};

use crate::call::{Args, CallError, CallResult, Stateful, not_a_number, store};
use crate::match_template::MatchTemplate;
use crate::regexes;
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

#[derive(Debug)]
struct RegexFunction {
    dialect: Dialect,
    /// The regular expression, if it is identical at every call.
    pattern: Option<Arc<Pattern>>,
    template: Option<MatchTemplate>,
}

pub(super) fn prepare(
    args: Args<'_>,
    scope: &mut dyn Scope,
) -> Result<Box<dyn Stateful>, CallError> {
    let engine = scope.properties().get_trimmed("jmeter.regex.engine");
    let dialect = match engine {
        Some(engine) if !engine.eq_ignore_ascii_case("oro") => Dialect::Java,
        _ => Dialect::Oro,
    };
    Ok(Box::new(RegexFunction {
        dialect,
        pattern: args
            .literal(0)
            .and_then(|text| Pattern::compile(text, dialect, RegexOptions::default()).ok())
            .map(Arc::new),
        template: args.literal(1).map(MatchTemplate::parse),
    }))
}

impl Stateful for RegexFunction {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let computed;
        let template = match &self.template {
            Some(template) => template,
            None => {
                computed = MatchTemplate::parse(&args.text(1, scope)?);
                &computed
            }
        };
        let which = args.text(2, scope)?;
        let between = args.text(3, scope)?;
        let default = args.text(4, scope)?;
        let name = args.text(5, scope)?;
        let input = args.text(6, scope)?;
        store(&name, &default, scope);
        let text = if input.is_empty() {
            scope.previous_response().map(|text| text.into_owned())
        } else {
            scope
                .vars()
                .get_named(&input)
                .map(|value| value.to_string())
        };
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Ok(default);
        };
        let matches = match self.pattern(args, scope) {
            Ok(pattern) => pattern.captures_iter(&text).collect(),
            Err(raised) => {
                store_count(&name, 0, scope);
                return Err(raised);
            }
        };
        store_count(&name, Vec::<Captures<'_>>::len(&matches), scope);
        let chosen = choose(&matches, &which, scope)?;
        if chosen.is_empty() {
            return Ok(default);
        }
        let mut out = String::new();
        for (index, captures) in chosen.iter().enumerate() {
            if index > 0 {
                out.push_str(&between);
            }
            out.push_str(&self.result(captures, template, &name, scope)?);
        }
        Ok(Text::Owned(out))
    }
}

fn store_count(name: &str, count: usize, scope: &mut dyn Scope) {
    if !name.is_empty() {
        store(&format!("{name}_matchNr"), &count.to_string(), scope);
    }
}

/// The matches that the third argument selects: all, a random one, one by number, or one by its
/// relative position between 0 and 1. Empty if there is no match with that number.
fn choose<'f, 't>(
    found: &'f [Captures<'t>],
    which: &str,
    scope: &mut dyn Scope,
) -> Result<&'f [Captures<'t>], Raised> {
    if found.is_empty() || which == "ALL" {
        return Ok(found);
    }
    let index = match which {
        "RAND" => scope.random().index(found.len()) as i64,
        "" => 0,
        _ => match parse_int(which) {
            Some(number) if i64::from(number) > found.len() as i64 => return Ok(&[]),
            Some(number) => i64::from(number) - 1,
            None => {
                let ratio = parse_float(which).ok_or_else(|| not_a_number(which))?;
                (f64::from(found.len() as f32 * ratio) + 0.5) as i64 - 1
            }
        },
    };
    let one = usize::try_from(index)
        .ok()
        .and_then(|index| found.get(index..=index));
    one.ok_or_else(|| {
        Raised::exception(format!(
            "java.lang.IndexOutOfBoundsException: Index {index}"
        ))
    })
}

impl RegexFunction {
    fn pattern(&self, args: Args<'_>, scope: &mut dyn Scope) -> Result<Arc<Pattern>, Raised> {
        if let Some(pattern) = &self.pattern {
            return Ok(pattern.clone());
        }
        let text = args.text(0, scope)?;
        regexes::compiled(&text, self.dialect).map_err(|error| {
            let message = format!("Malformed cache pattern:{text} {error}");
            scope.log_failure(Level::Error, &message);
            Raised::Invalid(message)
        })
    }

    /// `generateResult`: stores the groups and expands the template. A group that did not participate
    /// in the match is `null`.
    fn result(
        &self,
        captures: &Captures<'_>,
        template: &MatchTemplate,
        name: &str,
        scope: &mut dyn Scope,
    ) -> Result<String, Raised> {
        for group in 0..captures.len() {
            let variable = format!("{name}_g{group}");
            match captures.get(group) {
                Some(text) => store(&variable, text, scope),
                None => {
                    scope.vars_mut().remove_named(&variable);
                }
            }
        }
        let out = template.render(captures, self.dialect).map_err(|group| {
            Raised::exception(format!(
                "java.lang.IndexOutOfBoundsException: No group {group}"
            ))
        })?;
        store(name, &out, scope);
        Ok(out)
    }
}
