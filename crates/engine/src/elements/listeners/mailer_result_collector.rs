//! Mailer Visualizer (`MailerResultCollector`): sends mail when more samples have failed than a limit, and when more have succeeded
//! again. Its own Java class does so, and writes the file of results if it has one.
//!
//! Properties: those of a result collector, and in `MailerResultCollector.mailer_model` the addresses, the server and the limits.
//! Without an address (`MailerModel.addressie`) there is no mail, and no need of Java.

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java;

pub fn decode(d: &mut Decoder) -> Roles {
    let model = d
        .element
        .props
        .element("MailerResultCollector.mailer_model");
    let has_address =
        model.is_some_and(|model| !model.props.str("MailerModel.addressie").trim().is_empty());
    match has_address {
        true => java::listener(d),
        false => super::result_collector(d),
    }
}
