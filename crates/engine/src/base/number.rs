//! How elements read numbers: `AbstractProperty#getIntValue` and its siblings give 0 for what is not one.

/// `getIntValue`.
pub fn int(text: &str) -> i32 {
    drumfire_expr::values::property_int(text)
}

/// `getLongValue`.
pub fn long(text: &str) -> i64 {
    drumfire_expr::values::property_long(text)
}
