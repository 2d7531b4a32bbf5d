//! FTP Request (`FTPSampler`): fetches a file from an FTP server, or stores one there.
//!
//! Properties, which FTP Request Defaults and, for the account, Login Config Elements may also have: `FTPSampler.server`,
//! `.port` (21 if it is empty), `.filename` (the file on the server), `.localfilename`, `.inputdata` (the text to store instead
//! of a local file), `.upload`, `.binarymode`, `.saveresponse`, and `ConfigTestElement.username` and `.password`. Properties of
//! the run: `drumfire.http.allowed_hosts`, `drumfire.http.max_head_bytes` for a reply, `drumfire.http.max_body_bytes` for a file
//! that something reads as a response, and `drumfire.max_exchange_ms`.
//!
//! As in JMeter, each sample connects, logs in and out; transfers are passive, and a file without bytes fails. A local file is looked
//! for in the working directory, and then, unlike in JMeter, beside the plan; it may not be a pipe or a device other than `/dev/null`.
//! An interrupted sample fails as if its connection had been closed. The connect time is measured. A script in the scope that uses the
//! sampler makes Java run it.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_elements::shared::{ftp, login};
use drumfire_expr::Template;
use drumfire_http::SizeLimits;
use drumfire_java::url::Url;
use drumfire_java::values::property_bool;
use drumfire_java::{JvmDefaults, file_server};
use drumfire_platform::files::{create_regular, open_regular};
use drumfire_results::{DataType, Sample, SharedText};

use super::control::Control;
use super::failure::FtpFailure;
use super::reply::Reply;
use super::transfer::{self, Target};
use crate::base::clock::Clock;
use crate::base::number;
use crate::decode::Decoder;
use crate::elements::samplers::defaults::merged;
use crate::elements::samplers::http::settings::{allowed_hosts, max_exchange, permit, size_limits};
use crate::elements::samplers::java_socket::unfinished;
use crate::resolve::Element;
use crate::run::context::Context;
use crate::run::failures::Failed;
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

/// GUI classes of the configuration elements that apply (`FTPSampler.APPLIABLE_CONFIG_CLASSES`).
pub const CONFIG_GUIS: [&str; 3] = [
    "org.apache.jmeter.config.gui.LoginConfigGui",
    "org.apache.jmeter.protocol.ftp.config.gui.FtpConfigGui",
    "org.apache.jmeter.config.gui.SimpleConfigGui",
];

pub struct FtpSampler {
    server: Template,
    port: Template,
    remote: Template,
    local: Template,
    contents: Template,
    is_upload: Template,
    is_binary: Template,
    is_saved: Template,
    user: Template,
    password: Template,
    needs: Needs,
    /// Where a file to store is looked for if the working directory has none of that name.
    plan_folder: PathBuf,
    allowed_hosts: Option<Arc<[String]>>,
    sizes: SizeLimits,
    max_exchange: Option<Duration>,
}

/// The settings of one sample.
struct FtpValues {
    server: String,
    port: String,
    remote: String,
    local: String,
    contents: String,
    is_upload: bool,
    is_binary: bool,
    is_saved: bool,
    user: String,
    password: String,
}

pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> FtpSampler {
    let merged = merged(d.element, configs, &CONFIG_GUIS);
    let mut template = |name: &str| match merged.get(name) {
        Some(prop) => d.compile(&prop.value.as_str()),
        None => Template::raw(""),
    };
    let server = template(ftp::SERVER.name);
    let port = template(ftp::PORT.name);
    let remote = template(ftp::REMOTE_FILE.name);
    let local = template(ftp::LOCAL_FILE.name);
    let contents = template(ftp::INPUTDATA.name);
    let is_upload = template(ftp::UPLOAD.name);
    let is_binary = template(ftp::BINARY.name);
    let is_saved = template(ftp::SAVE_RESPONSE.name);
    let user = template(login::USERNAME.name);
    let password = template(login::PASSWORD.name);
    let settings = d.settings();
    let hosts = settings.properties.get("drumfire.http.allowed_hosts");
    FtpSampler {
        server,
        port,
        remote,
        local,
        contents,
        is_upload,
        is_binary,
        is_saved,
        user,
        password,
        needs,
        plan_folder: settings.base_dir.clone(),
        allowed_hosts: allowed_hosts(&hosts.unwrap_or_default()),
        sizes: size_limits(&settings.properties),
        max_exchange: max_exchange(&settings.properties),
    }
}

