//! Reproduces Xalan's messages for invalid expressions. It tokenizes and parses in the order of Xalan's `Lexer` and
//! `XPathParser`, which determines the error that is found first.

use xpath_eval::Axis;

use crate::nesting::{self, Nests};

/// The result of parsing an expression like Xalan.
#[derive(Debug)]
pub(super) struct XalanParse {
    /// The prefixes before the first error: Xalan resolves them while it tokenizes.
    pub(super) prefixes: Vec<String>,
    /// The first error.
    pub(super) fault: Option<String>,
}

/// Parses an expression; prefixes are collected but not resolved.
pub(super) fn read(text: &str) -> XalanParse {
    let mut lexer = XalanLexer::default();
    let fault = match lexer.cut(text) {
        Err(fault) => Some(fault),
        Ok(()) if lexer.words.is_empty() => Some("Empty expression!".to_owned()),
        Ok(()) if !nesting::is_flat(lexer.words.iter().map(|word| nests(word))) => {
            Some("the expression is nested too deeply".to_owned())
        }
        Ok(()) => {
            let mut parser = XalanParser {
                words: &lexer.words,
                at: 0,
                miscounted: None,
            };
            parser.whole().err().or(parser.miscounted)
        }
    };
    XalanParse {
        prefixes: lexer.prefixes,
        fault,
    }
}

fn nests(word: &str) -> Nests {
    match word {
        "(" | "[" => Nests::Opens,
        ")" | "]" => Nests::Closes,
        "," => Nests::Separates,
        "-" => Nests::Signs,
        _ => Nests::No,
    }
}

type Outcome = Result<(), String>;

#[derive(Default)]
struct XalanLexer {
    words: Vec<String>,
    prefixes: Vec<String>,
    /// The current word.
    word: String,
    /// The position of a colon in it.
    colon: Option<usize>,
    is_number: bool,
}

impl XalanLexer {
    fn cut(&mut self, text: &str) -> Outcome {
        let mut at = 0;
        let mut previous = None;
        while let Some(c) = text[at..].chars().next() {
            let behind = at + c.len_utf8();
            match c {
                '"' | '\'' => {
                    self.flush();
                    let Some(end) = text[behind..].find(c) else {
                        let name = if c == '"' { "double" } else { "single" };
                        return Err(format!("misquoted literal... expected {name} quote!"));
                    };
                    self.words.push(text[at..behind + end + 1].to_owned());
                    at = behind + end;
                }
                '\n' | '\r' | ' ' | '\t' => self.flush(),
                '-' if !self.is_number && !self.word.is_empty() => self.word.push('-'),
                '@' | '-' | '(' | '[' | ')' | ']' | '|' | '/' | '*' | '+' | '=' | ',' | '\\'
                | '^' | '!' | '$' | '<' | '>' => {
                    self.flush();
                    self.words.push(c.to_string());
                }
                ':' if previous == Some(':') && self.colon.is_some() => self.axis(),
                c => {
                    if c == ':' && previous.is_some() {
                        self.colon = Some(self.word.len());
                    }
                    self.is_number = c.is_numeric() && (self.word.is_empty() || self.is_number);
                    self.word.push(c);
                }
            }
            previous = Some(c);
            at += c.len_utf8();
        }
        self.flush();
        Ok(())
    }

    /// Ends the name of an axis at its two colons.
    fn axis(&mut self) {
        let colon = self.colon.take().unwrap_or_default();
        self.word.truncate(colon);
        let axis = std::mem::take(&mut self.word);
        if !axis.is_empty() {
            self.words.push(axis);
        }
        self.words.push("::".to_owned());
        self.is_number = false;
    }

    /// Ends a word; one with a colon becomes a namespace, a colon and a name.
    fn flush(&mut self) {
        let word = std::mem::take(&mut self.word);
        self.is_number = false;
        match self.colon.take() {
            Some(colon) => {
                let (prefix, name) = (&word[..colon], &word[colon + 1..]);
                self.prefixes.push(prefix.to_owned());
                // Any URI will do, since Xalan only needs one to exist.
                self.words.extend(["u".to_owned(), ":".to_owned()]);
                if !name.is_empty() {
                    self.words.push(name.to_owned());
                }
            }
            None if word.is_empty() => {}
            None => self.words.push(word),
        }
    }
}

