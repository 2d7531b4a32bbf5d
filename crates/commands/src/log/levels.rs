//! Decides which events reach the log: JMeter's `-L` with its categories and Log4j's level names.

use tracing::level_filters::LevelFilter;

/// Packages that `-L` may name without their first part (`JMeter.initializeProperties`).
const SHORT_NAMES: [&str; 2] = ["jmeter", "jorphan"];
const PACKAGE_PREFIX: &str = "org.apache.";
/// The category of all of JMeter. A user who names it means this program as well.
const ALL_OF_JMETER: &str = "org.apache.jmeter";
const ALL_OF_DRUMFIRE: &str = "drumfire";

/// The level of every category.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    root: LevelFilter,
    /// Whether the user set the root's level.
    has_root: bool,
    by_category: Vec<(String, LevelFilter)>,
}

impl Levels {
    /// Reads `(category, level)` pairs; later ones win, and an empty category is the root. The root starts at INFO.
    /// Also returns what is wrong with the pairs, in JMeter's words.
    pub fn new(wanted: &[(String, String)]) -> (Levels, Vec<String>) {
        let mut levels = Levels {
            root: LevelFilter::INFO,
            has_root: false,
            by_category: Vec::new(),
        };
        let mut faults = Vec::new();
        for (category, level) in wanted {
            match (filter(level), category.as_str()) {
                (None, "") => faults.push(format!(
                    "Invalid log level, '{level}', for the root logger."
                )),
                (None, _) => faults.push(format!("Invalid log level, '{level}' for '{category}'.")),
                (Some(filter), "") => (levels.root, levels.has_root) = (filter, true),
                (Some(filter), _) => levels.set(category, filter),
            }
        }
        (levels, faults)
    }

    fn set(&mut self, category: &str, filter: LevelFilter) {
        let is_short = SHORT_NAMES.iter().any(|name| category.starts_with(name));
        let category = if is_short {
            format!("{PACKAGE_PREFIX}{category}")
        } else {
            category.replace("::", ".")
        };
        if category == ALL_OF_JMETER {
            self.replace(ALL_OF_DRUMFIRE.to_owned(), filter);
        }
        self.replace(category, filter);
    }

    /// Sets the level of a category and of everything below it (`Configurator.setAllLevels`).
    fn replace(&mut self, category: String, filter: LevelFilter) {
        self.by_category
            .retain(|(known, _)| !is_within(known, &category));
        self.by_category.push((category, filter));
    }

    /// The most verbose of all levels.
    pub fn most(&self) -> LevelFilter {
        let all = self.by_category.iter().map(|(_, filter)| *filter);
        all.fold(self.root, LevelFilter::max)
    }

    /// Whether an event of this category and level is logged: the longest category that contains it decides.
    pub fn let_through(&self, category: &str, level: tracing::Level) -> bool {
        level <= self.of_category(category).unwrap_or(self.root)
    }

    /// The level that the user set for this category or for one that contains it. The longest match decides.
    pub fn of_category(&self, category: &str) -> Option<LevelFilter> {
        let holding = self
            .by_category
            .iter()
            .filter(|(known, _)| is_within(category, known));
        let longest = holding.max_by_key(|(known, _)| known.len());
        longest.map(|(_, filter)| *filter)
    }

    /// The root's level, if the user set it.
    pub fn of_root(&self) -> Option<LevelFilter> {
        self.has_root.then_some(self.root)
    }

    /// All levels that the user set, with Log4j's names; an empty category is the root.
    pub fn named(&self) -> Vec<(String, &'static str)> {
        let root = self.of_root().map(|filter| (String::new(), filter));
        let all = root.into_iter().chain(self.by_category.iter().cloned());
        all.map(|(category, filter)| (category, name(filter)))
            .collect()
    }
}

