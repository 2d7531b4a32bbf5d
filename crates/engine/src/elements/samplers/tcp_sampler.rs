//! TCP Sampler (`TCPSampler`): sends a text over a connection and reads the response.
//!
//! Properties, which TCP Sampler Configs may also have: `TCPSampler.classname` (`TCPClientImpl`, `BinaryTCPClientImpl` or
//! `LengthPrefixedBinaryTCPClientImpl`, or else `tcp.handler`; a JVM runs other classes), `TCPSampler.server`, `.port`,
//! `.request`, `.EolByte`, `.reUseConnection`, `.closeConnection`, `.nodelay`, `.soLinger` (seconds), `.timeout` and
//! `.ctimeout` (milliseconds; 0 is none), and `ConfigTestElement.username` and `.password`, which distinguish connections.
//! Properties of the run: `tcp.handler`, `tcp.charset`, `tcp.eolByte`, `tcp.BinaryTCPClient.eomByte`,
//! `tcp.binarylength.prefix.length`, `tcp.status.prefix`, `tcp.status.suffix`, `tcp.status.properties`, and
//! `drumfire.tcp.max_response_bytes`, beyond which a sample fails.
//!
//! A user's TCP Samplers share its connections. As in JMeter, a sample with a status code in its response is successful only
//! if the code is from 400 to 599. An interrupted sample fails as if its connection had been closed.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use drumfire_elements::shared::{login, tcp};
use drumfire_expr::Template;
use drumfire_http::{StampedReads, stamp_arrivals};
use drumfire_java::JvmDefaults;
use drumfire_java::charset::Charset;
use drumfire_java::values;
use drumfire_results::{DataType, Sample, SharedText};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::defaults::merged;
use super::http::settings::{max_exchange, size_limit};
use super::java_socket::{connect_failure, resolve, unfinished};
use super::own_part::own_us;
use super::system_sampler::words;
use super::tcp_client::{MAX_RESPONSE_BYTES, ReadRules, TcpClient, TcpFailure};
use super::tcp_status::Status;
use crate::base::clock::Clock;
use crate::base::number;
use crate::decode::Decoder;
use crate::resolve::Element;
use crate::run::context::{Context, StateId};
use crate::run::needs::Needs;
use crate::run::sampler::{Sampler, SamplerTurn};

const PACKAGE: &str = "org.apache.jmeter.protocol.tcp.sampler.";
/// GUI classes of the configuration elements that apply (`TCPSampler.APPLIABLE_CONFIG_CLASSES`).
pub(super) const CONFIG_GUIS: [&str; 3] = [
    "org.apache.jmeter.config.gui.LoginConfigGui",
    "org.apache.jmeter.protocol.tcp.config.gui.TCPConfigGui",
    "org.apache.jmeter.config.gui.SimpleConfigGui",
];

pub struct TcpSampler {
    client: TcpClient,
    /// The end-of-line byte of the properties; a number outside a byte's range means none.
    default_eol: i32,
    server: Template,
    port: Template,
    username: Template,
    password: Template,
    request: Template,
    eol: Template,
    linger: Template,
    timeout: Template,
    connect_timeout: Template,
    reuses: Template,
    closes: Template,
    no_delay: Template,
    status: Status,
    keeps_body: bool,
    keeps_request: bool,
    max_exchange: Option<Duration>,
    /// Larger responses fail.
    max_bytes: u64,
    /// The state with a user's connections, which all its TCP Samplers share.
    connections: StateId,
    /// The state with the value of `TCPSampler.EolByte`, which a user's first sample reads.
    own_eol: StateId,
}

/// A user's connections, by server and account.
#[derive(Default)]
struct Connections(HashMap<String, TcpStream>);

/// The settings of one sample.
struct TcpSettings {
    server: String,
    port: i32,
    key: String,
    linger: Option<i32>,
    eol: Option<u8>,
    timeout: Option<Duration>,
    connect_timeout: Option<Duration>,
    reuses: bool,
    closes: bool,
    no_delay: bool,
}

