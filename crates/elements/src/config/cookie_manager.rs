//! HTTP Cookie Manager.

use crate::form::{
    ElementFacts, Property, Role, choice, flag, is, items, same, section, suggested,
};
use crate::items;

pub const CLASS: &str = "CookieManager";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "HTTP Cookie Manager", "CookiePanel")
        .help("Keeps each user's cookies.")
        .sections(&[
            section(
                "Options",
                &[
                    CLEAR_EACH_ITERATION,
                    CONTROLLED_BY_THREAD_GROUP,
                    POLICY,
                    IMPLEMENTATION,
                ],
            ),
            section("User-Defined Cookies", &[COOKIES]),
        ]);

pub const CLEAR_EACH_ITERATION: Property = flag("CookieManager.clearEachIteration")
    .label("Clear cookies each iteration?")
    .default("false")
    .help("Begins each iteration with the cookies of the list below.");

pub const CONTROLLED_BY_THREAD_GROUP: Property = flag("CookieManager.controlledByThreadGroup")
    .label("Use Thread Group configuration to control cookie clearing")
    .default("false")
    .help("Lets the thread group's setting of the same user decide that.");

pub const POLICY: Property = choice(
    "CookieManager.policy",
    &[
        is("", "standard"),
        same("standard-strict"),
        same("ignoreCookies"),
        same("netscape"),
        same("default"),
        same("rfc2109"),
        same("rfc2965"),
        same("best-match"),
        same("compatibility"),
    ],
)
.label("Cookie Policy")
.help("Says by which rules cookies are read and sent.");

pub const IMPLEMENTATION: Property = suggested(
    "CookieManager.implementation",
    &["org.apache.jmeter.protocol.http.control.HC4CookieHandler"],
)
.label("Implementation")
.help("Names the class of JMeter that handles cookies.");

pub const COOKIES: Property = items("CookieManager.cookies", &items::COOKIE)
    .label("User-Defined Cookies")
    .help("Lists cookies that users have from the start.");