/// Whether `category` is `outer` or lies within it; both `.` and `::` end a part, and our crates share a prefix.
fn is_within(category: &str, outer: &str) -> bool {
    let Some(rest) = category.strip_prefix(outer) else {
        return category.contains("::") && is_within(&category.replace("::", "."), outer);
    };
    rest.is_empty()
        || rest.starts_with(['.', ':'])
        || (outer == ALL_OF_DRUMFIRE && rest.starts_with('_'))
}

/// Log4j's level names, in any case.
fn filter(level: &str) -> Option<LevelFilter> {
    Some(match level.trim().to_ascii_uppercase().as_str() {
        "OFF" => LevelFilter::OFF,
        "FATAL" | "ERROR" => LevelFilter::ERROR,
        "WARN" => LevelFilter::WARN,
        "INFO" => LevelFilter::INFO,
        "DEBUG" => LevelFilter::DEBUG,
        "TRACE" | "ALL" => LevelFilter::TRACE,
        _ => return None,
    })
}

/// Log4j's name of a level.
fn name(filter: LevelFilter) -> &'static str {
    match filter.into_level() {
        None => "OFF",
        Some(level) => level.as_str(),
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    fn levels(wanted: &[(&str, &str)]) -> Levels {
        let wanted: Vec<_> = wanted
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect();
        Levels::new(&wanted).0
    }

    #[test]
    fn info_unless_told_otherwise() {
        let levels = levels(&[]);
        assert!(levels.let_through("drumfire_engine::walk", Level::INFO));
        assert!(!levels.let_through("drumfire_engine::walk", Level::DEBUG));
    }

    #[test]
    fn the_longest_category_decides() {
        let levels = levels(&[
            ("", "WARN"),
            ("jmeter.util", "DEBUG"),
            ("com.example", "ERROR"),
        ]);
        assert!(levels.let_through("org.apache.jmeter.util.JMeterUtils", Level::DEBUG));
        assert!(
            !levels.let_through("org.apache.jmeter.utility", Level::INFO),
            "a part is matched whole"
        );
        assert!(!levels.let_through("com.example.Thing", Level::WARN));
        assert!(
            levels.let_through("org.other", Level::WARN)
                && !levels.let_through("org.other", Level::INFO)
        );
    }

    #[test]
    fn jmeter_as_a_whole_means_this_program_too() {
        let levels = levels(&[("jmeter", "DEBUG")]);
        assert!(levels.let_through("drumfire_engine::walk", Level::DEBUG));
        assert!(levels.let_through("org.apache.jmeter.threads.JMeterThread", Level::DEBUG));
        assert!(!levels.let_through("rustls::client", Level::DEBUG));
    }

    #[test]
    fn a_later_level_holds_for_everything_below() {
        let levels = levels(&[("a.b.c", "DEBUG"), ("a.b", "ERROR")]);
        assert!(!levels.let_through("a.b.c", Level::WARN));
    }

    #[test]
    fn rust_paths_are_categories_too() {
        let levels = levels(&[("drumfire_http::tls", "trace")]);
        assert!(levels.let_through("drumfire_http::tls::session", Level::TRACE));
        assert!(!levels.let_through("drumfire_http", Level::DEBUG));
    }

    #[test]
    fn asked_levels_have_log4js_names() {
        let levels = levels(&[("jmeter.util", "warn"), ("", "off")]);
        let named = [
            (String::new(), "OFF"),
            ("org.apache.jmeter.util".to_owned(), "WARN"),
        ];
        assert_eq!(levels.named(), named);
        assert_eq!(levels.of_category("com.example"), None);
        assert_eq!(Levels::new(&[]).0.of_root(), None);
    }

    #[test]
    fn unknown_levels_are_told_in_jmeters_words() {
        let wanted = [
            ("".to_owned(), "LOUD".to_owned()),
            ("a".to_owned(), "b".to_owned()),
        ];
        let expected = [
            "Invalid log level, 'LOUD', for the root logger.",
            "Invalid log level, 'b' for 'a'.",
        ];
        assert_eq!(Levels::new(&wanted).1, expected);
    }
}
