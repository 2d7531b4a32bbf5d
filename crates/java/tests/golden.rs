//! Every rule against what JDK 17 answered; `golden/Record.java` recorded the answers.

use drumfire_java::Exception;
use drumfire_java::date::{DatePattern, Locale, Zone};
use drumfire_java::text;
use drumfire_java::uri;
use drumfire_java::url::Url;
use drumfire_java::values;

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => match chars.next() {
                Some('t') => out.push('\t'),
                Some('n') => out.push('\n'),
                Some('r') => out.push('\r'),
                other => out.extend(other),
            },
            (c, false) => out.push(c),
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

fn exception(thrown: &Exception) -> String {
    let cause = thrown
        .cause
        .as_deref()
        .map_or_else(String::new, |cause| format!("\n{cause}"));
    escaped(&format!("!{thrown}{cause}"))
}

/// Compares every row, whose first `inputs` columns are inputs, with the rule's result.
fn check(golden: &str, least: usize, inputs: usize, rule: impl Fn(&[String]) -> String) {
    let mut wrong = Vec::new();
    assert!(golden.lines().count() >= least);
    for row in golden.split('\n').filter(|row| !row.is_empty()) {
        let columns: Vec<&str> = row.splitn(inputs + 1, '\t').collect();
        let given: Vec<String> = columns[..inputs]
            .iter()
            .map(|text| unescaped(text))
            .collect();
        let result = rule(&given);
        if result != columns[inputs] {
            wrong.push(format!("{row}\n    here {result}"));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn or_null(part: Option<&str>) -> &str {
    part.unwrap_or("null")
}

#[test]
fn addresses_resolve_as_in_java() {
    let result = |given: &[String]| {
        let url = match given[0].as_str() {
            "" => Url::parse(&given[1]),
            context => Url::parse(context).and_then(|context| context.join(&given[1])),
        };
        let url = match url {
            Ok(url) => url,
            Err(thrown) => return exception(&thrown),
        };
        let port = url.port().unwrap_or(-1).to_string();
        let parts = [
            url.as_str(),
            url.protocol(),
            or_null(url.authority()),
            or_null(url.user_info()),
            url.host(),
            &port,
            url.path(),
            or_null(url.query()),
            or_null(url.reference()),
        ];
        parts.map(escaped).join("\t")
    };
    check(include_str!("golden/url.tsv"), 3_000, 2, result);
}

#[test]
fn uris_are_parsed_as_in_java() {
    let result = |given: &[String]| {
        let text = &given[0];
        let uri = match uri::parse(text, false) {
            Ok(uri) => uri,
            Err(thrown) => return exception(&thrown),
        };
        let part = |range: &Option<std::ops::Range<usize>>| match range {
            Some(range) => text[range.clone()].to_owned(),
            None => "null".to_owned(),
        };
        let path = if uri.opaque {
            "null".to_owned()
        } else {
            text[uri.path.clone()].to_owned()
        };
        let mut ascii = String::new();
        uri::append_ascii(text, &mut ascii);
        let normal = uri::normalized(text, &uri).unwrap_or_else(|| text.clone());
        let parts = [
            part(&uri.scheme_end.map(|end| 0..end)),
            uri.opaque.to_string(),
            part(&uri.authority),
            part(&uri.user_info),
            part(&uri.host),
            uri.port.to_string(),
            path,
            part(&uri.query),
            part(&uri.fragment),
            normal,
            ascii,
        ];
        parts.map(|part| escaped(&part)).join("\t")
    };
    check(include_str!("golden/uri.tsv"), 1_000, 1, result);
}

/// Whether Java printed more digits than are necessary, which it does up to version 18.
fn has_superfluous_digit(row: &str) -> bool {
    let Some((bits, text)) = row
        .strip_prefix("toString\t")
        .and_then(|rest| rest.split_once('\t'))
    else {
        return false;
    };
    let bits: i64 = bits.parse().expect("a number");
    let shortest = values::double_to_string(f64::from_bits(bits as u64));
    text != shortest
        && text.len() > shortest.len()
        && values::parse_double(text).map(|number| number.to_bits() as i64) == Some(bits)
}

#[test]
fn numbers_are_read_and_printed_as_in_java() {
    const FAILED: &str = "!";
    let result = |given: &[String]| {
        let text = &given[1];
        let number = match given[0].as_str() {
            "parseInt" => values::parse_int(text).map(|number| number.to_string()),
            "parseLong" => values::parse_long(text).map(|number| number.to_string()),
            "decodeLong" => values::decode_long(text).map(|number| number.to_string()),
            "parseDouble" => {
                values::parse_double(text).map(|number| (number.to_bits() as i64).to_string())
            }
            "parseFloat" => {
                values::parse_float(text).map(|number| (number.to_bits() as i32).to_string())
            }
            "toString" => {
                let bits: i64 = text.parse().expect("a number");
                Some(values::double_to_string(f64::from_bits(bits as u64)))
            }
            other => panic!("{other}"),
        };
        number.unwrap_or_else(|| FAILED.to_owned())
    };
    let golden: Vec<String> = include_str!("golden/number.tsv")
        .lines()
        .filter(|row| !has_superfluous_digit(row))
        .map(|row| match row.split_once("\t!") {
            Some((inputs, _)) => format!("{inputs}\t{FAILED}"),
            None => row.to_owned(),
        })
        .collect();
    assert!(golden.len() > 770);
    check(&golden.join("\n"), 700, 2, result);
}

#[test]
fn blank_texts_are_those_of_java() {
    let result = |given: &[String]| {
        let text = &given[0];
        let bits = |is: fn(char) -> bool| -> String {
            text.chars()
                .map(|c| if is(c) { '1' } else { '0' })
                .collect()
        };
        let parts = [
            text::trim(text).to_owned(),
            text::is_blank(text).to_string(),
            bits(text::is_whitespace),
            bits(text::is_space_char),
        ];
        parts.map(|part| escaped(&part)).join("\t")
    };
    check(include_str!("golden/text.tsv"), 25, 1, result);
}

#[test]
fn dates_in_every_zone_are_printed_as_in_java() {
    let result = |given: &[String]| {
        let zone = Zone::of(&given[0]).unwrap_or_else(|| panic!("{}", given[0]));
        let millis = given[1].parse().expect("milliseconds");
        let pattern = DatePattern::compile(&given[2]).expect("a pattern");
        let text = pattern.format_millis(millis, &zone, &Locale::new("en"));
        escaped(&text.expect("a text"))
    };
    check(include_str!("golden/zones.tsv"), 2_300, 3, result);
}

#[test]
fn names_of_zones_are_read_as_in_java() {
    let result = |given: &[String]| {
        let pattern = DatePattern::compile(&given[1]).expect("a pattern");
        let default = Zone::of(&given[3]).expect("a zone");
        let Some(read) = pattern.parse(&given[2], &Locale::new(&given[0]), &[]) else {
            return "!".to_owned();
        };
        let instant = read.instant_in(&default).expect("date and time");
        let zone = read.zone.unwrap_or(default);
        format!("{}\t{}", instant.as_millisecond(), zone.id())
    };
    check(include_str!("golden/zone_texts.tsv"), 1_500, 4, result);
}
