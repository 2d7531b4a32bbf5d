//! Parses tokens into a syntax tree by the grammar of `Parser.jjt`, from the lowest to the highest
//! precedence.

use super::ast::{Binary, JexlNode, Unary};
use super::lexer::{JexlToken, syntax, tokens};
use super::{Dialect, JexlError};

pub(super) fn parse(text: &str, dialect: Dialect) -> Result<Vec<JexlNode>, JexlError> {
    let mut parser = JexlParser {
        tokens: tokens(text, dialect)?,
        at: 0,
        depth: 0,
        loops: 0,
        dialect,
    };
    let mut statements = Vec::new();
    while *parser.peek() != JexlToken::End {
        statements.extend(parser.statement()?);
    }
    Ok(statements)
}

/// Limit of nesting; deeper expressions are left to the JVM, to protect this thread's stack.
const MAX_DEPTH: usize = 100;

struct JexlParser {
    tokens: Vec<(JexlToken, usize)>,
    at: usize,
    depth: usize,
    /// The number of enclosing loops.
    loops: usize,
    dialect: Dialect,
}

type Parsed = Result<JexlNode, JexlError>;

fn unsupported(what: &str) -> JexlError {
    JexlError::Unsupported(format!("{what} cannot be evaluated without a JVM"))
}

impl JexlParser {
    fn peek(&self) -> &JexlToken {
        &self.tokens[self.at].0
    }