impl Sampler for FtpSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(self.sample(cx, name))
    }
}

impl FtpSampler {
    /// `FTPSampler#sample`; `None` after an exception that it does not catch.
    async fn sample(&self, cx: &mut Context, name: &Template) -> Option<Box<Sample>> {
        let values = self.values(cx);
        let label = name.eval(cx);
        let mut sample = Box::new(Sample::new(cx.label(label), cx.thread_name.clone()));
        let shown = values.describe();
        match Url::parse(&shown) {
            Ok(url) => sample.url = Some(url.text()),
            Err(why) => tracing::warn!("Cannot set URL: {}", why.message.unwrap_or_default()),
        }
        if self.needs.request {
            sample.sampler_data = Some(shown.into());
        }
        let clock = cx.clock();
        let start_ns = clock.now_ns();
        sample.start_ms = (start_ns / 1_000_000) as i64;
        let limit = self.max_exchange;
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let (mut visited, mut own_us) = (None, None);
        let visit = async {
            let mut control = None;
            visited = Some(self.visit(clock, &mut sample, &values, &mut control).await);
            if let Some(control) = &mut control {
                control.quit().await;
                own_us = control.own_us();
            }
        };
        let attended = cx.attend_by(deadline, visit).await;
        // The server's farewell may be missing; the sample is the transfer's.
        let visited = visited.unwrap_or_else(|| match attended {
            Err(why) => Err(FtpFailure::Io(unfinished(why, limit))),
            Ok(()) => Ok(()),
        });
        let end_ns = clock.now_ns();
        sample.service_us = (end_ns - start_ns) / 1000;
        sample.set_end((end_ns / 1_000_000) as i64);
        match visited {
            Ok(()) => sample.own_us = own_us,
            Err(FtpFailure::Io(exception)) => {
                sample.code = SharedText::Static("000");
                sample.message = exception.into();
            }
            Err(FtpFailure::Uncaught(exception)) => {
                cx.note_failure(Failed::Sample, None, &exception);
                return None;
            }
        }
        Some(sample)
    }

    fn values(&self, cx: &mut Context) -> FtpValues {
        let is_upload = property_bool(&self.is_upload.eval(cx));
        FtpValues {
            server: self.server.eval(cx).into_string(),
            port: self.port.eval(cx).into_string(),
            remote: self.remote.eval(cx).into_string(),
            local: self.local.eval(cx).into_string(),
            contents: match is_upload {
                true => self.contents.eval(cx).into_string(),
                false => String::new(),
            },
            is_upload,
            is_binary: property_bool(&self.is_binary.eval(cx)),
            is_saved: !is_upload && property_bool(&self.is_saved.eval(cx)),
            user: self.user.eval(cx).into_string(),
            password: self.password.eval(cx).into_string(),
        }
    }

    /// Connects and transfers the file. The caller takes leave of the server, if there is a connection.
    async fn visit(
        &self,
        clock: Clock,
        sample: &mut Sample,
        values: &FtpValues,
        connection: &mut Option<Control>,
    ) -> Result<(), FtpFailure> {
        permit(self.allowed_hosts.as_deref(), &values.server)
            .map_err(|refusal| FtpFailure::Io(refusal.to_string()))?;
        let port = number::int(&values.port);
        let connected = Control::connect(&values.server, port, self.sizes.head_bytes).await?;
        let control = connection.insert(connected);
        sample.mark_connect(clock.now_ms());
        control.greeting().await?;
        sample.mark_latency(clock.now_ms());
        if !control.reply.is_completion() {
            refused(sample, &control.reply);
            sample.code = SharedText::Static("501");
            return Ok(());
        }
        if !control.login(&values.user, &values.password).await? {
            refused(sample, &control.reply);
            return Ok(());
        }
        let is_text = !values.is_binary || !control.set_binary().await?;
        let is_done = match values.is_upload {
            true => self.store(sample, values, control, is_text).await?,
            false => self.fetch(sample, values, control, is_text).await?,
        };
        match is_done {
            true => sample.set_ok(),
            false => refused(sample, &control.reply),
        }
        Ok(())
    }

