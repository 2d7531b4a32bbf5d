//! Generate Summary Results (`Summariser`): lines with counts and times while the run goes on.
//!
//! Property: the element's name, evaluated before the run. Summarisers with the same name share one total, including
//! the command line's (`summariser.name`), so a sample that two of them hear counts twice.

use crate::decode::Decoder;
use crate::decode::roles::{Listener, Roles};

pub fn decode(d: &mut Decoder) -> Roles {
    let name = d.name();
    let name = d.now(&name);
    let existing = d
        .decoding
        .summarisers
        .iter()
        .position(|other| *other == name);
    let listener = match existing {
        Some(number) => Listener::Summariser(number as u16),
        None => d.new_summariser(name),
    };
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn equal_names_share_a_total() {
        let xml = r#"<Summariser guiclass="SummariserGui" testclass="Summariser" testname="s"/>"#;
        let (listeners, _) = fixture::decode(xml, |d| {
            d.new_summariser("other".to_owned());
            [decode(d).listener, decode(d).listener]
        });
        assert_eq!(
            listeners,
            [Some(Listener::Summariser(1)), Some(Listener::Summariser(1))]
        );
    }
}
