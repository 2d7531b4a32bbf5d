//! Finds where a response holds a value, and the cheapest extractor that yields exactly this value.

use drumfire_query::boundary::Boundary;
use drumfire_query::css::{self, Document};
use drumfire_query::jsonpath::JsonPath;
use drumfire_query::page::Tag;
use drumfire_query::regex::{Dialect, Pattern, RegexOptions};

use super::form::{FORMS, ValueEncoding};
use super::held::{self, HeaderPlace, Held, Place, is_markup, searched};
use super::sent::Sent;
use super::worth::{is_numbered, is_telling};
use crate::exchange::{Request, Response};
use crate::extractor::ExtractorSource;
use crate::url;

/// How much text before a value the delimiters may use.
const CONTEXT: usize = 80;
/// The most occurrences of a value in a body for which delimiters are tried.
const MOST_TRIED: usize = 12;
/// The most matches of an extractor among which a value is looked for.
const MOST_MATCHES: usize = 1000;

/// What makes a value in a response the one that was sent.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'s> {
    pub sent: &'s Sent,
    /// The names under which it may stand.
    pub names: &'s [String],
    /// Whether it counts wherever it stands.
    pub is_telling: bool,
    /// Whether it counts wherever it stands because two users' recordings differ in it.
    pub is_proved: bool,
}

impl Wanted<'_> {
    /// Whether a value in a response counts, and whether it does by its name.
    fn fits(&self, held: &Held<'_>, request: &Request) -> Option<bool> {
        if self.is_proved {
            return Some(true);
        }
        let is_named =
            !self.names.is_empty() && held.names().iter().any(|name| self.names.contains(name));
        if held.is_constant() || self.sent.is_constant() {
            // A request that makes an application answers with its id; other responses repeat that of the site's own.
            let is_made = request.method != "GET" && matches!(held.place, Place::Json(_));
            return (is_named && is_made).then_some(true);
        }
        (is_named || self.is_telling).then_some(is_named)
    }
}

/// The extractor for a value in a response, and the form in which the response holds the value.
pub fn find(
    response: &Response,
    request: &Request,
    wanted: &Wanted<'_>,
) -> Option<(ExtractorSource, ValueEncoding)> {
    let value = &wanted.sent.value;
    let mut spellings: Vec<(String, ValueEncoding)> = Vec::new();
    for form in FORMS {
        let written = form.written(value).into_iter();
        spellings.extend(written.map(|text| (text, form.clone())));
    }
    let reader = Reader::of(response, request);
    let mut best: Option<((usize, bool, usize), ExtractorSource, ValueEncoding)> = None;
    held::each(response, request, &mut |held| {
        let spelled = spellings.iter().position(|(text, _)| text == held.text);
        let Some(rank) = spelled else { return false };
        let Some(is_named) = wanted.fits(&held, request) else {
            return false;
        };
        let score = (rank, !is_named, place_rank(&held.place));
        if best.as_ref().is_some_and(|(known, _, _)| *known <= score) {
            return false;
        }
        if let Some((source, form)) = reader.extractor(&held, &spellings[rank].1) {
            best = Some((score, source, form));
        }
        false
    });
    if let Some((_, source, form)) = best {
        return Some((source, form));
    }
    if !wanted.is_telling && !wanted.is_proved {
        return None;
    }
    spellings
        .into_iter()
        .find_map(|(text, form)| Some((reader.anywhere(&text)?, form)))
}

/// The cheapest place first.
fn place_rank(place: &Place<'_>) -> usize {
    match place {
        Place::Json(_) => 0,
        Place::Attribute { .. } => 1,
        Place::Header(_) => 2,
        Place::Within(..) => 3,
        Place::Word(_) => 4,
        Place::Claim(_) => 5,
    }
}

/// The text that an extractor yields from a response.
pub fn yielded(source: &ExtractorSource, response: &Response, request: &Request) -> Option<String> {
    Reader::of(response, request).yielded(source)
}

/// Reads a response as extractors do.
pub struct Reader<'r> {
    response: &'r Response,
    request: &'r Request,
    body: &'r str,
}

