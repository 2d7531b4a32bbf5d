//! Terminal colours that are readable on white and on black, as parameters of `ESC [ … m`.
//!
//! They come from the palette of 256 colours, which is the same everywhere. Terminals choose the first eight colours themselves,
//! and most render yellow and green too bright to be read on white.

/// Failures.
pub const RED: &str = "38;5;160";
/// Success and progress.
pub const GREEN: &str = "38;5;28";
/// Warnings.
pub const AMBER: &str = "38;5;130";
/// Notes and frames.
pub const BLUE: &str = "38;5;32";

#[cfg(test)]
mod tests {
    use super::*;

    /// The relative luminance of a colour of the 6 x 6 x 6 cube (WCAG 2.2).
    fn luminance(parameter: &str) -> f64 {
        let number = parameter.strip_prefix("38;5;").expect("one of 256");
        let number: usize = number.parse().expect("a number");
        assert!((16..232).contains(&number), "one of the cube");
        let levels = [0.0, 95.0, 135.0, 175.0, 215.0, 255.0];
        let part = |share: usize| {
            let level: f64 = levels[(number - 16) / share % 6] / 255.0;
            if level <= 0.04045 {
                level / 12.92
            } else {
                ((level + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * part(36) + 0.7152 * part(6) + 0.0722 * part(1)
    }

    #[test]
    fn each_can_be_read_on_white_and_on_black() {
        // WCAG requires a contrast of 3 for large text; no colour reaches more than 4.58 on both.
        for colour in [RED, GREEN, AMBER, BLUE] {
            let luminance = luminance(colour);
            let (on_white, on_black) = (1.05 / (luminance + 0.05), (luminance + 0.05) / 0.05);
            assert!(
                on_white > 3.8 && on_black > 3.8,
                "{colour}: {on_white} {on_black}"
            );
        }
    }
}
