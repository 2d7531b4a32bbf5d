//! Settings that a JVM takes from its options and its environment once, at its start: time zone, locale and default character set.
//!
//! JMeter's start script passes `JVM_ARGS` and other variables to Java. Definitions on JMeter's own command line and in `system.properties` come too
//! late for these: Java has read the properties before JMeter sets them.

use std::sync::OnceLock;

use jiff::tz::TimeZone;

use crate::charset::Charset;
use crate::date::{Locale, Zone};

/// The names of the system properties that Java reads at its start only.
pub const READ_AT_START: [&str; 9] = [
    "user.timezone",
    "user.language",
    "user.country",
    "user.variant",
    "file.encoding",
    "sun.jnu.encoding",
    "line.separator",
    "java.net.preferIPv4Stack",
    "java.net.preferIPv6Addresses",
];

/// The defaults of a JVM.
#[derive(Clone, Debug)]
pub struct JvmDefaults {
    /// `TimeZone.getDefault`, as a `ZoneId`.
    pub zone: Zone,
    /// `Locale.getDefault`.
    pub locale: Locale,
    /// `Charset.defaultCharset`.
    pub charset: Charset,
    /// `System.lineSeparator`.
    pub line_separator: String,
    /// `java.net.preferIPv4Stack`: IPv6 is not used.
    pub only_ipv4: bool,
    /// `java.net.preferIPv6Addresses`: `true`, `system` or anything else.
    pub prefers_ipv6: String,
}

impl JvmDefaults {
    /// The defaults of this process, with the options in its environment.
    pub fn of_process() -> &'static JvmDefaults {
        static DEFAULTS: OnceLock<JvmDefaults> = OnceLock::new();
        DEFAULTS.get_or_init(|| {
            let options = options(|name| std::env::var(name).ok());
            JvmDefaults::from_options(&options)
        })
    }

    /// The defaults of a JVM with these options; the machine decides about the zone if they do not.
    #[must_use]
    pub fn from_options(options: &str) -> JvmDefaults {
        let language = property(options, "user.language");
        // The older name of the two may hold a variant, too (`Locale.initDefault`).
        let region = property(options, "user.region")
            .map(|region| {
                region
                    .split_once('_')
                    .map(|(country, _)| country)
                    .unwrap_or(region)
            })
            .or_else(|| property(options, "user.country"));
        JvmDefaults {
            zone: match property(options, "user.timezone").filter(|id| !id.is_empty()) {
                Some(id) => Zone::of_time_zone(id),
                None => system_zone(),
            },
            locale: Locale::from_parts(language.unwrap_or("en"), region.unwrap_or_default()),
            // An unknown name leaves UTF-8 (`Charset.defaultCharset`).
            charset: property(options, "file.encoding")
                .map(Charset::find)
                .unwrap_or(Some(Charset::UTF_8))
                .unwrap_or(Charset::UTF_8),
            line_separator: property(options, "line.separator")
                .unwrap_or(if cfg!(windows) { "\r\n" } else { "\n" })
                .to_owned(),
            only_ipv4: property(options, "java.net.preferIPv4Stack")
                .is_some_and(|text| text.eq_ignore_ascii_case("true")),
            prefers_ipv6: property(options, "java.net.preferIPv6Addresses")
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

/// The environment variables whose options JMeter's start script passes to Java. Java itself reads the first two.
pub const VARIABLES: [&str; 9] = [
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "HEAP",
    "VERBOSE_GC",
    "GC_ALGO",
    LANGUAGE,
    "RUN_IN_DOCKER",
    "JVM_ARGS",
    "JMETER_OPTS",
];
const LANGUAGE: &str = "JMETER_LANGUAGE";
/// The start script's own value of that variable, so that no machine's language changes what a plan does. The script also names
/// a region, `EN`. No country has it, and without it weeks begin as in JMeter that is started by anything else.
const USUAL_LANGUAGE: &str = "-Duser.language=en";
/// If it is set, the start script passes `JVM_ARGS` and `JMETER_OPTS` only.
const COMPLETE: &str = "JMETER_COMPLETE_ARGS";

/// The options that Java gets from environment variables, in the order of the start script `bin/jmeter`; the last one of a name
/// counts.
pub fn options(variable: impl Fn(&str) -> Option<String>) -> String {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let is_complete = set(COMPLETE).is_some();
    let mut options = Vec::new();
    for name in VARIABLES {
        let of_java = name.starts_with("JAVA") || name.starts_with("JDK");
        if is_complete && !of_java && !matches!(name, "JVM_ARGS" | "JMETER_OPTS") {
            continue;
        }
        match set(name) {
            Some(value) => options.push(value),
            None if name == LANGUAGE => options.push(USUAL_LANGUAGE.to_owned()),
            None => {}
        }
    }
    options.join(" ")
}

/// The last definition of a system property in the options.
fn property<'o>(options: &'o str, name: &str) -> Option<&'o str> {
    let definitions = options
        .split_whitespace()
        .filter_map(|option| option.strip_prefix("-D"))
        .map(|definition| definition.split_once('=').unwrap_or((definition, "")));
    definitions
        .filter(|(defined, _)| *defined == name)
        .map(|(_, value)| value)
        .next_back()
}

