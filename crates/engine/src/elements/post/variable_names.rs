//! The variables an extractor writes: `name`, `name_1`, `name_matchNr`, …

use drumfire_expr::{Value, Vars};
use drumfire_java::values;

/// Builds variable names with a common beginning in one buffer.
pub struct VariableNames {
    buffer: String,
    base: usize,
}

impl VariableNames {
    pub fn new(base: &str) -> VariableNames {
        let mut buffer = String::with_capacity(base.len() + "_matchNr".len() + 8);
        buffer.push_str(base);
        VariableNames {
            base: buffer.len(),
            buffer,
        }
    }

    /// The name itself.
    pub fn base(&self) -> &str {
        &self.buffer[..self.base]
    }

    /// The name followed by a suffix, which is given in parts.
    pub fn with(&mut self, suffix: &[&str]) -> &str {
        self.buffer.truncate(self.base);
        self.buffer.extend(suffix.iter().copied());
        &self.buffer
    }

    /// `name_number`.
    pub fn numbered(&mut self, number: impl itoa::Integer) -> &str {
        self.with(&["_", itoa::Buffer::new().format(number)])
    }

    /// The number in a count variable; `None` if it is undefined or not a number.
    pub fn count(&mut self, suffix: &str, vars: &Vars) -> Option<i32> {
        values::parse_int(vars.get_named(self.with(&[suffix]))?)
    }

    /// Removes `name_matchNr` and returns its number: 0 if there was none (`removePrevCount` of the extractors).
    pub fn take_match_count(&mut self, vars: &mut Vars) -> i32 {
        let Some(text) = vars.remove_named(self.with(&["_matchNr"])) else {
            return 0;
        };
        values::parse_int(&text).unwrap_or_else(|| {
            tracing::warn!("Could not parse number: '{text}'");
            0
        })
    }

    pub fn set_match_count(&mut self, count: usize, vars: &mut Vars) {
        let mut text = itoa::Buffer::new();
        vars.set_named(self.with(&["_matchNr"]), text.format(count).into());
    }

    /// Writes `name_number`.
    pub fn set_numbered(&mut self, number: usize, value: Value, vars: &mut Vars) {
        vars.set_named(self.numbered(number), value);
    }

    /// Removes `name_first` to `name_last`.
    pub fn remove_numbered(&mut self, numbers: std::ops::RangeInclusive<i32>, vars: &mut Vars) {
        for number in numbers {
            vars.remove_named(self.numbered(number));
        }
    }

    /// Removes `name_matchNr`, and `name_1`, `name_2`, … up to the first that is undefined (`clearOldRefVars`).
    pub fn clear(&mut self, vars: &mut Vars) {
        vars.remove_named(self.with(&["_matchNr"]));
        let mut number = 1_u32;
        while vars.remove_named(self.numbered(number)).is_some() {
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn names_share_a_buffer() {
        let mut names = VariableNames::new("id");
        assert_eq!(names.with(&["_", "1", "_g", "2"]), "id_1_g2");
        assert_eq!(names.numbered(12), "id_12");
        assert_eq!(names.with(&["_g"]), "id_g");
        assert_eq!(names.base(), "id");
    }

    #[test]
    fn counts_are_taken_and_gaps_end_the_clearing() {
        let mut vars = Vars::new(Arc::default());
        let mut names = VariableNames::new("v");
        names.set_match_count(12, &mut vars);
        assert_eq!(names.count("_matchNr", &vars), Some(12));
        assert_eq!(names.take_match_count(&mut vars), 12);
        assert_eq!(names.take_match_count(&mut vars), 0);
        vars.set_named("v_matchNr", "x".into());
        assert_eq!(names.take_match_count(&mut vars), 0);
        for number in [1, 2, 4] {
            names.set_numbered(number, "x".into(), &mut vars);
        }
        names.clear(&mut vars);
        assert_eq!(
            vars.iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["v_4"]
        );
    }
}
