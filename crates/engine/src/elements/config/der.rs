//! Reads DER, the encoding of keys and certificates.

/// An element: its tag, its content, and all its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Element<'d> {
    pub tag: u8,
    pub content: &'d [u8],
    pub bytes: &'d [u8],
}

/// The elements that follow each other in these bytes. Ends at the first that is damaged.
#[derive(Clone, Copy, Debug)]
pub struct Der<'d>(pub &'d [u8]);

pub const INTEGER: u8 = 0x02;
pub const OCTET_STRING: u8 = 0x04;
pub const OBJECT_IDENTIFIER: u8 = 0x06;
pub const BMP_STRING: u8 = 0x1e;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;

/// The tag of a field with a number, that contains another element.
pub const fn field(number: u8) -> u8 {
    0xa0 | number
}

impl<'d> Iterator for Der<'d> {
    type Item = Element<'d>;

    fn next(&mut self) -> Option<Element<'d>> {
        let (&tag, rest) = self.0.split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (len, rest) = match first {
            0x80.. => {
                let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
                let len = bytes
                    .iter()
                    .fold(0, |len: usize, byte| len << 8 | usize::from(*byte));
                (len, rest)
            }
            _ => (usize::from(first), rest),
        };
        let (content, rest) = rest.split_at_checked(len)?;
        let bytes = &self.0[..self.0.len() - rest.len()];
        self.0 = rest;
        Some(Element {
            tag,
            content,
            bytes,
        })
    }
}

impl<'d> Der<'d> {
    /// The next element, if it has this tag; otherwise it stays the next one.
    pub fn tagged(&mut self, tag: u8) -> Option<Element<'d>> {
        let mut rest = *self;
        let element = rest.next().filter(|element| element.tag == tag)?;
        *self = rest;
        Some(element)
    }

    /// The elements inside the next one, if that has this tag.
    pub fn enter(&mut self, tag: u8) -> Option<Der<'d>> {
        self.tagged(tag).map(|element| Der(element.content))
    }

    /// A number that is not negative and fits.
    pub fn number(&mut self) -> Option<u32> {
        let bytes = self.tagged(INTEGER)?.content;
        let bytes = bytes.strip_prefix(&[0]).unwrap_or(bytes);
        let is_small = bytes.len() <= size_of::<u32>();
        is_small.then(|| {
            bytes
                .iter()
                .fold(0, |number, byte| number << 8 | u32::from(*byte))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_read_one_after_the_other() {
        let long = [&[OCTET_STRING, 0x81, 200][..], &[7; 200]].concat();
        let data = [&[SEQUENCE, 5, INTEGER, 3, 0, 0x80, 1], &long[..]].concat();
        let mut der = Der(&data);
        assert!(der.tagged(OCTET_STRING).is_none());
        let mut inside = der.enter(SEQUENCE).expect("a sequence");
        assert_eq!(inside.number(), Some(0x8001));
        assert!(inside.next().is_none());
        let octets = der.tagged(OCTET_STRING).expect("octets");
        assert_eq!((octets.content, octets.bytes), (&[7; 200][..], &long[..]));
        assert!(der.next().is_none());
    }

    #[test]
    fn damaged_elements_are_none() {
        for data in [
            &[SEQUENCE][..],
            &[SEQUENCE, 3, 1],
            &[SEQUENCE, 0x82, 1],
            &[SEQUENCE, 0xff, 1],
            &[SEQUENCE, 0x88, 255, 255, 255, 255, 255, 255, 255, 255],
        ] {
            assert!(Der(data).next().is_none(), "{data:?}");
        }
        assert_eq!(Der(&[INTEGER, 5, 1, 2, 3, 4, 5]).number(), None);
    }
}
