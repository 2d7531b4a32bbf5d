//! The Huffman code of strings (RFC 7541 appendix B).
//!
//! The code is canonical: codes of one length are consecutive numbers in the order of their symbols, and those of the next length
//! follow. So the lengths tell the codes.

use super::parts::BrokenBlock;

/// The length of each byte's code, in bits. The only other code, which ends nothing, is that of 30 ones.
#[rustfmt::skip]
const CODE_BITS: [u8; 256] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
const MIN_BITS: usize = 5;
const MAX_BITS: usize = 30;
/// Most symbols of headers have codes of this length at most, so that one look finds them.
const SHORT_BITS: u32 = 8;

/// The code of each byte, in its lowest bits.
static CODES: [u32; 256] = codes();
/// The symbol and the length of the code at the start of these bits; a length of 0 if the code is longer.
static SHORT: [(u8, u8); 1 << SHORT_BITS] = short();
/// The codes of each length.
static LONG: Long = long();

struct Long {
    /// The first code of a length, and the number of its codes.
    ranges: [(u32, u32); MAX_BITS + 1],
    /// Where the symbols of a length begin in `symbols`.
    starts: [usize; MAX_BITS + 1],
    symbols: [u8; 256],
}

const fn long() -> Long {
    let mut long = Long {
        ranges: [(0, 0); MAX_BITS + 1],
        starts: [0; MAX_BITS + 1],
        symbols: [0; 256],
    };
    let (mut code, mut found, mut bits) = (0, 0, MIN_BITS);
    while bits <= MAX_BITS {
        (long.ranges[bits].0, long.starts[bits]) = (code, found);
        let mut symbol = 0;
        while symbol < 256 {
            if CODE_BITS[symbol] as usize == bits {
                long.symbols[found] = symbol as u8;
                found += 1;
                code += 1;
            }
            symbol += 1;
        }
        long.ranges[bits].1 = code - long.ranges[bits].0;
        code <<= 1;
        bits += 1;
    }
    long
}

const fn codes() -> [u32; 256] {
    let long = long();
    let mut codes = [0; 256];
    let mut bits = MIN_BITS;
    while bits <= MAX_BITS {
        let (first, count) = long.ranges[bits];
        let mut index = 0;
        while index < count {
            codes[long.symbols[long.starts[bits] + index as usize] as usize] = first + index;
            index += 1;
        }
        bits += 1;
    }
    codes
}

const fn short() -> [(u8, u8); 1 << SHORT_BITS] {
    let codes = codes();
    let mut short = [(0, 0); 1 << SHORT_BITS];
    let mut symbol = 0;
    while symbol < 256 {
        let bits = CODE_BITS[symbol] as u32;
        if bits <= SHORT_BITS {
            let unused = SHORT_BITS - bits;
            let first = (codes[symbol] << unused) as usize;
            let mut rest = 0;
            while rest < 1 << unused {
                short[first + rest] = (symbol as u8, bits as u8);
                rest += 1;
            }
        }
        symbol += 1;
    }
    short
}

/// The length of a text in this code, in bytes.
pub(super) fn encoded_bytes(text: &[u8]) -> usize {
    let bits: usize = text
        .iter()
        .map(|byte| usize::from(CODE_BITS[usize::from(*byte)]))
        .sum();
    bits.div_ceil(8)
}

