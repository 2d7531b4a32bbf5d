//! Integers of header blocks, and what all files of this folder share.

/// The size of both dynamic tables, in bytes: the default of SETTINGS_HEADER_TABLE_SIZE.
pub(crate) const TABLE_BYTES: usize = 4096;

/// The block of a server breaks the rules, so that later blocks cannot be read either.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BrokenBlock;

/// The bytes after the name, and after the value, of a line.
pub(super) const END_OF_NAME: &[u8; 2] = b": ";
pub(super) const END_OF_LINE: &[u8; 2] = b"\r\n";

/// Appends an integer (section 5.1) whose first byte has `prefix_bits` bits of it, beside `flags`.
pub(super) fn put_integer(out: &mut Vec<u8>, value: usize, prefix_bits: u32, flags: u8) {
    let most = (1 << prefix_bits) - 1;
    if value < most {
        out.push(flags | value as u8);
        return;
    }
    out.push(flags | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Takes an integer from the front of `bytes`. None that a table or a block can hold has more than four bytes.
pub(super) fn take_integer(bytes: &mut &[u8], prefix_bits: u32) -> Result<usize, BrokenBlock> {
    const MAX_BYTES: u32 = 4;
    let most = (1 << prefix_bits) - 1;
    let (first, mut rest) = bytes.split_first().ok_or(BrokenBlock)?;
    let mut value = usize::from(*first) & most;
    if value == most {
        for index in 0.. {
            let (byte, after) = rest.split_first().ok_or(BrokenBlock)?;
            if index == MAX_BYTES {
                return Err(BrokenBlock);
            }
            value += usize::from(byte & 0x7F) << (7 * index);
            rest = after;
            if byte & 0x80 == 0 {
                break;
            }
        }
    }
    *bytes = rest;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 7541, section C.1, and the limits.
    #[test]
    fn integers_have_a_prefix_and_seven_bits_a_byte() {
        for (value, prefix_bits, bytes) in [
            (10, 5, &[10][..]),
            (1337, 5, &[31, 154, 10]),
            (42, 8, &[42]),
            (31, 5, &[31, 0]),
            (0, 7, &[0]),
        ] {
            let mut out = Vec::new();
            put_integer(&mut out, value, prefix_bits, 0);
            assert_eq!(out, bytes);
            assert_eq!(take_integer(&mut &out[..], prefix_bits), Ok(value));
        }
        for bytes in [&[][..], &[31], &[31, 0x80], &[31, 255, 255, 255, 255, 255]] {
            assert_eq!(take_integer(&mut &bytes[..], 5), Err(BrokenBlock));
        }
    }
}
