//! `DateTimeConvertFunction` and `RandomDate`.

use drumfire_java::JvmDefaults;
use drumfire_java::date::{DatePattern, Defaults, Locale, TemporalFields, Zone};
use drumfire_java::values::parse_long;

use super::random;
use crate::call::{Args, CallResult};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};

/// `__dateTimeConvert`: returns an empty text after any error.
pub(super) fn convert<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let date = args.text(0, scope)?;
    let source = args.text(1, scope)?;
    let target = args.text(2, scope)?;
    match converted(&date, &source, &target) {
        Some(text) => {
            args.store(3, &text, scope)?;
            Ok(Text::Owned(text))
        }
        None => {
            let message = format!(
                "Error calling __dateTimeConvert function with value {date}, source format {source}, target format {target}"
            );
            scope.log_failure(Level::Error, &message);
            Ok(Text::Literal(""))
        }
    }
}

fn converted(date: &str, source: &str, target: &str) -> Option<String> {
    let JvmDefaults { zone, locale, .. } = JvmDefaults::of_process();
    let target = DatePattern::compile(target).ok()?;
    let moment = if source.is_empty() {
        TemporalFields::from_millis(parse_long(date)?, zone)?
    } else {
        let parsed = DatePattern::compile(source)
            .ok()?
            .parse(date, locale, &[])?;
        in_zone(parsed, zone)
    };
    target.format(&moment, locale)
}

/// Both formatters use the default zone. A text with another zone is converted to that. A lone offset does not count as a zone,
/// and is only printed.
fn in_zone(moment: TemporalFields, zone: &Zone) -> TemporalFields {
    let elsewhere = moment.zone.as_ref().filter(|read| *read != zone);
    match elsewhere.and_then(|_| moment.instant_in(zone)) {
        Some(instant) => TemporalFields::from_instant(instant, zone),
        None => moment.with_zone(zone),
    }
}

/// `__RandomDate`: excludes the last day; two equal days are an error.
pub(super) fn random_date<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let locale = match args.trimmed(3, scope)? {
        name if name.is_empty() => JvmDefaults::of_process().locale.clone(),
        name => Locale::new(&name),
    };
    let pattern = args.trimmed(0, scope)?;
    let pattern = if pattern.is_empty() {
        "yyyy-MM-dd"
    } else {
        &*pattern
    };
    let Ok(pattern) = DatePattern::compile(pattern) else {
        let message = format!(
            "Format date pattern '{pattern}' is invalid (see https://docs.oracle.com/javase/8/docs/api/java/time/format/DateTimeFormatter.html)"
        );
        scope.log_failure(Level::Error, &message);
        return Ok(Text::Literal(""));
    };
    let today = today(scope)?;
    let defaults = [('d', 1), ('M', 1), ('y', i64::from(today.year()))];
    let start = args.trimmed(1, scope)?;
    let first = if start.is_empty() {
        today
    } else {
        read_date(&pattern, &start, &locale, &defaults, "Start Date", scope)
    };
    let end = args.trimmed(2, scope)?;
    let last = read_date(&pattern, &end, &locale, &defaults, "End date", scope);
    if last < first {
        let message = format!("End Date '{end}' must be greater than Start Date '{start}'");
        scope.log_failure(Level::Error, &message);
        return Ok(Text::Literal(""));
    }
    if last == first {
        return Err(random::bound_not_greater().into());
    }
    let days = i64::from((last - first).get_days());
    let chosen = first + SignedDuration::from_hours(24 * scope.random().between(0, days - 1));
    let text = pattern
        .format(&TemporalFields::from_date(chosen), &locale)
        .ok_or_else(|| {
            Raised::exception("java.time.temporal.UnsupportedTemporalTypeException".to_owned())
        })?;
    args.store(4, &text, scope)?;
    Ok(Text::Owned(text))
}

fn today(scope: &dyn Scope) -> Result<Date, Raised> {
    Timestamp::from_millisecond(scope.now_ms())
        .map(|now| JvmDefaults::of_process().zone.at(now).date())
        .map_err(|_| Raised::exception("java.time.DateTimeException".to_owned()))
}

/// Parses a date; an unreadable one is logged and becomes 1970-01-01.
fn read_date(
    pattern: &DatePattern,
    text: &str,
    locale: &Locale,
    defaults: &Defaults,
    what: &str,
    scope: &mut dyn Scope,
) -> Date {
    let date = pattern
        .parse(text, locale, defaults)
        .and_then(|moment| moment.date);
    date.unwrap_or_else(|| {
        scope.log_failure(Level::Error, &format!("Failed to parse {what} '{text}'"));
        Date::constant(1970, 1, 1)
    })
}
