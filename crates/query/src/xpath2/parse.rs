//! Parses an expression: XPath 2.0 without schema types, with `let`, `||`, `!` and `=>` of XPath 3.1.

use xpath_eval::Axis;

use super::ast::{
    AtomicType, AxisStep, ComparisonOperator, Expr, Function, NodeComparison, NodeTest, Operator,
};
use super::lex::{XPathToken, tokens};
use super::{Namespaces, XPath2Error};
use crate::nesting::{self, Nests};

pub(super) type Parsed<T> = Result<T, XPath2Error>;

/// Parses a whole expression.
pub(super) fn parse(text: &str, namespaces: &Namespaces) -> Parsed<Expr> {
    let tokens = tokens(text)?;
    if !nesting::is_flat(tokens.iter().map(nests)) {
        return Err(too_deep());
    }
    let mut parser = Parser {
        tokens,
        at: 0,
        namespaces,
        variables: Vec::new(),
    };
    let expr = parser.sequence()?;
    match parser.peek() {
        XPathToken::End => Ok(expr),
        other => Err(XPath2Error::malformed(format!(
            "Unexpected token {} beyond end of expression",
            other.shown()
        ))),
    }
}

pub(super) struct Parser<'n> {
    tokens: Vec<XPathToken>,
    at: usize,
    pub(super) namespaces: &'n Namespaces,
    variables: Vec<String>,
}

fn nests(token: &XPathToken) -> Nests {
    match token {
        XPathToken::Symbol("(" | "[" | "{") => Nests::Opens,
        XPathToken::Symbol(")" | "]" | "}") => Nests::Closes,
        XPathToken::Symbol(",") => Nests::Separates,
        XPathToken::Symbol("-" | "+") => Nests::Signs,
        _ => Nests::No,
    }
}

fn too_deep() -> XPath2Error {
    XPath2Error::not_built("an expression nested this deeply")
}

fn two(make: fn(Box<Expr>, Box<Expr>) -> Expr, a: Expr, b: Expr) -> Expr {
    make(Box::new(a), Box::new(b))
}

