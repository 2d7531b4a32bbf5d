use super::*;

const ROUND: CsvReadOptions = CsvReadOptions {
    recycle: true,
    skips_first_line: false,
};
const ONCE: CsvReadOptions = CsvReadOptions {
    recycle: false,
    skips_first_line: false,
};

fn file(content: &[u8], encoding: &str) -> CsvFile {
    let charset = if encoding.is_empty() {
        Ok(Charset::UTF_8)
    } else {
        Charset::for_name(encoding)
    };
    let file = CsvFile::new("no-such-file.csv", encoding, Path::new(""));
    let reader = LineReader::new(
        Box::new(io::Cursor::new(content.to_vec())),
        charset.expect("a known name"),
    );
    file.lock().reader = Some(reader.expect("memory can be read"));
    file
}

fn lines(file: &CsvFile) -> Vec<String> {
    let next = || {
        file.line(ONCE, |line| line.map(str::to_owned))
            .expect("memory can be read")
    };
    std::iter::from_fn(next).collect()
}

fn rows(content: &str) -> Vec<Result<Vec<String>, String>> {
    let file = file(content.as_bytes(), "");
    let mut rows = Vec::new();
    loop {
        match file.fields(ONCE, ',') {
            Ok(row) if row.is_empty() => return rows,
            Ok(row) => rows.push(Ok(row)),
            Err(RowFailure::Io(fault) | RowFailure::Argument(fault)) => rows.push(Err(fault)),
        }
    }
}

fn row(fields: &[&str]) -> Result<Vec<String>, String> {
    Ok(fields.iter().map(|field| (*field).to_owned()).collect())
}

#[test]
fn lines_end_as_in_java() {
    assert_eq!(
        lines(&file(b"a\nb\r\nc\rd\n\ne", "")),
        ["a", "b", "c", "d", "", "e"]
    );
    assert_eq!(lines(&file(b"a\n", "")), ["a"]);
    assert!(lines(&file(b"", "")).is_empty());
}

#[test]
fn encodings_and_marks_are_understood() {
    assert_eq!(lines(&file(b"\xef\xbb\xbfa\n\xc3\xbc", "")), ["a", "ü"]);
    assert_eq!(lines(&file(b"\xfc\nb", "ISO-8859-1")), ["ü", "b"]);
    assert_eq!(
        lines(&file(b"\x93\xfa\n\x96\x7b", "Shift_JIS")),
        ["日", "本"]
    );
    assert_eq!(lines(&file(b"\xff\xfea\0\n\0\xfc\0", "UTF-16")), ["a", "ü"]);
    assert_eq!(
        lines(&file(b"\0a\0\r\0\n\x0a\x0a\0\n\0b", "UTF-16BE")),
        ["a", "\u{a0a}", "b"]
    );
    assert_eq!(
        lines(&file(b"\x0a\x0a\n\0b\0", "UTF-16LE")),
        ["\u{a0a}", "b"]
    );
    assert_eq!(lines(&file(b"a\xffb", "")), ["a\u{fffd}b"]);
}

#[test]
fn quoted_fields_hold_delimiters_line_ends_and_quotes() {
    let expected = [
        row(&["a", "b,c\r\nd", "e\"f"]),
        row(&["", "x", ""]),
        row(&[""]),
        row(&["y"]),
    ];
    assert_eq!(rows("a,\"b,c\r\nd\",\"e\"\"f\"\r\n,x,\n\n\"y\""), expected);
    assert_eq!(rows("a,"), [row(&["a", ""])]);
    assert_eq!(rows("\"\""), [row(&[""])]);
    assert!(rows("").is_empty());
}

#[test]
fn after_a_misplaced_quote_the_rest_of_the_line_is_the_next_row() {
    let plain = "java.io.IOException: Cannot have quote-char in plain field:[a\"]";
    assert_eq!(
        rows("a\"b,c\nd"),
        [Err(plain.to_owned()), row(&["b", "c"]), row(&["d"])]
    );
    let inside = "java.io.IOException: Cannot have single quote-char in quoted field:[a\"]";
    assert_eq!(rows("\"a\"b,c"), [Err(inside.to_owned()), row(&["", "c"])]);
    let open = "java.io.IOException: Missing trailing quote-char in quoted field:[\"a]";
    assert_eq!(rows("\"a"), [Err(open.to_owned())]);
}

#[test]
fn a_missing_file_is_said_so_when_it_is_read() {
    let files = CsvFiles::default();
    let file = files
        .reserve(
            "no-such-file.csv",
            "",
            "x",
            false,
            Path::new("/nowhere"),
            None,
        )
        .expect("it is not opened yet");
    let fault =
        "java.lang.IllegalArgumentException: File no-such-file.csv must exist and be readable";
    assert_eq!(
        file.line(ROUND, |_| ()),
        Err(RowFailure::Argument(fault.to_owned()))
    );
    let header = files
        .reserve(
            "no-such-file.csv",
            "",
            "x",
            true,
            Path::new("/nowhere"),
            None,
        )
        .err();
    assert!(
        matches!(header, Some(RowFailure::Argument(fault)) if fault.starts_with("Could not read file header line for file no-such-file.csv"))
    );
}

#[test]
fn an_alias_stands_for_one_position() {
    let files = CsvFiles::default();
    let first = files
        .reserve("a.csv", "", "a.csv", false, Path::new(""), None)
        .expect("it is not opened yet");
    let second = files
        .reserve("b.csv", "", "a.csv", false, Path::new(""), None)
        .expect("it is not opened yet");
    assert!(Arc::ptr_eq(&first, &second));
}

#[test]
fn headers_are_split_like_rows() {
    assert_eq!(split_header("a;\"b;c\"", ';').ok(), row(&["a", "b;c"]).ok());
}
