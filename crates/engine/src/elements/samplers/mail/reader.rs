//! One sample of a Mail Reader Sampler (`MailReaderSampler#sample`).

use std::cell::Cell;
use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_expr::{Properties, Template};
use drumfire_health::Stage;
use drumfire_http::{Session, Times};
use drumfire_java::JvmDefaults;
use drumfire_java::charset::Charset;
use drumfire_java::date::{DatePattern, Locale};
use drumfire_java::values::{parse_int, property_int};
use drumfire_mail::{
    Address, Parts, Received, ReceivedContent, date_millis, decode_words, parse_list, unfold,
};
use drumfire_results::{DataType, Sample, SharedText};

use super::mailbox::{Mailbox, MailboxValues, Protocol, ReadFailure};
use super::security::{Begin, SecuritySettings};
use super::wire::{Server, timeout, too_large};
use crate::base::clock::Clock;
use crate::decode::setting::Flag;
use crate::elements::samplers::http::response::{phases, since};
use crate::elements::samplers::http::settings::{permit, took_too_long};
use crate::elements::samplers::http::state::{user as http_user, worker};
use crate::run::context::{Context, Unfinished};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// The encoding of texts that name none (`SampleResult.DEFAULT_HTTP_ENCODING`).
const DEFAULT_ENCODING: &str = "UTF-8";

/// A decoded Mail Reader Sampler.
pub struct MailReader {
    pub protocol: Protocol,
    pub protocol_name: String,
    pub host: Template,
    pub port: Template,
    pub user: Template,
    pub password: Template,
    pub folder: Template,
    pub count: Template,
    pub only_headers: Flag,
    pub deletes: Flag,
    pub is_raw: Flag,
    pub security: SecuritySettings,
    pub properties: Properties,
    pub max_bytes: u64,
    pub max_line_bytes: usize,
    pub rename_children: bool,
    pub needs: Needs,
    pub allowed_hosts: Option<Arc<[String]>>,
}

/// The most sub-results of one sample, which bounds its memory whatever a server sends.
const MAX_SUB_RESULTS: usize = 100_000;

/// How mails become samples.
struct Reading {
    /// The sub-results so far.
    sub_results: Cell<usize>,
    /// How many more bytes the bodies of the sample and of its sub-results may have.
    room: Cell<u64>,
    clock: Clock,
    thread_name: Rc<str>,
    is_raw: bool,
    only_headers: bool,
    deletes: bool,
    /// How many mails are read; less than 0 is all.
    count: i32,
    needs: Needs,
    rename_children: bool,
}

impl MailReader {
    async fn sample(&self, cx: &mut Context, name: &Template) -> Box<Sample> {
        let label = name.eval(cx);
        let mut sample = Box::new(Sample::new(cx.label(label), cx.thread_name.clone()));
        let host = self.host.eval(cx).into_string();
        let port = parse_int(&self.port.eval(cx)).unwrap_or(-1);
        let user = self.user.eval(cx).into_string();
        let folder = self.folder.eval(cx).into_string();
        let count = property_int(&self.count.eval(cx));
        let shown = self.shown(&host, port, &user, &folder, count);
        if self.needs.request {
            sample.sampler_data = Some(shown.as_str().into());
        }
        sample.start_ms = cx.clock().now_ms();
        sample.set_end(sample.start_ms);
        let security = match self
            .security
            .of_reader(cx, self.protocol.is_secure(), &self.tls())
        {
            Ok(security) => security,
            Err(exception) => {
                fail(&mut sample, exception.to_string());
                return sample;
            }
        };
        if let Err(exception) = permit(self.allowed_hosts.as_deref(), &host) {
            fail(&mut sample, exception.to_string());
            return sample;
        }
        let values = MailboxValues {
            protocol: self.protocol,
            server: Server {
                host: host.into(),
                port: u16::try_from(port).unwrap_or_else(|_| self.default_port()),
                connect_timeout: self.limit("connectiontimeout"),
                read_timeout: self.limit("timeout"),
                max_line_bytes: self.max_line_bytes,
            },
            security,
            user,
            password: self.password.eval(cx).into_string(),
            folder,
            deletes: self.deletes.get(cx),
            max_bytes: self.max_bytes,
        };
        let reading = Reading {
            sub_results: Cell::new(0),
            room: Cell::new(self.max_bytes),
            clock: cx.clock(),
            thread_name: cx.thread_name.clone(),
            is_raw: self.is_raw.get(cx),
            only_headers: self.only_headers.get(cx),
            deletes: values.deletes,
            count,
            needs: self.needs,
            rename_children: self.rename_children,
        };
        self.read(cx, &mut sample, &values, &reading, &shown).await;
        sample
    }