/// Appends a text in this code.
pub(super) fn encode(text: &[u8], out: &mut Vec<u8>) {
    // The bits that are not yet written are the lowest `count` ones.
    let (mut bits, mut count) = (0_u64, 0);
    for byte in text {
        let symbol = usize::from(*byte);
        bits = bits << CODE_BITS[symbol] | u64::from(CODES[symbol]);
        count += u32::from(CODE_BITS[symbol]);
        while count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    if count > 0 {
        let unused = 8 - count;
        out.push((bits << unused) as u8 | ((1 << unused) - 1));
    }
}

/// Appends the text that the code stands for.
pub(super) fn decode(mut code: &[u8], out: &mut Vec<u8>) -> Result<(), BrokenBlock> {
    out.reserve(code.len() * 8 / MIN_BITS);
    // The next bits are the highest `count` ones.
    let (mut bits, mut count) = (0_u64, 0);
    loop {
        refill(&mut code, &mut bits, &mut count);
        while count >= SHORT_BITS
            && let (symbol, length @ 1..) = SHORT[(bits >> (u64::BITS - SHORT_BITS)) as usize]
        {
            out.push(symbol);
            bits <<= length;
            count -= u32::from(length);
        }
        if count <= MAX_BITS as u32 && !code.is_empty() {
            continue;
        }
        let (symbol, length) = match SHORT[(bits >> (u64::BITS - SHORT_BITS)) as usize] {
            (_, 0) => decode_long(bits).unwrap_or((0, u32::MAX)),
            (symbol, length) => (symbol, u32::from(length)),
        };
        if length > count {
            // Padding is shorter than a byte and has only ones.
            let is_padding = count < 8 && bits == !(u64::MAX >> count);
            return if is_padding { Ok(()) } else { Err(BrokenBlock) };
        }
        out.push(symbol);
        bits <<= length;
        count -= length;
    }
}

/// Takes as many bytes of the code as there is room for.
fn refill(code: &mut &[u8], bits: &mut u64, count: &mut u32) {
    if let Some(next) = code.first_chunk::<8>() {
        // The last byte that has only partial room is taken again the next time.
        *bits |= u64::from_be_bytes(*next) >> *count;
        let taken = (u64::BITS - 1 - *count) / 8;
        *count += taken * 8;
        *code = &code[taken as usize..];
        return;
    }
    while *count <= u64::BITS - 8
        && let Some((byte, rest)) = code.split_first()
    {
        *bits |= u64::from(*byte) << (u64::BITS - 8 - *count);
        *count += 8;
        *code = rest;
    }
}

/// The symbol and the length of the longer code at the start of these bits; `None` if they are all ones.
#[cold]
fn decode_long(bits: u64) -> Option<(u8, u32)> {
    (SHORT_BITS as usize + 1..=MAX_BITS).find_map(|length| {
        let code = (bits >> (u64::BITS as usize - length)) as u32;
        let (first, count) = LONG.ranges[length];
        let index = code.checked_sub(first).filter(|index| *index < count)?;
        let symbol = LONG.symbols[LONG.starts[length] + index as usize];
        Some((symbol, length as u32))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(code: &[u8]) -> Result<Vec<u8>, BrokenBlock> {
        let mut out = Vec::new();
        decode(code, &mut out).map(|()| out)
    }

    /// The examples of RFC 7541, section C.4 and C.6.
    #[test]
    fn texts_have_the_codes_of_the_standard() {
        for (text, code) in [
            (
                &b"www.example.com"[..],
                &b"\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff"[..],
            ),
            (b"no-cache", b"\xa8\xeb\x10\x64\x9c\xbf"),
            (b"302", b"\x64\x02"),
            (b"", b""),
        ] {
            let mut out = Vec::new();
            encode(text, &mut out);
            assert_eq!((&out[..], encoded_bytes(text)), (code, code.len()));
            assert_eq!(decoded(code).as_deref(), Ok(text));
        }
    }

    #[test]
    fn every_byte_survives() {
        let all: Vec<u8> = (0..=255).collect();
        for text in all.iter().map(std::slice::from_ref).chain([&all[..]]) {
            let mut code = Vec::new();
            encode(text, &mut code);
            assert_eq!(code.len(), encoded_bytes(text));
            assert_eq!(decoded(&code).as_deref(), Ok(text));
        }
    }

    #[test]
    fn damaged_codes_are_refused() {
        for code in [
            // A whole byte of padding; padding of zeros; the code that ends nothing; half a code.
            &b"\x64\x02\xff"[..],
            b"\x00",
            b"\xff\xff\xff\xff",
            b"\xff\xfe",
        ] {
            assert_eq!(decoded(code), Err(BrokenBlock), "{code:?}");
        }
    }
}
