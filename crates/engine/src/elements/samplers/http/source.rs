//! Where connections start from: the sampler's source address (`HTTPAbstractImpl#getIpSourceAddress`), or
//! `httpclient.localaddress`.
//!
//! Beyond JMeter, a source of type "IP/Hostname" may be a list of addresses and ranges, such as
//! `127.0.0.2-127.0.0.9,127.0.0.20`: each new connection takes the next one, so that all their ports can be used.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, ToSocketAddrs};
use std::sync::{Arc, OnceLock};

use drumfire_expr::{Properties, Template};
use drumfire_http::SourceAddresses;
use drumfire_java::Exception;

use super::state::user_mut;
use crate::run::context::Context;
use crate::run::property::WholeNumber;

/// The maximum number of addresses in a range.
const MAX_ADDRESSES: u128 = 65_536;

/// `HTTPSamplerBase.SourceType`, in the order of `HTTPSampler.ipSourceType`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceType {
    #[default]
    Hostname,
    Device,
    DeviceIpv4,
    DeviceIpv6,
}

impl SourceType {
    /// The type with that number; JMeter has none for others, and fails.
    pub fn from_number(number: i32) -> Option<SourceType> {
        Some(match number {
            0 => SourceType::Hostname,
            1 => SourceType::Device,
            2 => SourceType::DeviceIpv4,
            3 => SourceType::DeviceIpv6,
            _ => return None,
        })
    }
}

/// The addresses of source texts with variables, as one user found them.
pub type KnownSources = Vec<(String, SourceType, Arc<SourceAddresses>)>;

pub type Found = Result<Option<Arc<SourceAddresses>>, Exception>;

/// `HTTPSampler.ipSource` and `HTTPSampler.ipSourceType`.
pub struct SourceTemplate {
    pub text: Template,
    /// The number of the type.
    pub kind: WholeNumber,
    /// The addresses of a text without variables.
    fixed: OnceLock<Found>,
}

impl SourceTemplate {
    pub fn new(text: Template, kind: WholeNumber) -> SourceTemplate {
        SourceTemplate {
            text,
            kind,
            fixed: OnceLock::new(),
        }
    }

    /// The addresses that a text without variables stands for; `None` if it has some.
    fn fixed(&self) -> Option<Found> {
        let (Some(text), WholeNumber::Fixed(kind)) = (self.text.literal(), &self.kind) else {
            return None;
        };
        let kind = SourceType::from_number(*kind).unwrap_or_default();
        Some(self.fixed.get_or_init(|| find(text, kind)).clone())
    }

    /// The addresses to start from; `None` if the system is to choose. Each user looks up a text with variables once.
    ///
    /// # Errors
    /// `UnknownHostException`, as JMeter throws it.
    pub fn evaluate(&self, cx: &mut Context) -> Found {
        if let Some(fixed) = self.fixed() {
            return fixed;
        }
        let text = self.text.eval(cx).into_string();
        if text.trim().is_empty() {
            return Ok(None);
        }
        let number = self.kind.get(cx);
        let kind = match (SourceType::from_number(number), &self.kind) {
            (Some(kind), _) => kind,
            (None, WholeNumber::Fixed(_)) => SourceType::default(),
            (None, WholeNumber::Computed(_)) => return Err(unknown_type(number)),
        };
        let sources = &mut user_mut(cx).rare().sources;
        let same = sources
            .iter()
            .find(|(own, its_kind, _)| *own == text && *its_kind == kind);
        if let Some((_, _, source)) = same {
            return Ok(Some(source.clone()));
        }
        let source = find(&text, kind)?;
        if let Some(source) = &source {
            sources.push((text, kind, source.clone()));
        }
        Ok(source)
    }

    /// The texts that each request evaluates.
    pub fn texts(&self) -> impl Iterator<Item = &Template> {
        let kind = match &self.kind {
            WholeNumber::Fixed(_) => None,
            WholeNumber::Computed(template) => Some(template),
        };
        std::iter::once(&self.text).chain(kind)
    }
}

/// The exception of a number beyond `HTTPSamplerBase.SourceType`.
fn unknown_type(number: i32) -> Exception {
    Exception::new(
        "java.lang.ArrayIndexOutOfBoundsException",
        format!("Index {number} out of bounds for length 4"),
    )
}

fn find(text: &str, kind: SourceType) -> Found {
    if text.trim().is_empty() {
        return Ok(None);
    }
    match kind {
        SourceType::Hostname => match listed(text) {
            Some(addresses) => Ok(addresses),
            None => by_name(text).map(|address| vec![address]),
        },
        _ => device(text, kind).map(|address| vec![address]),
    }
    .map(|addresses| Some(SourceAddresses::new(addresses)))
}

/// `InetAddress.getByName`.
fn by_name(name: &str) -> Result<IpAddr, Exception> {
    if let Ok(address) = name.parse() {
        return Ok(address);
    }
    let mut addresses: Vec<IpAddr> = (name, 0)
        .to_socket_addrs()
        .ok()
        .into_iter()
        .flatten()
        .map(|found| found.ip())
        .collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses
        .first()
        .copied()
        .ok_or_else(|| unknown_host(format!("{name}: Name or service not known")))
}

fn unknown_host(message: String) -> Exception {
    Exception::new("java.net.UnknownHostException", message)
}