    async fn read(
        &self,
        cx: &mut Context,
        sample: &mut Sample,
        values: &MailboxValues,
        reading: &Reading,
        shown: &str,
    ) {
        let limit = worker(cx).http.max_exchange();
        let begin = Instant::now();
        let deadline = limit.and_then(|limit| begin.checked_add(limit));
        sample.start_ms = cx.clock().ms(begin);
        let joint = Rc::clone(&http_user(cx).joint);
        let mut times = None;
        let work = reading.read_all(&joint.session, values, sample, &mut times);
        let read = cx.attend_by(deadline, work).await;
        let end = Instant::now();
        if sample.children.is_empty() {
            sample.set_end(cx.clock().ms(end));
            sample.service_us = since(begin, end);
        }
        if let Some(times) = &mut times {
            times.end = end;
            time(cx, sample, times, values);
        }
        match read {
            Ok(Ok(())) => sample.set_ok(),
            Ok(Err(ReadFailure(exception))) => {
                let message = match exception.starts_with("java.io.") {
                    true => exception,
                    false => format!("{exception}\n{shown}"),
                };
                fail(sample, message);
            }
            Err(Unfinished::TooLong) => fail(sample, took_too_long(limit.unwrap_or_default())),
            Err(Unfinished::Interrupted) => fail(sample, "interrupted".to_owned()),
        }
    }

    /// `MailReaderSampler#toString`.
    fn shown(&self, host: &str, port: i32, user: &str, folder: &str, count: i32) -> String {
        let mut shown = format!("{}://", self.protocol_name);
        if !user.is_empty() {
            shown.push_str(&format!("{user}@"));
        }
        shown.push_str(host);
        if port != -1 {
            shown.push_str(&format!(":{port}"));
        }
        shown.push_str(&format!("/{folder}[{count}]"));
        shown
    }

    /// A property of JavaMail for this protocol, which JMeter takes from its own properties.
    fn property(&self, name: &str) -> Option<String> {
        let name = match (self.protocol, name) {
            (Protocol::Pop3, "timeout") => "mail.pop3.timeout",
            (Protocol::Pop3s, "timeout") => "mail.pop3s.timeout",
            (Protocol::Imap, "timeout") => "mail.imap.timeout",
            (Protocol::Imaps, "timeout") => "mail.imaps.timeout",
            (Protocol::Pop3, "connectiontimeout") => "mail.pop3.connectiontimeout",
            (Protocol::Pop3s, "connectiontimeout") => "mail.pop3s.connectiontimeout",
            (Protocol::Imap, "connectiontimeout") => "mail.imap.connectiontimeout",
            (Protocol::Imaps, "connectiontimeout") => "mail.imaps.connectiontimeout",
            (Protocol::Pop3, _) => "mail.pop3.ssl.protocols",
            (Protocol::Pop3s, _) => "mail.pop3s.ssl.protocols",
            (Protocol::Imap, _) => "mail.imap.ssl.protocols",
            (Protocol::Imaps, _) => "mail.imaps.ssl.protocols",
        };
        self.properties.get(name).map(|text| text.to_string())
    }

    fn tls(&self) -> String {
        self.property("ssl.protocols").unwrap_or_default()
    }

    fn limit(&self, name: &str) -> Option<Duration> {
        timeout(&self.property(name)?)
    }

    fn default_port(&self) -> u16 {
        self.protocol.default_port()
    }
}

impl Reading {
    /// Opens the mailbox, and adds a sub-result for each mail.
    async fn read_all(
        &self,
        session: &Session,
        values: &MailboxValues,
        sample: &mut Sample,
        times: &mut Option<Times>,
    ) -> Result<(), ReadFailure> {
        let (mut mailbox, total, opened) = Mailbox::open(session, values).await?;
        *times = Some(opened);
        let wanted = usize::try_from(self.count).unwrap_or(total).min(total);
        let found = format!("{wanted} messages found\n");
        sample.encoding = Some(SharedText::Static(DEFAULT_ENCODING));
        self.set_bytes(sample, found.into_bytes())?;
        sample.data_type = DataType::Text;
        sample.content_type = Some("text/plain".into());
        for number in 1..=wanted {
            let child = self.one(&mut mailbox, number).await?;
            sample.add_child(child, self.rename_children);
        }
        // A sample with mails ends with the last one.
        let at_mails_end = mailbox.own_us();
        let at_end = mailbox.close().await;
        sample.own_us = match sample.children.is_empty() {
            true => at_end,
            false => at_mails_end,
        };
        Ok(())
    }

