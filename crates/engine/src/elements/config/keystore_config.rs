//! Keystore Configuration (`KeystoreConfig`): selects the client certificates of HTTPS requests (`SSLManager`,
//! `JmeterKeyStore`).
//!
//! Java's system properties `javax.net.ssl.keyStore`, `javax.net.ssl.keyStorePassword` and `javax.net.ssl.keyStoreType` name
//! the store, whether the plan has this element or not. Without it, requests use the store's first key.
//!
//! Properties: `startIndex` and `endIndex` (which keys, from 0; by default those of `https.keyStoreStartIndex` and
//! `https.keyStoreEndIndex`), `clientCertAliasVarName` (the variable that holds the key's alias), `preload` (no difference
//! here). The last such element applies to the whole plan.
//!
//! Differences: JMeter takes the next key, or reads the variable, whenever a server requests a certificate. Here a user gets
//! its key at its first HTTPS request and keeps it (or follows the variable). PKCS#11 is not supported.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use drumfire_elements::config::keystore_configuration as facts;
use drumfire_elements::config::keystore_configuration;
use drumfire_expr::Properties;
use drumfire_http::Identity;
use drumfire_java::Exception;

use super::jks::{KeyStoreError, PrivateKeyEntry};
use super::{jks, pkcs12};
use crate::decode::roles::Roles;
use crate::decode::{Decoder, DecodingContext, OutsideAccess};
use crate::resolve::Element;
use crate::run::context::{Context, StateId};

/// The keys that users present to servers.
pub struct Keystore {
    /// Alias and identity of each key within the bounds.
    keys: Vec<(String, Arc<Identity>)>,
    /// The variable that holds the alias.
    variable: Option<String>,
    next: AtomicUsize,
    state: StateId,
}

/// Its settings are read before any sampler is decoded, by [`read`].
pub fn decode(_: &mut Decoder) -> Roles {
    Roles::default()
}

/// Which keys of the store are used.
#[derive(Default)]
struct KeySelection {
    start: i64,
    /// The index of the last one; -1 for no limit.
    end: i64,
    variable: Option<String>,
}

/// The client certificates of a plan.
#[derive(Default)]
struct OfPlan(Option<Arc<Keystore>>);

/// The client certificates of the plan's HTTPS requests.
pub fn of_plan(decoding: &DecodingContext) -> Option<Arc<Keystore>> {
    decoding.kept.get::<OfPlan>()?.0.clone()
}

/// Reads the client certificates of a plan, for [`of_plan`].
pub fn read(plan: &Element, decoding: &mut DecodingContext) {
    *decoding.kept.of() = OfPlan(open(plan, decoding));
}

/// `None` if no store is named, or it cannot be read.
fn open(plan: &Element, decoding: &mut DecodingContext) -> Option<Arc<Keystore>> {
    let mut choice = KeySelection::default();
    visit(plan, decoding, &mut choice);
    if decoding.outside == OutsideAccess::Closed {
        return None;
    }
    let properties = decoding.settings.properties.clone();
    let file = properties
        .get_system("javax.net.ssl.keyStore")
        .filter(|file| !file.is_empty())?;
    if !Path::new(&*file).exists() {
        tracing::warn!("Keystore file not found, loading empty keystore");
        return None;
    }
    let keys = load(&file, &properties, &choice)
        .inspect_err(|fault| {
            let message = format!("the key store '{file}' cannot be loaded, so users present no client certificate: {fault}");
            decoding.findings.push(plan.warning("keystore-unreadable", message));
        })
        .ok()?;
    let mut decoder = Decoder::new(plan, decoding);
    Some(Arc::new(Keystore {
        keys,
        variable: choice.variable,
        next: AtomicUsize::new(0),
        state: decoder.new_state(),
    }))
}

/// `KeystoreConfig#testStarted` of every element in turn.
fn visit(element: &Element, decoding: &mut DecodingContext, choice: &mut KeySelection) {
    if element.class == keystore_configuration::CLASS {
        let mut d = Decoder::new(element, decoding);
        let properties = d.settings().properties.clone();
        let mut index = |name: &str, property: &str, default: i64| {
            let text = d.text_now(name);
            let fallback = properties.get_long(property, default);
            drumfire_java::values::parse_int(&text).map_or(fallback, i64::from)
        };
        choice.start = index(facts::START_INDEX.name, "https.keyStoreStartIndex", 0);
        choice.end = index(facts::END_INDEX.name, "https.keyStoreEndIndex", -1);
        choice.variable =
            Some(d.text_now(facts::ALIAS_VARIABLE.name)).filter(|name| !name.is_empty());
        if choice.start < 0 || (choice.end != -1 && choice.start > choice.end) {
            let message =
                "Keystore Config error : Alias start index must be lower than Alias end index";
            d.refuse(
                "keystore-indexes",
                message,
                "give a start index that is not above the end index",
            );
        }
        if let Some(name) = &choice.variable {
            d.decoding.compiler.intern(name);
        }
    }
    for child in &element.children {
        visit(child, decoding, choice);
    }
}

/// The first key of a PKCS#12 or JKS file.
///
/// # Errors
/// The file cannot be read, or has no key.
pub fn first_identity(file: &Path, password: &str) -> Result<Arc<Identity>, KeyStoreError> {
    let entry = entries(file, password)?
        .into_iter()
        .next()
        .ok_or("No key(s) found")?;
    let identity = Identity::from_der(entry.chain, entry.key);
    Ok(identity.map_err(|fault| format!("key '{}': {fault}", entry.alias))?)
}

