//! The generator's own part of a sample that is not an exchange of HTTP.

use std::time::Instant;

/// The own part, in microseconds, of a sample that ends now. `arrived` is when the kernel had received its last byte, as far as it
/// says.
pub fn own_us(begin: Instant, arrived: Option<Instant>) -> Option<u64> {
    drumfire_http::own_part(begin, arrived?, Instant::now()).map(|own| own.as_micros() as u64)
}