    async fn one(&self, mailbox: &mut Mailbox, number: usize) -> Result<Sample, ReadFailure> {
        let label = format!("Message {number}");
        let mut child = self.begin(&label)?;
        if self.needs.request {
            child.sampler_data = Some(label.into());
        }
        let header = mailbox.header(number).await?;
        let (headers, _) = drumfire_mail::Headers::read(&header);
        let kind = headers
            .get("Content-Type")
            .unwrap_or("text/plain")
            .to_owned();
        set_kind(&mut child, &kind, !mailbox.has_preambles());
        if self.is_raw {
            let mail = mailbox.mail(number).await?;
            child.data_type = DataType::Text;
            self.set_bytes(&mut child, mail)?;
        } else {
            let mut shown = String::new();
            for (name, value) in headers.iter() {
                // Writing to a string cannot fail.
                let _ = writeln!(shown, "{name}: {}", decode_words(value));
            }
            child.response_headers = Some(shown.into());
            if !self.only_headers {
                let mail = mailbox.mail(number).await?;
                let mail = Received::read(&mail);
                self.show(&mut child, &mail, mailbox.has_preambles())?;
            }
        }
        if self.deletes {
            mailbox.delete(number).await?;
        }
        child.set_ok();
        self.end(&mut child);
        Ok(child)
    }

    fn begin(&self, label: &str) -> Result<Sample, ReadFailure> {
        let count = self.sub_results.get() + 1;
        if count > MAX_SUB_RESULTS {
            let what = "the sample has more sub-results than";
            return Err(ReadFailure(format!(
                "java.io.IOException: {what} {MAX_SUB_RESULTS}"
            )));
        }
        self.sub_results.set(count);
        let mut sample = Sample::new(label.into(), self.thread_name.clone());
        sample.start_ms = self.clock.now_ms();
        sample.set_end(sample.start_ms);
        Ok(sample)
    }

    /// Ends a sample, unless its sub-results have.
    fn end(&self, sample: &mut Sample) {
        if sample.children.is_empty() {
            sample.set_end(self.clock.now_ms());
        }
    }

