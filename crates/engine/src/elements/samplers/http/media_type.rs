//! The media type of responses.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use drumfire_java::charset::decode_latin1;
use drumfire_results::{DataType, Sample, SharedText};

/// How many values of `Content-Type` each worker caches.
const MOST: usize = 4;

/// The latest values of `Content-Type`, parsed: a plan's responses have a few that recur.
#[derive(Default)]
pub struct MediaType(RefCell<VecDeque<KnownType>>);

struct KnownType {
    /// As received.
    value: Box<[u8]>,
    content_type: Rc<str>,
    encoding: Option<SharedText>,
    data_type: DataType,
}

impl MediaType {
    /// Sets the sample's type, charset and kind of data.
    pub fn apply(&self, value: &[u8], sample: &mut Sample) {
        let mut latest = self.0.borrow_mut();
        let position = latest.iter().position(|known| *known.value == *value);
        let media_type = match position {
            Some(position) => &latest[position],
            None => {
                latest.truncate(MOST - 1);
                latest.push_front(KnownType::read(value));
                &latest[0]
            }
        };
        sample.content_type = Some(media_type.content_type.clone());
        if media_type.encoding.is_some() {
            sample.encoding.clone_from(&media_type.encoding);
        }
        sample.data_type.clone_from(&media_type.data_type);
    }
}

impl KnownType {
    fn read(value: &[u8]) -> KnownType {
        let text = decode_latin1(value);
        let mut sample = Sample::default();
        sample.set_encoding_and_type(&text);
        KnownType {
            value: value.into(),
            content_type: text.into(),
            encoding: sample.encoding,
            data_type: sample.data_type,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_type_is_read_anew_when_it_changes() {
        let media_type = MediaType::default();
        let read = |value: &[u8]| {
            let mut sample = Sample::default();
            media_type.apply(value, &mut sample);
            let encoding = sample.encoding.map(|name| name.as_str().to_owned());
            (
                sample.data_type,
                encoding,
                sample.content_type.expect("it is set"),
            )
        };
        for number in 0..2 * MOST {
            let value = format!("text/plain; n={number}");
            assert_eq!(&*read(value.as_bytes()).2, value);
        }
        assert_eq!(media_type.0.borrow().len(), MOST);
        for _ in 0..2 {
            let (kind, encoding, value) = read(b"text/html; charset=utf-8");
            assert_eq!((kind, encoding.as_deref()), (DataType::Text, Some("utf-8")));
            assert_eq!(&*value, "text/html; charset=utf-8");
        }
        let (kind, encoding, value) = read(b"image/png\xe9");
        assert_eq!((kind, encoding), (DataType::Binary, None));
        assert_eq!(&*value, "image/png\u{e9}");
    }
}
