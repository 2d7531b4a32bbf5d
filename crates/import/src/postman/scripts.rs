//! Carries over what nearly all scripts of collections do: they store values of responses and of functions in variables, and
//! check the status.
//!
//! The reader follows declarations, assignments and calls that set variables, wherever they stand in the script. It knows
//! the response's JSON, header fields and cookies, texts, times and random numbers; what it does not know is left out, and its
//! lines are counted.

use std::collections::{HashMap, HashSet};

use crate::text::PlanText;

/// A value of a script.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptValue {
    /// A JSONPath into the response.
    Json(String),
    /// The response as text.
    Body,
    /// A field of the response's header.
    Header(String),
    /// A cookie that the response sets.
    Cookie(String),
    /// A text, which may hold variables and calls of functions.
    Text(PlanText),
    /// Texts with values of the response between them.
    Joined(Vec<ScriptValue>),
    /// A name that stands for nothing known yet, such as `pm.response`.
    Name(String),
    /// `new Date()`.
    Now,
}

/// What a script does.
#[derive(Debug, Default, PartialEq)]
pub struct Script {
    /// The variables that it sets, in order.
    pub sets: Vec<(String, ScriptValue)>,
    /// The status that it expects, as a regular expression; empty for any.
    pub status: String,
    /// How many lines were not understood.
    pub rest: usize,
}

/// The calls that set a variable.
const SETTERS: [&str; 6] = [
    "pm.environment.set",
    "pm.collectionVariables.set",
    "pm.globals.set",
    "pm.variables.set",
    "postman.setEnvironmentVariable",
    "postman.setGlobalVariable",
];

/// The calls that read one.
const GETTERS: [&str; 6] = [
    "pm.environment.get",
    "pm.collectionVariables.get",
    "pm.globals.get",
    "pm.variables.get",
    "postman.getEnvironmentVariable",
    "postman.getGlobalVariable",
];

#[derive(Debug, Clone, PartialEq)]
enum Kind {
    Word(String),
    Number(String),
    Text(String),
    /// Between backticks.
    Template(String),
    Sign(char),
}

#[derive(Debug, Clone, PartialEq)]
struct Token {
    kind: Kind,
    line: usize,
}

/// Reads a script.
pub fn read(source: &str) -> Script {
    let tokens = tokens(source);
    let mut reader = ScriptReader {
        tokens: &tokens,
        at: 0,
        values: HashMap::new(),
        script: Script::default(),
        understood: HashSet::new(),
    };
    reader.all();
    let used: HashSet<usize> = tokens.iter().map(|token| token.line).collect();
    let lines = source.lines().enumerate();
    let rest = lines
        .filter(|(number, line)| {
            used.contains(number) && !reader.understood.contains(number) && !is_frame(line.trim())
        })
        .count();
    Script {
        rest,
        ..reader.script
    }
}

/// Whether a line has no effect of its own.
fn is_frame(line: &str) -> bool {
    let begins = [
        "pm.test(",
        "console.",
        "if (pm.response.code",
        "if (responseCode.code",
        "if(pm.response.code",
        "else",
        "} else",
        "}else",
        "try",
        "} catch",
        "}catch",
        "pm.response.to.be.json",
        "pm.response.to.be.withBody",
    ];
    line.chars().all(|c| "{}();, ".contains(c))
        || begins.iter().any(|begin| line.starts_with(begin))
}

fn tokens(source: &str) -> Vec<Token> {
    let mut all = Vec::new();
    let mut line = 0;
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (None, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (
                None,
                rest.find("*/").map(|end| end + 2).unwrap_or(rest.len()),
            ),
            '"' | '\'' | '`' => {
                let (text, length) = quoted(rest, first);
                let kind = if first == '`' {
                    Kind::Template(text)
                } else {
                    Kind::Text(text)
                };
                (Some(kind), length)
            }
            _ if first.is_ascii_digit() => {
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                (Some(Kind::Number(rest[..end].to_owned())), end)
            }
            _ if is_word(first) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                (Some(Kind::Word(rest[..end].to_owned())), end)
            }
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ => (Some(Kind::Sign(first)), first.len_utf8()),
        };
        if let Some(kind) = kind {
            all.push(Token { kind, line });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    all
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The text between quotes, and its length with them.
fn quoted(rest: &str, quote: char) -> (String, usize) {
    let mut text = String::new();
    let mut signs = rest.char_indices().skip(1);
    while let Some((at, sign)) = signs.next() {
        match sign {
            '\\' => match signs.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, other)) => text.push(other),
                None => break,
            },
            _ if sign == quote => return (text, at + quote.len_utf8()),
            _ => text.push(sign),
        }
    }
    (text, rest.len())
}

