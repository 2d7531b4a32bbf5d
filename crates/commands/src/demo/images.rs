//! The demo site's pictures: PNG squares of one colour, drawn at start.

use std::io::Write as _;

use flate2::Compression;
use flate2::Crc;
use flate2::write::ZlibEncoder;

/// A PNG of `side` × `side` pixels in one colour.
pub fn square(side: u32, colour: [u8; 3]) -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = Vec::with_capacity(13);
    header.extend_from_slice(&side.to_be_bytes());
    header.extend_from_slice(&side.to_be_bytes());
    // Eight bits a channel, RGB, deflate, the standard filter method, not interlaced.
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    chunk(&mut png, b"IHDR", &header);
    let mut row = vec![0];
    for _ in 0..side {
        row.extend_from_slice(&colour);
    }
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..side {
        encoder
            .write_all(&row)
            .expect("a Vec takes any number of bytes");
    }
    let pixels = encoder.finish().expect("a Vec takes any number of bytes");
    chunk(&mut png, b"IDAT", &pixels);
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("a small picture is far below 4 GiB");
    png.extend_from_slice(&length.to_be_bytes());
    png.extend_from_slice(kind);
    png.extend_from_slice(data);
    let mut crc = Crc::new();
    crc.update(kind);
    crc.update(data);
    png.extend_from_slice(&crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_is_a_whole_png() {
        let png = square(4, [255, 0, 0]);
        assert!(
            png.starts_with(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x04\0\0\0\x04\x08\x02\0\0\0")
        );
        // The closing chunk of every PNG, its checksum included.
        assert!(png.ends_with(b"\0\0\0\0IEND\xaeB`\x82"));
    }
}
