//! JMeter's properties, shared by all workers while a test runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;

use crate::shared::csv_files::CsvFiles;
use crate::shared::fifos::Fifos;
use crate::shared::xpath_files::XPathFiles;
use crate::vars::Value;

/// JMeter's properties (`jmeter.properties`, `user.properties`, `-J`), and the data that JMeter's function classes keep in
/// static fields. One instance corresponds to the shared state of one JVM.
///
/// A clone is cheap and shares the same state.
#[derive(Debug, Clone, Default)]
pub struct Properties(Arc<SharedProperties>);

#[derive(Debug, Default)]
struct SharedProperties {
    values: RwLock<FxHashMap<Box<str>, Arc<str>>>,
    system: RwLock<FxHashMap<Box<str>, Arc<str>>>,
    csv_files: CsvFiles,
    fifos: Fifos,
    xpath_files: XPathFiles,
    /// Changes after each modification. Versions are unique among all [`Properties`], except for the initial one.
    version: AtomicU64,
}

/// The last version that was assigned.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

/// Limit of cached names; a plan can compute any number of names.
const MOST_SEEN: usize = 256;

/// One thread's cache of the properties of this version.
#[derive(Default)]
struct Seen {
    version: Version,
    values: FxHashMap<Box<str>, Option<Value>>,
    /// By the call in the plan, which depends on properties only.
    derived: FxHashMap<u32, Value>,
}

impl Seen {
    /// Clears the cache if it is of another version.
    fn renew(&mut self, version: Version) {
        if self.version != version {
            self.values.clear();
            self.derived.clear();
            self.version = version;
        }
    }
}

/// A version of the properties, which changes when a property is set.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Version(u64);

thread_local! {
    static SEEN: RefCell<Seen> = RefCell::default();
}

impl Properties {
    /// Empty properties.
    pub fn new() -> Properties {
        Properties::default()
    }

    fn values(&self) -> RwLockReadGuard<'_, FxHashMap<Box<str>, Arc<str>>> {
        self.0.values.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The property's value (`JMeterUtils.getProperty`). If JMeter has no such property, the system property counts, since
    /// `JMeterUtils.loadJMeterProperties` uses those as defaults.
    pub fn get(&self, name: &str) -> Option<Arc<str>> {
        self.values()
            .get(name)
            .cloned()
            .or_else(|| self.get_system(name))
    }

    /// Like [`Properties::get`], with a cache per thread, which is valid until a property is set. Without it, all workers
    /// would contend for a lock at each sample.
    pub fn seen(&self, name: &str) -> Option<Value> {
        let version = self.version();
        SEEN.with_borrow_mut(|seen| {
            seen.renew(version);
            if seen.values.len() >= MOST_SEEN {
                seen.values.clear();
            }
            if let Some(value) = seen.values.get(name) {
                return value.clone();
            }
            let value = self.get(name).map(|value| Value::from(&*value));
            seen.values.insert(name.into(), value.clone());
            value
        })
    }

    /// The value that this thread has cached for a call in the plan and the current properties. On a miss, returns the
    /// version to pass to [`Properties::keep_derived`].
    pub(crate) fn derived(&self, place: u32) -> Result<Value, Version> {
        let version = self.version();
        SEEN.with_borrow_mut(|seen| {
            seen.renew(version);
            seen.derived.get(&place).cloned().ok_or(version)
        })
    }

    /// Caches a value computed since [`Properties::derived`] returned `version`, unless this thread has seen a newer
    /// version.
    pub(crate) fn keep_derived(&self, version: Version, place: u32, value: &Value) {
        SEEN.with_borrow_mut(|seen| {
            if seen.version == version {
                seen.derived.insert(place, value.clone());
            }
        });
    }

    /// The current version of the properties.
    pub fn version(&self) -> Version {
        Version(self.0.version.load(Ordering::Acquire))
    }

    /// Invalidates the caches of all threads. Call it after a change and before reporting the change as done.
    fn changed(&self) {
        let version = VERSIONS.fetch_add(1, Ordering::Relaxed) + 1;
        self.0.version.store(version, Ordering::Release);
    }

    /// The value without surrounding white space, as `JMeterUtils.getPropDefault` reads it.
    pub fn get_trimmed(&self, name: &str) -> Option<Arc<str>> {
        let value = self.get(name)?;
        let trimmed = drumfire_java::text::trim(&value);
        if trimmed.len() == value.len() {
            Some(value)
        } else {
            Some(Arc::from(trimmed))
        }
    }

    /// A boolean property as `JMeterUtils.getPropDefault(String, boolean)` reads it: `true`, `t` or 1; `false`, `f` or
    /// another number; otherwise the default.
    pub fn get_bool(&self, name: &str, default: bool) -> bool {
        let Some(value) = self.get_trimmed(name) else {
            return default;
        };
        if value.eq_ignore_ascii_case("true") || value.eq_ignore_ascii_case("t") {
            true
        } else if value.eq_ignore_ascii_case("false") || value.eq_ignore_ascii_case("f") {
            false
        } else {
            drumfire_java::values::parse_int(&value)
                .map(|number| number == 1)
                .unwrap_or(default)
        }
    }

    /// An integer property as `JMeterUtils.getPropDefault(String, long)` reads it.
    pub fn get_long(&self, name: &str, default: i64) -> i64 {
        self.get_trimmed(name)
            .and_then(|value| drumfire_java::values::parse_long(&value))
            .unwrap_or(default)
    }