struct ScriptReader<'t> {
    tokens: &'t [Token],
    at: usize,
    values: HashMap<String, ScriptValue>,
    script: Script,
    /// Lines whose meaning is carried over.
    understood: HashSet<usize>,
}

impl ScriptReader<'_> {
    fn all(&mut self) {
        while self.at < self.tokens.len() {
            let start = self.at;
            let done = self.statement();
            if done.is_some() {
                let lines = self.tokens[start..self.at.min(self.tokens.len())].iter();
                self.understood.extend(lines.map(|token| token.line));
            } else {
                self.at = start + 1;
            }
        }
    }

    fn kind(&self, ahead: usize) -> Option<&Kind> {
        self.tokens.get(self.at + ahead).map(|token| &token.kind)
    }

    fn is_sign(&self, ahead: usize, sign: char) -> bool {
        self.kind(ahead) == Some(&Kind::Sign(sign))
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.kind(0), Some(Kind::Word(own)) if own == word)
    }

    fn take(&mut self, sign: char) -> Option<()> {
        self.is_sign(0, sign).then(|| self.at += 1)
    }

    fn word(&mut self) -> Option<String> {
        let Some(Kind::Word(word)) = self.kind(0) else {
            return None;
        };
        let word = word.clone();
        self.at += 1;
        Some(word)
    }

    /// A statement that sets something; `None` if there is none at this place.
    fn statement(&mut self) -> Option<()> {
        let is_member = self.at > 0 && self.tokens[self.at - 1].kind == Kind::Sign('.');
        if is_member || !matches!(self.kind(0), Some(Kind::Word(_))) {
            return None;
        }
        let is_declaration = ["var", "let", "const"]
            .iter()
            .any(|word| self.is_word(word));
        if is_declaration {
            self.at += 1;
            if self.is_sign(0, '{') {
                return self.destructuring();
            }
        }
        // `name = value`, but neither `==` nor `=>`.
        let is_assignment = self.is_sign(1, '=') && !self.is_sign(2, '=') && !self.is_sign(2, '>');
        if is_assignment {
            let name = self.word()?;
            self.at += 1;
            let value = self.value()?;
            // A known value stands for its name from here on, a plain name such as `data.x` does not.
            match value {
                ScriptValue::Name(_) => return None,
                value => drop(self.values.insert(name, value)),
            }
            return Some(());
        }
        if is_declaration {
            return None;
        }
        self.call()
    }

    /// `{a, b: c} = value`
    fn destructuring(&mut self) -> Option<()> {
        self.take('{')?;
        let mut names = Vec::new();
        while !self.is_sign(0, '}') {
            let field = self.word()?;
            let variable = match self.take(':') {
                Some(()) => self.word()?,
                None => field.clone(),
            };
            names.push((field, variable));
            if self.take('=').is_some() {
                self.value()?;
            }
            if self.take(',').is_none() {
                break;
            }
        }
        self.take('}')?;
        self.take('=')?;
        let ScriptValue::Json(path) = self.value()? else {
            return None;
        };
        for (field, variable) in names {
            self.values
                .insert(variable, ScriptValue::Json(member(&path, &field)));
        }
        Some(())
    }

    /// A call that sets a variable or checks the status.
    fn call(&mut self) -> Option<()> {
        let mut path = self.word()?;
        while self.is_sign(0, '.') && matches!(self.kind(1), Some(Kind::Word(_))) {
            self.at += 1;
            path = format!("{path}.{}", self.word()?);
        }
        if SETTERS.contains(&path.as_str()) {
            self.take('(')?;
            let ScriptValue::Text(name) = self.value()? else {
                return None;
            };
            let name = name.literal()?.to_owned();
            self.take(',')?;
            let value = self.value()?;
            self.take(')')?;
            if matches!(
                value,
                ScriptValue::Name(_) | ScriptValue::Now | ScriptValue::Body
            ) {
                return None;
            }
            self.script.sets.push((name, value));
            return Some(());
        }
        let status = match path.as_str() {
            "pm.response.to.have.status" => {
                self.take('(')?;
                self.codes()?
            }
            "pm.response.to.be.ok" | "pm.response.to.be.success" => "2\\d\\d".to_owned(),
            "pm.expect" => {
                self.take('(')?;
                let ScriptValue::Name(subject) = self.value()? else {
                    return None;
                };
                if subject != "pm.response.code" && subject != "responseCode.code" {
                    return None;
                }
                self.take(')')?;
                while self.take('.').is_some() {
                    self.word()?;
                }
                self.take('(')?;
                self.codes()?
            }
            "responseCode.code" | "pm.response.code" => {
                (0..2).try_for_each(|_| self.take('='))?;
                let _ = self.take('=');
                self.codes()?
            }
            _ => return None,
        };
        if !status.is_empty() {
            self.script.status = status;
        }
        Some(())
    }

    /// `200` or `[200, 201]`, as a regular expression.
    fn codes(&mut self) -> Option<String> {
        let mut codes: Vec<String> = Vec::new();
        let is_list = self.take('[').is_some();
        while let Some(Kind::Number(code)) = self.kind(0) {
            if code.len() != 3 {
                return None;
            }
            codes.push(code.clone());
            self.at += 1;
            if !is_list || self.take(',').is_none() {
                break;
            }
        }
        (!codes.is_empty()).then(|| codes.join("|"))
    }

    /// Values joined by `+`; what follows `||` and `??` stands in only for a missing value.
    fn value(&mut self) -> Option<ScriptValue> {
        let mut parts = vec![self.part()?];
        while self.is_sign(0, '+') && !self.is_sign(1, '+') {
            self.at += 1;
            parts.push(self.part()?);
        }
        for sign in ['|', '?'] {
            if self.is_sign(0, sign) && self.is_sign(1, sign) {
                self.at += 2;
                self.value()?;
            }
        }
        joined(parts)
    }

    /// A value with its members and calls.
    fn part(&mut self) -> Option<ScriptValue> {
        let mut value = self.first()?;
        loop {
            let is_optional = self.is_sign(0, '?') && self.is_sign(1, '.');
            if is_optional {
                self.at += 1;
            }
            if self.is_sign(0, '.') {
                self.at += 1;
                if is_optional && self.is_sign(0, '[') {
                    continue;
                }
                let name = self.word()?;
                value = if self.is_sign(0, '(') {
                    self.method(value, &name)?
                } else {
                    match value {
                        ScriptValue::Json(path) if name != "length" => {
                            ScriptValue::Json(member(&path, &name))
                        }
                        ScriptValue::Name(own) => ScriptValue::Name(format!("{own}.{name}")),
                        _ => return None,
                    }
                };
            } else if self.is_sign(0, '[') {
                self.at += 1;
                let ScriptValue::Json(path) = value else {
                    return None;
                };
                let path = match self.kind(0)? {
                    Kind::Number(index) => format!("{path}[{index}]"),
                    Kind::Text(name) => member(&path, name),
                    _ => return None,
                };
                self.at += 1;
                self.take(']')?;
                value = ScriptValue::Json(path);
            } else if self.is_sign(0, '(') {
                let ScriptValue::Name(name) = value else {
                    return None;
                };
                value = self.function(&name)?;
            } else {
                return Some(value);
            }
        }
    }

    fn first(&mut self) -> Option<ScriptValue> {
        let text = |text: &str| ScriptValue::Text(PlanText::from(text));
        let value = match self.kind(0)?.clone() {
            Kind::Text(own) | Kind::Number(own) => text(&own),
            Kind::Template(own) => self.template(&own)?,
            Kind::Sign('(') => {
                self.at += 1;
                let value = self.value()?;
                self.take(')')?;
                return Some(value);
            }
            Kind::Word(word) if word == "new" => {
                self.at += 1;
                if self.word()? != "Date" {
                    return None;
                }
                self.take('(')?;
                self.take(')')?;
                return Some(ScriptValue::Now);
            }
            Kind::Word(word) if ["true", "false"].contains(&word.as_str()) => text(&word),
            Kind::Word(word) if word == "responseBody" => ScriptValue::Body,
            Kind::Word(word) => match self.values.get(&word) {
                Some(known) => known.clone(),
                None => ScriptValue::Name(word),
            },
            Kind::Sign(_) => return None,
        };
        self.at += 1;
        Some(value)
    }

    /// A text between backticks: `Bearer ${token}`.
    fn template(&self, template: &str) -> Option<ScriptValue> {
        let mut parts = Vec::new();
        let mut rest = template;
        while let Some((before, after)) = rest.split_once("${") {
            let (inside, after) = after.split_once('}')?;
            parts.push(ScriptValue::Text(PlanText::from(before)));
            let tokens = tokens(inside);
            let mut reader = ScriptReader {
                tokens: &tokens,
                at: 0,
                values: self.values.clone(),
                script: Script::default(),
                understood: HashSet::new(),
            };
            parts.push(reader.value()?);
            rest = after;
        }
        parts.push(ScriptValue::Text(PlanText::from(rest)));
        joined(parts)
    }

    /// A call of a method of a value.
    fn method(&mut self, value: ScriptValue, name: &str) -> Option<ScriptValue> {
        if let ScriptValue::Name(own) = value {
            return self.function(&format!("{own}.{name}"));
        }
        self.take('(')?;
        self.take(')')?;
        match (value, name) {
            (ScriptValue::Now, "getTime" | "valueOf") => expression("${__time()}"),
            (ScriptValue::Now, "toISOString" | "toJSON") => {
                expression("${__time(yyyy-MM-dd'T'HH:mm:ss.SSS'Z')}")
            }
            (ScriptValue::Now, _) => None,
            (value, "toString" | "trim" | "valueOf") => Some(value),
            _ => None,
        }
    }

    /// A call of a function by its whole name.
    fn function(&mut self, name: &str) -> Option<ScriptValue> {
        self.take('(')?;
        let rounds = ["Math.floor", "Math.round", "parseInt"].contains(&name);
        if let Some(random) = rounds.then(|| self.random()).flatten() {
            return Some(random);
        }
        let mut given = Vec::new();
        while !self.is_sign(0, ')') {
            given.push(self.value()?);
            if self.take(',').is_none() {
                break;
            }
        }
        self.take(')')?;
        match (name, given.as_slice()) {
            ("pm.response.json", []) => Some(ScriptValue::Json("$".to_owned())),
            ("pm.response.text", []) => Some(ScriptValue::Body),
            ("JSON.parse", [ScriptValue::Body, ..]) => Some(ScriptValue::Json("$".to_owned())),
            ("pm.response.headers.get" | "postman.getResponseHeader", [name]) => {
                literal_of(name).map(ScriptValue::Header)
            }
            ("pm.cookies.get", [name]) => literal_of(name).map(ScriptValue::Cookie),
            ("String" | "parseInt" | "Number" | "encodeURIComponent", [value, ..]) => {
                Some(value.clone())
            }
            ("JSON.stringify", [value @ ScriptValue::Text(_)]) => Some(value.clone()),
            ("Date.now", []) => expression("${__time()}"),
            ("uuid.v4" | "uuidv4" | "uuid" | "crypto.randomUUID", []) => expression("${__UUID}"),
            ("pm.variables.replaceIn", [name]) => {
                literal_of(name).map(|own| ScriptValue::Text(super::text(&own)))
            }
            (getter, [name]) if GETTERS.contains(&getter) => {
                let name = super::variable_name(&literal_of(name)?);
                Some(ScriptValue::Text(PlanText::variable(&name)))
            }
            _ => None,
        }
    }

    /// The rest of `Math.floor(Math.random() * 1000)`, with an addend or without.
    fn random(&mut self) -> Option<ScriptValue> {
        let start = self.at;
        let value = (|| {
            for word in ["Math", "random"] {
                (self.word()? == word).then_some(())?;
                let _ = self.take('.');
            }
            self.take('(')?;
            self.take(')')?;
            self.take('*')?;
            let number = |reader: &mut Self| {
                let Some(Kind::Number(number)) = reader.kind(0) else {
                    return None;
                };
                let number: u64 = number.parse().ok()?;
                reader.at += 1;
                Some(number)
            };
            let most = number(self)?.checked_sub(1)?;
            let least = match self.take('+') {
                Some(()) => number(self)?,
                None => 0,
            };
            self.take(')')?;
            let call = format!("${{__Random({least},{})}}", most.checked_add(least)?);
            Some(ScriptValue::Text(PlanText::expression(call)))
        })();
        if value.is_none() {
            self.at = start;
        }
        value
    }
}