/// The functions, with Xalan's classes and their minimum and maximum number of arguments.
const FUNCTIONS: [(&str, &str, usize, usize); 35] = [
    ("boolean", "FuncBoolean", 1, 1),
    ("ceiling", "FuncCeiling", 1, 1),
    ("concat", "FuncConcat", 2, usize::MAX),
    ("contains", "FuncContains", 2, 2),
    ("count", "FuncCount", 1, 1),
    ("current", "FuncCurrent", 0, 0),
    ("element-available", "FuncExtElementAvailable", 1, 1),
    ("false", "FuncFalse", 0, 0),
    ("floor", "FuncFloor", 1, 1),
    ("function-available", "FuncExtFunctionAvailable", 1, 1),
    ("generate-id", "FuncGenerateId", 0, 1),
    ("id", "FuncId", 1, 1),
    ("key", "FuncKey", 2, 2),
    ("lang", "FuncLang", 1, 1),
    ("last", "FuncLast", 0, 0),
    ("local-name", "FuncLocalPart", 0, 1),
    ("name", "FuncQname", 0, 1),
    ("namespace-uri", "FuncNamespace", 0, 1),
    ("normalize-space", "FuncNormalizeSpace", 0, 1),
    ("not", "FuncNot", 1, 1),
    ("number", "FuncNumber", 0, 1),
    ("position", "FuncPosition", 0, 0),
    ("round", "FuncRound", 1, 1),
    ("starts-with", "FuncStartsWith", 2, 2),
    ("string", "FuncString", 0, 1),
    ("string-length", "FuncStringLength", 0, 1),
    ("substring", "FuncSubstring", 2, 3),
    ("substring-after", "FuncSubstringAfter", 2, 2),
    ("substring-before", "FuncSubstringBefore", 2, 2),
    ("sum", "FuncSum", 1, 1),
    ("system-property", "FuncSystemProperty", 1, 1),
    ("translate", "FuncTranslate", 3, 3),
    ("true", "FuncTrue", 0, 0),
    ("unparsed-entity-uri", "FuncUnparsedEntityURI", 1, 1),
    ("document-location", "FuncDoclocation", 0, 1),
];

/// Words before a parenthesis that test the kind of a node.
const NODE_TYPES: [&str; 4] = ["comment", "text", "processing-instruction", "node"];

const NO_STEP: &str = "A location step was expected following the '/' or '//' token.";
const NO_NAME: &str = "A node test that matches either NCName:* or QName was expected.";

struct XalanParser<'w> {
    words: &'w [String],
    at: usize,
    /// The first function with a wrong number of arguments, reported after parsing.
    miscounted: Option<String>,
}