/// Decodes the sampler; `None` for a client class that JMeter does not ship.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<TcpSampler> {
    let merged = merged(d.element, configs, &CONFIG_GUIS);
    let mut template = |name: &str, default: &str| match merged.get(name) {
        Some(prop) => d.compile(&prop.value.as_str()),
        None => Template::raw(default),
    };
    let class = template(tcp::CLASSNAME.name, "");
    let server = template(tcp::SERVER.name, "");
    let port = template(tcp::PORT.name, "");
    let username = template(login::USERNAME.name, "");
    let password = template(login::PASSWORD.name, "");
    let request = template(tcp::TEXT.name, "");
    let eol = template(tcp::EOL.name, "");
    let linger = template(tcp::LINGER.name, "");
    let timeout = template(tcp::RESPONSE_TIMEOUT.name, "");
    let connect_timeout = template(tcp::CONNECT_TIMEOUT.name, "");
    let reuses = template(tcp::REUSE.name, "true");
    let closes = template(tcp::CLOSE.name, "false");
    let no_delay = template(tcp::NO_DELAY.name, "false");
    let (client, default_eol) = client(d, &class)?;
    Some(TcpSampler {
        client,
        default_eol,
        server,
        port,
        username,
        password,
        request,
        eol,
        linger,
        timeout,
        connect_timeout,
        reuses,
        closes,
        no_delay,
        status: Status::from_properties(&d.settings().properties),
        keeps_body: needs.body,
        keeps_request: needs.request,
        max_exchange: max_exchange(&d.settings().properties),
        max_bytes: size_limit(&d.settings().properties, MAX_RESPONSE_BYTES, 256 << 20),
        connections: d.shared_state("tcp connections"),
        own_eol: d.new_state(),
    })
}

/// The client of a class, and the end-of-line byte of its properties.
fn client(d: &mut Decoder, class: &Template) -> Option<(TcpClient, i32)> {
    let properties = &d.settings().properties;
    let property = |name: &str| properties.get(name).map(|text| text.to_string());
    let byte = |name: &str| {
        let text = property(name);
        text.and_then(|text| values::parse_int(&text))
            .unwrap_or(1000)
    };
    let mut class = d.now(class);
    if class.is_empty() {
        class = property("tcp.handler").unwrap_or_else(|| "TCPClientImpl".to_owned());
    }
    match class.strip_prefix(PACKAGE).unwrap_or(&class) {
        "TCPClientImpl" => {
            let name = property("tcp.charset")
                .unwrap_or_else(|| JvmDefaults::of_process().charset.name().to_owned());
            let charset = Charset::find(&name);
            let name = name.into();
            Some((TcpClient::Text { charset, name }, byte("tcp.eolByte")))
        }
        "BinaryTCPClientImpl" => Some((TcpClient::Binary, byte("tcp.BinaryTCPClient.eomByte"))),
        "LengthPrefixedBinaryTCPClientImpl" => {
            let length = property("tcp.binarylength.prefix.length")
                .and_then(|length| values::parse_int(&length));
            let prefix_bytes = length.map_or(2, |length| usize::try_from(length).unwrap_or(0));
            Some((TcpClient::LengthPrefixed { prefix_bytes }, 1000))
        }
        _ => None,
    }
}

