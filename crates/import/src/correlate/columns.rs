//! Texts that people type become columns of the CSV file. Two fields share a column if they mean the same and have the same
//! value: a user whose password is his name may get another password in the file.

use super::Correlation;
use super::form::ValueEncoding;
use super::json::escaping_call;
use super::sent::Sent;
use super::worth::is_telling;
use super::{KnownVariable, put};
use crate::draft::Data;
use crate::graphql;

/// What a text that people type is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The name of an account, or the address of its owner.
    Account,
    /// Its password.
    Password,
    Pin,
    Phone,
    /// Words to search for.
    Search,
}

/// Names of fields that people fill in by typing.
const TYPED: [(&str, Meaning); 16] = [
    ("user", Meaning::Account),
    ("username", Meaning::Account),
    ("userid", Meaning::Account),
    ("login", Meaning::Account),
    ("loginid", Meaning::Account),
    ("email", Meaning::Account),
    ("mail", Meaning::Account),
    ("password", Meaning::Password),
    ("passwd", Meaning::Password),
    ("pass", Meaning::Password),
    ("pwd", Meaning::Password),
    ("pin", Meaning::Pin),
    ("phone", Meaning::Phone),
    ("q", Meaning::Search),
    ("query", Meaning::Search),
    ("search", Meaning::Search),
];

/// The meaning of a field's text; `None` if nobody typed it.
pub fn meaning(sent: &Sent) -> Option<Meaning> {
    let letters = sent.name.chars().filter(char::is_ascii_alphanumeric);
    let name = letters.collect::<String>().to_ascii_lowercase();
    let (_, meaning) = TYPED.iter().find(|(own, _)| *own == name)?;
    let value = sent.value.as_str();
    let is_typed = match meaning {
        Meaning::Search => !is_document(value),
        // A password may hold any character that a keyboard has; it may even have been pasted with its line end.
        Meaning::Password => true,
        _ => !value.contains(char::is_control),
    };
    (sent.is_field && is_typed && !value.is_empty() && value.chars().all(is_storable))
        .then_some(*meaning)
}

fn is_storable(c: char) -> bool {
    !c.is_control() || matches!(c, '\n' | '\r' | '\t')
}

/// Whether a program made the text: a query of several lines or in a language such as GraphQL or JSON.
fn is_document(text: &str) -> bool {
    const LONGEST: usize = 200;
    text.len() > LONGEST
        || text.contains(char::is_control)
        || text.trim_start().starts_with(['{', '[', '<', '('])
        || graphql::is_graphql(text)
}

impl KnownVariable {
    /// Whether the value may be the same thing for a person, not only by chance.
    pub(super) fn may_mean(&self, sent: &Sent) -> bool {
        match (self.meaning, meaning(sent)) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    /// The expression within JSON of a variable with this value.
    pub(super) fn in_json(&self, value: &str) -> String {
        let plain = &self.expressions.plain;
        let other = self.other.as_deref().unwrap_or(value);
        escaping_call(plain, &[value, other]).unwrap_or_else(|| plain.clone())
    }
}

/// Adds the row of the other user for the columns that the recording has already.
pub fn add_second_row(data: &mut Data, other: &Data) {
    let (Some(ours), Some(others)) = (data.rows.first(), other.rows.first()) else {
        return;
    };
    let columns = data.names.iter().zip(ours);
    let row = columns.map(|(name, value)| {
        let at = other.names.iter().position(|other| other == name);
        at.and_then(|at| others.get(at)).unwrap_or(value).clone()
    });
    data.rows.push(row.collect());
}

impl Correlation<'_> {
    /// Puts a column of the CSV file in place of a value that the users brought along.
    pub(super) fn bring_column(
        &mut self,
        sent: &Sent,
        other: Option<String>,
        place: usize,
    ) -> bool {
        let meaning = meaning(sent);
        if other.is_none() && meaning.is_none() {
            return false;
        }
        let column = match other {
            None => self.shared_column(sent, meaning),
            // A column with both users' values was looked for already.
            Some(_) => None,
        };
        let is_new = column.is_none();
        let variable = column.unwrap_or_else(|| self.names.take(&sent.name));
        let request = &mut self.steps[place].request;
        let expressions = ValueEncoding::Plain.expressions(&variable);
        let values = [&sent.value, other.as_ref().unwrap_or(&sent.value)].map(String::as_str);
        let escaped = escaping_call(&expressions.plain, &values);
        let in_json = escaped.as_deref().unwrap_or(&expressions.plain);
        let is_read = match meaning {
            // The same text may stand elsewhere with another meaning.
            Some(_) => put::expression(request, sent, &expressions.plain, in_json),
            None => put::value(request, sent, &expressions),
        };
        match (is_read, is_new) {
            (true, true) => self.add_column(variable, sent, other, meaning),
            // A column that no request reads would be in the way of whoever fills in the file.
            (false, true) => self.names.put_back(&sent.name),
            (_, false) => {}
        }
        is_read
    }

    /// A column for a value that no request holds as it is, such as a part of the credentials of HTTP Basic.
    pub(super) fn column(&mut self, sent: &Sent, other: Option<String>) -> String {
        let meaning = meaning(sent);
        let existing = match other {
            None => self.shared_column(sent, meaning),
            Some(_) => None,
        };
        existing.unwrap_or_else(|| {
            let variable = self.names.take(&sent.name);
            self.add_column(variable.clone(), sent, other, meaning);
            variable
        })
    }

    /// The column for a value of this meaning.
    fn shared_column(&self, sent: &Sent, meaning: Option<Meaning>) -> Option<String> {
        let row = self.data.rows.first()?;
        let mut columns = row.iter().zip(&self.data.names).zip(&self.meanings);
        let shared = columns.find(|((value, _), own)| **value == sent.value && **own == meaning);
        shared.map(|((_, name), _)| name.clone())
    }

    fn add_column(
        &mut self,
        variable: String,
        sent: &Sent,
        other: Option<String>,
        meaning: Option<Meaning>,
    ) {
        self.data.names.push(variable.clone());
        self.meanings.push(meaning);
        let users = 1 + usize::from(self.pair.is_some());
        self.data
            .rows
            .resize(users.max(self.data.rows.len()), Vec::new());
        for (user, row) in self.data.rows.iter_mut().enumerate() {
            let value = other.as_ref().filter(|_| user > 0).unwrap_or(&sent.value);
            row.push(value.clone());
        }
        if let Some(other) = other {
            let variables = self.known.entry(sent.value.clone()).or_default();
            variables.push(KnownVariable {
                expressions: ValueEncoding::Plain.expressions(&variable),
                other: Some(other),
                names: sent.names.clone(),
                is_telling: is_telling(&sent.value),
                from: 0,
                finding: None,
                meaning,
            });
        }
    }
}
