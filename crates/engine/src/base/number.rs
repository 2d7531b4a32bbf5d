//! Numbers as elements read them: `AbstractProperty#getIntValue` and its siblings return 0 for a text that is not a number.

/// `getIntValue`.
pub fn int(text: &str) -> i32 {
    drumfire_java::values::property_int(text)
}

/// `getLongValue`.
pub fn long(text: &str) -> i64 {
    drumfire_java::values::property_long(text)
}
