//! HTTP Authorization Manager (`AuthManager`): credentials by address. Basic, Digest and NTLM; Kerberos is not built.
//!
//! Properties: `AuthManager.auth_list` with `Authorization.url`, `.username`, `.password`, `.domain`, `.realm`,
//! `.mechanism`. Its iteration settings concern Kerberos only.

use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_jmx::Value;
use drumfire_web::auth::{Authorization, Mechanism};

use super::managers::{Manager, register};
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::Context;

pub struct AuthManager(Vec<Row>);

struct Row {
    url: Template,
    user: Template,
    password: Template,
    domain: Template,
    realm: Template,
    mechanism: Mechanism,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let props = d.element.props.clone();
    let mut rows = Vec::new();
    for prop in props.list("AuthManager.auth_list") {
        let Value::Element(element) = &prop.value else {
            continue;
        };
        let props = &element.props;
        let mechanism = match props.str("Authorization.mechanism").as_ref() {
            "" => Some(Mechanism::BasicDigest),
            name => Mechanism::from_name(name),
        };
        let Some(mechanism) = mechanism.filter(|mechanism| *mechanism != Mechanism::Kerberos)
        else {
            let message = format!(
                "Authorization Manager '{}' asks for the mechanism {}",
                d.element.name,
                props.str("Authorization.mechanism")
            );
            d.refuse(
                "auth-mechanism",
                message,
                "only BASIC, DIGEST and BASIC_DIGEST are built",
            );
            continue;
        };
        let mut field = |name: &str| d.compile(&props.str(name));
        rows.push(Row {
            url: field("Authorization.url"),
            user: field("Authorization.username"),
            password: field("Authorization.password"),
            domain: field("Authorization.domain"),
            realm: field("Authorization.realm"),
            mechanism,
        });
    }
    register(d, Manager::Auth(Arc::new(AuthManager(rows))));
    Roles::default()
}

impl AuthManager {
    /// The rows, evaluated.
    pub fn rows(&self, cx: &mut Context) -> Vec<Authorization> {
        let evaluated = self.0.iter().map(|row| Authorization {
            url: row.url.eval(cx).into_string(),
            user: row.user.eval(cx).into_string(),
            password: row.password.eval(cx).into_string(),
            domain: row.domain.eval(cx).into_string(),
            realm: row.realm.eval(cx).into_string(),
            mechanism: row.mechanism,
        });
        evaluated.collect()
    }
}
