//! The plan's properties of the mail samplers.

use std::collections::HashMap;

use drumfire_elements::items;
use drumfire_elements::samplers::{mail_reader_sampler as mail_reader, smtp_sampler as facts};
use drumfire_expr::{Properties, Template};
use drumfire_java::JvmDefaults;
use drumfire_java::charset::Charset;
use drumfire_jmx::{Prop, Value};

use super::machine;
use super::mailbox::Protocol;
use super::reader::MailReader;
use super::security::SecuritySettings;
use super::settings::SmtpSettings;
use super::smtp::SmtpSampler;
use super::wire::{MAX_LINE_BYTES, MAX_MESSAGE_BYTES};
use crate::decode::Decoder;
use crate::decode::setting::Flag;
use crate::elements::samplers::defaults::is_made_by;
use crate::elements::samplers::http::settings::{allowed_hosts, size_limit};
use crate::resolve::Element;
use crate::run::needs::Needs;

/// The GUI class of the configuration elements that apply (`SmtpSampler.APPLIABLE_CONFIG_CLASSES`).
const CONFIG_GUIS: [&str; 1] = ["org.apache.jmeter.config.gui.SimpleConfigGui"];

/// The character set of texts outside ASCII, instead of Java's default one.
const CHARSET: &str = "mail.mime.charset";

/// SMTP Sampler (`SmtpSampler`): sends a mail. A receiver gets the same bytes as from JMeter.
///
/// Properties: `SMTPSampler.server`, `.serverPort`, `.serverConnectionTimeout` and `.serverTimeout` in milliseconds, `.mailFrom`,
/// `.receiverTo`, `.receiverCC`, `.receiverBCC` and `.replyTo` with semicolons between addresses, `.useAuth`, `.username`,
/// `.password`, `.useSSL`, `.useStartTLS`, `.enforceStartTLS`, `.trustAllCerts`, `.useLocalTrustStore`, `.trustStoreToUse`,
/// `.tlsProtocols`, `.subject`, `.suppressSubject`, `.include_timestamp`, `.headerFields`, `.message`, `.plainBody`,
/// `.attachFile` with semicolons between files, `.use_eml`, `.emlMessageToSend`, `.messageSizeStatistics` and `.enableDebug`, with
/// which the conversation is written to the log. Properties of the run: `mail.mime.charset` as in JavaMail,
/// `drumfire.mail.max_message_bytes`, `drumfire.mail.max_line_bytes`, `drumfire.http.allowed_hosts` and
/// `drumfire.max_exchange_ms`. Without a trust store, servers must have a certificate of the system's authorities or of
/// `drumfire.tls_ca_file`.
///
/// As in JMeter 5.6.3, `.enforceStartTLS` has no effect.
///
/// Differences: TLS 1.0 and 1.1 are not offered. Of the ways to log in, LOGIN and PLAIN are known. A sample without
/// `.headerFields` is sent, on which JMeter fails.
pub fn smtp(d: &mut Decoder, configs: &[&Element], needs: Needs) -> SmtpSampler {
    let merged = merge(d.element, configs);
    let of = |d: &mut Decoder, name: &str| match merged.get(name) {
        Some(prop) => d.compile(&prop.value.as_str()),
        None => Template::raw(""),
    };
    let properties = d.settings().properties.clone();
    let security = SecuritySettings::decode(d, &of);
    let headers = headers(d);
    let flag = |d: &mut Decoder, name: &str| Flag::of(of(d, name));
    let has_account = flag(d, facts::USE_AUTH.name);
    let no_subject = flag(d, facts::SUPPRESS_SUBJECT.name);
    let has_timestamp = flag(d, facts::INCLUDE_TIMESTAMP.name);
    let is_plain = flag(d, facts::PLAIN_BODY.name);
    let is_stored = flag(d, facts::USE_EML.name);
    let counts_bytes = flag(d, facts::MESSAGE_SIZE.name);
    let is_logged = flag(d, facts::DEBUG.name);
    let settings = SmtpSettings {
        server: of(d, facts::SERVER.name),
        port: of(d, facts::PORT.name),
        connect_timeout: of(d, facts::CONNECT_TIMEOUT.name),
        read_timeout: of(d, facts::READ_TIMEOUT.name),
        from: of(d, facts::FROM.name),
        reply_to: of(d, facts::REPLY_TO.name),
        to: of(d, facts::TO.name),
        cc: of(d, facts::CC.name),
        bcc: of(d, facts::BCC.name),
        has_account,
        user: of(d, facts::USERNAME.name),
        password: of(d, facts::PASSWORD.name),
        security,
        subject: of(d, facts::SUBJECT.name),
        no_subject,
        has_timestamp,
        headers,
        text: of(d, facts::MESSAGE.name),
        is_plain,
        files: of(d, facts::ATTACHMENTS.name),
        is_stored,
        stored: of(d, facts::EML_FILE.name),
        counts_bytes,
        is_logged,
        base_dir: d.settings().base_dir.clone(),
        charset: charset(&properties),
        local_address: machine::local_address(&properties),
        max_line_bytes: max_line_bytes(&properties),
        max_file_bytes: size_limit(&properties, MAX_MESSAGE_BYTES, 256 << 20),
    };
    SmtpSampler {
        settings,
        needs,
        allowed_hosts: allowed_hosts(
            &properties
                .get("drumfire.http.allowed_hosts")
                .unwrap_or_default(),
        ),
    }
}