/// The value of a call of a JMeter function.
fn expression(call: &str) -> Option<ScriptValue> {
    Some(ScriptValue::Text(PlanText::expression(call)))
}

/// The text of a value without variables.
fn literal_of(value: &ScriptValue) -> Option<String> {
    match value {
        ScriptValue::Text(text) => text.literal().map(str::to_owned),
        _ => None,
    }
}

/// A path to a field.
fn member(path: &str, name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty();
    if is_plain {
        format!("{path}.{name}")
    } else {
        format!("{path}['{}']", name.replace('\'', "\\'"))
    }
}

/// One value of several parts; `None` if a part is nothing that a plan can have.
fn joined(mut parts: Vec<ScriptValue>) -> Option<ScriptValue> {
    if parts.len() == 1 {
        return parts.pop();
    }
    parts.retain(|part| !matches!(part, ScriptValue::Text(text) if text.is_empty()));
    if !parts.iter().all(is_known) {
        return None;
    }
    if parts.len() == 1 {
        return parts.pop();
    }
    let mut whole = PlanText::default();
    for part in &parts {
        match part {
            ScriptValue::Text(text) => whole.append(text.clone()),
            _ => return Some(ScriptValue::Joined(parts)),
        }
    }
    Some(ScriptValue::Text(whole))
}

