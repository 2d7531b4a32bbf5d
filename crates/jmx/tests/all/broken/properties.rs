//! Diagnostics of broken property files, each with its exact text.

use std::path::Path;

use drumfire_jmx::{load, read_properties};

use super::{Case, render};

#[test]
fn every_fault_has_its_message() {
    for case in FILES {
        let file = read_properties(case.input, Path::new("user.properties"));
        let rendered = render(&file.findings);
        assert_eq!(
            rendered, case.rendered,
            "\n--- {} gives\n{rendered}\n---",
            case.name
        );
    }
}

#[test]
fn a_file_that_is_not_there() {
    let error = load(Path::new("no such.properties")).expect_err("not there");
    let expected = "\
error[file-not-found]: `no such.properties` does not exist
  = hint: check the path; it is relative to the working folder";
    assert_eq!(error.render(false), expected);
}

#[rustfmt::skip]
const FILES: &[Case] = &[
    Case {
        name: "properties_with_a_windows_path",
        input: r#"# paths
root=C:\users\me
ok=1
also=\u00g0
"#.as_bytes(),
        rendered: r#"error[props-bad-escape]: \u is not followed by four hexadecimal digits
 --> user.properties:2:8
  |
2 | root=C:\users\me
  |        ^^
  = hint: write a backslash as \\ (in Windows paths too) and a character as \u00e9

error[props-bad-escape]: \u is not followed by four hexadecimal digits
 --> user.properties:4:6
  |
4 | also=\u00g0
  |      ^^
  = hint: write a backslash as \\ (in Windows paths too) and a character as \u00e9"#,
    },
    Case {
        name: "properties_in_utf_8",
        input: b"greeting=Gr\xc3\xbc\xc3\x9fe\x0a",
        rendered: r#"warning[props-charset]: ü becomes 2 other characters: JMeter reads property files as ISO-8859-1
 --> user.properties:1:12
  |
1 | greeting=GrÃ¼Ã�e
  |            ^^
  = hint: write \u00fc"#,
    },
    Case {
        name: "properties_with_an_emoji",
        input: b"mood=\xf0\x9f\x98\x80\x0a",
        rendered: r#"warning[props-charset]: 😀 becomes 4 other characters: JMeter reads property files as ISO-8859-1
 --> user.properties:1:6
  |
1 | mood=ð���
  |      ^^^^
  = hint: write \ud83d\ude00"#,
    },
    Case {
        name: "properties_with_a_byte_order_mark",
        input: b"\xef\xbb\xbfa=b\x0a",
        rendered: r#"warning[props-charset]: the file starts with a byte order mark, which JMeter reads as part of the first key
 --> user.properties:1:1
  |
1 | ï»¿a=b
  | ^^^
  = hint: save the file without a byte order mark"#,
    },
];
