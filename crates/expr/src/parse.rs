//! JMeter's `FunctionParser`: parses property texts, including its oddities.

use std::ops::Range;

use drumfire_java::text::is_space_char;

use crate::call::FunctionCall;
use crate::catalogue;
use crate::scope::{Raised, Scope};
use crate::spec::FunctionSpec;
use crate::template::{Template, TemplatePart, Variable};
use crate::template_error::TemplateError;
use crate::text::Text;

/// How variables get their numbers.
#[derive(Clone, Copy)]
pub(crate) enum VariableNumbering {
    /// The plan is being compiled: new names get the next number.
    Growing,
    /// The test is running: unknown names are looked up by name.
    Fixed,
}

impl Template {
    /// Evaluates a text that is only known at run time, as `__eval` and `__evalVar` do.
    ///
    /// If JMeter cannot compile the text, the result is empty: `CompoundVariable(String)` swallows the
    /// exception.
    ///
    /// # Errors
    /// See [`Template::try_eval`].
    pub(crate) fn eval_text(text: &str, scope: &mut dyn Scope) -> Result<String, Raised> {
        let mut warnings = Vec::new();
        let before = *scope.nesting();
        let mut parser = Parser::new(VariableNumbering::Fixed, scope, &mut warnings);
        match parser.compile(text, 0) {
            Ok(parts) => {
                let deepest = parser.deepest;
                let template = Template::from_parts(text, parts);
                *scope.nesting() = deepest + 1;
                let evaluated = template.try_eval(scope).map(Text::into_string);
                *scope.nesting() = before;
                evaluated
            }
            // Where Java's stack overflows, the thread ends.
            Err(fault) if fault.code == TOO_DEEP => Err(Raised::StopThread(fault.message)),
            Err(_) => Ok(String::new()),
        }
    }
}

/// How deeply function calls may be nested in arguments of others, and in texts that `__eval` evaluates. The bound is far below
/// the stack of any thread, and it keeps compiling linear: each level reads its argument again.
const MOST_NESTED: usize = 100;
/// The code of the fault of a text that is nested more deeply.
const TOO_DEEP: &str = "function-nesting";

pub(crate) struct Parser<'c> {
    names: VariableNumbering,
    /// The scope for functions that evaluate arguments at compile time (`__time`, `__timeShift`).
    scope: &'c mut dyn Scope,
    warnings: &'c mut Vec<TemplateError>,
    /// The calls around the text at hand.
    depth: usize,
    /// The highest depth so far.
    deepest: usize,
}

/// A position in a text. `base` is the text's offset in the property, for spans.
struct Cursor<'t> {
    text: &'t str,
    pos: usize,
    base: usize,
}

impl Cursor<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.text[self.pos..].chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// The character after a backslash. At the end of the text, JMeter's reader leaves the backslash
    /// in its buffer, so a second backslash seems to follow.
    fn escaped(&mut self) -> char {
        self.next().unwrap_or('\\')
    }

    fn span_from(&self, start: usize) -> Range<usize> {
        self.base + start..self.base + self.pos
    }
}

/// Initial capacity that suffices for most names and arguments.
const NAME_BYTES: usize = 24;