/// The first address of a network interface that has the type, in Java's order: those of IPv6 come first.
fn device(name: &str, kind: SourceType) -> Result<IpAddr, Exception> {
    let all = if_addrs::get_if_addrs().unwrap_or_default();
    let of_device = all.iter().filter(|interface| interface.name == name);
    let mut addresses: Vec<IpAddr> = of_device.map(if_addrs::Interface::ip).collect();
    if addresses.is_empty() {
        return Err(unknown_host(format!("Cannot find interface {name}")));
    }
    addresses.sort_by_key(IpAddr::is_ipv4);
    let (fits, class): (fn(&IpAddr) -> bool, &str) = match kind {
        SourceType::DeviceIpv4 => (IpAddr::is_ipv4, "Inet4Address"),
        SourceType::DeviceIpv6 => (IpAddr::is_ipv6, "Inet6Address"),
        SourceType::Device | SourceType::Hostname => (|_| true, "InetAddress"),
    };
    addresses.into_iter().find(fits).ok_or_else(|| {
        unknown_host(format!(
            "Interface {name} does not have address of type {class}"
        ))
    })
}

/// How many addresses a source names: 1 if it is not a list.
pub fn source_addresses(text: &str) -> u64 {
    listed(text)
        .map(|addresses| addresses.len() as u64)
        .unwrap_or(1)
}

/// The addresses of a list of addresses and ranges; `None` if the text is no such list.
fn listed(text: &str) -> Option<Vec<IpAddr>> {
    if !text.contains([',', '-']) {
        return None;
    }
    let mut addresses = Vec::new();
    for item in text.split(',') {
        match item.split_once('-') {
            None => addresses.push(item.trim().parse().ok()?),
            Some((first, last)) => {
                addresses.extend(range(
                    first.trim().parse().ok()?,
                    last.trim().parse().ok()?,
                )?);
            }
        }
    }
    (!addresses.is_empty()).then_some(addresses)
}

fn range(first: IpAddr, last: IpAddr) -> Option<Vec<IpAddr>> {
    let (from, to, make): (u128, u128, fn(u128) -> IpAddr) = match (first, last) {
        (IpAddr::V4(first), IpAddr::V4(last)) => {
            let number = |address| u128::from(u32::from(address));
            (number(first), number(last), |number| {
                IpAddr::V4(Ipv4Addr::from(number as u32))
            })
        }
        (IpAddr::V6(first), IpAddr::V6(last)) => (u128::from(first), u128::from(last), |number| {
            IpAddr::V6(Ipv6Addr::from(number))
        }),
        _ => return None,
    };
    (from <= to && to - from < MAX_ADDRESSES).then(|| (from..=to).map(make).collect())
}

/// `httpclient.localaddress`: where connections start from, unless the sampler says otherwise.
#[derive(Clone, Debug)]
pub struct LocalAddress {
    pub source: Arc<SourceAddresses>,
    /// The address as Java prints it, for the header that JMeter adds to the request it shows.
    pub shown: String,
}

impl LocalAddress {
    pub fn read(properties: &Properties) -> Option<LocalAddress> {
        let name = properties.get_trimmed("httpclient.localaddress")?;
        if name.is_empty() {
            return None;
        }
        match by_name(&name) {
            Ok(address) => Some(LocalAddress {
                source: SourceAddresses::new([address]),
                shown: match name.parse::<IpAddr>() {
                    Ok(_) => format!("/{address}"),
                    Err(_) => format!("{name}/{address}"),
                },
            }),
            Err(exception) => {
                tracing::warn!("{}", exception.message.unwrap_or_default());
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str, kind: SourceType) -> Result<Vec<String>, String> {
        let shown = |source: Arc<SourceAddresses>| {
            source.addresses().iter().map(IpAddr::to_string).collect()
        };
        match find(text, kind) {
            Ok(found) => Ok(found.map_or(Vec::new(), shown)),
            Err(exception) => Err(exception.message.unwrap_or_default().into_owned()),
        }
    }

    #[test]
    fn names_lists_and_ranges() {
        let found = |text| addresses(text, SourceType::Hostname);
        assert_eq!(found(" "), Ok(vec![]));
        assert_eq!(found("127.0.0.2"), Ok(vec!["127.0.0.2".into()]));
        assert_eq!(found("localhost"), Ok(vec!["127.0.0.1".into()]));
        let listed = ["127.0.0.9", "127.0.0.255", "127.0.1.0", "::1"];
        assert_eq!(
            found("127.0.0.9, 127.0.0.255-127.0.1.0,::1"),
            Ok(listed.map(str::to_owned).to_vec())
        );
        assert_eq!(found("::1-::3").map(|found| found.len()), Ok(3));
        for text in [
            "127.0.0.9-127.0.0.2",
            "127.0.0.1-::1",
            "a,b",
            "0.0.0.0-255.0.0.0",
        ] {
            assert_eq!(
                found(text),
                Err(format!("{text}: Name or service not known"))
            );
        }
    }

    /// Java's order, and JMeter's messages.
    #[test]
    fn addresses_of_network_interfaces() {
        let found = |kind| addresses("lo", kind);
        assert_eq!(found(SourceType::DeviceIpv4), Ok(vec!["127.0.0.1".into()]));
        if let Ok(six) = found(SourceType::DeviceIpv6) {
            assert_eq!(six, ["::1"]);
            assert_eq!(found(SourceType::Device), Ok(six));
        }
        assert_eq!(
            addresses("nosuch", SourceType::Device),
            Err("Cannot find interface nosuch".into())
        );
    }

    #[test]
    fn a_local_address_is_shown_as_java_prints_it() {
        let shown = |name: &str| {
            let properties = Properties::default();
            properties.set("httpclient.localaddress", name);
            LocalAddress::read(&properties).map(|local| local.shown)
        };
        assert_eq!(shown("127.0.0.2"), Some("/127.0.0.2".into()));
        assert_eq!(shown("localhost"), Some("localhost/127.0.0.1".into()));
        assert_eq!(shown(""), None);
    }
}