/// Java's type JKS also reads PKCS#12 and decides by the first bytes of the file.
fn entries(file: &Path, password: &str) -> Result<Vec<PrivateKeyEntry>, KeyStoreError> {
    let data = drumfire_platform::files::read_regular(file).map_err(|error| error.to_string())?;
    if data.starts_with(&jks::MAGIC) {
        jks::read(&data, password)
    } else {
        pkcs12::read(&data, password)
    }
}

/// `JmeterKeyStore#load`.
fn load(
    file: &str,
    properties: &Properties,
    choice: &KeySelection,
) -> Result<Vec<(String, Arc<Identity>)>, KeyStoreError> {
    let password = properties
        .get_system("javax.net.ssl.keyStorePassword")
        .unwrap_or_default();
    let entries = entries(Path::new(file), &password)?;
    let is_within = |index: i64| index >= choice.start && (choice.end == -1 || index <= choice.end);
    let mut keys = Vec::new();
    for (entry, index) in entries.into_iter().zip(0_i64..) {
        if is_within(index) {
            let identity = Identity::from_der(entry.chain, entry.key)
                .map_err(|fault| format!("key '{}': {fault}", entry.alias))?;
            keys.push((entry.alias, identity));
        }
    }
    if keys.is_empty() {
        Err("No key(s) found".into())
    } else {
        Ok(keys)
    }
}

impl Keystore {
    /// The certificate that this user presents now.
    ///
    /// # Errors
    /// As `JmeterKeyStore` throws them when the variable is missing or names no key.
    pub fn identity(&self, cx: &mut Context) -> Result<Arc<Identity>, Exception> {
        let Some(variable) = &self.variable else {
            let count = self.keys.len();
            let index = *cx.state(self.state, || {
                self.next.fetch_add(1, Ordering::Relaxed) % count
            });
            return Ok(self.keys[index].1.clone());
        };
        let alias = cx
            .vars
            .get_named(variable)
            .filter(|alias| !alias.is_empty());
        let Some(alias) = alias else {
            tracing::error!("No var called '{variable}' found");
            return Err(fault(format!("No var called '{variable}' found")));
        };
        let key = self.keys.iter().find(|(known, _)| **known == **alias);
        key.map(|(_, identity)| identity.clone())
            .ok_or_else(|| fault(format!("No PrivateKey found for alias:'{alias}'")))
    }
}

fn fault(message: String) -> Exception {
    Exception::new("java.lang.IllegalArgumentException", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    /// The keystore of a plan, and a user.
    fn keystore(
        file: &str,
        password: &str,
        properties: &str,
    ) -> (Option<Arc<Keystore>>, Context, Vec<&'static str>) {
        let xml = format!(
            r#"<KeystoreConfig guiclass="TestBeanGUI" testclass="KeystoreConfig" testname="k">{properties}</KeystoreConfig>"#
        );
        let path = format!("{}/tests/keystores/{file}", env!("CARGO_MANIFEST_DIR"));
        let (keystore, cx, findings) = fixture::decode_with_findings(&[], &xml, |d| {
            d.settings()
                .properties
                .set_system("javax.net.ssl.keyStore", path.as_str());
            d.settings()
                .properties
                .set_system("javax.net.ssl.keyStorePassword", password);
            open(d.element, d.decoding)
        });
        (
            keystore,
            cx,
            findings.iter().map(|finding| finding.code).collect(),
        )
    }

    fn text(name: &str, value: &str) -> String {
        format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
    }

    fn aliases(keystore: &Keystore) -> Vec<&str> {
        keystore
            .keys
            .iter()
            .map(|(alias, _)| alias.as_str())
            .collect()
    }

    #[test]
    fn stores_are_read_in_javas_order_whatever_their_name() {
        let (p12, _, _) = keystore("clients.p12", "changeit", "");
        assert_eq!(
            aliases(&p12.expect("it is read")),
            ["zeta", "client-b", "client-a", "m3"]
        );
        let bounds = text("startIndex", "1") + &text("endIndex", "2");
        let (jks, _, _) = keystore("clients.jks", "changeit", &bounds);
        assert_eq!(aliases(&jks.expect("it is read")), ["m3", "client-a"]);
    }

    #[test]
    fn users_take_turns_and_keep_their_key() {
        let (store, mut cx, _) = keystore("clients.p12", "changeit", "");
        let store = store.expect("it is read");
        let first = store.identity(&mut cx).expect("there is one");
        assert!(Arc::ptr_eq(&first, &store.keys[0].1));
        assert!(Arc::ptr_eq(
            &first,
            &store.identity(&mut cx).expect("there is one")
        ));
        assert_eq!(store.next.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_variable_names_the_key() {
        let (store, mut cx, _) = keystore(
            "clients.p12",
            "changeit",
            &text("clientCertAliasVarName", "alias"),
        );
        let store = store.expect("it is read");
        let fault = |cx: &mut Context| {
            store
                .identity(cx)
                .expect_err("there is no such key")
                .response_message()
        };
        assert_eq!(
            fault(&mut cx),
            "Non HTTP response message: No var called 'alias' found"
        );
        cx.vars.set_named("alias", "nobody".into());
        assert_eq!(
            fault(&mut cx),
            "Non HTTP response message: No PrivateKey found for alias:'nobody'"
        );
        cx.vars.set_named("alias", "client-a".into());
        assert!(Arc::ptr_eq(
            &store.identity(&mut cx).expect("there is one"),
            &store.keys[2].1
        ));
    }

    #[test]
    fn unreadable_key_stores_give_a_warning() {
        let (store, _, findings) = keystore("clients.p12", "wrong", "");
        assert!(store.is_none());
        assert_eq!(findings, ["keystore-unreadable"]);
        let (store, _, findings) = keystore(
            "missing.p12",
            "",
            &(text("startIndex", "2") + &text("endIndex", "1")),
        );
        assert!(store.is_none());
        assert_eq!(findings, ["keystore-indexes"]);
    }
}