impl TcpSampler {
    /// `TCPSampler#sample`.
    pub async fn sample(&self, cx: &mut Context, name: &Template) -> Sample {
        let settings = self.settings(cx);
        let mut sample = Sample::new(name.eval(cx).into_value(), cx.thread_name.clone());
        let request = self.request.eval(cx).into_string();
        if self.keeps_request {
            sample.sampler_data = Some(settings.describe().into());
        }
        let taken = cx.take_state::<Connections>(self.connections);
        let mut connections = *taken.unwrap_or_default();
        let (begin, start_ns) = (Instant::now(), cx.clock().now_ns());
        sample.start_ms = (start_ns / 1_000_000) as i64;
        let deadline = self
            .max_exchange
            .and_then(|limit| Instant::now().checked_add(limit));
        let connecting = settings.connect(&mut connections);
        let connected = match cx.attend_by(deadline, connecting).await {
            Ok(connected) => connected,
            Err(why) => Err(Unconnected::Failed(unfinished(why, self.max_exchange))),
        };
        sample.mark_connect(cx.clock().now_ms());
        match connected {
            Ok(stream) => {
                if self.keeps_request {
                    sample.sampler_data = Some(Rc::from(request.as_str()));
                }
                let talk = self.exchange(cx.clock(), &mut sample, &settings, stream, &request);
                let outcome = match cx.attend_by(deadline, talk).await {
                    Ok(outcome) => outcome,
                    Err(why) => Err(TcpFailure::Exception(unfinished(why, self.max_exchange))),
                };
                let arrived = outcome.as_ref().ok().and_then(|response| response.arrived);
                if !self.set_up(&mut sample, outcome.map(|response| response.bytes)) {
                    connections.0.remove(&settings.key);
                }
                sample.own_us = own_us(begin, arrived);
            }
            Err(Unconnected::Failed(message)) => {
                sample.code = SharedText::Static("500");
                sample.message = message.into();
            }
            Err(Unconnected::Wrong(exception)) => {
                self.set_up(&mut sample, Err(TcpFailure::Exception(exception)));
            }
        }
        let end_ns = cx.clock().now_ns();
        sample.service_us = (end_ns - start_ns) / 1000;
        sample.set_end((end_ns / 1_000_000) as i64);
        if !settings.reuses || settings.closes {
            connections.0.remove(&settings.key);
        }
        cx.put_state(self.connections, Box::new(connections));
        sample
    }

    fn settings(&self, cx: &mut Context) -> TcpSettings {
        let server = self.server.eval(cx).into_string();
        let port = number::int(&self.port.eval(cx));
        let key = format!(
            "{server}#{port}#{}#{}",
            self.username.eval(cx).into_string(),
            self.password.eval(cx).into_string()
        );
        let linger = self.linger.eval(cx).into_string();
        TcpSettings {
            server,
            port,
            key,
            linger: (!linger.is_empty()).then(|| number::int(&linger)),
            eol: self.eol(cx),
            timeout: ms(&self.timeout, cx),
            connect_timeout: ms(&self.connect_timeout, cx),
            reuses: values::property_bool(&self.reuses.eval(cx)),
            closes: values::property_bool(&self.closes.eval(cx)),
            no_delay: values::property_bool(&self.no_delay.eval(cx)),
        }
    }

    /// `TCPSampler#getProtocol`: the byte is read with the user's first sample.
    fn eol(&self, cx: &mut Context) -> Option<u8> {
        if self.eol.is_empty_literal() {
            return to_byte(self.default_eol);
        }
        if let Some(eol_state) = cx.take_state::<Option<u8>>(self.own_eol) {
            let eol = *eol_state;
            cx.put_state(self.own_eol, eol_state);
            return eol;
        }
        let eol = match self.eol.eval(cx).into_string() {
            none if none.is_empty() => to_byte(self.default_eol),
            eol => to_byte(number::int(&eol)),
        };
        cx.put_state(self.own_eol, Box::new(eol));
        eol
    }

    async fn exchange(
        &self,
        clock: Clock,
        sample: &mut Sample,
        settings: &TcpSettings,
        stream: &mut TcpStream,
        request: &str,
    ) -> Result<TcpResponse, TcpFailure> {
        let bytes = self.client.encode(request)?;
        stream.write_all(&bytes).await.map_err(|error| {
            TcpFailure::Exception(format!("java.net.SocketException: {}", words(&error)))
        })?;
        let rules = ReadRules {
            eol: settings.eol,
            timeout: settings.timeout,
            max_bytes: self.max_bytes,
        };
        let mut reads = StampedReads::new(stream);
        let bytes = self
            .client
            .read(&mut reads, rules, || sample.mark_latency(clock.now_ms()))
            .await?;
        Ok(TcpResponse {
            bytes,
            arrived: reads.arrived(),
        })
    }