impl<'w> XalanParser<'w> {
    fn word(&self) -> Option<&'w str> {
        self.words.get(self.at).map(String::as_str)
    }

    fn shown(&self) -> &'w str {
        self.word().unwrap_or_default()
    }

    /// Checks the first character, as Xalan does.
    fn is(&self, first: char) -> bool {
        self.shown().starts_with(first)
    }

    fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    fn follows(&self, distance: usize, word: &str) -> bool {
        self.words
            .get(self.at + distance)
            .is_some_and(|own| own == word)
    }

    fn eat(&mut self, first: char) -> bool {
        let is_next = self.is(first);
        self.at += usize::from(is_next);
        is_next
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, wanted: char) -> Outcome {
        if self.eat(wanted) {
            Ok(())
        } else {
            Err(format!("Expected {wanted}, but found: {}", self.shown()))
        }
    }

    fn whole(&mut self) -> Outcome {
        self.or()?;
        if self.at >= self.words.len() {
            return Ok(());
        }
        let extra: Vec<String> = self.words[self.at..]
            .iter()
            .map(|word| format!("'{word}'"))
            .collect();
        Err(format!("Extra illegal tokens: {}", extra.join(", ")))
    }

    fn or(&mut self) -> Outcome {
        loop {
            loop {
                self.equality()?;
                if !self.eat_word("and") {
                    break;
                }
            }
            if !self.eat_word("or") {
                break;
            }
        }
        Ok(())
    }

    /// Parses comparisons, sums and products: operands between operators.
    fn equality(&mut self) -> Outcome {
        loop {
            // At most one sign.
            self.eat('-');
            self.path()?;
            while self.eat('|') {
                self.path()?;
            }
            let is_unequal = self.is('!') && self.follows(1, "=");
            if is_unequal {
                self.at += 2;
            } else if self.eat('<') || self.eat('>') {
                self.eat('=');
            } else if !["=", "+", "-", "*"].iter().any(|sign| self.eat_word(sign))
                && !["div", "mod", "quo"].iter().any(|word| self.eat_word(word))
            {
                return Ok(());
            }
        }
    }

    fn path(&mut self) -> Outcome {
        if !self.primary()? {
            return self.location();
        }
        while self.is('[') {
            self.predicate()?;
        }
        if self.eat('/') && !self.relative()? {
            return Err(
                "A relative location path was expected following the '/' or '//' token.".to_owned(),
            );
        }
        Ok(())
    }

    fn primary(&mut self) -> Result<bool, String> {
        let word = self.shown();
        let mut chars = word.chars();
        let (first, second) = (chars.next(), chars.next());
        match first {
            Some('"' | '\'') => self.literal()?,
            Some('$') => {
                self.at += 1;
                self.at += if self.follows(1, ":") { 3 } else { 1 };
            }
            Some('(') => {
                self.at += 1;
                self.or()?;
                self.expect(')')?;
            }
            _ if is_digit(first) || (first == Some('.') && is_digit(second)) => {
                let digits = word.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(word);
                if word.contains(['e', 'E']) || digits.parse::<f64>().is_err() {
                    return Err(format!("{word} could not be formatted to a number!"));
                }
                self.at += 1;
            }
            Some(_) if self.follows(1, "(") || (self.follows(1, ":") && self.follows(3, "(")) => {
                return self.call();
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn literal(&mut self) -> Outcome {
        let word = self.shown();
        let is_quoted = |quote| word.starts_with(quote) && word.ends_with(quote);
        if !is_quoted('"') && !is_quoted('\'') {
            return Err(format!("Pattern literal ({word}) needs to be quoted!"));
        }
        self.at += 1;
        Ok(())
    }

    /// Parses a function call; false if it is a node test.
    fn call(&mut self) -> Result<bool, String> {
        let name = self.shown();
        let mut function = None;
        if self.follows(1, ":") {
            self.at += 3;
        } else {
            if NODE_TYPES.contains(&name) {
                return Ok(false);
            }
            function = FUNCTIONS.iter().find(|(own, ..)| *own == name);
            if function.is_none() {
                return Err(format!("Could not find function: {name}"));
            }
            self.at += 1;
        }
        self.expect('(')?;
        let mut count = 0;
        while !self.is(')') && self.word().is_some() {
            if self.is(',') {
                return Err("Found ',' but no preceding argument!".to_owned());
            }
            self.or()?;
            count += 1;
            if !self.is(')') {
                self.expect(',')?;
                if self.is(')') {
                    return Err("Found ',' but no following argument!".to_owned());
                }
            }
        }
        self.expect(')')?;
        if let Some((_, class, least, most)) = function
            && !(*least..=*most).contains(&count)
        {
            let arity = match (least, most) {
                (2, &usize::MAX) => ">1".to_owned(),
                (least, most) if least == most => least.to_string(),
                (least, most) => format!("{least} or {most}"),
            };
            self.miscounted.get_or_insert(format!(
                "org.apache.xpath.functions.{class} only allows {arity} arguments"
            ));
        }
        Ok(true)
    }

    fn location(&mut self) -> Outcome {
        let is_absolute = self.eat('/');
        let Some(word) = self.word() else {
            return if is_absolute {
                Ok(())
            } else {
                Err(
                    "A location path was expected, but the end of the XPath expression was found instead."
                        .to_owned(),
                )
            };
        };
        if !self.relative()? && !is_absolute {
            return Err(format!(
                "A location path was expected, but the following token was encountered:  {word}"
            ));
        }
        Ok(())
    }

    fn relative(&mut self) -> Result<bool, String> {
        if !self.step()? {
            return Ok(false);
        }
        while self.eat('/') {
            if !self.step()? {
                return Err(NO_STEP.to_owned());
            }
        }
        Ok(true)
    }

    fn step(&mut self) -> Result<bool, String> {
        let is_below = self.eat('/');
        if self.eat_word(".") {
            if self.is('[') {
                return Err("'..[predicate]' or '.[predicate]' is illegal syntax.  Use 'self::node()[predicate]' instead.".to_owned());
            }
        } else if self.eat_word("..") {
        } else if self.is('*') || self.is('@') || self.starts_name() {
            self.basis()?;
            while self.is('[') {
                self.predicate()?;
            }
        } else if is_below {
            return Err(NO_STEP.to_owned());
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn starts_name(&self) -> bool {
        self.shown()
            .starts_with(|c: char| c.is_alphabetic() || c == '_')
    }

    fn basis(&mut self) -> Outcome {
        if self.follows(1, "::") {
            let axis = self.shown();
            if Axis::from_name(axis).is_none() {
                return Err(format!("illegal axis name: {axis}"));
            }
            self.at += 2;
        } else {
            self.eat('@');
        }
        if self.follows(1, "(") {
            let kind = self.shown();
            if !NODE_TYPES.contains(&kind) {
                return Err(format!("Unknown nodetype: {kind}"));
            }
            self.at += 2;
            if kind == "processing-instruction" && !self.is(')') {
                self.literal()?;
            }
            return self.expect(')');
        }
        if self.follows(1, ":") {
            self.at += 2;
        }
        if !self.is('*') && !self.starts_name() {
            return Err(NO_NAME.to_owned());
        }
        self.at += 1;
        Ok(())
    }

    fn predicate(&mut self) -> Outcome {
        self.expect('[')?;
        self.or()?;
        self.expect(']')
    }
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(char::is_numeric)
}
