//! `TimeFunction` and `TimeShift`. Both evaluate some of their arguments when the plan is compiled. These arguments can
//! only use variables of the Test Plan and of User Defined Variables.

use drumfire_java::date::{
    DatePattern, DatePatternError, Locale, TemporalFields, Zone, parse_duration,
};
use drumfire_java::text::trim;
use drumfire_java::values::parse_long;
use drumfire_java::{Exception, JvmDefaults};

use jiff::Timestamp;

use crate::call::{Args, CallError, CallResult, Stateful, store};
use crate::scope::{Level, Raised, Scope};
use crate::text::Text;

/// `__time`.
#[derive(Debug)]
struct TimeFunction {
    format: TimeFormat,
    variable: Box<str>,
}

#[derive(Debug)]
enum TimeFormat {
    /// Milliseconds divided by this number.
    Millis(i64),
    Pattern(DatePattern),
    /// Throws an exception at every call.
    Invalid(Box<Exception>),
}

/// Aliases of patterns, the properties that redefine them, and their default patterns.
const ALIASES: [(&str, &str, &str); 5] = [
    ("YMD", "time.YMD", "yyyyMMdd"),
    ("HMS", "time.HMS", "HHmmss"),
    ("YMDHMS", "time.YMDHMS", "yyyyMMdd-HHmmss"),
    ("USER1", "time.USER1", ""),
    ("USER2", "time.USER2", ""),
];

pub(super) fn prepare_time(
    args: Args<'_>,
    scope: &mut dyn Scope,
) -> Result<Box<dyn Stateful>, CallError> {
    let format = args.text(0, scope)?;
    let variable = args.trimmed(1, scope)?;
    Ok(Box::new(TimeFunction {
        format: time_format(&format, scope),
        variable: variable.as_str().into(),
    }))
}

fn time_format(format: &str, scope: &dyn Scope) -> TimeFormat {
    if format.is_empty() {
        return TimeFormat::Millis(1);
    }
    let alias = ALIASES.iter().find(|(name, _, _)| *name == format);
    let redefined = alias.and_then(|(_, property, _)| scope.properties().get_trimmed(property));
    let pattern = match (&redefined, alias) {
        (Some(pattern), _) => &**pattern,
        (None, Some((_, _, pattern))) => pattern,
        (None, None) => format,
    };
    let divisor = pattern
        .strip_prefix('/')
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(parse_long);
    match divisor {
        Some(0) => TimeFormat::Invalid(Box::new(Exception::new(
            "java.lang.ArithmeticException",
            "/ by zero",
        ))),
        Some(divisor) => TimeFormat::Millis(divisor),
        None => match DatePattern::compile(pattern) {
            Ok(pattern) => TimeFormat::Pattern(pattern),
            Err(error) => TimeFormat::Invalid(Box::new(no_date_pattern(pattern, &error))),
        },
    }
}

/// The exception of a `__time` with an invalid format.
fn no_date_pattern(pattern: &str, error: &DatePatternError) -> Exception {
    Exception::illegal_argument(format!("Unable to parse date format {pattern}"))
        .caused_by(Exception::illegal_argument(error.0.clone()))
}

impl Stateful for TimeFunction {
    fn call<'a>(&'a self, _: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let now = scope.now_ms();
        let JvmDefaults { zone, locale, .. } = JvmDefaults::of_process();
        let text = match &self.format {
            TimeFormat::Millis(divisor) => (now / divisor).to_string(),
            TimeFormat::Pattern(pattern) => pattern
                .format_millis(now, zone, locale)
                .ok_or_else(|| Raised::exception("java.time.DateTimeException".to_owned()))?,
            TimeFormat::Invalid(thrown) => return Err(Raised::Exception(thrown.clone())),
        };
        store(&self.variable, &text, scope);
        Ok(Text::Owned(text))
    }
}

/// `__timeShift`.
#[derive(Debug)]
struct TimeShift {
    /// `None` for milliseconds.
    pattern: Option<Result<DatePattern, String>>,
    locale: Locale,
    variable: Box<str>,
}

