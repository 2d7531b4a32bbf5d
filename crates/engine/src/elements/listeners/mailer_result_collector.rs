//! Mailer Visualizer (`MailerResultCollector`): sends mail when the number of failed samples exceeds a limit, and when the number
//! of successful ones then exceeds another. Java runs its own class, which also writes its file of results if it has one.
//!
//! Properties: those of a result collector, and in `MailerResultCollector.mailer_model` the addresses, the server and the limits.
//! Without an address (`MailerModel.addressie`) it sends no mail and does not need Java.

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
    if has_address {
        java::listener(d)
    } else {
        super::result_collector(d)
    }
}
