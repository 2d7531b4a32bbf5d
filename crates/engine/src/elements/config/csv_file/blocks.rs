//! Blocks of whole rows of a file, for machines that do not have it.

use std::path::{Path, PathBuf};

use super::{CsvFile, LineReader, QUOTE, RowFailure};
use crate::run::fleet::RowReading;

/// The longest row, in bytes. It has to fit into a message.
const LONGEST: u64 = 512 << 10;
/// The smallest and the largest size of a block in bytes, apart from its last row.
const SMALLEST: u64 = 1 << 10;
const LARGEST: u64 = 128 << 10;

/// The rows of a file from its beginning to its end, and again if it is recycled.
pub struct RowBlocks {
    file: CsvFile,
    reading: RowReading,
    reader: Option<LineReader>,
    length: u64,
    /// Why there are no rows after those that were taken.
    fault: Option<String>,
    is_over: bool,
}

impl RowBlocks {
    /// The rows of a file. It is read only as far as rows are taken.
    pub fn of(file: &Path, reading: RowReading) -> RowBlocks {
        let length = std::fs::metadata(file)
            .map(|facts| facts.len())
            .unwrap_or(0);
        RowBlocks {
            file: CsvFile::new(&file.to_string_lossy(), &reading.encoding, &PathBuf::new()),
            reading,
            reader: None,
            length,
            fault: None,
            is_over: false,
        }
    }

    /// The next rows as text, at most about so many `bytes`; none at the end. Blocks shrink towards the end of a pass, so that none
    /// of the `machines` has rows while others have none.
    ///
    /// # Errors
    /// Why there are no more rows.
    pub fn take(&mut self, machines: u64, bytes: u64) -> Result<String, String> {
        if let Some(fault) = &self.fault {
            return Err(fault.clone());
        }
        let mut block = String::new();
        let taken = self.fill(&mut block, machines, bytes);
        match taken {
            Ok(()) => Ok(block),
            Err(RowFailure::Io(fault) | RowFailure::Argument(fault)) => {
                self.fault = Some(fault.clone());
                if block.is_empty() {
                    Err(fault)
                } else {
                    Ok(block)
                }
            }
        }
    }

    fn fill(&mut self, block: &mut String, machines: u64, bytes: u64) -> Result<(), RowFailure> {
        if self.is_over {
            return Ok(());
        }
        let is_new = self.reader.is_none();
        self.pass(block, machines, bytes)?;
        if block.is_empty() && self.reading.is_recycled && !is_new {
            self.reader = None;
            self.pass(block, machines, bytes)?;
        }
        self.is_over = block.is_empty();
        Ok(())
    }