impl<'c> Parser<'c> {
    pub(crate) fn new(
        names: VariableNumbering,
        scope: &'c mut dyn Scope,
        warnings: &'c mut Vec<TemplateError>,
    ) -> Parser<'c> {
        let depth = *scope.nesting();
        Parser {
            names,
            scope,
            warnings,
            depth,
            deepest: depth,
        }
    }

    /// `FunctionParser.compileString`: text, variables and function calls in order.
    pub(crate) fn compile(
        &mut self,
        text: &str,
        base: usize,
    ) -> Result<Vec<TemplatePart>, TemplateError> {
        let mut cursor = Cursor { text, pos: 0, base };
        let mut parts = Vec::new();
        let plain = text.find(['$', '\\']).unwrap_or(text.len());
        let mut buffer = String::with_capacity(plain + 1);
        buffer.push_str(&text[..plain]);
        cursor.pos = plain;
        let mut previous = ' ';
        while let Some(current) = cursor.next() {
            if current == '\\' {
                let escaped = cursor.escaped();
                if !matches!(escaped, '$' | ',' | '\\') {
                    buffer.push('\\');
                }
                buffer.push(escaped);
                previous = ' ';
            } else if current == '{' && previous == '$' {
                buffer.pop();
                if !buffer.is_empty() {
                    parts.push(TemplatePart::Text(std::mem::take(&mut buffer).into()));
                }
                parts.push(self.reference(&mut cursor)?);
                previous = ' ';
            } else {
                buffer.push(current);
                previous = current;
            }
        }
        if !buffer.is_empty() || parts.is_empty() {
            parts.push(TemplatePart::Text(buffer.into()));
        }
        Ok(parts)
    }

    /// `FunctionParser.makeFunction`: the part after `${`.
    fn reference(&mut self, cursor: &mut Cursor<'_>) -> Result<TemplatePart, TemplateError> {
        let start = cursor.pos - 2;
        let mut buffer = String::with_capacity(NAME_BYTES);
        let mut previous = ' ';
        let mut looks_like_a_call = false;
        while let Some(current) = cursor.next() {
            match current {
                '\\' => {
                    buffer.push(cursor.escaped());
                    previous = ' ';
                }
                '(' if previous != ' ' => {
                    if let Some(spec) = catalogue::function(drumfire_java::text::trim(&buffer)) {
                        let args = self.arguments(cursor)?;
                        let mut span = cursor.span_from(start);
                        span.end += usize::from(cursor.text[cursor.pos..].starts_with('}'));
                        let call = self.call(spec, args, span)?;
                        expect_end(cursor, &buffer, start)?;
                        return Ok(call);
                    }
                    looks_like_a_call = true;
                    buffer.push('(');
                }
                '}' => {
                    if let Some(spec) = catalogue::function(&buffer) {
                        return self.call(spec, Vec::new(), cursor.span_from(start));
                    }
                    if looks_like_a_call && buffer.starts_with("__") {
                        self.warn_unknown_function(&buffer, cursor.span_from(start));
                    }
                    let slot = match self.names {
                        VariableNumbering::Growing => Some(self.scope.vars_mut().intern(&buffer)),
                        VariableNumbering::Fixed => self.scope.vars().names().slot(&buffer),
                    };
                    return Ok(TemplatePart::Variable(Variable::new(&buffer, slot)));
                }
                _ => {
                    buffer.push(current);
                    previous = current;
                }
            }
        }
        self.warnings.push(
            TemplateError::warning(
                "unterminated-reference",
                format!("Probably an invalid function string: {buffer}"),
                cursor.span_from(start),
            )
            .with_help("JMeter drops the `${` and takes the rest as text; add the missing `}`"),
        );
        Ok(TemplatePart::Text(buffer.into()))
    }

    fn warn_unknown_function(&mut self, text: &str, span: Range<usize>) {
        let name = text.split('(').next().unwrap_or(text);
        let fault = TemplateError::warning(
            "unknown-function",
            format!("There is no function {name}; JMeter takes this for a variable"),
            span,
        );
        self.warnings.push(match catalogue::similar(name) {
            Some(similar) => fault.with_help(format!("did you mean {similar}?")),
            None => fault.with_help("a plugin may be missing"),
        });
    }

    fn call(
        &mut self,
        spec: &'static FunctionSpec,
        args: Vec<Template>,
        span: Range<usize>,
    ) -> Result<TemplatePart, TemplateError> {
        if let Some(message) = spec.wrong_count(args.len()) {
            return Err(
                TemplateError::error("function-arguments", message, span).with_help(spec.usage())
            );
        }
        match FunctionCall::new(spec, args, self.scope) {
            Ok(call) => Ok(TemplatePart::Call(Box::new(call))),
            Err(refusal) => Err(TemplateError::error(refusal.code, refusal.message, span)),
        }
    }

    /// `FunctionParser.parseParams`: the part after `name(`, up to the closing parenthesis.
    fn arguments(&mut self, cursor: &mut Cursor<'_>) -> Result<Vec<Template>, TemplateError> {
        let mut args = Vec::new();
        let mut start = cursor.pos;
        let mut buffer = String::with_capacity(NAME_BYTES);
        let mut previous = ' ';
        let mut references = 0;
        let mut parentheses = 0;
        while let Some(current) = cursor.next() {
            match current {
                '\\' => {
                    buffer.push('\\');
                    buffer.push(cursor.escaped());
                    previous = ' ';
                    continue;
                }
                ',' if references == 0 => {
                    args.push(self.argument(&buffer, cursor.base + start)?);
                    start = cursor.pos;
                    buffer.clear();
                    continue;
                }
                ')' if references == 0 && parentheses == 0 => {
                    if !(buffer.is_empty() && args.is_empty()) {
                        args.push(self.argument(&buffer, cursor.base + start)?);
                    }
                    return Ok(args);
                }
                '{' if previous == '$' => references += 1,
                '}' if references > 0 => references -= 1,
                ')' if references == 0 => parentheses -= 1,
                '(' if references == 0 => parentheses += 1,
                _ => {}
            }
            buffer.push(current);
            previous = current;
        }
        args.push(self.argument(&buffer, cursor.base + start)?);
        Ok(args)
    }

    /// One argument. Unlike a property, it is always unescaped (`CompoundVariable.setParameters`).
    fn argument(&mut self, text: &str, base: usize) -> Result<Template, TemplateError> {
        if self.depth >= MOST_NESTED {
            let message = format!("Functions are nested more than {MOST_NESTED} deep");
            return Err(
                TemplateError::error(TOO_DEEP, message, base..base + text.len())
                    .with_help("put parts of the text into variables"),
            );
        }
        self.depth += 1;
        self.deepest = self.deepest.max(self.depth);
        let parts = self.compile(text, base);
        self.depth -= 1;
        Ok(Template::from_parts(text, parts?))
    }
}

/// Only spaces (`Character.isSpaceChar`, so no tabs) and `}` may follow the closing parenthesis.
fn expect_end(cursor: &mut Cursor<'_>, name: &str, start: usize) -> Result<(), TemplateError> {
    let after = loop {
        match cursor.next() {
            Some(c) if is_space_char(c) => {}
            other => break other,
        }
    };
    if after == Some('}') {
        return Ok(());
    }
    let shown: String = cursor.text.chars().take(100).collect();
    Err(TemplateError::error(
        "function-end",
        format!("Expected }} after {name} function call in {shown}"),
        cursor.span_from(start),
    )
    .with_help("a comma or parenthesis inside an argument may need a backslash before it"))
}