impl<'r> Reader<'r> {
    pub fn of(response: &'r Response, request: &'r Request) -> Reader<'r> {
        Reader {
            response,
            request,
            body: searched(response),
        }
    }

    pub fn yielded(&self, source: &ExtractorSource) -> Option<String> {
        let number = match source {
            ExtractorSource::Json(_) | ExtractorSource::Address(_) => 1,
            ExtractorSource::Css { number, .. }
            | ExtractorSource::Boundary { number, .. }
            | ExtractorSource::Body { number, .. }
            | ExtractorSource::Header { number, .. } => *number,
        };
        self.matches(source).into_iter().nth(number - 1)
    }

    /// All that an extractor finds, up to a limit.
    pub fn matches(&self, source: &ExtractorSource) -> Vec<String> {
        match source {
            ExtractorSource::Json(path) => {
                let path = JsonPath::compile(path).ok();
                let value = path.as_ref().and_then(|path| path.find_in_text(self.body));
                let text = value.as_ref().and_then(|value| value.to_text());
                text.map(|text| text.into_owned()).into_iter().collect()
            }
            ExtractorSource::Css {
                selector,
                attribute,
                ..
            } => selected(self.body, selector, attribute),
            ExtractorSource::Boundary { left, right, .. } => {
                let all = Boundary::new(left, right);
                let texts = all.find_iter(self.body).take(MOST_MATCHES);
                texts.map(str::to_owned).collect()
            }
            ExtractorSource::Body { pattern, .. } => groups(pattern, self.body),
            ExtractorSource::Header {
                pattern,
                in_redirects,
                ..
            } => {
                let texts = self.headers(*in_redirects);
                texts
                    .iter()
                    .flat_map(|text| groups(pattern, text))
                    .collect()
            }
            ExtractorSource::Address(pattern) => {
                let location = self.last_location();
                location.map_or_else(Vec::new, |text| groups(pattern, text))
            }
        }
    }

    /// The headers that an extractor searches, in its order: that of the last response, then those of the redirects and of the
    /// last response again (`AbstractScopedTestElement.getSampleList`).
    fn headers(&self, in_redirects: bool) -> Vec<String> {
        let mut all = vec![text(&self.response.headers)];
        if in_redirects {
            all.extend(self.response.hops.iter().map(|hop| text(&hop.headers)));
            all.push(text(&self.response.headers));
        }
        all
    }

    fn last_location(&self) -> Option<&'r str> {
        let hop = self
            .response
            .hops
            .last()
            .filter(|_| self.request.follow_redirects)?;
        hop.header("location")
    }

    /// The extractor for a value that stands here.
    pub fn extractor(
        &self,
        held: &Held<'_>,
        form: &ValueEncoding,
    ) -> Option<(ExtractorSource, ValueEncoding)> {
        let text = held.text;
        let source = match held.place {
            Place::Json(path) => Some(ExtractorSource::Json(path.to_owned())),
            Place::Attribute {
                tags,
                tag,
                attribute,
            } => self.in_page(tags, tag, attribute),
            Place::Header(place) => self.in_header(&place, text),
            Place::Word(at) => self
                .around(at, text)
                .filter(|(_, number)| *number == 1)
                .or_else(|| {
                    self.occurrences(text).into_iter().find_map(|other| {
                        self.around(other, text).filter(|(_, number)| *number == 1)
                    })
                })
                .or_else(|| self.around(at, text))
                .map(|(source, _)| source),
            Place::Within(whole, at) => {
                let start = self.body.find(whole)?;
                self.around(start + at, text).map(|(source, _)| source)
            }
            Place::Claim(run) => return self.in_claim(run, held.key(), form),
        };
        Some((source?, form.clone()))
    }

    /// An attribute of an element by a simple selector.
    fn in_page(&self, tags: &[Tag], tag: usize, attribute: &str) -> Option<ExtractorSource> {
        let value = tags[tag].attribute(attribute)?;
        let mut numbered = None;
        for selector in selectors(tags, tag, attribute) {
            let all = selected(self.body, &selector, attribute);
            let number = all.iter().position(|one| one == value);
            let Some(number) = number.map(|at| at + 1) else {
                continue;
            };
            let source = ExtractorSource::Css {
                selector,
                attribute: attribute.to_owned(),
                number,
            };
            if number == 1 {
                return Some(source);
            }
            numbered = numbered.or(Some(source));
        }
        numbered
    }

    fn in_header(&self, place: &HeaderPlace<'_>, value: &str) -> Option<ExtractorSource> {
        let is_location = place.field.eq_ignore_ascii_case("location");
        let is_last = place
            .hop
            .is_some_and(|hop| hop + 1 == self.response.hops.len());
        if is_location && is_last && self.request.follow_redirects {
            let pattern = format!("{}([^/?&#;]+)", escaped(from_word(place.before)));
            let source = ExtractorSource::Address(pattern);
            if !place.before.is_empty() && self.yielded(&source).as_deref() == Some(value) {
                return Some(source);
            }
        }
        // HTTP/2 and proxies lower-case header names; the server may not when the plan calls it.
        let is_small = !place.field.contains(|c: char| c.is_ascii_uppercase());
        let any_case = if is_small { "(?i)" } else { "" };
        let group = match place.ends {
            "" => "(.+)".to_owned(),
            ends => format!("([^{ends}\\s]+)"),
        };
        let field = escaped(place.field);
        let word = from_word(place.before);
        let befores = if word.len() == place.before.len() {
            vec![escaped(word)]
        } else {
            vec![format!(".*{}", escaped(word)), escaped(place.before)]
        };
        let in_redirects = place.hop.is_some();
        befores.into_iter().find_map(|before| {
            let source = |number| ExtractorSource::Header {
                pattern: format!("{any_case}{field}: {before}{group}"),
                number,
                in_redirects,
            };
            let all = self.matches(&source(1));
            Some(source(1 + all.iter().position(|one| one == value)?))
        })
    }

    /// The text in base64 that holds the value, and the form that decodes it.
    fn in_claim(
        &self,
        run: &str,
        key: &str,
        form: &ValueEncoding,
    ) -> Option<(ExtractorSource, ValueEncoding)> {
        if *form != ValueEncoding::Plain
            || !key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            return None;
        }
        let mut best = None;
        held::each(self.response, self.request, &mut |held| {
            if matches!(held.place, Place::Claim(_)) || !held.text.contains(run) {
                return false;
            }
            let is_whole = held.text == run;
            let is_jwt = held.text.split('.').nth(1) == Some(run);
            if is_whole || is_jwt {
                let source = self.extractor(&held, &ValueEncoding::Plain);
                let form = ValueEncoding::Claim {
                    key: key.to_owned(),
                    is_jwt,
                };
                best = source.map(|(source, _)| (source, form));
            }
            best.is_some()
        });
        best
    }

    /// The extractor for a value that stands somewhere in a longer text.
    fn anywhere(&self, value: &str) -> Option<ExtractorSource> {
        if value.is_empty() {
            return None;
        }
        let location = self.last_location().and_then(|location| {
            let encoded = url::encode(value);
            let position = |text: &str| location.find(text).map(|at| (at, text.len()));
            let (at, length) = position(value).or_else(|| position(&encoded))?;
            let before = &location[..at];
            let ends = location[at + length..].chars().next();
            let pattern = format!("{}([^/?&#;]+)", escaped(from_word(before)));
            let source = ExtractorSource::Address(pattern);
            let is_whole = ends.is_none_or(|c| "/?&#;".contains(c));
            let is_found = self.yielded(&source).as_deref() == Some(&location[at..at + length]);
            (is_whole && !before.is_empty() && is_found).then_some(source)
        });
        location
            .or_else(|| self.within_header(value))
            .or_else(|| self.within_body(value))
    }

    pub fn within_header(&self, value: &str) -> Option<ExtractorSource> {
        let headers = self.response.headers.iter().map(|field| (None, field));
        let hops = self
            .response
            .hops
            .iter()
            .enumerate()
            .flat_map(|(hop, head)| head.headers.iter().map(move |field| (Some(hop), field)));
        headers.chain(hops).find_map(|(hop, (field, content))| {
            let at = content.find(value)?;
            if !is_whole_word(content, at, value.len()) {
                return None;
            }
            let ends = match content[at + value.len()..].chars().next() {
                None => "",
                Some(';') => ";",
                Some('"') => "\"",
                Some(',') => ",",
                Some('&') => "&",
                Some('/') => "/",
                Some('?') => "?",
                Some(':') => ":",
                Some('>') => ">",
                Some('%') => "%",
                Some(c) if c.is_whitespace() => " ",
                Some(_) => return None,
            };
            let header = HeaderPlace {
                hop,
                field,
                before: &content[..at],
                ends,
            };
            self.in_header(&header, value)
        })
    }

    fn within_body(&self, value: &str) -> Option<ExtractorSource> {
        let mut numbered = None;
        for at in self.occurrences(value) {
            if is_markup(self.body, self.response) && self.is_in_resource(at) {
                continue;
            }
            match self.around(at, value) {
                Some((source, 1)) => return Some(source),
                other => numbered = numbered.or(other),
            }
        }
        numbered.map(|(source, _)| source)
    }

    pub fn occurrences(&self, value: &str) -> Vec<usize> {
        let all = self.body.match_indices(value).map(|(at, _)| at);
        let whole = all.filter(|at| is_whole_word(self.body, *at, value.len()));
        whole.take(MOST_TRIED).collect()
    }

    /// Whether an offset of a page is in the tag of a resource, whose address all visitors share.
    fn is_in_resource(&self, at: usize) -> bool {
        let Some(start) = self.body[..at].rfind('<') else {
            return false;
        };
        let tag = &self.body[start..at];
        !tag.contains('>')
            && ["<script", "<link", "<style"]
                .iter()
                .any(|name| tag.starts_with(name))
    }

    /// The delimiters around a value, as short as they may be to match it first; otherwise the number of its match. They begin with
    /// a word and contain nothing that looks as if it changed.
    pub fn around(&self, at: usize, value: &str) -> Option<(ExtractorSource, usize)> {
        let before = &self.body[..at];
        let after = self.body[at + value.len()..].chars().next();
        let right = after.filter(|c| !c.is_whitespace() && !c.is_alphanumeric());
        let mut numbered: Option<(ExtractorSource, usize)> = None;
        // Nothing tells the fifth number of a row of numbers from the fourth.
        let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
        let is_one_of_many = |left: &str| is_number && !left.contains(char::is_alphanumeric);
        for start in starts(before) {
            let left = &before[start..];
            if left.contains("${") {
                break;
            }
            let source = |number| match right {
                Some(right) if !left.contains(['\n', '\r']) => ExtractorSource::Boundary {
                    left: left.to_owned(),
                    right: right.to_string(),
                    number,
                },
                _ => {
                    let end = right.map(|c| escaped(&c.to_string())).unwrap_or_default();
                    ExtractorSource::Body {
                        pattern: format!("{}([^{end}\\s]+)", spaced(left)),
                        number,
                    }
                }
            };
            let all = self.matches(&source(1));
            match all.iter().position(|found| found == value) {
                Some(0) => return Some((source(1), 1)),
                Some(at) if numbered.is_none() && !is_one_of_many(left) => {
                    numbered = Some((source(at + 1), at + 1))
                }
                _ => {}
            }
        }
        if before.trim().is_empty() {
            let pattern = "^\\s*([^\\s]+)".to_owned();
            let source = ExtractorSource::Body { pattern, number: 1 };
            let is_found = self.yielded(&source).as_deref() == Some(value);
            return is_found.then_some((source, 1));
        }
        numbered
    }
}