impl Parser<'_> {
    pub(super) fn peek(&self) -> &XPathToken {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> &XPathToken {
        // The last token is the end.
        &self.tokens[(self.at + count).min(self.tokens.len() - 1)]
    }

    pub(super) fn next(&mut self) -> XPathToken {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    pub(super) fn eat(&mut self, symbol: &str) -> bool {
        let is_next = self.peek().is(symbol);
        self.at += usize::from(is_next);
        is_next
    }

    /// Skips several words that are not names, if they all follow.
    fn eat_words(&mut self, words: &[&str]) -> bool {
        let are_next = (words.iter().enumerate()).all(|(at, word)| self.ahead(at).is_word(word));
        if are_next {
            self.at += words.len();
        }
        are_next
    }

    pub(super) fn expect(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) {
            Ok(())
        } else {
            self.wanted(symbol)
        }
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_words(&[word]) {
            Ok(())
        } else {
            self.wanted(word)
        }
    }

    fn wanted<T>(&self, what: &str) -> Parsed<T> {
        Err(XPath2Error::malformed(format!(
            "expected \"{what}\", found {}",
            self.peek().shown()
        )))
    }

    fn unexpected<T>(&self) -> Parsed<T> {
        Err(XPath2Error::malformed(format!(
            "Unexpected token {} at start of expression",
            self.peek().shown()
        )))
    }

    pub(super) fn sequence(&mut self) -> Parsed<Expr> {
        let first = self.single()?;
        if !self.peek().is(",") {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.eat(",") {
            parts.push(self.single()?);
        }
        Ok(Expr::Sequence(parts))
    }

    /// Parses an expression without a comma.
    pub(super) fn single(&mut self) -> Parsed<Expr> {
        nesting::deeper(|| self.nested_single()).unwrap_or_else(|| Err(too_deep()))
    }

    fn nested_single(&mut self) -> Parsed<Expr> {
        let binds = self.ahead(1).is("$");
        match self.peek() {
            XPathToken::End => Err(XPath2Error::malformed(
                "Expected an expression, but reached the end of the input",
            )),
            XPathToken::Name(None, word) => match word.as_str() {
                "for" if binds => self.bound(Expr::For, "in", "return"),
                "let" if binds => self.bound(Expr::Let, ":=", "return"),
                "some" if binds => self.bound(Expr::Some, "in", "satisfies"),
                "every" if binds => self.bound(Expr::Every, "in", "satisfies"),
                "if" if self.ahead(1).is("(") => self.conditional(),
                _ => self.or(),
            },
            _ => self.or(),
        }
    }

    /// Parses `for $a in …, $b in … return …` and similar expressions.
    fn bound(
        &mut self,
        make: fn(Box<Expr>, Box<Expr>) -> Expr,
        of: &str,
        end: &str,
    ) -> Parsed<Expr> {
        let outside = self.variables.len();
        let mut bindings = Vec::new();
        self.next();
        loop {
            self.expect("$")?;
            let name = self.variable_name()?;
            match of {
                ":=" => self.expect(of)?,
                _ => self.expect_word(of)?,
            }
            bindings.push(self.single()?);
            self.variables.push(name);
            if !self.eat(",") {
                break;
            }
        }
        self.expect_word(end)?;
        let mut expr = self.single()?;
        for binding in bindings.into_iter().rev() {
            expr = two(make, binding, expr);
        }
        self.variables.truncate(outside);
        Ok(expr)
    }

    fn variable_name(&mut self) -> Parsed<String> {
        match self.next() {
            XPathToken::Name(None, name) => Ok(name),
            XPathToken::Name(Some(prefix), name) => Ok(format!("{prefix}:{name}")),
            XPathToken::Expanded(uri, name) => Ok(format!("{uri}:{name}")),
            other => Err(XPath2Error::malformed(format!(
                "Expected variable name, found {}",
                other.shown()
            ))),
        }
    }

    fn conditional(&mut self) -> Parsed<Expr> {
        self.next();
        self.expect("(")?;
        let condition = self.sequence()?;
        self.expect(")")?;
        self.expect_word("then")?;
        let then = self.single()?;
        self.expect_word("else")?;
        Ok(Expr::If(Box::new([condition, then, self.single()?])))
    }

    fn or(&mut self) -> Parsed<Expr> {
        let mut left = self.and()?;
        while self.eat_words(&["or"]) {
            left = two(Expr::Or, left, self.and()?);
        }
        Ok(left)
    }

    fn and(&mut self) -> Parsed<Expr> {
        let mut left = self.comparison()?;
        while self.eat_words(&["and"]) {
            left = two(Expr::And, left, self.comparison()?);
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        let left = self.concatenation()?;
        let Some(operator) = comparison_operator(self.peek()) else {
            return Ok(left);
        };
        let shown = self.next();
        let right = Box::new(self.concatenation()?);
        let left = Box::new(left);
        if comparison_operator(self.peek()).is_some() {
            let shown = match &shown {
                XPathToken::Name(_, word) => word,
                XPathToken::Symbol(symbol) => *symbol,
                _ => "",
            };
            return Err(XPath2Error::malformed(format!(
                "Left operand of '{shown}' needs parentheses"
            )));
        }
        Ok(match operator {
            Compares::Any(how) => Expr::General(how, left, right),
            Compares::One(how) => Expr::Value(how, left, right),
            Compares::Nodes(how) => Expr::Node(how, left, right),
        })
    }

    fn concatenation(&mut self) -> Parsed<Expr> {
        let mut left = self.range()?;
        while self.eat("||") {
            left = two(Expr::Concatenation, left, self.range()?);
        }
        Ok(left)
    }

    fn range(&mut self) -> Parsed<Expr> {
        let left = self.additive()?;
        if self.eat_words(&["to"]) {
            Ok(two(Expr::Range, left, self.additive()?))
        } else {
            Ok(left)
        }
    }

    fn additive(&mut self) -> Parsed<Expr> {
        let mut left = self.multiplicative()?;
        loop {
            let operator = match self.peek() {
                XPathToken::Symbol("+") => Operator::Add,
                XPathToken::Symbol("-") => Operator::Subtract,
                _ => return Ok(left),
            };
            self.next();
            let right = self.multiplicative()?;
            left = Expr::Arithmetic(operator, Box::new(left), Box::new(right));
        }
    }

    fn multiplicative(&mut self) -> Parsed<Expr> {
        let mut left = self.union()?;
        loop {
            let operator = match self.peek() {
                XPathToken::Symbol("*") => Operator::Multiply,
                XPathToken::Name(None, word) => match word.as_str() {
                    "div" => Operator::Divide,
                    "idiv" => Operator::WholeDivide,
                    "mod" => Operator::Remainder,
                    _ => return Ok(left),
                },
                _ => return Ok(left),
            };
            self.next();
            let right = self.union()?;
            left = Expr::Arithmetic(operator, Box::new(left), Box::new(right));
        }
    }

    fn union(&mut self) -> Parsed<Expr> {
        let mut left = self.intersection()?;
        while self.eat("|") || self.eat_words(&["union"]) {
            left = two(Expr::Union, left, self.intersection()?);
        }
        Ok(left)
    }

    fn intersection(&mut self) -> Parsed<Expr> {
        let mut left = self.typed()?;
        loop {
            left = if self.eat_words(&["intersect"]) {
                two(Expr::Intersect, left, self.typed()?)
            } else if self.eat_words(&["except"]) {
                two(Expr::Except, left, self.typed()?)
            } else {
                return Ok(left);
            };
        }
    }

    /// `instance of`, `treat as`, `castable as`, `cast as`, in ascending precedence.
    fn typed(&mut self) -> Parsed<Expr> {
        let mut expr = self.arrow()?;
        if self.eat_words(&["cast", "as"]) {
            let (to, optional) = self.single_type()?;
            expr = Expr::Cast(Box::new(expr), to, optional);
        }
        if self.eat_words(&["castable", "as"]) {
            let (to, optional) = self.single_type()?;
            expr = Expr::Castable(Box::new(expr), to, optional);
        }
        if self.eat_words(&["treat", "as"]) {
            expr = Expr::TreatAs(Box::new(expr), self.sequence_type()?);
        }
        if self.eat_words(&["instance", "of"]) {
            expr = Expr::InstanceOf(Box::new(expr), self.sequence_type()?);
        }
        Ok(expr)
    }

    /// `a => f(b)` means `f(a, b)`.
    fn arrow(&mut self) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while self.eat("=>") {
            let (prefix, name) = match self.next() {
                XPathToken::Name(prefix, name) if self.peek().is("(") => (prefix, name),
                _ => return Err(XPath2Error::not_built("a computed function")),
            };
            left = self.call(prefix, name, vec![left])?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let mut signs = Vec::new();
        loop {
            if self.eat("-") {
                signs.push(Expr::Negate as fn(Box<Expr>) -> Expr);
            } else if self.eat("+") {
                signs.push(Expr::Plus as fn(Box<Expr>) -> Expr);
            } else {
                break;
            }
        }
        let operand = self.map()?;
        Ok(signs
            .into_iter()
            .rev()
            .fold(operand, |operand, sign: fn(Box<Expr>) -> Expr| {
                sign(Box::new(operand))
            }))
    }

    fn map(&mut self) -> Parsed<Expr> {
        let mut left = self.path()?;
        while self.eat("!") {
            left = two(Expr::Map, left, self.path()?);
        }
        Ok(left)
    }

    fn path(&mut self) -> Parsed<Expr> {
        let mut left = if self.eat("//") {
            two(
                Expr::Path,
                two(Expr::Path, Expr::Root, any_below()),
                self.step()?,
            )
        } else if self.eat("/") {
            if !self.starts_step() {
                return Ok(Expr::Root);
            }
            two(Expr::Path, Expr::Root, self.step()?)
        } else {
            self.step()?
        };
        loop {
            left = if self.eat("//") {
                two(Expr::Path, two(Expr::Path, left, any_below()), self.step()?)
            } else if self.eat("/") {
                two(Expr::Path, left, self.step()?)
            } else {
                return Ok(left);
            };
        }
    }

    /// Whether a step starts here; otherwise a lone `/` is followed by an operator.
    fn starts_step(&self) -> bool {
        match self.peek() {
            XPathToken::End => false,
            XPathToken::Symbol(symbol) => {
                matches!(
                    *symbol,
                    "@" | "*" | "." | ".." | "(" | "$" | "[" | "/" | "//" | "?"
                )
            }
            _ => true,
        }
    }

    fn step(&mut self) -> Parsed<Expr> {
        let primary = match self.peek() {
            XPathToken::Literal(literal) => {
                let literal = Expr::Literal(literal.clone());
                self.next();
                literal
            }
            XPathToken::Symbol("$") => {
                self.next();
                let name = self.variable_name()?;
                let variable_index = self.variables.iter().rposition(|known| *known == name);
                Expr::Variable(variable_index.ok_or_else(|| {
                    XPath2Error::malformed(format!(
                        "Undeclared variable in XPath expression: ${name}"
                    ))
                })?)
            }
            XPathToken::Symbol("(") => {
                self.next();
                if self.eat(")") {
                    Expr::Sequence(Vec::new())
                } else {
                    let inner = self.sequence()?;
                    self.expect(")")?;
                    inner
                }
            }
            XPathToken::Symbol(".") => {
                self.next();
                Expr::Context
            }
            XPathToken::Symbol("[") => {
                self.next();
                self.sequence()?;
                return Err(XPath2Error::not_built("an array"));
            }
            XPathToken::Symbol("?") => return Err(XPath2Error::not_built("a look-up")),
            XPathToken::Name(_, name) if self.ahead(1).is("#") => {
                return Err(XPath2Error::not_built(&format!(
                    "the function {name} as a value"
                )));
            }
            XPathToken::Name(None, word)
                if matches!(word.as_str(), "map" | "array") && self.ahead(1).is("{") =>
            {
                return Err(XPath2Error::not_built(&format!("a {word}")));
            }
            XPathToken::Name(prefix, name)
                if self.ahead(1).is("(") && !is_kind_test(prefix, name) =>
            {
                let (prefix, name) = (prefix.clone(), name.clone());
                self.next();
                self.call(prefix, name, Vec::new())?
            }
            _ => return self.axis_step(),
        };
        self.postfix(primary)
    }

    fn postfix(&mut self, primary: Expr) -> Parsed<Expr> {
        let predicates = self.predicates()?;
        if self.peek().is("(") {
            return Err(XPath2Error::not_built("a computed function"));
        }
        if self.peek().is("?") {
            return Err(XPath2Error::not_built("a look-up"));
        }
        Ok(if predicates.is_empty() {
            primary
        } else {
            Expr::Filter(Box::new(primary), predicates)
        })
    }

    fn predicates(&mut self) -> Parsed<Vec<Expr>> {
        let mut predicates = Vec::new();
        while self.eat("[") {
            predicates.push(self.sequence()?);
            self.expect("]")?;
        }
        Ok(predicates)
    }

    /// Parses the arguments of a function, after those from an arrow; the parenthesis comes next.
    fn call(&mut self, prefix: Option<String>, name: String, given: Vec<Expr>) -> Parsed<Expr> {
        let mut arguments = given;
        self.expect("(")?;
        if !self.eat(")") {
            loop {
                if self.peek().is("?") {
                    return Err(XPath2Error::not_built(
                        "a function with arguments left open",
                    ));
                }
                arguments.push(self.single()?);
                if !self.eat(",") {
                    break;
                }
            }
            self.expect(")")?;
        }
        if prefix.as_deref() == Some("xs") {
            return self.construct(&name, arguments);
        }
        let function = Function::find(prefix.as_deref(), &name, arguments.len(), self.namespaces)?;
        Ok(Expr::Call(function, arguments))
    }

    /// `xs:integer(…)`
    fn construct(&self, name: &str, mut arguments: Vec<Expr>) -> Parsed<Expr> {
        let to = self.atomic_type(Some("xs"), name).map_err(|fault| match fault {
            XPath2Error::Malformed(_) => XPath2Error::malformed(format!(
                "Cannot find a {}-argument function named Q{{http://www.w3.org/2001/XMLSchema}}{name}(). Unknown constructor function: {{http://www.w3.org/2001/XMLSchema}}{name}",
                arguments.len()
            )),
            fault => fault,
        })?;
        match arguments.pop() {
            Some(argument)
                if arguments.is_empty()
                    && !matches!(to, AtomicType::AnyAtomic | AtomicType::Numeric) =>
            {
                Ok(Expr::Cast(Box::new(argument), to, true))
            }
            _ => Err(XPath2Error::malformed(
                "A constructor function must have exactly one argument",
            )),
        }
    }

    fn axis_step(&mut self) -> Parsed<Expr> {
        let step = |axis, test| AxisStep {
            axis,
            test,
            predicates: Vec::new(),
        };
        let mut step = if self.eat("..") {
            step(Axis::Parent, NodeTest::Any)
        } else if self.eat("@") {
            let test = self.node_test(Axis::Attribute)?;
            step(
                Axis::Attribute,
                test.ok_or_else(|| XPath2Error::malformed("@ must be followed by a NodeTest"))?,
            )
        } else if self.ahead(1).is("::") {
            let axis = self.axis()?;
            match self.node_test(axis)? {
                Some(test) => step(axis, test),
                None => return self.unexpected(),
            }
        } else {
            let axis = match self.peek() {
                XPathToken::Name(None, word)
                    if self.ahead(1).is("(")
                        && matches!(word.as_str(), "attribute" | "schema-attribute") =>
                {
                    Axis::Attribute
                }
                _ => Axis::Child,
            };
            match self.node_test(axis)? {
                Some(test) => step(axis, test),
                None => return self.unexpected(),
            }
        };
        step.predicates = self.predicates()?;
        Ok(Expr::Step(step))
    }

    fn axis(&mut self) -> Parsed<Axis> {
        let name = match self.next() {
            XPathToken::Name(None, name) => name,
            other => {
                let shown = other.shown();
                return Err(XPath2Error::malformed(format!(
                    "Unexpected token {shown} at start of expression"
                )));
            }
        };
        self.expect("::")?;
        Ok(match name.as_str() {
            "child" => Axis::Child,
            "descendant" => Axis::Descendant,
            "descendant-or-self" => Axis::DescendantOrSelf,
            "parent" => Axis::Parent,
            "ancestor" => Axis::Ancestor,
            "ancestor-or-self" => Axis::AncestorOrSelf,
            "following-sibling" => Axis::FollowingSibling,
            "preceding-sibling" => Axis::PrecedingSibling,
            "following" => Axis::Following,
            "preceding" => Axis::Preceding,
            "attribute" => Axis::Attribute,
            "self" => Axis::SelfAxis,
            "namespace" => return Err(XPath2Error::not_built("the axis 'namespace'")),
            _ => return Err(XPath2Error::malformed(format!("Unknown axis name: {name}"))),
        })
    }
}

enum Compares {
    Any(ComparisonOperator),
    One(ComparisonOperator),
    Nodes(NodeComparison),
}

fn comparison_operator(token: &XPathToken) -> Option<Compares> {
    Some(match token {
        XPathToken::Symbol(symbol) => match *symbol {
            "=" => Compares::Any(ComparisonOperator::Equal),
            "!=" => Compares::Any(ComparisonOperator::NotEqual),
            "<" => Compares::Any(ComparisonOperator::Less),
            "<=" => Compares::Any(ComparisonOperator::LessOrEqual),
            ">" => Compares::Any(ComparisonOperator::Greater),
            ">=" => Compares::Any(ComparisonOperator::GreaterOrEqual),
            "<<" => Compares::Nodes(NodeComparison::Before),
            ">>" => Compares::Nodes(NodeComparison::After),
            _ => return None,
        },
        XPathToken::Name(None, word) => match word.as_str() {
            "eq" => Compares::One(ComparisonOperator::Equal),
            "ne" => Compares::One(ComparisonOperator::NotEqual),
            "lt" => Compares::One(ComparisonOperator::Less),
            "le" => Compares::One(ComparisonOperator::LessOrEqual),
            "gt" => Compares::One(ComparisonOperator::Greater),
            "ge" => Compares::One(ComparisonOperator::GreaterOrEqual),
            "is" => Compares::Nodes(NodeComparison::Is),
            _ => return None,
        },
        _ => return None,
    })
}

/// The implicit step in `a//b`.
fn any_below() -> Expr {
    Expr::Step(AxisStep {
        axis: Axis::DescendantOrSelf,
        test: NodeTest::Any,
        predicates: Vec::new(),
    })
}

/// Whether a word before a parenthesis is a kind test instead of a function.
pub(super) fn is_kind_test(prefix: &Option<String>, name: &str) -> bool {
    const KINDS: [&str; 12] = [
        "node",
        "text",
        "comment",
        "processing-instruction",
        "element",
        "attribute",
        "document-node",
        "namespace-node",
        "schema-element",
        "schema-attribute",
        "item",
        "function",
    ];
    prefix.is_none() && KINDS.contains(&name)
}
