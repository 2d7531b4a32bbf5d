//! MD5 by AWS-LC, which TLS needs anyway: its assembly is half as fast again as portable code.

use std::mem::MaybeUninit;

use aws_lc_sys::{MD5_CTX, MD5_Final, MD5_Init, MD5_Update};

/// A digest in progress.
pub(crate) struct Md5(MD5_CTX);

impl Md5 {
    pub fn new() -> Self {
        let mut state = MaybeUninit::<MD5_CTX>::zeroed();
        // SAFETY: MD5_Init writes to the state that it is given, which outlives the call, and cannot fail. The state is plain
        // integers, so that it is valid even as zeros.
        let state = unsafe {
            MD5_Init(state.as_mut_ptr());
            state.assume_init()
        };
        Self(state)
    }

    pub fn update(&mut self, bytes: &[u8]) {
        // SAFETY: the state was made by MD5_Init, and the bytes are readable for their length; both outlive the call.
        unsafe {
            MD5_Update(&raw mut self.0, bytes.as_ptr().cast(), bytes.len());
        }
    }

    pub fn finish(mut self) -> [u8; 16] {
        let mut digest = [0; 16];
        // SAFETY: MD5_Final writes 16 bytes, and the state was made by MD5_Init.
        unsafe {
            MD5_Final(digest.as_mut_ptr(), &raw mut self.0);
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(pieces: &[&[u8]]) -> String {
        let mut md5 = Md5::new();
        pieces.iter().for_each(|piece| md5.update(piece));
        let digest = md5.finish();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 1321, appendix A.5.
    #[test]
    fn digests_of_the_rfc() {
        assert_eq!(hex(&[]), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex(&[b""]), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(
            hex(&[b"message ", b"digest"]),
            "f96b697d7cb7938d525a2f31aaf161d0"
        );
        let digits = [b"1234567890".as_slice(); 8];
        assert_eq!(hex(&digits), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
