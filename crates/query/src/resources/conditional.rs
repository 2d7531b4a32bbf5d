//! Conditional comments, evaluated like an old Internet Explorer (`HtmlCCommentExpressionMatcher`).

/// An Internet Explorer before version 10.
#[derive(Clone, Copy, Debug)]
pub(super) struct Browser {
    version: f32,
}

impl Browser {
    /// Parses `MSIE 7.0` in a User-Agent header (`HTMLParser.extractIEVersion`).
    pub(super) fn of_user_agent(user_agent: &str) -> Option<Browser> {
        let version = user_agent
            .match_indices("MSIE ")
            .find_map(|(at, mark)| version(&user_agent[at + mark.len()..]))?;
        (version < 10.0).then_some(Browser { version })
    }

    /// Whether a condition such as `[if (gt IE 5)&(lt IE 7)` is true; a plain `[if IE]` never is.
    pub(super) fn fulfils(self, condition: &str) -> bool {
        let bare = condition.trim().replace(['(', ')'], "");
        bare.get(3..)
            .unwrap_or("")
            .split('&')
            .all(|part| part.split('|').any(|term| self.fulfils_term(term.trim())))
    }

    fn fulfils_term(self, term: &str) -> bool {
        let number = |prefix: &str| term.strip_prefix(prefix)?.trim().parse::<f32>().ok();
        // A whole number stands for all versions that start with it.
        let like = |number: f32| {
            if number.fract() == 0.0 {
                self.version.trunc()
            } else {
                self.version
            }
        };
        if let Some(n) = number("IE ") {
            like(n) == n
        } else if let Some(n) = number("!IE ") {
            like(n) != n
        } else if let Some(n) = number("lt IE ") {
            self.version < n
        } else if let Some(n) = number("lte IE ") {
            like(n) <= n
        } else if let Some(n) = number("gt IE ") {
            like(n) > n
        } else {
            number("gte IE ").is_some_and(|n| self.version >= n)
        }
    }
}

/// `[0-9]+.[0-9]+` at the start.
fn version(text: &str) -> Option<f32> {
    let whole = digits(text);
    let point = text[whole..].chars().next()?.len_utf8();
    let fraction = digits(&text[whole + point..]);
    if whole > 0 && fraction > 0 {
        text[..whole + point + fraction].parse().ok()
    } else {
        None
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