    /// Fetches a file. False if the server refuses, or if the file is empty. As in JMeter, the server's reply after the transfer does
    /// not count.
    async fn fetch(
        &self,
        sample: &mut Sample,
        values: &FtpValues,
        control: &mut Control,
        is_text: bool,
    ) -> Result<bool, FtpFailure> {
        let file = match values.local.is_empty() {
            true => None,
            false => Some(create_regular(Path::new(&values.local))),
        };
        let file = file.transpose();
        let mut target = Target {
            file: file.map_err(|error| FtpFailure::opening(&values.local, &error))?,
            body: (values.is_saved && self.needs.body).then(Vec::new),
            max_body_bytes: self.sizes.body_bytes,
        };
        let Some(data) = control.transfer("RETR", &values.remote).await? else {
            return Ok(false);
        };
        let fetched = transfer::fetch(&data, is_text, &mut target).await?;
        control.note_data(fetched.arrived);
        let size = fetched.size;
        if values.is_saved {
            sample.body_bytes = size;
            sample.response_data = target.body.map(Into::into);
            if !values.is_binary {
                sample.data_type = DataType::Text;
            }
        } else {
            sample.bytes = i64::try_from(size).unwrap_or(i64::MAX);
        }
        Ok(size > 0)
    }

    /// Stores a file or a text. False if the server refuses.
    async fn store(
        &self,
        sample: &mut Sample,
        values: &FtpValues,
        control: &mut Control,
        is_text: bool,
    ) -> Result<bool, FtpFailure> {
        let source = self.source(sample, values)?;
        let Some(data) = control.transfer("STOR", &values.remote).await? else {
            return Ok(false);
        };
        transfer::store(data, is_text, source).await?;
        control.receive().await?;
        Ok(control.reply.is_completion())
    }

    /// The bytes to store. Their number counts as sent, whatever happens to them.
    fn source(&self, sample: &mut Sample, values: &FtpValues) -> Result<Box<dyn Read>, FtpFailure> {
        if !values.contents.is_empty() {
            let charset = &JvmDefaults::of_process().charset;
            let bytes = charset.encode(&values.contents).into_owned();
            sample.sent_bytes = bytes.len() as u64;
            return Ok(Box::new(Cursor::new(bytes)));
        }
        let path = match values.local.as_str() {
            "" => PathBuf::new(),
            local => file_server::resolve(local, &self.plan_folder),
        };
        sample.sent_bytes = fs::metadata(&path).map_or(0, |file| file.len());
        let file = open_regular(&path);
        let file = file.map_err(|error| FtpFailure::opening(&values.local, &error))?;
        Ok(Box::new(file))
    }
}

/// Fails a sample with the server's reply.
fn refused(sample: &mut Sample, reply: &Reply) {
    sample.code = reply.code.to_string().into();
    sample.message = reply.text.clone().into();
}

impl FtpValues {
    /// The text that stands for the request (`FTPSampler#getLabel`).
    fn describe(&self) -> String {
        let port = match self.port.as_str() {
            "" => String::new(),
            port => format!(":{port}"),
        };
        let mode = if self.is_binary { "Binary" } else { "Ascii" };
        let direction = if self.is_upload { "<-" } else { "->" };
        let (server, remote, local) = (&self.server, &self.remote, &self.local);
        format!("ftp://{server}{port}/{remote} ({mode})  {direction} {local}")
    }
}
