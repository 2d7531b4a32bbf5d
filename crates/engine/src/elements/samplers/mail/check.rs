//! Faults of mail samplers that are known before the run: what would fail every sample, or do something else than it says.

use drumfire_elements::samplers::smtp_sampler as facts;
use drumfire_elements::shared::mail_security;
use drumfire_java::text::trim;
use drumfire_java::values::property_bool;
use drumfire_jmx::Diagnostic;
use drumfire_mail::Address;
use drumfire_platform::secrets;

use super::security::versions;
use crate::elements::samplers::findings::Findings;
use crate::resolve::Element;

/// Checks an element. `value` gives a property's value if it is known before the run; `remedy` is added to the help of errors.
pub fn faults(
    element: &Element,
    value: &mut dyn FnMut(&str) -> Option<String>,
    remedy: &str,
) -> Vec<Diagnostic> {
    let mut found = Findings::new(element, value, remedy);
    if element.class == facts::CLASS {
        of_addresses(&mut found);
        of_security(&mut found);
    }
    found.all
}

fn of_addresses(found: &mut Findings) {
    let lists = [&facts::TO, &facts::CC, &facts::BCC, &facts::REPLY_TO];
    let mut has_receiver = false;
    let mut is_known = true;
    for property in lists {
        let Some(list) = found.value(property) else {
            is_known = false;
            continue;
        };
        let parts = trim(&list).trim_end_matches(';').split(';').map(trim);
        for address in parts.filter(|part| part.is_ascii() && !list.trim().is_empty()) {
            has_receiver |= property.name != facts::REPLY_TO.name;
            if let Err(error) = Address::parse(address) {
                let shown = secrets::text(address);
                let why = format!("`{shown}` is no mail address: {}", error.message());
                let help = "correct the address";
                found.refuse("mail-address", property, &why, help);
            }
        }
    }
    let is_stored = found.value(&facts::USE_EML);
    let is_own = is_stored.is_some_and(|stored| !property_bool(&stored));
    if is_own && is_known && !has_receiver && !names_receivers(found) {
        let why = "the mail has no receiver, so no sample succeeds";
        found.refuse("mail-receiver", &facts::TO, why, "name a receiver");
    }
}

/// Whether a header of the plan may name a receiver.
fn names_receivers(found: &Findings) -> bool {
    let headers = found.element().props.list(facts::HEADER_FIELDS.name);
    !headers.is_empty()
}

fn of_security(found: &mut Findings) {
    let begins_later = found.is_set(&mail_security::START_TLS);
    if begins_later && found.is_set(&mail_security::ENFORCE_START_TLS) {
        let why = "STARTTLS is not enforced, as in JMeter 5.6.3: to a server without it, mails and passwords go in the clear";
        found.warn(
            "mail-tls-not-enforced",
            &mail_security::ENFORCE_START_TLS,
            why,
        );
    }
    if !begins_later && !found.is_set(&mail_security::SSL) {
        return;
    }
    let Some(protocols) = found.value(&mail_security::TLS_PROTOCOLS) else {
        return;
    };
    let property = &mail_security::TLS_PROTOCOLS;
    match versions(&protocols) {
        Err(unknown) => {
            let why = format!("`{}` is no version of TLS", secrets::text(unknown));
            let help = "write `TLSv1.2`, `TLSv1.3` or both";
            found.refuse("mail-tls-version", property, &why, help);
        }
        Ok((false, false)) => {
            let why = format!(
                "`{}` has no version of TLS that is offered",
                secrets::text(&protocols)
            );
            let help = "add `TLSv1.2` or `TLSv1.3`";
            found.refuse("mail-tls-version", property, &why, help);
        }
        Ok(_) => {
            let offered = ["TLSv1.2", "TLSv1.3"];
            let older = protocols
                .split_ascii_whitespace()
                .find(|name| !offered.contains(name));
            if let Some(older) = older {
                let why = format!("{older} is not offered, only the newer versions of TLS");
                found.warn("mail-tls-version", property, &why);
            }
        }
    }
}
