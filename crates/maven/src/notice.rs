//! Notices to the caller while jars are fetched.

use std::fmt;

/// A line for the user, or the progress of a download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice<'n> {
    /// A line.
    Line(&'n str),
    /// A jar has arrived.
    Jar {
        /// How many have arrived so far, including this one.
        number: usize,
        /// How many are fetched in all.
        total: usize,
        /// The jar's file name.
        name: &'n str,
    },
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Line(line) => f.write_str(line),
            Notice::Jar {
                number,
                total,
                name,
            } => write!(f, "  {number} of {total}  {name}"),
        }
    }
}

/// A size in the unit in which people compare downloads, such as `73.7 MB`.
#[must_use]
pub fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::megabytes;

    #[test]
    fn sizes_are_rounded_to_a_tenth() {
        assert_eq!(megabytes(73_729_106), "73.7 MB");
        assert_eq!(megabytes(40_000), "0.0 MB");
    }
}
