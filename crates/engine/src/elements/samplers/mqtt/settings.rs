//! The settings that MQTT Connect evaluates.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use drumfire_expr::{Scope, Template};
use drumfire_http::Identity;
use drumfire_java::values::parse_int;
use drumfire_mqtt::{Connect, Qos, Version, Will};

use drumfire_platform::message_error;

use crate::decode::setting::Flag;
use crate::elements::config::keystore_config;
use crate::run::context::Context;

/// The longest client identifier with a random suffix (`Constants.MAX_CLIENT_ID_LENGTH`).
pub const MAX_CLIENT_ID: usize = 23;
/// The path of a WebSocket connection without one (`MqttWebSocketConfig.DEFAULT_SERVER_PATH`).
const DEFAULT_PATH: &str = "mqtt";

message_error! {
    /// Why a value of the plan cannot be used.
    pub struct Unusable;
}

/// The settings of a Connect sampler.
pub struct ConnectSettings {
    pub server: Template,
    pub port: Template,
    pub version: Template,
    pub timeout: Template,
    pub client_name: Template,
    pub protocol: Template,
    pub path: Template,
    pub dual_auth: Flag,
    pub certificate: Template,
    pub certificate_password: Template,
    pub user: Template,
    pub password: Template,
    pub client_id: Template,
    pub adds_suffix: Flag,
    pub keep_alive: Template,
    pub attempts: Template,
    pub reconnections: Template,
    pub clean: Template,
    pub will: Option<WillSettings>,
    pub base_dir: PathBuf,
    pub identities: Identities,
}

/// The message that a server sends when it loses a connection.
pub struct WillSettings {
    pub topic: Template,
    pub message: Template,
    pub qos: Qos,
    pub retain: bool,
}

/// The client certificate that was read last, so that a file is read once.
#[derive(Default)]
pub struct Identities(Mutex<Option<(PathBuf, String, Arc<Identity>)>>);

/// The values of one sample.
pub struct ConnectValues {
    pub host: String,
    /// `None` if it is out of range.
    pub port: Option<u16>,
    /// In seconds; as `java.util.concurrent.Future#get` takes it, 0 or less fails at once.
    pub timeout_s: i32,
    pub tls: bool,
    /// The path, if the connection is one of WebSocket.
    pub path: Option<String>,
    pub identity: Option<Arc<Identity>>,
    /// The class with which the plugin shows the connection.
    pub shown_class: &'static str,
    /// `None` if the keep-alive is out of range, with which the plugin fails to connect.
    pub connect: Option<Connect>,
    pub client_id: String,
}

impl ConnectSettings {
    /// Evaluates the settings. `number` distinguishes the connections of one sample.
    ///
    /// # Errors
    /// Why a value cannot be used, in Java's words where Java has some.
    pub fn values(
        &self,
        cx: &mut Context,
        number: Option<usize>,
    ) -> Result<ConnectValues, Unusable> {
        let protocol = self.protocol.eval(cx).into_string();
        let host = self.server.eval(cx).into_string();
        let port = int(&self.port, cx)?;
        let version = match &*self.version.eval(cx) {
            "5" | "5.0" => Version::V5,
            _ => Version::V311,
        };
        let keep_alive = int(&self.keep_alive, cx)? as i16;
        let path = self.path.eval(cx).trim().to_owned();
        let client_id = self.client_id(cx, number)?;
        int(&self.attempts, cx)?;
        int(&self.reconnections, cx)?;
        let timeout_s = int(&self.timeout, cx)?;
        let tls = matches!(&*protocol, "SSL" | "WSS");
        let identity = match tls && self.dual_auth.get(cx) {
            true => Some(self.identity(cx)?),
            false => None,
        };
        let connect = Connect {
            version,
            client_id: client_id.clone(),
            clean: self.clean.eval(cx).eq_ignore_ascii_case("true"),
            account: self.account(cx),
            will: self.will.as_ref().map(|will| will.values(cx)),
            ..Connect::default()
        };
        Ok(ConnectValues {
            host,
            port: u16::try_from(port).ok(),
            timeout_s,
            tls,
            path: matches!(&*protocol, "WS" | "WSS").then(|| match &*path {
                "" => format!("/{DEFAULT_PATH}"),
                path => format!("/{path}"),
            }),
            identity,
            shown_class: match &*self.client_name.eval(cx) {
                "fusesource" => "FuseMQTTConnection",
                _ => "HiveMQTTConnection",
            },
            connect: u16::try_from(keep_alive).ok().map(|keep_alive_s| Connect {
                keep_alive_s,
                ..connect
            }),
            client_id,
        })
    }

    /// The client identifier (`Util#generateClientId`).
    fn client_id(&self, cx: &mut Context, number: Option<usize>) -> Result<String, Unusable> {
        let mut id = self.client_id.eval(cx).into_string();
        if !self.adds_suffix.get(cx) {
            return Ok(match number {
                Some(number) if !id.is_empty() => format!("{id}-xmeter-suffix-{number}"),
                _ => id,
            });
        }
        let length = id.encode_utf16().count();
        if length > MAX_CLIENT_ID {
            let limit = MAX_CLIENT_ID;
            let message = format!(
                "ClientId prefix {id} is too long, max allowed is {limit} but was {length}"
            );
            return Err(message.into());
        }
        let random = cx.random();
        let digits = format!("{:016x}{:016x}", random.next_u64(), random.next_u64());
        id.push_str(&digits[..MAX_CLIENT_ID - length]);
        Ok(id)
    }

    /// Without a user the plugin sends no password, either.
    fn account(&self, cx: &mut Context) -> Option<(String, Option<String>)> {
        let user = self.user.eval(cx).into_string();
        let password = self.password.eval(cx).into_string();
        let password = (!password.trim().is_empty()).then_some(password);
        (!user.trim().is_empty()).then_some((user, password))
    }

    fn identity(&self, cx: &mut Context) -> Result<Arc<Identity>, Unusable> {
        let file = self.certificate.eval(cx).into_string();
        let password = self.certificate_password.eval(cx).into_string();
        let mut path = PathBuf::from(file);
        if !path.exists() {
            path = self.base_dir.join(path);
        }
        self.identities.of(&path, password)
    }
}

impl WillSettings {
    fn values(&self, cx: &mut dyn Scope) -> Will {
        Will {
            topic: self.topic.eval(cx).into_string(),
            payload: self.message.eval(cx).into_string().into_bytes(),
            qos: self.qos,
            retain: self.retain,
        }
    }
}

impl Identities {
    fn of(&self, path: &Path, password: String) -> Result<Arc<Identity>, Unusable> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, known_password, identity)) = &*last
            && known == path
            && *known_password == password
        {
            return Ok(identity.clone());
        }
        let identity = keystore_config::first_identity(path, &password)
            .map_err(|error| Unusable::from(format!("{}: {error}", path.display())))?;
        *last = Some((path.to_path_buf(), password, identity.clone()));
        Ok(identity)
    }
}

/// `Integer#parseInt`.
pub fn int(template: &Template, cx: &mut dyn Scope) -> Result<i32, Unusable> {
    let text = template.eval(cx);
    parse_int(&text).ok_or_else(|| not_a_number(&text))
}

/// Java's message for a text that is no number.
pub fn not_a_number(text: &str) -> Unusable {
    format!("For input string: \"{text}\"").into()
}
