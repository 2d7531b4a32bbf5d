//! The catalogue of functions with their names, parameters and descriptions. The parser, `drumfire check` and the reference
//! pages use it.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::call::Build;
use crate::functions::table::TABLE;
use crate::scope::ScriptLanguage;
use crate::spec::{FunctionOrigin, FunctionRung, FunctionSpec};

static BY_NAME: LazyLock<HashMap<&'static str, &'static FunctionSpec>> =
    LazyLock::new(|| TABLE.iter().map(|spec| (spec.name, spec)).collect());

/// Functions whose classes Java has found. They are few, and exist once per process like its JVM.
static FOREIGN: RwLock<Vec<&'static FunctionSpec>> = RwLock::new(Vec::new());

/// The function called `name` (with its underscores).
pub fn function(name: &str) -> Option<&'static FunctionSpec> {
    if !name.starts_with("__") {
        return None;
    }
    BY_NAME.get(name).copied().or_else(|| foreign(name))
}

fn foreign(name: &str) -> Option<&'static FunctionSpec> {
    let specs = FOREIGN.read().unwrap_or_else(PoisonError::into_inner);
    specs.iter().find(|spec| spec.name == name).copied()
}

/// Adds a function whose class Java has found, so that texts can call it.
pub fn add_function(name: &str) {
    if function(name).is_some() {
        return;
    }
    // Leaked on purpose: there is at most one per name that plans call and a jar provides.
    let spec = Box::leak(Box::new(FunctionSpec {
        name: Box::leak(Box::from(name)),
        parameters: &[],
        min: 0,
        max: None,
        doc: "",
        differs: "",
        effect: "",
        origin: FunctionOrigin::Plugin,
        build: Build::Script(ScriptLanguage::Function),
    }));
    let mut specs = FOREIGN.write().unwrap_or_else(PoisonError::into_inner);
    specs.push(spec);
}

/// All functions, JMeter's own before those of plugins.
pub fn functions() -> &'static [FunctionSpec] {
    TABLE
}

/// How the function called `name` is run.
pub fn function_rung(name: &str) -> FunctionRung {
    function(name)
        .map(FunctionSpec::rung)
        .unwrap_or(FunctionRung::Unknown)
}

/// The function with the most similar name, if it is similar enough to be the intended one.
pub(crate) fn similar(name: &str) -> Option<&'static str> {
    TABLE
        .iter()
        .map(|spec| {
            (
                distance(&name.to_lowercase(), &spec.name.to_lowercase()),
                spec.name,
            )
        })
        .min()
        .filter(|(distance, _)| *distance <= 2)
        .map(|(_, name)| name)
}

/// Levenshtein distance.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_jmeter_is_listed_once() {
        // The keys that JMeter 5.6.3's own Function classes return.
        let jmeter = "__BeanShell __changeCase __char __counter __CSVRead __dateTimeConvert __digest \
            __escapeHtml __escapeOroRegexpChars __escapeXml __eval __evalVar __FileToString __groovy \
            __intSum __isPropDefined __isVarDefined __javaScript __jexl2 __jexl3 __log __logn __longSum \
            __machineIP __machineName __P __property __Random __RandomDate __RandomFromMultipleVars \
            __RandomString __regexFunction __samplerName __setProperty __split __StringFromFile \
            __StringToFile __TestPlanName __threadGroupName __threadNum __time __timeShift __unescape \
            __unescapeHtml __urldecode __urlencode __UUID __V __XPath";
        for name in jmeter.split_whitespace() {
            let spec = function(name).unwrap_or_else(|| panic!("{name} is missing"));
            assert_eq!(spec.origin, FunctionOrigin::Core, "{name}");
        }
        let core = functions()
            .iter()
            .filter(|spec| spec.origin == FunctionOrigin::Core);
        assert_eq!(core.count(), jmeter.split_whitespace().count());
        assert_eq!(BY_NAME.len(), TABLE.len());
    }

    #[test]
    fn parameters_agree_with_the_argument_counts() {
        for spec in functions() {
            let required = spec.parameters.iter().filter(|p| p.required).count();
            assert_eq!(required, spec.min, "{}", spec.name);
            if let Some(max) = spec.max {
                assert_eq!(spec.parameters.len(), max, "{}", spec.name);
            }
        }
    }

    #[test]
    fn rungs() {
        assert_eq!(function_rung("__P"), FunctionRung::Native);
        assert_eq!(function_rung("__groovy"), FunctionRung::Jvm);
        assert_eq!(function_rung("__generateDate"), FunctionRung::Unknown);
        assert_eq!(function_rung("P"), FunctionRung::Unknown);
    }

    #[test]
    fn functions_that_java_has_found_are_known() {
        assert_eq!(function_rung("__ofAPlugin"), FunctionRung::Unknown);
        add_function("__ofAPlugin");
        add_function("__ofAPlugin");
        let spec = function("__ofAPlugin").unwrap();
        assert!(spec.is_foreign());
        assert_eq!(
            (spec.rung(), spec.wrong_count(9)),
            (FunctionRung::Jvm, None)
        );
        assert!(!function("__groovy").unwrap().is_foreign());
    }

    #[test]
    fn a_typo_is_recognised() {
        assert_eq!(similar("__threadnum"), Some("__threadNum"));
        assert_eq!(similar("__Randm"), Some("__Random"));
        assert_eq!(similar("__jm__Users__idx"), None);
    }

    #[test]
    fn usage_shows_what_is_optional() {
        assert_eq!(
            function("__P").unwrap().usage(),
            "__P(name of the property[, default value])"
        );
    }
}