pub(super) fn prepare_time_shift(
    args: Args<'_>,
    scope: &mut dyn Scope,
) -> Result<Box<dyn Stateful>, CallError> {
    let said = |index: usize, scope: &mut dyn Scope| {
        let text = args.trimmed(index, scope)?;
        Ok::<String, CallError>(text.into_string())
    };
    let pattern = said(0, scope)?;
    let locale = if args.len() == 4 {
        String::new()
    } else {
        said(3, scope)?
    };
    let variable = said(args.len() - 1, scope)?;
    Ok(Box::new(TimeShift {
        pattern: (!pattern.is_empty()).then(|| {
            DatePattern::compile(&pattern).map_err(|_| {
                format!(
                    "Format date pattern '{pattern}' is invalid (see https://docs.oracle.com/javase/8/docs/api/java/time/format/DateTimeFormatter.html)"
                )
            })
        }),
        locale: match locale.as_str() {
            "" => JvmDefaults::of_process().locale.clone(),
            name => Locale::new(name),
        },
        variable: variable.into(),
    }))
}

impl Stateful for TimeShift {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let amount = args.trimmed(2, scope)?;
        let date = args.trimmed(1, scope)?;
        let pattern = match &self.pattern {
            Some(Ok(pattern)) => Some(pattern),
            Some(Err(message)) => {
                scope.log_failure(Level::Error, message);
                return Ok(Text::Literal(""));
            }
            None => None,
        };
        let too_far = || Raised::exception("java.time.DateTimeException".to_owned());
        let mut zone = &JvmDefaults::of_process().zone;
        let mut instant = Timestamp::from_millisecond(scope.now_ms()).map_err(|_| too_far())?;
        let read;
        if !date.is_empty() {
            read = self.read(&date, pattern, instant, zone);
            match &read {
                Some((read_instant, read_zone)) => (instant, zone) = (*read_instant, read_zone),
                None => scope.log_failure(
                    Level::Error,
                    &format!("Failed to parse the date '{date}' to shift"),
                ),
            }
        }
        if !amount.is_empty() {
            match parse_duration(&amount) {
                Some(duration) => instant = instant.checked_add(duration).map_err(|_| too_far())?,
                None => {
                    let message =
                        format!("Failed to parse the amount duration '{amount}' to shift");
                    scope.log_failure(Level::Error, &message);
                }
            }
        }
        let text = match pattern {
            Some(pattern) => pattern
                .format(&TemporalFields::from_instant(instant, zone), &self.locale)
                .ok_or_else(too_far)?,
            None => instant.as_millisecond().to_string(),
        };
        store(&self.variable, &text, scope);
        Ok(Text::Owned(text))
    }
}

impl TimeShift {
    /// Parses the date to shift. Missing fields default to midnight, 1 January, this year, and the current offset of the default
    /// zone (`TimeShift.createFormatter`), which has priority over a zone in the text.
    fn read(
        &self,
        date: &str,
        pattern: Option<&DatePattern>,
        now: Timestamp,
        zone: &Zone,
    ) -> Option<(Timestamp, Zone)> {
        let Some(pattern) = pattern else {
            let millis = parse_long(trim(date))?;
            let instant = Timestamp::from_millisecond(millis).ok()?;
            return Some((instant, zone.clone()));
        };
        let now = zone.at(now);
        let defaults = [
            ('n', 0),
            ('i', 0),
            ('s', 0),
            ('m', 0),
            ('H', 0),
            ('d', 1),
            ('M', 1),
            ('y', i64::from(now.year())),
            ('o', i64::from(now.offset().seconds())),
        ];
        let moment = pattern.parse(date, &self.locale, &defaults)?;
        let instant = moment.instant_in(zone)?;
        let of_offset = moment.offset.map(Zone::offset);
        Some((instant, moment.zone.or(of_offset)?))
    }
}
