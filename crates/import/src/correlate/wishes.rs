//! Wishes for the variables of a recording.

use super::Constant;
use crate::draft::Draft;
use crate::plan::VariableNames;

/// Which values become variables, and the names of these.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wishes<'w> {
    /// Values that stay as they were recorded.
    pub constants: &'w [Constant],
    /// Values whose variables have these names.
    pub names: &'w [(Constant, String)],
    /// Names that other variables have.
    pub taken: &'w [String],
    /// Whether only values of responses become variables: a value that the client made or the user typed stays as it was recorded.
    pub of_responses_only: bool,
}

impl<'w> Wishes<'w> {
    /// The name for the variable of a value that a step's response holds.
    pub(super) fn name(&self, value: &str, from: usize) -> Option<&'w str> {
        let mut names = self.names.iter();
        names
            .find(|own| own.0.value == value && own.0.from == from)
            .map(|(_, name)| name.as_str())
    }

    /// The names that new variables of a draft cannot have.
    pub(super) fn taken_names(&self, draft: &Draft) -> VariableNames {
        let mut names = VariableNames::default();
        let wanted = self.names.iter().map(|(_, name)| name);
        let taken = draft
            .variables
            .iter()
            .map(|(name, _, _)| name)
            .chain(&draft.data.names)
            .chain(wanted)
            .chain(self.taken);
        taken.for_each(|name| drop(names.take(name)));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{path, step};
    use super::super::{correlate_as, used};
    use super::*;
    use crate::draft::Transaction;
    use crate::exchange::RequestBody;

    #[test]
    fn wishes_say_which_values_become_variables_and_how_these_are_called() {
        let json = r#"{"token": "9f8e7d6c5b4a39281706", "cart": "0a1b2c3d4e5f60718293"}"#;
        let steps = || {
            vec![
                step(
                    "GET",
                    "http://h/session",
                    RequestBody::None,
                    json,
                    "application/json",
                ),
                step(
                    "POST",
                    "http://h/order?token=9f8e7d6c5b4a39281706",
                    RequestBody::Form(vec![
                        ("username".into(), "ann".into()),
                        ("cart".into(), "0a1b2c3d4e5f60718293".into()),
                    ]),
                    "",
                    "text/html",
                ),
            ]
        };
        let made = |wishes: Wishes<'_>| {
            let mut draft = Draft::new("t");
            draft.transactions.push(Transaction {
                steps: steps(),
                ..Transaction::default()
            });
            let findings = correlate_as(&mut draft, None, wishes);
            let names: Vec<String> = findings.into_iter().map(|one| one.variable).collect();
            (draft, names)
        };
        let usual = made(Wishes::default());
        assert_eq!(usual.1, ["token", "cart"]);
        assert_eq!(usual.0.data.names, ["username"]);
        let taken = ["token".to_owned()];
        let (draft, names) = made(Wishes {
            taken: &taken,
            of_responses_only: true,
            ..Wishes::default()
        });
        assert_eq!(names, ["token_2", "cart"]);
        assert!(draft.data.names.is_empty(), "{:?}", draft.data);
        let value = |text: &str| Constant {
            value: text.to_owned(),
            from: 0,
        };
        let names = [(value("9f8e7d6c5b4a39281706"), "bearer".to_owned())];
        let constants = [value("0a1b2c3d4e5f60718293")];
        let (draft, found) = made(Wishes {
            constants: &constants,
            names: &names,
            of_responses_only: true,
            ..Wishes::default()
        });
        assert_eq!(found, ["bearer"]);
        assert_eq!(path(&draft, 1), "/order?token=${bearer}");
        let first = draft.steps().next().expect("a step");
        let used = used(first, "bearer").expect("an extractor");
        assert_eq!(
            (used.kind(), used.expression(), used.matches),
            ("JSON", "$.token".to_owned(), 1)
        );
        let body = &draft.steps().nth(1).expect("a step").request.body;
        assert!(
            format!("{body:?}").contains("0a1b2c3d4e5f60718293"),
            "{body:?}"
        );
    }
}
