//! Collects the rows of results that agents have written, and merges them into one file.

use std::collections::BinaryHeap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::AsyncWriteExt as _;

use crate::error::{FleetError, within};
use crate::link::{CALL, Link};

/// How long the transfer of one agent's rows may take.
const ROWS: Duration = Duration::from_secs(3600);
/// The column that orders the rows.
const TIME: &str = "timeStamp";

/// Fetches the rows of an agent into a file.
///
/// # Errors
/// If they do not arrive, or cannot be written.
pub async fn fetch(link: &Link, name: &str, target: &Path) -> Result<(), FleetError> {
    let mut object = within(CALL, "the rows", link.ends.get(name)).await?;
    let copying = async {
        let mut file = tokio::fs::File::create(target).await?;
        tokio::io::copy(&mut object, &mut file).await?;
        file.flush().await
    };
    within(ROWS, "the rows", copying).await
}

/// Writes the rows of all parts to one file, CSV rows in the order of their times. Rows that are already in the file
/// stay before them.
///
/// # Errors
/// If a part cannot be read, or the file cannot be written.
pub fn merge(parts: &[PathBuf], target: &Path) -> io::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(target)?;
    let is_new = file.metadata()?.len() == 0;
    let mut out = BufWriter::new(file);
    let mut readers = Vec::new();
    for part in parts {
        readers.push(BufReader::new(File::open(part)?));
    }
    let is_xml = match readers.first_mut() {
        Some(first) => first.fill_buf()?.starts_with(b"<"),
        None => false,
    };
    if is_xml {
        merge_xml(readers, is_new, &mut out)?
    } else {
        merge_csv(readers, is_new, &mut out)?
    }
    out.flush()
}

/// The next row of a part. The earliest row is the greatest, for the max-heap.
#[derive(PartialEq, Eq)]
struct NextRow {
    at_ms: i64,
    part: usize,
    row: Vec<u8>,
}

impl Ord for NextRow {
    fn cmp(&self, other: &NextRow) -> std::cmp::Ordering {
        (other.at_ms, other.part).cmp(&(self.at_ms, self.part))
    }
}

impl PartialOrd for NextRow {
    fn partial_cmp(&self, other: &NextRow) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

fn merge_csv(
    mut readers: Vec<BufReader<File>>,
    is_new: bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut column = 0;
    let mut waiting = BinaryHeap::new();
    for (part, reader) in readers.iter_mut().enumerate() {
        let mut first = row(reader)?;
        let header = String::from_utf8_lossy(&first).trim_end().to_owned();
        let names = header.split([',', ';', '\t']).position(|name| name == TIME);
        if let Some(names_column) = names {
            column = names_column;
            if part == 0 && is_new {
                out.write_all(&first)?;
            }
            first = row(reader)?;
        }
        push(&mut waiting, part, first, column);
    }
    while let Some(next) = waiting.pop() {
        out.write_all(&next.row)?;
        push(
            &mut waiting,
            next.part,
            row(&mut readers[next.part])?,
            column,
        );
    }
    Ok(())
}

fn push(waiting: &mut BinaryHeap<NextRow>, part: usize, row: Vec<u8>, column: usize) {
    if row.is_empty() {
        return;
    }
    let text = String::from_utf8_lossy(&row);
    let time = text.split([',', ';', '\t']).nth(column);
    let at_ms = time.and_then(|time| time.trim().parse().ok());
    waiting.push(NextRow {
        at_ms: at_ms.unwrap_or(0),
        part,
        row,
    });
}

/// Reads a row with its line end; line ends inside quotes do not count. Empty at the end of the file.
fn row(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut row = Vec::new();
    let mut quotes = 0;
    loop {
        let start = row.len();
        let read = reader.read_until(b'\n', &mut row)?;
        // Counting only the new line keeps rows of many lines linear.
        quotes += row[start..].iter().filter(|byte| **byte == b'"').count();
        if read == 0 || quotes.is_multiple_of(2) {
            return Ok(row);
        }
    }
}

/// Writes the samples of all files within the root element of the first.
fn merge_xml(readers: Vec<BufReader<File>>, is_new: bool, out: &mut impl Write) -> io::Result<()> {
    let mut end = Vec::new();
    for (part, mut reader) in readers.into_iter().enumerate() {
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            let is_head = line.starts_with(b"<?xml") || line.starts_with(b"<testResults");
            if line.starts_with(b"</testResults") {
                end = std::mem::take(&mut line);
                continue;
            }
            if !is_head || (part == 0 && is_new) {
                out.write_all(&line)?;
            }
            line.clear();
        }
    }
    out.write_all(&end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(parts: &[&str], before: &str) -> String {
        let folder = tempfile::tempdir().expect("there is room");
        let target = folder.path().join("all.jtl");
        if !before.is_empty() {
            std::fs::write(&target, before).expect("there is room");
        }
        let write = |(index, part): (usize, &&str)| {
            let path = folder.path().join(index.to_string());
            std::fs::write(&path, part).expect("there is room");
            path
        };
        let parts: Vec<PathBuf> = parts.iter().enumerate().map(write).collect();
        merge(&parts, &target).expect("the parts can be read");
        std::fs::read_to_string(target).expect("it was written")
    }

    #[test]
    fn rows_come_in_the_order_of_their_times() {
        let first = "timeStamp,label\n1,a\n5,\"two\nlines\"\n9,c\n";
        let second = "timeStamp,label\n2,b\n6,d\n";
        let all = "1,a\n2,b\n5,\"two\nlines\"\n6,d\n9,c\n";
        let header = "timeStamp,label\n";
        assert_eq!(
            merged(&[first, second, header], ""),
            format!("{header}{all}")
        );
        let old = "timeStamp,label\n0,old\n";
        assert_eq!(merged(&[first, second], old), format!("{old}{all}"));
        assert_eq!(merged(&["", second], ""), "2,b\n6,d\n");
        assert_eq!(merged(&[], ""), "");
    }

    #[test]
    fn a_row_of_many_lines_is_read_once() {
        let lines = "\n".repeat(1 << 21);
        let mut open = format!("1,\"{lines}").into_bytes();
        let cut_off = row(&mut &open[..]).expect("it is in memory");
        assert_eq!(cut_off, open);
        open.extend(b"\"\n2,b\n");
        let whole = row(&mut &open[..]).expect("it is in memory");
        assert_eq!(whole.len(), open.len() - "2,b\n".len());
    }

    #[test]
    fn samples_of_xml_files_share_a_frame() {
        let file = |sample: &str| {
            format!(
                "<?xml version=\"1.0\"?>\n<testResults version=\"1.2\">\n{sample}\n</testResults>\n"
            )
        };
        let all = merged(&[&file("<sample a/>"), &file("<sample b/>")], "");
        assert_eq!(all, file("<sample a/>\n<sample b/>"));
    }
}
