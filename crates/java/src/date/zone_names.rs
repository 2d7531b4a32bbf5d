//! The names of time zones that Java prints and reads, recorded from JDK 17 (`tests/golden/Zones.java`).

use std::collections::HashMap;
use std::io::Read as _;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use flate2::read::GzDecoder;

use super::locale::Locale;
use super::zone::Zone;

/// The table, compressed: names repeat in every language.
const COMPRESSED: &[u8] = include_bytes!("zones.txt.gz");

static TABLE: LazyLock<String> = LazyLock::new(|| {
    let mut table = String::new();
    GzDecoder::new(COMPRESSED)
        .read_to_string(&mut table)
        .expect("the table was compressed from text");
    table
});

/// The tables of the locales in use, by language and region.
static BY_LOCALE: LazyLock<Mutex<HashMap<Locale, Arc<ZoneNames>>>> = LazyLock::new(Mutex::default);

/// Which of a zone's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Season {
    Standard,
    Daylight,
    /// If the date is not known, or the pattern asks for a name without season.
    Any,
}

/// The names in one locale.
#[derive(Debug, Default)]
pub(super) struct ZoneNames {
    /// By id: full and short names of standard time, daylight saving time and any time.
    printed: HashMap<&'static str, [&'static str; 6]>,
    /// Ids by full name.
    full: HashMap<&'static str, &'static str>,
    /// Ids by short name.
    short: HashMap<&'static str, &'static str>,
}

impl ZoneNames {
    /// The names in a locale; English if its language has none.
    pub(super) fn of(locale: &Locale) -> Arc<ZoneNames> {
        let mut by_locale = BY_LOCALE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = by_locale.get(locale) {
            return names.clone();
        }
        let mut names = ZoneNames::default();
        let language = match section(locale.language()) {
            Some(_) => locale.language(),
            None => "en",
        };
        let region = format!("{language}-{}", locale.region());
        let sections = [section(language), section(&region)];
        for line in sections.into_iter().flatten().flat_map(str::lines) {
            names.add(line);
        }
        let names = Arc::new(names);
        by_locale.insert(locale.clone(), names.clone());
        names
    }

    fn add(&mut self, line: &'static str) {
        let columns: Vec<&str> = line.split('\t').collect();
        match columns[..] {
            ["1", name, "-"] => _ = self.full.remove(name),
            ["2", name, "-"] => _ = self.short.remove(name),
            ["1", name, id] => _ = self.full.insert(name, id),
            ["2", name, id] => _ = self.short.insert(name, id),
            [a, b, c, d, e, f, ids] => {
                self.printed
                    .extend(ids.split(' ').map(|id| (id, [a, b, c, d, e, f])));
            }
            _ => {}
        }
    }

    /// `TimeZoneNameUtility.retrieveDisplayNames`: the name of a zone; `None` if only its id is known.
    pub(super) fn name(&self, id: &str, is_full: bool, season: Season) -> Option<&'static str> {
        let index = match season {
            Season::Standard => 0,
            Season::Daylight => 2,
            Season::Any => 4,
        };
        // An alias without names of its own.
        let id = if id == "GMT0" { "GMT" } else { id };
        let names = self.printed.get(id)?;
        Some(names[index + usize::from(!is_full)])
    }

    /// The longest name or id at the beginning of a text, as `ZoneTextPrinterParser` finds it: its id, and its length.
    pub(super) fn read<'t>(&self, text: &'t str, is_full: bool) -> Option<(&'t str, usize)> {
        let names = if is_full { &self.full } else { &self.short };
        ends(text).find_map(|end| {
            let name = &text[..end];
            let id = match names.get(name) {
                Some(id) => *id,
                None => self.printed.get_key_value(name)?.0,
            };
            Some((id, end))
        })
    }

    /// The longest id at the beginning of a text (`ZoneIdPrinterParser`).
    pub(super) fn read_id<'t>(&self, text: &'t str) -> Option<(&'t str, usize)> {
        let named = ends(text).find_map(|end| {
            let (id, _) = self.printed.get_key_value(&text[..end])?;
            Some((*id, end))
        });
        longer(named, nameless(text))
    }
}

/// The longest id of a region without names at the beginning of a text, such as `Etc/GMT+5`.
fn nameless(text: &str) -> Option<(&str, usize)> {
    const LONGEST_AREA: usize = 12;
    let slash = text
        .bytes()
        .take(LONGEST_AREA)
        .position(|byte| byte == b'/')?;
    let length = text.bytes().take_while(is_part).count();
    (slash + 1..=length).rev().find_map(|end| {
        let id = &text[..end];
        Zone::of(id).map(|_| (id, end))
    })
}

fn is_part(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-+/".contains(byte)
}

fn longer<'t>(
    one: Option<(&'t str, usize)>,
    other: Option<(&'t str, usize)>,
) -> Option<(&'t str, usize)> {
    [one, other]
        .into_iter()
        .flatten()
        .max_by_key(|(_, end)| *end)
}

/// Names are not longer.
const LONGEST: usize = 80;

/// The ends of the prefixes of a text, the longest first.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    let longest = text.len().min(LONGEST);
    (1..=longest)
        .rev()
        .filter(|end| text.is_char_boundary(*end))
}

/// The lines of a locale.
fn section(locale: &str) -> Option<&'static str> {
    let start = TABLE.find(&format!("@{locale}\n"))?;
    let lines = &TABLE[start + locale.len() + 2..];
    Some(
        lines
            .split_once("\n@")
            .map(|(lines, _)| lines)
            .unwrap_or(lines),
    )
}
