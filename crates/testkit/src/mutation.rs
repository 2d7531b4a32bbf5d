//! Damages inputs at random, in the same way in every run of a test.

/// Pseudo-random numbers (xorshift).
pub struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }
}

impl Random {
    /// A number below `limit`; 0 if `limit` is 0.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// How many rounds a test makes: the environment variable `MUTATIONS`, or the default.
pub fn rounds(usual: usize) -> usize {
    let given = std::env::var("MUTATIONS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// The seed with one to five damages: truncated, a part removed or repeated, one of the pieces inserted, or a byte
/// replaced.
pub fn damaged(seed: &[u8], pieces: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let end = (at + random.below(20)).min(bytes.len());
        match random.below(6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 | 3 => {
                let piece = pieces[random.below(pieces.len())];
                bytes.splice(at..at, piece.bytes());
            }
            4 => {
                let copied = bytes[at..end].to_vec();
                let target = random.below(bytes.len());
                bytes.splice(target..target, copied);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.below(256) as u8;
                }
            }
        }
    }
    bytes
}
