//! Topics and topic filters (MQTT 5 section 4.7).

use std::fmt;

/// Why a text is no topic, or no topic filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopicError {
    /// It is empty.
    Empty,
    /// It has more than 65,535 bytes.
    TooLong,
    /// It has the character U+0000.
    Null,
    /// It is a topic with a wildcard, at this place in UTF-16 units.
    Wildcard(char, usize),
    /// A wildcard is not a whole level, or `#` is not the last level.
    Misplaced(char, usize),
    /// A shared subscription has no name, a wildcard in its name, or no filter.
    Share,
}

impl fmt::Display for TopicError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TopicError::Empty => f.write_str("it is empty"),
            TopicError::TooLong => f.write_str("it has more than 65535 bytes"),
            TopicError::Null => f.write_str("it has the character U+0000"),
            TopicError::Wildcard(sign, at) => {
                write!(f, "it has the wildcard `{sign}` at the place {at}")
            }
            TopicError::Misplaced('#', at) => {
                write!(f, "`#` at the place {at} is not its whole last level")
            }
            TopicError::Misplaced(sign, at) => {
                write!(f, "`{sign}` at the place {at} is not a whole level")
            }
            TopicError::Share => f.write_str("it is not `$share/NAME/FILTER`"),
        }
    }
}

impl std::error::Error for TopicError {}

/// Checks the topic of a message.
///
/// # Errors
/// The text is no topic.
pub fn check_topic(topic: &str) -> Result<(), TopicError> {
    check_text(topic)?;
    let units = topic.chars().scan(0, |at, sign| {
        let here = *at;
        *at += sign.len_utf16();
        Some((sign, here))
    });
    let wildcard = |sign: char| units.clone().find(|(found, _)| *found == sign);
    match wildcard('#').or_else(|| wildcard('+')) {
        Some((sign, at)) => Err(TopicError::Wildcard(sign, at)),
        None => Ok(()),
    }
}

/// Checks the topic filter of a subscription.
///
/// # Errors
/// The text is no topic filter.
pub fn check_filter(filter: &str) -> Result<(), TopicError> {
    check_text(filter)?;
    let mut at = 0;
    let mut filter = filter;
    if let Some(shared) = filter.strip_prefix("$share/") {
        let (name, rest) = shared.split_once('/').ok_or(TopicError::Share)?;
        if name.is_empty() || rest.is_empty() || name.contains(['#', '+']) {
            return Err(TopicError::Share);
        }
        at = "$share/".len() + name.encode_utf16().count() + 1;
        filter = rest;
    }
    let mut levels = filter.split('/').peekable();
    while let Some(level) = levels.next() {
        if level.len() > 1
            && let Some(place) = level.find(['#', '+'])
        {
            let sign = if level[place..].starts_with('#') {
                '#'
            } else {
                '+'
            };
            let place = level[..place].encode_utf16().count();
            return Err(TopicError::Misplaced(sign, at + place));
        }
        if level == "#" && levels.peek().is_some() {
            return Err(TopicError::Misplaced('#', at));
        }
        at += level.encode_utf16().count() + 1;
    }
    Ok(())
}

/// Whether a topic matches a topic filter, which [`check_filter`] has accepted.
pub fn matches(filter: &str, topic: &str) -> bool {
    let filter = match filter.strip_prefix("$share/") {
        Some(shared) => shared.split_once('/').map_or("", |(_, filter)| filter),
        None => filter,
    };
    if topic.starts_with('$') && filter.starts_with(['#', '+']) {
        return false;
    }
    let mut levels = topic.split('/');
    for wanted in filter.split('/') {
        if wanted == "#" {
            return true;
        }
        match levels.next() {
            Some(level) if wanted == "+" || wanted == level => {}
            _ => return false,
        }
    }
    levels.next().is_none()
}

fn check_text(text: &str) -> Result<(), TopicError> {
    if text.is_empty() {
        Err(TopicError::Empty)
    } else if text.len() > usize::from(u16::MAX) {
        Err(TopicError::TooLong)
    } else if text.contains('\0') {
        Err(TopicError::Null)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_have_no_wildcards() {
        assert_eq!(check_topic("a/b c/$"), Ok(()));
        assert_eq!(check_topic(""), Err(TopicError::Empty));
        assert_eq!(check_topic("ü/#"), Err(TopicError::Wildcard('#', 2)));
        assert_eq!(check_topic("+/a"), Err(TopicError::Wildcard('+', 0)));
        assert_eq!(check_topic(&"x".repeat(65_536)), Err(TopicError::TooLong));
    }

    /// The examples are those of section 4.7.
    #[test]
    fn filters_match_topics() {
        for (filter, topic, is_match) in [
            ("sport/tennis/player1/#", "sport/tennis/player1", true),
            ("sport/tennis/player1/#", "sport/tennis/player1/score", true),
            ("sport/tennis/+", "sport/tennis/player1/ranking", false),
            ("sport/+", "sport", false),
            ("sport/+", "sport/", true),
            ("#", "$SYS/x", false),
            ("$SYS/#", "$SYS/x", true),
            ("$share/g/a/+", "a/b", true),
            ("a", "a/b", false),
        ] {
            assert_eq!(matches(filter, topic), is_match, "{filter} {topic}");
        }
    }

    #[test]
    fn wildcards_of_filters_are_whole_levels() {
        for sound in ["#", "a/#", "+/b/+", "/", "$share/g/a/+", "$SYS/#"] {
            assert_eq!(check_filter(sound), Ok(()), "{sound}");
        }
        for (filter, error) in [
            ("a/#/b", TopicError::Misplaced('#', 2)),
            ("a#", TopicError::Misplaced('#', 1)),
            ("a/b+", TopicError::Misplaced('+', 3)),
            ("$share/g", TopicError::Share),
            ("$share//a", TopicError::Share),
        ] {
            assert_eq!(check_filter(filter), Err(error), "{filter}");
        }
    }
}
