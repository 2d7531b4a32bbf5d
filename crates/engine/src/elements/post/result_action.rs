//! Result Status Action Handler (`ResultAction`): stops or redirects the user, or stops the test, after a failed sample.
//!
//! Property: `OnError.action` (0 continue, 1 stop thread, 2 stop test, 3 stop test now, 4 next thread loop, 5 next iteration of the
//! current loop, 6 break the current loop). It is a listener, so it acts after the assertions. Where listeners only get the
//! sample of a parent transaction, it does nothing.

use drumfire_elements::post::result_status_action as facts;

use crate::base::number;
use crate::decode::Decoder;
use crate::decode::roles::{Listener, Roles};
use crate::run::action::Action;
use crate::run::action::FailureAction;

pub fn decode(d: &mut Decoder) -> Roles {
    let action = match number::int(&d.text_now(facts::ACTION.name)) {
        1 => FailureAction::StopThread,
        2 => FailureAction::StopTest,
        3 => FailureAction::StopTestNow,
        4 => FailureAction::Go(Action::NextThreadIteration),
        5 => FailureAction::Go(Action::NextLoopIteration),
        6 => FailureAction::Go(Action::BreakLoop),
        _ => return Roles::default(),
    };
    Roles {
        listener: Some(Listener::OnFailure(d.element.id, action)),
        ..Roles::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn listener(action: &str) -> Option<Listener> {
        let xml = format!(
            r#"<ResultAction guiclass="ResultActionGui" testclass="ResultAction" testname="r"><intProp name="OnError.action">{action}</intProp></ResultAction>"#
        );
        fixture::decode(&xml, decode).0.listener
    }

    #[test]
    fn each_number_is_an_action() {
        let is = |action: &str, expected| matches!(listener(action), Some(Listener::OnFailure(_, found)) if found == expected);
        assert!(listener("0").is_none() && listener("7").is_none());
        assert!(is("1", FailureAction::StopThread));
        assert!(is("2", FailureAction::StopTest));
        assert!(is("3", FailureAction::StopTestNow));
        assert!(is("4", FailureAction::Go(Action::NextThreadIteration)));
        assert!(is("5", FailureAction::Go(Action::NextLoopIteration)));
        assert!(is("6", FailureAction::Go(Action::BreakLoop)));
    }
}