    /// Takes rows of the pass at hand.
    fn pass(&mut self, block: &mut String, machines: u64, bytes: u64) -> Result<(), RowFailure> {
        let reader = match &mut self.reader {
            Some(reader) => reader,
            empty => {
                let mut reader = self.file.open()?;
                reader.longest = Some(LONGEST);
                if self.reading.skips_first_line {
                    reader.line()?;
                }
                empty.insert(reader)
            }
        };
        let left = self.length.saturating_sub(reader.consumed);
        let even = left / (machines.max(1) * 4);
        let size = even.min(bytes).clamp(SMALLEST, LARGEST) as usize;
        // The end of the last whole row in the block.
        let mut whole = block.len();
        let mut is_inside = false;
        while block.len() < size || is_inside {
            let has_text = match reader.fill() {
                Ok(has_text) => has_text,
                Err(error) => {
                    block.truncate(whole);
                    return Err(error.into());
                }
            };
            if !has_text {
                break;
            }
            let line = &reader.text[reader.at..];
            if self.reading.is_quoted {
                is_inside ^= !line.matches(QUOTE).count().is_multiple_of(2);
            }
            block.push_str(line);
            reader.at = reader.text.len();
            if block.len() as u64 > LONGEST + LARGEST {
                block.truncate(whole);
                let why = format!("a row has more than {} KiB", LONGEST >> 10);
                return Err(RowFailure::Io(format!("java.io.IOException: {why}")));
            }
            if !is_inside {
                whole = block.len();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().expect("there is room");
        std::fs::write(file.path(), text).expect("there is room");
        file
    }

    fn all(blocks: &mut RowBlocks) -> (String, usize) {
        let (mut text, mut count) = (String::new(), 0);
        loop {
            let block = blocks.take(2, LARGEST).expect("it can be read");
            if block.is_empty() {
                return (text, count);
            }
            assert!(block.ends_with('\n') || block.ends_with('z'), "{block:?}");
            text += &block;
            count += 1;
        }
    }

    #[test]
    fn blocks_are_the_file_in_whole_rows() {
        let rows: String = (0..9_000)
            .map(|row| format!("r{row},\"two\nlines \"\"{row}\"\"\"\r\n"))
            .collect();
        let file = file(format!("head\n{rows}z").as_bytes());
        let reading = RowReading {
            is_quoted: true,
            skips_first_line: true,
            ..RowReading::default()
        };
        let mut blocks = RowBlocks::of(file.path(), reading);
        let (text, count) = all(&mut blocks);
        assert!(text == format!("{rows}z") && count > 4, "{count}");
        // Each block can be read on its own.
        let mut blocks = RowBlocks::of(file.path(), blocks.reading);
        let mut next = 0;
        while next < 9_000 {
            let mut block = LineReader::of_text(blocks.take(2, LARGEST).expect("it can be read"));
            while block
                .peek()
                .expect("it is a text")
                .is_some_and(|first| first != 'z')
            {
                let row = super::super::fields(&mut block, ',').expect("it is well-formed");
                assert_eq!(row, [format!("r{next}"), format!("two\nlines \"{next}\"")]);
                next += 1;
            }
        }
    }

    #[test]
    fn a_recycled_file_begins_again_and_an_empty_one_ends() {
        let rows = file(b"head\na\nb\n");
        let reading = RowReading {
            skips_first_line: true,
            is_recycled: true,
            ..RowReading::default()
        };
        let mut blocks = RowBlocks::of(rows.path(), reading.clone());
        for _ in 0..3 {
            assert_eq!(blocks.take(1, LARGEST).as_deref(), Ok("a\nb\n"));
        }
        let empty = file(b"head\n");
        let mut blocks = RowBlocks::of(empty.path(), reading);
        assert_eq!(blocks.take(1, LARGEST).as_deref(), Ok(""));
        assert_eq!(blocks.take(1, LARGEST).as_deref(), Ok(""));
    }

    #[test]
    fn a_file_is_read_only_as_far_as_rows_are_taken() {
        let sparse = file(b"a\nb\n");
        let handle = sparse.as_file();
        handle.set_len(1 << 40).expect("it is sparse");
        let mut blocks = RowBlocks::of(sparse.path(), RowReading::default());
        assert_eq!(blocks.take(8, LARGEST).as_deref(), Ok("a\nb\n"));
        let fault = blocks
            .take(8, LARGEST)
            .expect_err("the rest has no line end");
        assert!(fault.contains("512 KiB"), "{fault}");
    }

    #[test]
    fn charsets_are_decoded_and_marks_are_left_out() {
        let reading = |encoding: &str| RowReading {
            encoding: encoding.to_owned(),
            ..RowReading::default()
        };
        let marked = file(b"\xef\xbb\xbf\xc3\xa4\n");
        let mut blocks = RowBlocks::of(marked.path(), reading("UTF-8"));
        assert_eq!(blocks.take(1, LARGEST).as_deref(), Ok("\u{e4}\n"));
        let wide: Vec<u8> = "\u{e4}\nb\n"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let wide = file(&wide);
        let mut blocks = RowBlocks::of(wide.path(), reading("UTF-16LE"));
        assert_eq!(blocks.take(1, LARGEST).as_deref(), Ok("\u{e4}\nb\n"));
        let missing = RowBlocks::of(Path::new("/no/such.csv"), reading("")).take(1, LARGEST);
        assert!(missing.expect_err("it is not there").contains("must exist"));
    }
}
