//! Searches for bytes, several at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Offset of the first of two bytes. It is made for strings that are too short to pay for the setup of a vectorized
/// search, most of all for those within one word, such as the keys of JSON.
#[inline]
pub(crate) fn first_of(bytes: &[u8], one: u8, other: u8) -> Option<usize> {
    let in_first_word = bytes
        .first_chunk()
        .and_then(|word| first_in_word(*word, one, other));
    match in_first_word {
        Some(at) => Some(at),
        None => first_of_long(bytes, one, other),
    }
}

/// [`first_of`] for bytes that have neither in their first word.
#[inline(never)]
fn first_of_long(bytes: &[u8], one: u8, other: u8) -> Option<usize> {
    const SHORT: usize = 64;
    let mut at = 0;
    while at < SHORT {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else {
            break;
        };
        if let Some(within) = first_in_word(*word, one, other) {
            return Some(at + within);
        }
        at += 8;
    }
    Some(at + memchr::memchr2(one, other, &bytes[at..])?)
}

#[inline]
fn first_in_word(word: [u8; 8], one: u8, other: u8) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let (a, b) = (
        word ^ (ONES * u64::from(one)),
        word ^ (ONES * u64::from(other)),
    );
    // Only the lowest set bit is reliable.
    let matches = ((a.wrapping_sub(ONES) & !a) | (b.wrapping_sub(ONES) & !b)) & TOPS;
    (matches != 0).then(|| (matches.trailing_zeros() / 8) as usize)
}

/// The first offset from `at` with one of `marks` or a control character; the length of `bytes` if there is none.
#[inline]
pub(crate) fn first_mark<const N: usize>(bytes: &[u8], mut at: usize, marks: [u8; N]) -> usize {
    while let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        // As above, only the lowest set bit is reliable.
        let mut matches = word.wrapping_sub(ONES * u64::from(b' ')) & !word;
        for mark in marks {
            let word = word ^ (ONES * u64::from(mark));
            matches |= word.wrapping_sub(ONES) & !word;
        }
        matches &= TOPS;
        if matches != 0 {
            return at + (matches.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    at + rest
        .iter()
        .position(|byte| *byte < b' ' || marks.contains(byte))
        .unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_two_bytes() {
        for length in 0..80 {
            for place in 0..length {
                for byte in [b'"', b'\\'] {
                    let mut bytes = vec![b'a'; length];
                    bytes[place] = byte;
                    bytes.extend([0xFF, b'"']);
                    assert_eq!(first_of(&bytes, b'"', b'\\'), Some(place));
                }
            }
            assert_eq!(first_of(&vec![b'!'; length], b'"', b'\\'), None);
        }
    }

    #[test]
    fn the_first_mark() {
        const MARKS: [u8; 4] = [b'<', b'&', b']', 0xEF];
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..2_000 {
            let bytes: Vec<u8> = (0..random.usize(..40)).map(|_| random.u8(..)).collect();
            let is_mark = |byte: &u8| *byte < 32 || MARKS.contains(byte);
            for start in 0..=bytes.len() {
                let behind = bytes[start..].iter().position(is_mark);
                let first = behind.map_or(bytes.len(), |place| start + place);
                assert_eq!(first_mark(&bytes, start, MARKS), first, "{start} {bytes:?}");
            }
        }
    }
}
