//! Expands the patterns that curl recognises in addresses: `{a,b}` and `[1-3]` stand for several addresses.

/// The most addresses that one pattern may stand for.
const MOST: usize = 1_000;

/// The addresses of a pattern; `None` if curl would refuse it, or if it stands for too many.
pub fn addresses(pattern: &str) -> Option<Vec<String>> {
    let mut all = vec![String::new()];
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let (choices, next) = match first {
            '\\' if after.starts_with(['{', '}', '[', ']']) => (None, after),
            '{' => set(after)?,
            '[' => match address_length(rest) {
                Some(length) => (Some(vec![rest[..length].to_owned()]), &rest[length..]),
                None => range(after)?,
            },
            '}' | ']' => return None,
            _ => (None, rest),
        };
        match choices {
            Some(choices) => {
                if all.len() * choices.len() > MOST {
                    return None;
                }
                let each = all
                    .iter()
                    .flat_map(|start| choices.iter().map(move |choice| format!("{start}{choice}")));
                all = each.collect();
                rest = next;
            }
            None => {
                let sign = next.chars().next()?;
                all.iter_mut().for_each(|start| start.push(sign));
                rest = &next[sign.len_utf8()..];
            }
        }
    }
    Some(all)
}

type Choices<'t> = (Option<Vec<String>>, &'t str);

/// The texts between braces, and the text after them.
fn set(text: &str) -> Option<Choices<'_>> {
    let mut choices = vec![String::new()];
    let mut signs = text.char_indices();
    while let Some((at, sign)) = signs.next() {
        match sign {
            '}' => return Some((Some(choices), &text[at + 1..])),
            '{' | '[' | ']' => return None,
            ',' => choices.push(String::new()),
            _ => {
                let sign = if sign == '\\' { signs.next()?.1 } else { sign };
                choices.last_mut()?.push(sign);
            }
        }
    }
    None
}

/// The longest number, with its leading zeros, that a range may begin with.
const LONGEST_NUMBER: usize = 255;

/// `1-3]`, `01-10:2]` or `a-z]`, and the text after it.
fn range(text: &str) -> Option<Choices<'_>> {
    let (inside, after) = text.split_once(']')?;
    let (bounds, step) = inside.split_once(':').unwrap_or((inside, "1"));
    let (first, last) = bounds.split_once('-')?;
    let step: usize = step.parse().ok().filter(|step| *step > 0)?;
    let choices: Vec<String> = match (letter(first), letter(last)) {
        (Some(first), Some(last)) => {
            let all = (first..=last).step_by(step);
            all.map(|letter| char::from(letter).to_string()).collect()
        }
        _ => {
            if !is_number(first) || !is_number(last) || first.len() > LONGEST_NUMBER {
                return None;
            }
            let width = if first.starts_with('0') {
                first.len()
            } else {
                0
            };
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            let all = (first..=last).step_by(step).take(MOST + 1);
            all.map(|number| format!("{number:0width$}")).collect()
        }
    };
    (!choices.is_empty()).then_some((Some(choices), after))
}

fn letter(text: &str) -> Option<u8> {
    let mut bytes = text.bytes();
    let only = bytes.next().filter(u8::is_ascii_alphabetic)?;
    bytes.next().is_none().then_some(only)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The length of an IPv6 address in brackets.
fn address_length(text: &str) -> Option<usize> {
    let inside = text[1..].split(']').next()?;
    let address = inside.split('%').next()?;
    address.parse::<std::net::Ipv6Addr>().ok()?;
    text.get(..inside.len() + 2).map(str::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_what_curl_sends() {
        let all = |pattern: &str| addresses(pattern).unwrap_or_default().join(" ");
        assert_eq!(all("h/a"), "h/a");
        assert_eq!(all("h/{a,b}[1-2]"), "h/a1 h/a2 h/b1 h/b2");
        assert_eq!(all("h/[08-12:2]"), "h/08 h/10 h/12");
        assert_eq!(all("h/[a-e:2]"), "h/a h/c h/e");
        assert_eq!(all(r"h/\{a\}\[1\]\x"), r"h/{a}[1]\x");
        assert_eq!(all("http://[::1]/[1-2]"), "http://[::1]/1 http://[::1]/2");
        for refused in [
            "h/{a",
            "h/a}",
            "h/[]",
            "h/x[a]",
            "h/[3-1]",
            "h/[1-9999]",
            "h/{a{b}}",
        ] {
            assert_eq!(addresses(refused), None, "{refused}");
        }
        let zeros = "0".repeat(70_000);
        assert_eq!(addresses(&format!("h/[{zeros}1-3]")), None);
        let padded = addresses(&format!("h/[{}1-3]", &zeros[..254]));
        assert_eq!(padded.map(|all| all.len()), Some(3));
    }
}