    /// `MailReaderSampler#appendMessageData`.
    fn show(
        &self,
        sample: &mut Sample,
        mail: &Received<'_>,
        has_preambles: bool,
    ) -> Result<(), ReadFailure> {
        let mut text = String::new();
        let addresses = |name: &str| -> Result<Vec<Address>, ReadFailure> {
            let values: Vec<&str> = mail.headers.values(name).collect();
            parse_list(&values.join(",")).map_err(|error| ReadFailure(error.to_string()))
        };
        let mut to = Vec::new();
        for name in ["To", "Cc", "Bcc"] {
            to.extend(addresses(name)?);
        }
        let mut from = addresses("From")?;
        if from.is_empty() {
            from = addresses("Sender")?;
        }
        let join = |list: Vec<Address>| {
            let list: Vec<String> = list.iter().map(Address::to_string).collect();
            list.join("; ")
        };
        let subject = mail.headers.get("Subject");
        let subject = subject.map(|subject| decode_words(&unfold(subject)).into_owned());
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "Date: {}\nTo: {}\nFrom: {}\nSubject: {}\n\n",
            java_date(mail.headers.get("Date")),
            join(to),
            join(from),
            subject.as_deref().unwrap_or("null"),
        );
        let content = mail
            .content()
            .map_err(|error| ReadFailure(error.to_string()))?;
        match content {
            ReceivedContent::Text(content) => {
                text.push_str(&content);
                self.set_own_text(sample, &text)?;
            }
            ReceivedContent::Bytes(_, class) if class.ends_with("MimeMessage") => {
                text.push_str(class);
                self.set_own_text(sample, &text)?;
            }
            ReceivedContent::Bytes(bytes, _) => self.set_bytes(sample, bytes)?,
            ReceivedContent::Parts(parts) => {
                self.show_parts(sample, &mut text, parts, has_preambles)?;
            }
        }
        Ok(())
    }

    /// `MailReaderSampler#appendMultiPart`. Parts in parts begin with the text of the mail again, as in JMeter.
    fn show_parts(
        &self,
        sample: &mut Sample,
        text: &mut String,
        parts: Parts<'_>,
        has_preambles: bool,
    ) -> Result<(), ReadFailure> {
        if let (Some(preamble), true) = (&parts.preamble, has_preambles) {
            text.push_str(preamble);
        }
        self.set_own_text(sample, text)?;
        for (index, part) in parts.parts.iter().enumerate() {
            let content = part
                .content()
                .map_err(|error| ReadFailure(error.to_string()))?;
            let mut child = self.begin(&format!("Part: {index}"))?;
            set_kind(&mut child, part.content_type(), !has_preambles);
            match content {
                ReceivedContent::Text(content) => self.set_own_text(&mut child, &content)?,
                ReceivedContent::Bytes(_, class) if class.ends_with("MimeMessage") => {
                    self.set_own_text(&mut child, class)?;
                }
                ReceivedContent::Bytes(bytes, _) => self.set_bytes(&mut child, bytes)?,
                ReceivedContent::Parts(inner) => {
                    self.show_parts(&mut child, text, inner, has_preambles)?;
                }
            }
            child.set_ok();
            self.end(&mut child);
            sample.add_child(child, self.rename_children);
        }
        Ok(())
    }

    fn set_own_text(&self, sample: &mut Sample, text: &str) -> Result<(), ReadFailure> {
        let charset = sample.encoding.as_ref();
        let charset = charset.and_then(|name| Charset::find(name.as_str()));
        let bytes = charset.unwrap_or(Charset::UTF_8).encode(text).into_owned();
        self.set_bytes(sample, bytes)
    }

    /// Sets the body. Parts in parts repeat the text of their mail, so that the bound of the mails does not bound the bodies.
    fn set_bytes(&self, sample: &mut Sample, bytes: Vec<u8>) -> Result<(), ReadFailure> {
        sample.body_bytes = bytes.len() as u64;
        if self.needs.body {
            let left = self.room.get().checked_sub(sample.body_bytes);
            self.room.set(left.ok_or_else(|| ReadFailure(too_large()))?);
            sample.response_data = Some(bytes.into());
        }
        Ok(())
    }
}

/// The encoding and the kind of a content (`SampleResult#setEncodingAndType`); mails are ISO-8859-1 unless they say otherwise. An
/// IMAP server names the default character set of a text in its structure, which JavaMail reads.
fn set_kind(sample: &mut Sample, content_type: &str, is_structured: bool) {
    let is_text = content_type
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("text/");
    let has_charset = content_type.to_ascii_lowercase().contains("charset");
    sample.encoding = Some(SharedText::Static("iso-8859-1"));
    if is_structured && is_text && !has_charset {
        let content_type = format!("{content_type}; charset=us-ascii");
        sample.set_encoding_and_type(&content_type);
        sample.content_type = Some(content_type.into());
    } else {
        sample.content_type = Some(content_type.into());
        sample.set_encoding_and_type(content_type);
    }
}

/// `Date#toString`.
fn java_date(header: Option<&str>) -> String {
    let shown = header.and_then(date_millis).and_then(|ms| {
        let pattern = DatePattern::compile("EEE MMM dd HH:mm:ss zzz yyyy").ok()?;
        pattern.format_millis(ms, &JvmDefaults::of_process().zone, &Locale::new("en_US"))
    });
    shown.unwrap_or_else(|| "null".to_owned())
}

fn fail(sample: &mut Sample, message: String) {
    sample.success = false;
    sample.code = SharedText::Static("500");
    sample.message = message.into();
}

/// Sets the times within the sample, which JMeter does not measure.
fn time(cx: &Context, sample: &mut Sample, times: &Times, values: &MailboxValues) {
    let is_secure = values.security.begin == Begin::AtOnce;
    sample.phases = phases(times, is_secure);
    if cx.is_timed {
        cx.worker.stages.add_exchange(times, is_secure, Stage::Read);
    }
}

impl Sampler for MailReader {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(self.sample(cx, name).await) })
    }
}
