//! Searches for bytes, many at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// Where one of two bytes is first; made for strings too short for what a search of many bytes at once needs to begin.
#[inline]
pub(crate) fn first_of(bytes: &[u8], one: u8, other: u8) -> Option<usize> {
    const SHORT: usize = 64;
    let (ones, others) = (ONES * u64::from(one), ONES * u64::from(other));
    let mut at = 0;
    while at < SHORT {
        let Some(word) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) else {
            break;
        };
        let word = u64::from_le_bytes(*word);
        let (a, b) = (word ^ ones, word ^ others);
        // The lowest bit that is set is right, those above it need not be.
        let found = ((a.wrapping_sub(ONES) & !a) | (b.wrapping_sub(ONES) & !b)) & TOPS;
        if found != 0 {
            return Some(at + (found.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    Some(at + memchr::memchr2(one, other, &bytes[at..])?)
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
}
