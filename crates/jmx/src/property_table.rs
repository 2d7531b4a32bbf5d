//! JMeter's properties after all files have been loaded.

use std::collections::HashMap;

use crate::defaults::JMETER_DEFAULTS;

/// Property names and values. A later value replaces an earlier one.
///
/// JMeter's order (`JMeter.initializeProperties`) is `jmeter.properties`, `user.properties`, then `-q` files and `-J`
/// definitions as they stand on the command line: begin with [`PropertyTable::with_defaults`] or the user's own
/// `jmeter.properties`, and [`merge`](PropertyTable::merge) what [`load`](crate::load) gives for each file in turn.
#[derive(Debug, Clone, Default)]
pub struct PropertyTable {
    values: HashMap<String, String>,
}

impl PropertyTable {
    /// A table without properties.
    pub fn new() -> Self {
        Self::default()
    }

    /// The defaults of JMeter 5.6.3.
    pub fn with_defaults() -> Self {
        let mut table = Self::new();
        table.merge(JMETER_DEFAULTS.iter().copied());
        table
    }

    /// Adds definitions; later ones win.
    pub fn merge<K: Into<String>, V: Into<String>>(
        &mut self,
        entries: impl IntoIterator<Item = (K, V)>,
    ) {
        self.values.extend(
            entries
                .into_iter()
                .map(|(key, value)| (key.into(), value.into())),
        );
    }

    /// Sets one property.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) {
        self.values.insert(key.into(), value.into());
    }

    /// Removes a property, as `-Jname=` without a value does.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.values.remove(key)
    }

    /// The value of a property.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// All properties, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl From<PropertyTable> for HashMap<String, String> {
    fn from(table: PropertyTable) -> Self {
        table.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_entries_win_and_defaults_are_there() {
        let mut table = PropertyTable::with_defaults();
        assert_eq!(table.get("summariser.name"), Some("summary"));
        table.merge([
            ("summariser.name", "s"),
            ("summariser.name", "last"),
            ("x", "1"),
        ]);
        assert_eq!(table.get("summariser.name"), Some("last"));
        table.set("x", "2");
        assert_eq!(table.remove("x").as_deref(), Some("2"));
        assert_eq!(table.get("x"), None);
        let values: HashMap<String, String> = table.into();
        assert_eq!(values["remote_hosts"], "127.0.0.1");
    }
}