/// Mail Reader Sampler (`MailReaderSampler`): reads the mails of a mailbox, each of which is a sub-result.
///
/// Properties: `host_type` (`pop3`, `pop3s`, `imap` or `imaps`; Java runs others), `host`, `port`, `username`, `password`, `folder`,
/// `num_messages`, `delete`, `storeMimeMessage`, `headerOnly`, and the `SMTPSampler.` properties for TLS: `useSSL`, `useStartTLS`,
/// `trustAllCerts`, `useLocalTrustStore` and `trustStoreToUse`. Properties of the run: `mail.pop3.timeout`,
/// `mail.pop3.connectiontimeout` and `mail.pop3.ssl.protocols`, the same for the other protocols, `drumfire.mail.max_message_bytes`
/// for the mails of one sample, `drumfire.mail.max_line_bytes`, `drumfire.http.allowed_hosts` and `drumfire.max_exchange_ms`.
/// As in JMeter 5.6.3, `enforceStartTLS` has no effect.
///
/// Differences: without `mail.….ssl.protocols`, TLS 1.2 and 1.3 are offered; JavaMail offers TLS 1.0 only, which Java 17 refuses. A
/// mail is fetched from an IMAP server as a whole, and not part by part. `None` for another protocol.
pub fn reader(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<MailReader> {
    let merged = merge(d.element, configs);
    let of = |d: &mut Decoder, name: &str| match merged.get(name) {
        Some(prop) => d.compile(&prop.value.as_str()),
        None => Template::raw(""),
    };
    let or = |d: &mut Decoder, name: &str, default: &str| match merged.contains_key(name) {
        true => of(d, name),
        false => Template::raw(default),
    };
    let properties = d.settings().properties.clone();
    let protocol = or(d, mail_reader::PROTOCOL.name, mail_reader::PROTOCOL.default);
    let protocol_name = d.now(&protocol);
    let protocol = Protocol::of(&protocol_name)?;
    let security = SecuritySettings::decode(d, &of);
    let flag = |d: &mut Decoder, name: &str| Flag::of(of(d, name));
    Some(MailReader {
        protocol,
        protocol_name,
        host: of(d, mail_reader::HOST.name),
        port: of(d, mail_reader::PORT.name),
        user: of(d, mail_reader::USERNAME.name),
        password: of(d, mail_reader::PASSWORD.name),
        folder: or(d, mail_reader::FOLDER.name, mail_reader::FOLDER.default),
        count: or(d, mail_reader::MESSAGES.name, mail_reader::MESSAGES.default),
        only_headers: flag(d, mail_reader::HEADER_ONLY.name),
        deletes: flag(d, mail_reader::DELETE.name),
        is_raw: flag(d, mail_reader::RAW.name),
        security,
        max_bytes: size_limit(&properties, MAX_MESSAGE_BYTES, 256 << 20),
        max_line_bytes: max_line_bytes(&properties),
        rename_children: !properties.get_bool("subresults.disable_renaming", false)
            && !d.decoding.save_config.functional_mode,
        needs,
        allowed_hosts: allowed_hosts(
            &properties
                .get("drumfire.http.allowed_hosts")
                .unwrap_or_default(),
        ),
        properties,
    })
}

/// The sampler's properties, and those that it lacks from configuration elements.
fn merge<'p>(sampler: &'p Element, configs: &[&'p Element]) -> HashMap<&'p str, &'p Prop> {
    let applying = configs
        .iter()
        .filter(|config| is_made_by(config, &CONFIG_GUIS));
    let mut merged: HashMap<&str, &Prop> = HashMap::new();
    for element in std::iter::once(&sampler).chain(applying) {
        for prop in &element.props {
            let earlier = merged.get(&*prop.name);
            if earlier.is_none_or(|known| known.value.as_str().is_empty()) {
                merged.insert(&prop.name, prop);
            }
        }
    }
    merged
}

fn headers(d: &mut Decoder) -> Vec<(Template, Template)> {
    let mut all = Vec::new();
    for header in d.element.props.list(facts::HEADER_FIELDS.name) {
        if let Value::Element(header) = &header.value {
            let name = d.compile(&header.props.str(items::NAME.name));
            all.push((name, d.compile(&header.props.str(items::VALUE.name))));
        }
    }
    all
}

fn charset(properties: &Properties) -> Charset {
    let named = properties.get_system(CHARSET);
    let named = named.and_then(|name| Charset::find(&name));
    named.unwrap_or_else(|| JvmDefaults::of_process().charset.clone())
}

fn max_line_bytes(properties: &Properties) -> usize {
    let limit = size_limit(properties, MAX_LINE_BYTES, 64 << 10);
    usize::try_from(limit).unwrap_or(usize::MAX)
}
