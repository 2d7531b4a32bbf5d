//! Assertions.

pub mod bean_shell_assertion;
pub mod bsf_assertion;
pub mod compare_assertion;
pub mod duration_assertion;
pub mod html_assertion;
pub mod jmespath_assertion;
pub mod json_assertion;
pub mod json_path_assertion;
pub mod jsr223_assertion;
pub mod md5_hex_assertion;
pub mod response_assertion;
pub mod size_assertion;
pub mod smime_assertion;
pub mod xml_assertion;
pub mod xml_schema_assertion;
pub mod xpath2_assertion;
pub mod xpath_assertion;

use crate::form::ElementFacts;

pub(crate) const ALL: &[&ElementFacts] = &[
    &bean_shell_assertion::FACTS,
    &bsf_assertion::FACTS,
    &compare_assertion::FACTS,
    &duration_assertion::FACTS,
    &html_assertion::FACTS,
    &jmespath_assertion::FACTS,
    &json_assertion::FACTS,
    &json_path_assertion::FACTS,
    &jsr223_assertion::FACTS,
    &md5_hex_assertion::FACTS,
    &response_assertion::FACTS,
    &size_assertion::FACTS,
    &smime_assertion::FACTS,
    &xml_assertion::FACTS,
    &xml_schema_assertion::FACTS,
    &xpath2_assertion::FACTS,
    &xpath_assertion::FACTS,
];