    /// A number as `JMeterUtils.getPropDefault(String, float)` reads it, including suffixes and hexadecimal.
    pub fn get_float(&self, name: &str, default: f32) -> f32 {
        self.get_trimmed(name)
            .and_then(|value| drumfire_java::values::parse_float(&value))
            .unwrap_or(default)
    }

    /// Sets a property and returns its former value.
    pub fn set(&self, name: &str, value: impl Into<Arc<str>>) -> Option<Arc<str>> {
        let mut values = self
            .0
            .values
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let former = values.insert(name.into(), value.into());
        self.changed();
        former
    }

    /// Removes a property and returns its value.
    pub fn remove(&self, name: &str) -> Option<Arc<str>> {
        let mut values = self
            .0
            .values
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let former = values.remove(name);
        self.changed();
        former
    }

    /// All properties, sorted by name.
    pub fn snapshot(&self) -> BTreeMap<String, Arc<str>> {
        self.values()
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    }

    /// A system property (`-D`, `system.properties`).
    pub fn get_system(&self, name: &str) -> Option<Arc<str>> {
        let system = self.0.system.read().unwrap_or_else(PoisonError::into_inner);
        system.get(name).cloned()
    }

    /// Sets a system property.
    pub fn set_system(&self, name: &str, value: impl Into<Arc<str>>) {
        let mut system = self
            .0
            .system
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        system.insert(name.into(), value.into());
        self.changed();
    }

    /// All system properties, sorted by name.
    pub fn system_snapshot(&self) -> BTreeMap<String, Arc<str>> {
        let system = self.0.system.read().unwrap_or_else(PoisonError::into_inner);
        system
            .iter()
            .map(|(name, value)| (name.to_string(), value.clone()))
            .collect()
    }

    /// The queues of the Inter-Thread Communication plugin.
    pub fn fifos(&self) -> &Fifos {
        &self.0.fifos
    }

    pub(crate) fn csv_files(&self) -> &CsvFiles {
        &self.0.csv_files
    }

    pub(crate) fn xpath_files(&self) -> &XPathFiles {
        &self.0.xpath_files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_sees_what_another_set() {
        let first = Properties::new();
        let second = first.clone();
        assert_eq!(first.set("a", "1"), None);
        assert_eq!(second.set("a", "2").as_deref(), Some("1"));
        assert_eq!(first.get("a").as_deref(), Some("2"));
        assert_eq!(first.snapshot().len(), 1);
        assert_eq!(first.remove("a").as_deref(), Some("2"));
        assert_eq!(second.get("a"), None);
    }

    #[test]
    fn setting_a_property_empties_the_cache_of_each_thread() {
        let (first, second) = (Properties::new(), Properties::new());
        assert_eq!(first.seen("a"), None);
        first.set("a", "1");
        second.set("a", "2");
        for _ in 0..2 {
            assert_eq!(first.seen("a").as_deref(), Some("1"));
            assert_eq!(second.seen("a").as_deref(), Some("2"));
        }
        let seen = first.seen("a").expect("it is set");
        assert!(Value::ptr_eq(&seen, &first.seen("a").expect("it is set")));
        let other = first.clone();
        let setting = std::thread::spawn(move || {
            assert_eq!(other.seen("a").as_deref(), Some("1"));
            other.set("a", "3");
            other.set_system("b", "4");
        });
        setting.join().expect("it ends");
        assert_eq!(first.seen("a").as_deref(), Some("3"));
        assert_eq!(first.seen("b").as_deref(), Some("4"));
        first.remove("a");
        assert_eq!(first.seen("a"), None);
        for number in 0..2 * MOST_SEEN {
            assert_eq!(first.seen(&number.to_string()), None);
        }
    }

    #[test]
    fn values_are_kept_raw_and_read_trimmed() {
        let properties = Properties::new();
        properties.set("a", " x\t");
        assert_eq!(properties.get("a").as_deref(), Some(" x\t"));
        assert_eq!(properties.get_trimmed("a").as_deref(), Some("x"));
    }

    #[test]
    fn booleans_follow_jmeter_utils() {
        let properties = Properties::new();
        for (text, expected) in [
            ("TRUE", true),
            ("t", true),
            ("1", true),
            ("F", false),
            ("2", false),
        ] {
            properties.set("b", text);
            assert_eq!(properties.get_bool("b", !expected), expected, "{text}");
        }
        properties.set("b", "maybe");
        assert!(properties.get_bool("b", true) && !properties.get_bool("b", false));
        assert!(properties.get_bool("absent", true));
    }

    #[test]
    fn numbers_fall_back_to_the_default() {
        let properties = Properties::new();
        properties.set("n", " 42 ");
        assert_eq!(properties.get_long("n", 1), 42);
        properties.set("n", "4x");
        assert_eq!(properties.get_long("n", 1), 1);
        for (text, number) in [("0.5f", 0.5), (" 2d ", 2.0), ("0x1p-1", 0.5), ("x", 1.5)] {
            properties.set("f", text);
            assert_eq!(properties.get_float("f", 1.5), number, "{text}");
        }
    }

    #[test]
    fn system_properties_are_apart_and_the_defaults_of_jmeters() {
        let properties = Properties::new();
        properties.set_system("user.dir", "/x");
        assert_eq!(properties.get("user.dir").as_deref(), Some("/x"));
        assert!(properties.snapshot().is_empty());
        assert_eq!(properties.set("user.dir", "/y"), None);
        assert_eq!(properties.get("user.dir").as_deref(), Some("/y"));
        assert_eq!(properties.get_system("user.dir").as_deref(), Some("/x"));
        assert_eq!(properties.system_snapshot().len(), 1);
    }
}
