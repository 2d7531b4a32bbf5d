//! Values of JMeter properties.

/// A boolean property by the rule of `JMeterUtils.getPropDefault`: `true`, `t`, `false` or `f` in any case, or a
/// whole number, of which only 1 is true. Any other value gives the default.
pub(crate) fn flag(lookup: &dyn Fn(&str) -> Option<String>, name: &str, default: bool) -> bool {
    let Some(value) = lookup(name) else {
        return default;
    };
    let value = value.trim();
    let is = |words: [&str; 2]| words.iter().any(|word| value.eq_ignore_ascii_case(word));
    if is(["true", "t"]) {
        true
    } else if is(["false", "f"]) {
        false
    } else {
        value
            .parse::<i32>()
            .map(|number| number == 1)
            .unwrap_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::flag;

    #[test]
    fn flags_read_as_in_jmeter() {
        let read = |value: &str, default| flag(&|_| Some(value.to_owned()), "x", default);
        assert!(read(" TRUE ", false) && read("t", false) && read("1", false));
        assert!(!read("False", true) && !read("F", true) && !read("2", true) && !read("0", true));
        assert!(read("yes", true) && !read("yes", false) && !read("", false));
        assert!(flag(&|_| None, "x", true));
    }
}