    fn next(&mut self) -> JexlToken {
        let token = self.tokens[self.at].0.clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn is_mark(&self, mark: &str) -> bool {
        matches!(self.peek(), JexlToken::Mark(found) if *found == mark)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), JexlToken::Word(found) if found == word)
    }

    fn take_mark(&mut self, mark: &str) -> bool {
        let is_next = self.is_mark(mark);
        self.at += usize::from(is_next);
        is_next
    }

    fn take_word(&mut self, word: &str) -> bool {
        let is_next = self.is_word(word);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, mark: &str) -> Result<(), JexlError> {
        if self.take_mark(mark) {
            Ok(())
        } else {
            Err(self.unexpected())
        }
    }

    fn unexpected(&self) -> JexlError {
        let (token, at) = &self.tokens[self.at];
        let near = match token {
            JexlToken::Word(text) | JexlToken::Text(text) => text.clone(),
            JexlToken::Mark(mark) => (*mark).to_owned(),
            JexlToken::Int(number) => number.to_string(),
            JexlToken::Big(number) => number.to_string(),
            JexlToken::Double(number) => number.to_string(),
            JexlToken::End => "<EOF>".to_owned(),
        };
        syntax(*at, &near)
    }

    /// One statement; `None` for an empty one.
    fn statement(&mut self) -> Result<Option<JexlNode>, JexlError> {
        if self.take_mark(";") {
            return Ok(None);
        }
        if self.is_mark("{") && !self.starts_map() {
            return self.block().map(Some);
        }
        if self.is_mark("@") || self.is_mark("#") {
            return Err(unsupported("An annotation or pragma"));
        }
        if let JexlToken::Word(word) = self.peek() {
            match word.as_str() {
                "if" => return self.if_statement().map(Some),
                "for" | "foreach" | "while" | "do" if self.starts_loop() => {
                    return self.a_loop().map(Some);
                }
                "break" | "continue" if self.dialect == Dialect::Jexl3 && self.loops > 0 => {
                    let node = match word.as_str() {
                        "break" => JexlNode::Break,
                        _ => JexlNode::Continue,
                    };
                    self.next();
                    self.take_mark(";");
                    return Ok(Some(node));
                }
                "break" | "continue" if self.dialect == Dialect::Jexl3 => {
                    return Err(self.unexpected());
                }
                "var" => return self.declaration().map(Some),
                "return" => {
                    self.next();
                    let value = self.expression()?;
                    self.take_mark(";");
                    return Ok(Some(JexlNode::Return(Box::new(value))));
                }
                _ => {}
            }
        }
        let node = self.expression()?;
        if !self.take_mark(";") && !matches!(self.peek(), JexlToken::End | JexlToken::Mark("}")) {
            // Two consecutive expressions are "ambiguous".
            return Err(self.unexpected());
        }
        Ok(Some(node))
    }

    /// Whether a map begins here, not a block.
    fn starts_map(&self) -> bool {
        let ahead = |count: usize| self.tokens.get(self.at + count).map(|(token, _)| token);
        let colon = |count| matches!(ahead(count), Some(JexlToken::Mark(":")));
        let is_key = matches!(
            ahead(1),
            Some(JexlToken::Text(_) | JexlToken::Int(_) | JexlToken::Word(_))
        );
        self.is_mark("{") && (colon(1) || (is_key && colon(2)))
    }

    /// JEXL 2 has no `do`, JEXL 3 no `foreach`.
    fn starts_loop(&self) -> bool {
        match self.dialect {
            Dialect::Jexl2 => !self.is_word("do"),
            Dialect::Jexl3 => !self.is_word("foreach"),
        }
    }

    fn a_loop(&mut self) -> Parsed {
        let JexlToken::Word(word) = self.next() else {
            return Err(self.unexpected());
        };
        self.loops += 1;
        let node = match word.as_str() {
            "while" => {
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                JexlNode::While(Box::new(condition), Box::new(self.branch()?))
            }
            "do" => {
                let body = self.branch()?;
                if !self.take_word("while") {
                    return Err(self.unexpected());
                }
                self.expect("(")?;
                let condition = self.expression()?;
                self.expect(")")?;
                self.take_mark(";");
                JexlNode::DoWhile(Box::new(condition), Box::new(body))
            }
            word => self.for_each(word == "foreach")?,
        };
        self.loops -= 1;
        Ok(node)
    }

    /// The rest of a `for`: `(name : values) statement`; in JEXL 2 after `foreach`, also `(name in values)`.
    fn for_each(&mut self, named: bool) -> Parsed {
        self.expect("(")?;
        self.take_word("var");
        let JexlToken::Word(name) = self.next() else {
            return Err(self.unexpected());
        };
        if !(named && self.take_word("in")) {
            self.expect(":")?;
        }
        let values = self.expression()?;
        self.expect(")")?;
        let body = Box::new(self.branch()?);
        Ok(JexlNode::For(name.into(), Box::new(values), body))
    }

    fn array(&mut self) -> Parsed {
        self.expect("[")?;
        let mut items = Vec::new();
        if self.take_mark("]") {
            return Ok(JexlNode::Array(items));
        }
        loop {
            if self.is_mark("...") {
                return Err(unsupported("A list"));
            }
            items.push(self.expression()?);
            if self.take_mark("]") {
                return Ok(JexlNode::Array(items));
            }
            self.expect(",")?;
        }
    }

    fn map(&mut self) -> Parsed {
        self.expect("{")?;
        if self.take_mark(":") {
            self.expect("}")?;
            return Ok(JexlNode::Map(None));
        }
        let key = match self.next() {
            JexlToken::Text(key) => JexlNode::Text(key.into()),
            JexlToken::Int(key) => JexlNode::Int(key),
            _ => return Err(unsupported("A map with computed keys")),
        };
        self.expect(":")?;
        let value = self.expression()?;
        if self.is_mark(",") {
            return Err(unsupported("A map with several entries"));
        }
        self.expect("}")?;
        Ok(JexlNode::Map(Some(Box::new((key, value)))))
    }

    fn block(&mut self) -> Parsed {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.take_mark("}") {
            if self.is_mark(":") || self.is_mark(",") {
                return Err(unsupported("A map or set"));
            }
            statements.extend(self.nested(JexlParser::statement)?);
        }
        Ok(JexlNode::Block(statements))
    }

    fn nested<T>(
        &mut self,
        parse: fn(&mut JexlParser) -> Result<T, JexlError>,
    ) -> Result<T, JexlError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(unsupported("Very deep nesting"));
        }
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn if_statement(&mut self) -> Parsed {
        let mut branches = Vec::new();
        loop {
            self.next();
            self.expect("(")?;
            let condition = self.expression()?;
            self.expect(")")?;
            branches.push((condition, self.branch()?));
            if !self.take_word("else") {
                return Ok(JexlNode::If(branches, None));
            }
            if !self.is_word("if") {
                let otherwise = self.branch()?;
                return Ok(JexlNode::If(branches, Some(Box::new(otherwise))));
            }
        }
    }

    fn branch(&mut self) -> Parsed {
        let statement = self.nested(JexlParser::statement)?;
        Ok(statement.unwrap_or(JexlNode::Block(Vec::new())))
    }

    fn declaration(&mut self) -> Parsed {
        self.next();
        let JexlToken::Word(name) = self.next() else {
            return Err(self.unexpected());
        };
        let value = if self.take_mark("=") {
            Some(Box::new(self.expression()?))
        } else {
            None
        };
        self.take_mark(";");
        Ok(JexlNode::Declaration(name.into(), value))
    }

    fn expression(&mut self) -> Parsed {
        self.nested(JexlParser::assignment)
    }

    fn assignment(&mut self) -> Parsed {
        let target = self.conditional()?;
        let operator = match self.peek() {
            JexlToken::Mark("=") => None,
            JexlToken::Mark("+=") => Some(Binary::Add),
            JexlToken::Mark("-=") => Some(Binary::Subtract),
            JexlToken::Mark("*=") => Some(Binary::Multiply),
            JexlToken::Mark("/=") => Some(Binary::Divide),
            JexlToken::Mark("%=") => Some(Binary::Modulo),
            JexlToken::Mark("&=") => Some(Binary::BitAnd),
            JexlToken::Mark("|=") => Some(Binary::BitOr),
            JexlToken::Mark("^=") => Some(Binary::BitXor),
            JexlToken::Mark("->") => return Err(unsupported("A lambda")),
            _ => return Ok(target),
        };
        let JexlNode::Variable(name) = target else {
            return match target {
                JexlNode::Property { .. } => Err(unsupported("Assignment to a property")),
                _ => Err(self.unexpected()),
            };
        };
        self.next();
        let value = self.expression()?;
        Ok(JexlNode::Assignment(name, operator, Box::new(value)))
    }

    fn conditional(&mut self) -> Parsed {
        let condition = self.or()?;
        if self.take_mark("?") {
            let yes = self.expression()?;
            self.expect(":")?;
            let no = self.expression()?;
            return Ok(JexlNode::Ternary(Box::new([condition, yes, no])));
        }
        if self.take_mark("?:") {
            return Ok(JexlNode::Elvis(
                Box::new(condition),
                Box::new(self.expression()?),
            ));
        }
        if self.take_mark("??") {
            let other = self.expression()?;
            return Ok(JexlNode::NullCoalescing(
                Box::new(condition),
                Box::new(other),
            ));
        }
        Ok(condition)
    }

    fn or(&mut self) -> Parsed {
        let mut left = self.and()?;
        while self.take_mark("||") || self.take_word("or") {
            left = JexlNode::Or(Box::new(left), Box::new(self.and()?));
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed {
        let mut left = self.bits(0)?;
        while self.take_mark("&&") || self.take_word("and") {
            left = JexlNode::And(Box::new(left), Box::new(self.bits(0)?));
        }
        Ok(left)
    }

    /// `|`, then `^`, then `&`.
    fn bits(&mut self, level: usize) -> Parsed {
        const LEVELS: [(&str, Binary); 3] = [
            ("|", Binary::BitOr),
            ("^", Binary::BitXor),
            ("&", Binary::BitAnd),
        ];
        let Some((mark, operator)) = LEVELS.get(level) else {
            return self.equality();
        };
        let mut left = self.bits(level + 1)?;
        while self.take_mark(mark) {
            left = JexlNode::Binary(*operator, Box::new(left), Box::new(self.bits(level + 1)?));
        }
        Ok(left)
    }

    fn equality(&mut self) -> Parsed {
        let left = self.relation()?;
        let operator = match self.peek() {
            JexlToken::Mark("==") => Binary::Equal,
            JexlToken::Mark("!=") => Binary::NotEqual,
            JexlToken::Word(word) if word == "eq" => Binary::Equal,
            JexlToken::Word(word) if word == "ne" => Binary::NotEqual,
            JexlToken::Mark("..") => return Err(unsupported("A range")),
            _ => return Ok(left),
        };
        self.next();
        Ok(JexlNode::Binary(
            operator,
            Box::new(left),
            Box::new(self.relation()?),
        ))
    }

    fn relation(&mut self) -> Parsed {
        let left = self.sum()?;
        let word = match self.peek() {
            JexlToken::Word(word) => word.as_str(),
            JexlToken::Mark(mark) => mark,
            _ => "",
        };
        let operator = match word {
            "<" | "lt" => Binary::Less,
            ">" | "gt" => Binary::Greater,
            "<=" | "le" => Binary::LessOrEqual,
            ">=" | "ge" => Binary::GreaterOrEqual,
            "=~" => Binary::Matches,
            "!~" => Binary::NotMatches,
            "=^" => Binary::StartsWith,
            "!^" => Binary::NotStartsWith,
            "=$" => Binary::EndsWith,
            "!$" => Binary::NotEndsWith,
            _ => return Ok(left),
        };
        self.next();
        Ok(JexlNode::Binary(
            operator,
            Box::new(left),
            Box::new(self.sum()?),
        ))
    }

    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                JexlToken::Mark("+") => Binary::Add,
                JexlToken::Mark("-") => Binary::Subtract,
                _ => return Ok(left),
            };
            self.next();
            left = JexlNode::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.unary()?;
        loop {
            let word = match self.peek() {
                JexlToken::Word(word) => word.as_str(),
                JexlToken::Mark(mark) => mark,
                _ => "",
            };
            let operator = match word {
                "*" => Binary::Multiply,
                "/" | "div" => Binary::Divide,
                "%" | "mod" => Binary::Modulo,
                _ => return Ok(left),
            };
            self.next();
            left = JexlNode::Binary(operator, Box::new(left), Box::new(self.unary()?));
        }
    }

    fn unary(&mut self) -> Parsed {
        let word = match self.peek() {
            JexlToken::Word(word) => word.as_str(),
            JexlToken::Mark(mark) => mark,
            _ => "",
        };
        let operator = match word {
            "-" => Unary::Minus,
            "+" => Unary::Plus,
            "~" => Unary::Complement,
            "!" | "not" => Unary::Not,
            "empty" => Unary::Empty,
            "size" => Unary::Size,
            _ => return self.value(),
        };
        self.next();
        if self.dialect == Dialect::Jexl2 && self.is_bare(operator) {
            return Err(self.unexpected());
        }
        let operand = self.nested(JexlParser::unary)?;
        Ok(JexlNode::Unary(operator, Box::new(operand)))
    }

    /// Whether `size` or `empty` lacks the parentheses that JEXL 2 requires.
    fn is_bare(&self, operator: Unary) -> bool {
        match operator {
            Unary::Size => !self.is_mark("("),
            Unary::Empty => match self.peek() {
                JexlToken::Int(_) | JexlToken::Double(_) => true,
                JexlToken::Word(word) => matches!(word.as_str(), "true" | "false" | "null"),
                _ => false,
            },
            _ => false,
        }
    }

    fn value(&mut self) -> Parsed {
        let mut node = self.primary()?;
        loop {
            let safe = self.is_mark("?.");
            let is_made_here = matches!(
                node,
                JexlNode::Array(_) | JexlNode::Map(_) | JexlNode::Call { .. }
            );
            if is_made_here && self.dialect == Dialect::Jexl2 && self.is_mark("[") {
                return Err(self.unexpected());
            }
            if self.take_mark("[") {
                let name = self.expression()?;
                self.expect("]")?;
                node = JexlNode::Property {
                    object: Box::new(node),
                    name: Box::new(name),
                    safe: false,
                };
            } else if self.take_mark(".") || self.take_mark("?.") {
                let name = match self.next() {
                    JexlToken::Word(name) | JexlToken::Text(name) => name,
                    _ => return Err(self.unexpected()),
                };
                node = self.member(node, name, safe)?;
            } else if self.is_mark("(") {
                return Err(unsupported("A call of a value"));
            } else {
                return Ok(node);
            }
        }
    }

    fn member(&mut self, object: JexlNode, name: String, safe: bool) -> Parsed {
        let object = Box::new(object);
        if !self.is_mark("(") {
            return Ok(JexlNode::Property {
                object,
                name: Box::new(JexlNode::Text(name.into())),
                safe,
            });
        }
        Ok(JexlNode::Call {
            object,
            method: name.into(),
            args: self.arguments()?,
            safe,
        })
    }

    fn arguments(&mut self) -> Result<Vec<JexlNode>, JexlError> {
        self.expect("(")?;
        let mut args = Vec::new();
        if self.take_mark(")") {
            return Ok(args);
        }
        loop {
            args.push(self.expression()?);
            if self.take_mark(")") {
                return Ok(args);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Parsed {
        match self.peek() {
            JexlToken::Mark("(") => {
                self.next();
                if self.is_mark(")") {
                    return Err(unsupported("A lambda"));
                }
                let inner = self.expression()?;
                if self.is_mark(",") {
                    return Err(unsupported("A lambda"));
                }
                self.expect(")")?;
                if self.is_mark("->") {
                    return Err(unsupported("A lambda"));
                }
                return Ok(inner);
            }
            JexlToken::Mark("[") => return self.array(),
            JexlToken::Mark("{") if self.starts_map() => return self.map(),
            JexlToken::Mark("{") => return Err(unsupported("A set")),
            JexlToken::Mark("`") => return Err(unsupported("A template text")),
            JexlToken::Mark(_) | JexlToken::End => return Err(self.unexpected()),
            JexlToken::Word(word) => match word.as_str() {
                "new" => return Err(unsupported("A constructor")),
                "function" => return Err(unsupported("A lambda")),
                "break" | "continue" if self.dialect == Dialect::Jexl2 => {}
                "if" | "else" | "for" | "while" | "do" | "var" | "return" | "break"
                | "continue" | "and" | "or" | "eq" | "ne" | "gt" | "ge" | "lt" | "le" | "div"
                | "mod" => return Err(self.unexpected()),
                _ => {}
            },
            _ => {}
        }
        let node = match self.next() {
            JexlToken::Int(number) => JexlNode::Int(number),
            JexlToken::Big(number) => JexlNode::Big(number),
            JexlToken::Double(number) => JexlNode::Double(number),
            JexlToken::Text(text) => JexlNode::Text(text.into()),
            JexlToken::Word(word) => match word.as_str() {
                "null" => JexlNode::Null,
                "true" => JexlNode::Bool(true),
                "false" => JexlNode::Bool(false),
                _ if self.is_mark("(") => return Err(unsupported("A function")),
                _ => JexlNode::Variable(word.into()),
            },
            JexlToken::Mark(_) | JexlToken::End => return Err(self.unexpected()),
        };
        Ok(node)
    }
}
