//! Faults of mail samplers that are known before the run: what would fail every sample, or do something else than it says.

use drumfire_elements::samplers::smtp_sampler as facts;
use drumfire_elements::shared::mail_security;
use drumfire_elements::{Property, samplers};
use drumfire_java::text::trim;
use drumfire_java::values::property_bool;
use drumfire_jmx::Diagnostic;
use drumfire_mail::Address;
use drumfire_platform::secrets;

use super::security::versions;
use crate::resolve::Element;

/// Checks an element. `value` gives a property's value if it is known before the run; `remedy` is added to the help of errors.
pub fn faults(
    element: &Element,
    value: &mut dyn FnMut(&str) -> Option<String>,
    remedy: &str,
) -> Vec<Diagnostic> {
    let mut found = Findings {
        element,
        value,
        remedy,
        all: Vec::new(),
    };
    if element.class == samplers::smtp_sampler::CLASS {
        found.of_addresses();
        found.of_security();
    }
    found.all
}

struct Findings<'a> {
    element: &'a Element,
    value: &'a mut dyn FnMut(&str) -> Option<String>,
    remedy: &'a str,
    all: Vec<Diagnostic>,
}

impl Findings<'_> {
    /// The value of a property; one that is missing is empty.
    fn value(&mut self, property: &Property) -> Option<String> {
        match self.element.props.has(property.name) {
            true => (self.value)(property.name),
            false => Some(String::new()),
        }
    }

    fn is_set(&mut self, property: &Property) -> bool {
        self.value(property)
            .is_some_and(|text| property_bool(&text))
    }

    fn refuse(&mut self, code: &'static str, property: &Property, why: &str, help: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let help = format!("{help}, {}", self.remedy);
        let finding = self.element.error(code, message);
        self.all.push(finding.about(property.name).help(help));
    }

    fn warn(&mut self, code: &'static str, property: &Property, why: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let finding = self.element.warning(code, message);
        self.all.push(finding.about(property.name));
    }

    fn of_addresses(&mut self) {
        let lists = [&facts::TO, &facts::CC, &facts::BCC, &facts::REPLY_TO];
        let mut has_receiver = false;
        let mut is_known = true;
        for property in lists {
            let Some(list) = self.value(property) else {
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
                    self.refuse("mail-address", property, &why, help);
                }
            }
        }
        let is_stored = self.value(&facts::USE_EML);
        let is_own = is_stored.is_some_and(|stored| !property_bool(&stored));
        if is_own && is_known && !has_receiver && !self.names_receivers() {
            let why = "the mail has no receiver, so no sample succeeds";
            self.refuse("mail-receiver", &facts::TO, why, "name a receiver");
        }
    }

    /// Whether a header of the plan may name a receiver.
    fn names_receivers(&self) -> bool {
        let headers = self.element.props.list(facts::HEADER_FIELDS.name);
        !headers.is_empty()
    }

    fn of_security(&mut self) {
        let begins_later = self.is_set(&mail_security::START_TLS);
        if begins_later && self.is_set(&mail_security::ENFORCE_START_TLS) {
            let why = "STARTTLS is not enforced, as in JMeter 5.6.3: to a server without it, mails and passwords go in the clear";
            self.warn(
                "mail-tls-not-enforced",
                &mail_security::ENFORCE_START_TLS,
                why,
            );
        }
        if !begins_later && !self.is_set(&mail_security::SSL) {
            return;
        }
        let Some(protocols) = self.value(&mail_security::TLS_PROTOCOLS) else {
            return;
        };
        let property = &mail_security::TLS_PROTOCOLS;
        match versions(&protocols) {
            Err(unknown) => {
                let why = format!("`{}` is no version of TLS", secrets::text(unknown));
                let help = "write `TLSv1.2`, `TLSv1.3` or both";
                self.refuse("mail-tls-version", property, &why, help);
            }
            Ok((false, false)) => {
                let why = format!(
                    "`{}` has no version of TLS that is offered",
                    secrets::text(&protocols)
                );
                let help = "add `TLSv1.2` or `TLSv1.3`";
                self.refuse("mail-tls-version", property, &why, help);
            }
            Ok(_) => {
                let offered = ["TLSv1.2", "TLSv1.3"];
                let older = protocols
                    .split_ascii_whitespace()
                    .find(|name| !offered.contains(name));
                if let Some(older) = older {
                    let why = format!("{older} is not offered, only the newer versions of TLS");
                    self.warn("mail-tls-version", property, &why);
                }
            }
        }
    }
}