fn text(fields: &[(String, String)]) -> String {
    let lines = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"));
    lines.collect::<String>()
}

/// Where the delimiter before a value may begin, the nearest first: at words, up to one that looks as if it changed.
fn starts(before: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut end_of_word = None;
    let mut letters = 0;
    let mut previous = before.len();
    let mut near = before.char_indices().rev().take(CONTEXT).peekable();
    while let Some((at, c)) = near.next() {
        if is_word(c) {
            let end = *end_of_word.get_or_insert(at + c.len_utf8());
            letters += 1;
            let is_start = at == 0 || near.peek().is_some_and(|(_, before)| !is_word(*before));
            if is_start {
                let word = &before[at..end];
                if is_telling(word)
                    || (word.len() >= 4
                        && is_numbered(word)
                        && word.bytes().all(|byte| byte.is_ascii_digit()))
                {
                    break;
                }
                end_of_word = None;
                if letters >= 2 {
                    starts.push(at);
                }
            }
        } else {
            previous = at;
        }
    }
    if starts.is_empty() && previous < before.len() {
        starts.push(previous);
    }
    starts
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Whether a part of a text is not a part of a longer word.
fn is_whole_word(text: &str, at: usize, length: usize) -> bool {
    is_apart(&text[..at], &text[at..at + length], &text[at + length..])
}

/// Whether a value between two texts is not a part of a longer word.
pub fn is_apart(before: &str, value: &str, after: &str) -> bool {
    let bytes = before.as_bytes();
    // `%3A` and `\n` end in letters that belong to no word.
    let is_escape = bytes.len() >= 3
        && bytes[bytes.len() - 3] == b'%'
        && bytes[bytes.len() - 2..].iter().all(u8::is_ascii_hexdigit)
        || bytes.len() >= 2 && bytes[bytes.len() - 2] == b'\\'
        || bytes.len() >= 6 && bytes[bytes.len() - 6] == b'\\' && bytes[bytes.len() - 5] == b'u';
    (is_escape || !joins(value.chars().next(), before.chars().next_back()))
        && !joins(value.chars().next_back(), after.chars().next())
}

fn joins(inner: Option<char>, outer: Option<char>) -> bool {
    inner.is_some_and(char::is_alphanumeric) && outer.is_some_and(char::is_alphanumeric)
}

/// The end of a text from its last word on: `&code=` of `/cb?state=a&code=`.
fn from_word(before: &str) -> &str {
    let bare = before.trim_end_matches(['/', '?', '&', '=', ';', '#', '"', ':', ' ', ',']);
    let start = bare
        .rfind(['/', '?', '&', ';', '#', ',', ' ', '"'])
        .unwrap_or(0);
    &before[start..]
}

/// The first groups of all matches.
fn groups(pattern: &str, text: &str) -> Vec<String> {
    let Ok(pattern) = Pattern::compile(pattern, Dialect::Oro, RegexOptions::default()) else {
        return Vec::new();
    };
    let all = pattern.captures_iter(text);
    let first_groups = all.filter_map(|first_groups| first_groups.get(1).map(str::to_owned));
    first_groups.take(MOST_MATCHES).collect()
}

fn selected(body: &str, selector: &str, attribute: &str) -> Vec<String> {
    let Ok(selector) = css::Selector::compile(selector, css::Engine::Jsoup) else {
        return Vec::new();
    };
    let all = selector.select(&Document::parse(body), Some(attribute), MOST_MATCHES);
    let all = all.unwrap_or_default().into_iter();
    all.map(Option::unwrap_or_default).collect()
}

/// Selectors for one element: its name and one attribute, then the form around it, too.
fn selectors(tags: &[Tag], place: usize, has: &str) -> Vec<String> {
    let tag = &tags[place];
    let mut by_name: Vec<String> = named(tag)
        .map(|by| format!("{}{by}[{has}]", tag.name))
        .collect();
    // An attribute such as `data-cart` is distinctive on its own; `href` is not.
    if has.starts_with("data-") || tag.name == "option" {
        by_name.push(format!("{}[{has}]", tag.name));
    }
    let around = tags[..place]
        .iter()
        .rev()
        .find(|outer| ["form", "select"].contains(&outer.name.as_str()) && outer.depth < tag.depth);
    let within: Vec<String> = around
        .into_iter()
        .flat_map(|outer| named(outer).map(|by| format!("{}{by}", outer.name)))
        .flat_map(|outer| {
            by_name
                .iter()
                .map(move |by_name| format!("{outer} {by_name}"))
        })
        .collect();
    by_name.into_iter().chain(within).collect()
}

/// The attributes that may select an element, as `[name="csrf"]`.
fn named(tag: &Tag) -> impl Iterator<Item = String> {
    let names = [
        "name", "id", "property", "itemprop", "rel", "class", "action",
    ];
    names.into_iter().filter_map(|name| {
        let value = tag.attribute(name).filter(|value| {
            !value.is_empty()
                && !value.contains(['"', '\\', '$'])
                && !value.chars().any(|c| c.is_ascii_digit())
                && !is_telling(value)
        })?;
        Some(format!("[{name}=\"{value}\"]"))
    })
}

/// Escapes a literal text for a regular expression.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes a text for a regular expression in which any space matches any other.
fn spaced(text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive(char::is_whitespace) {
        let bare = part.trim_end_matches(char::is_whitespace);
        out.push_str(&escaped(bare));
        if bare.len() < part.len() && !(bare.is_empty() && out.ends_with("\\s+")) {
            out.push_str("\\s+");
        }
    }
    out
}