fn is_known(part: &ScriptValue) -> bool {
    !matches!(
        part,
        ScriptValue::Name(_) | ScriptValue::Now | ScriptValue::Body
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sets(source: &str) -> String {
        let shown = |value: &ScriptValue| match value {
            ScriptValue::Json(path) => path.clone(),
            ScriptValue::Header(name) => format!("header {name}"),
            ScriptValue::Cookie(name) => format!("cookie {name}"),
            ScriptValue::Text(text) => text.template(),
            other => format!("{other:?}"),
        };
        let script = read(source);
        let sets: Vec<String> = script
            .sets
            .iter()
            .map(|(name, value)| format!("{name}={}", shown(value)))
            .collect();
        format!("{} {} {}", sets.join(" "), script.status, script.rest)
            .trim()
            .to_owned()
    }

    #[test]
    fn the_common_forms_are_understood() {
        for (script, expected) in [
            (
                "pm.environment.set('t', pm.response.json().token);",
                "t=$.token  0",
            ),
            (
                "var d = JSON.parse(responseBody);\npostman.setEnvironmentVariable(\"id\", d.data[0].id)",
                "id=$.data[0].id  0",
            ),
            ("const { token, user: { } } = 1", " 1"),
            ("const { token, user: u = {} } = pm.response.json();", " 1"),
            (
                "let {token, user: u} = pm.response.json()\npm.globals.set('t', token)\npm.globals.set(`n`, u['first name'])",
                "t=$.token n=$.user['first name']  0",
            ),
            (
                "const res = pm.response.json(), x = 1;\nconst id = res?.data?.[0]?.id ?? '';\npm.collectionVariables.set('id', id)",
                "id=$.data[0].id  0",
            ),
            (
                "pm.variables.set('h', pm.response.headers.get('X-Id'))\npm.variables.set('c', pm.cookies.get('sid'));",
                "h=header X-Id c=cookie sid  0",
            ),
            (
                "// a comment\n/* pm.globals.set('a', 1) */\npm.globals.set('now', Date.now())\npm.globals.set('iso', new Date().toISOString())",
                "now=${__time()} iso=${__time(yyyy-MM-dd'T'HH:mm:ss.SSS'Z')}  0",
            ),
            (
                "pm.globals.set('r', Math.floor(Math.random() * 100) )\npm.globals.set('s', 'user' + Math.floor(Math.random()*10+5))",
                "r=${__Random(0,99)} s=user${__Random(5,14)}  0",
            ),
            (
                "pm.environment.set('u', pm.variables.replaceIn('{{$guid}}'))\npm.environment.set('g', pm.environment.get('a') + '-x')",
                "u=${__UUID} g=${a}-x  0",
            ),
            (
                "pm.test('ok', function () {\n    pm.response.to.have.status(201);\n});",
                "201 0",
            ),
            (
                "pm.test('ok', () => pm.expect(pm.response.code).to.be.oneOf([200, 201]))",
                "200|201 0",
            ),
            ("tests['ok'] = responseCode.code === 200;", "200 0"),
            (
                "if (pm.response.code === 200) {\n  pm.environment.set(\n    'a',\n    pm.response.json().b\n  );\n}",
                "a=$.b 200 0",
            ),
            (
                "const list = pm.response.json().items.find(x => x.a);\npm.globals.set('x', list.id);\nwhatever();",
                " 3",
            ),
        ] {
            let told = sets(script);
            let expected = expected.trim();
            assert_eq!(
                told.split_whitespace().collect::<Vec<_>>(),
                expected.split_whitespace().collect::<Vec<_>>(),
                "{script}"
            );
        }
    }

    #[test]
    fn joined_texts_keep_their_parts() {
        let script = read(
            "let t = pm.response.json().t;\npm.globals.set('a', `Bearer ${t}`)\npm.globals.set('b', 'Bearer ' + t)",
        );
        let joined = ScriptValue::Joined(vec![
            ScriptValue::Text(PlanText::from("Bearer ")),
            ScriptValue::Json("$.t".to_owned()),
        ]);
        assert_eq!(
            script.sets,
            [("a".to_owned(), joined.clone()), ("b".to_owned(), joined)]
        );
    }
}