    /// `TCPSampler.setupSampleResult`; returns whether the connection stays.
    fn set_up(&self, sample: &mut Sample, outcome: Result<Vec<u8>, TcpFailure>) -> bool {
        let (response, failure) = match outcome {
            Ok(response) => (response, None),
            Err(TcpFailure::Exception(exception)) => (Vec::new(), Some(exception)),
            Err(TcpFailure::Read { message, partial }) => {
                (partial, Some(format!("{PACKAGE}ReadException: {message}")))
            }
        };
        let is_whole = failure.is_none();
        let response = self.client.decode(response);
        sample.data_type = DataType::Text;
        sample.encoding = Some(self.client.charset_name().to_owned().into());
        match failure {
            None => sample.set_ok(),
            Some(exception) => {
                sample.code = SharedText::Static("500");
                sample.message = exception.into();
            }
        }
        let judged = self.status.judge(sample, &response);
        sample.body_bytes = response.len() as u64;
        if let Err(exception) = judged {
            sample.code = SharedText::Static("500");
            sample.message = exception.into();
            sample.success = false;
            sample.body_bytes = 0;
            return false;
        }
        if self.keeps_body {
            sample.response_data = Some(response.into());
        }
        is_whole
    }
}

fn ms(template: &Template, cx: &mut Context) -> Option<Duration> {
    let ms = number::int(&template.eval(cx));
    u64::try_from(ms)
        .ok()
        .filter(|ms| *ms > 0)
        .map(Duration::from_millis)
}

fn to_byte(eol: i32) -> Option<u8> {
    i8::try_from(eol).ok().map(|byte| byte as u8)
}

/// A whole response.
struct TcpResponse {
    bytes: Vec<u8>,
    /// When the kernel had received its last byte, as far as it says.
    arrived: Option<Instant>,
}

/// Why there is no connection.
enum Unconnected {
    /// An `IOException`.
    Failed(String),
    /// Another exception.
    Wrong(String),
}

impl TcpSettings {
    /// `TCPSampler#sample`: the request data that the sample shows until it has a connection.
    fn describe(&self) -> String {
        format!(
            "Host: {} Port: {}\nReuse: {} Close: {}\n[SOLINGER: {} EOL: {} noDelay: {}]",
            self.server,
            self.port,
            self.reuses,
            self.closes,
            self.linger.unwrap_or(0),
            self.eol.map(|eol| i32::from(eol as i8)).unwrap_or(0),
            self.no_delay
        )
    }

    /// `TCPSampler#getSocket`.
    async fn connect<'c>(
        &self,
        connections: &'c mut Connections,
    ) -> Result<&'c mut TcpStream, Unconnected> {
        if !self.reuses || !connections.0.contains_key(&self.key) {
            connections.0.remove(&self.key);
            let stream = self.open().await?;
            connections.0.insert(self.key.clone(), stream);
        }
        let stream = connections
            .0
            .get_mut(&self.key)
            .expect("it was there or has just been put there");
        // JMeter logs a failure and goes on, too.
        let _ = stream.set_nodelay(self.no_delay);
        Ok(stream)
    }

    async fn open(&self) -> Result<TcpStream, Unconnected> {
        let Ok(port) = u16::try_from(self.port) else {
            return Err(Unconnected::Wrong(format!(
                "java.lang.IllegalArgumentException: port out of range:{}",
                self.port
            )));
        };
        let Some(address) = resolve(&self.server).await else {
            return Err(Unconnected::Failed(format!(
                "java.net.UnknownHostException: {}",
                self.server
            )));
        };
        let connect = TcpStream::connect(SocketAddr::new(address, port));
        let connected = match self.connect_timeout {
            None => connect.await,
            Some(timeout) => match tokio::time::timeout(timeout, connect).await {
                Ok(connected) => connected,
                Err(_) => {
                    let message = "java.net.SocketTimeoutException: Connect timed out";
                    return Err(Unconnected::Failed(message.to_owned()));
                }
            },
        };
        let stream = connected.map_err(|error| Unconnected::Failed(connect_failure(&error)))?;
        stamp_arrivals(&stream);
        if let Some(seconds) = self.linger {
            let Ok(seconds) = u64::try_from(seconds) else {
                let message = "java.lang.IllegalArgumentException: invalid value for SO_LINGER";
                return Err(Unconnected::Wrong(message.to_owned()));
            };
            // JMeter sets it before it connects; it only matters when the connection is closed.
            let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::from_secs(seconds)));
        }
        Ok(stream)
    }
}

impl Sampler for TcpSampler {
    fn turn<'a>(&'a self, cx: &'a mut Context, name: &'a Template) -> SamplerTurn<'a> {
        SamplerTurn::wait(async move { Some(Box::new(self.sample(cx, name).await)) })
    }
}
