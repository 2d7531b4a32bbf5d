//! A user and a password.

use crate::form::{Property, Section, secret, section, text};

pub const LOGIN: Section = section("Login Configuration", &[USERNAME, PASSWORD]);

pub const USERNAME: Property = text("ConfigTestElement.username")
    .label("Username")
    .help("Names the user.");

pub const PASSWORD: Property = secret("ConfigTestElement.password")
    .label("Password")
    .help("Holds the password.");