/// The zone of `TZ` or of the system.
///
/// [`TimeZone::system`] lists the whole time zone database first, which takes a third of a plain run's work. If the system's
/// zone is a link into that database, reading that one file suffices.
fn system_zone() -> Zone {
    let rules = match std::env::var_os("TZ") {
        None => linked("/etc/localtime".as_ref()).unwrap_or_else(TimeZone::system),
        Some(_) => TimeZone::system(),
    };
    Zone::of_rules(rules)
}

/// The zone that a link into a time zone database points to.
fn linked(link: &std::path::Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.split_once("/zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_decide_zone_locale_and_charset() {
        let options = "-Xmx1g -Duser.timezone=Asia/Tokyo -Duser.language=fr -Duser.language=de -Duser.country=AT -Dfile.encoding=ISO-8859-1";
        let defaults = JvmDefaults::from_options(options);
        assert_eq!(defaults.zone.id(), "Asia/Tokyo");
        assert_eq!(defaults.locale, Locale::from_parts("de", "AT"));
        assert_eq!(defaults.charset, Charset::ISO_8859_1);
        let without = JvmDefaults::from_options("-Dfile.encoding=nothing");
        assert_eq!(without.charset, Charset::UTF_8);
        assert_eq!(without.locale, Locale::new("en"));
    }

    #[test]
    fn variables_are_read_in_the_order_of_the_start_script() {
        let of = |set: &[(&str, &str)]| {
            options(|name| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]), "-Duser.language=en");
        let set = [
            ("JMETER_OPTS", "-Da=5"),
            ("JVM_ARGS", "-Da=4"),
            ("JMETER_LANGUAGE", "-Duser.language=de"),
            ("HEAP", "-Xmx2g"),
            ("JAVA_TOOL_OPTIONS", "-Da=1"),
        ];
        assert_eq!(of(&set), "-Da=1 -Xmx2g -Duser.language=de -Da=4 -Da=5");
        assert_eq!(
            JvmDefaults::from_options(&of(&set)).locale,
            Locale::new("de")
        );
        let complete = [&set[..], &[("JMETER_COMPLETE_ARGS", "true")]].concat();
        assert_eq!(of(&complete), "-Da=1 -Da=4 -Da=5");
        // Nothing else is passed on, `JAVA_OPTS` neither.
        assert_eq!(of(&[("JAVA_OPTS", "-Xmx9g")]), "-Duser.language=en");
    }

    #[test]
    fn without_an_option_the_zone_is_that_of_the_system() {
        let now = jiff::Timestamp::now();
        let (ours, systems) = (system_zone(), TimeZone::system());
        assert_eq!(ours.rules().to_offset(now), systems.to_offset(now));
    }

    #[cfg(unix)]
    #[test]
    fn only_a_link_into_the_database_names_a_zone() {
        let folder = tempfile::tempdir().expect("there is room");
        let link = folder.path().join("localtime");
        assert!(linked(&link).is_none());
        std::os::unix::fs::symlink("elsewhere", &link).expect("a link");
        assert!(linked(&link).is_none());
    }
}
