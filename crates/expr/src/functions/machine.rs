//! `MachineName` and `MachineIP`.

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::sync::LazyLock;

use crate::call::{Args, CallResult};
use crate::scope::Scope;
use crate::text::Text;

/// Name and address of this machine, looked up once as in `JMeterUtils.initLocalHostDetails`.
static LOCAL_HOST: LazyLock<(String, String)> = LazyLock::new(|| {
    let name = gethostname::gethostname().to_string_lossy().into_owned();
    let addresses: Vec<IpAddr> = (name.as_str(), 0)
        .to_socket_addrs()
        .map(|found| found.map(|address| address.ip()).collect())
        .unwrap_or_default();
    // Java prefers IPv4 (java.net.preferIPv6Addresses=false).
    let address = addresses
        .iter()
        .find(|address| address.is_ipv4())
        .or(addresses.first())
        .copied()
        .unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    (name, address.to_string())
});

/// `__machineName`.
pub(super) fn name<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    args.store(0, &LOCAL_HOST.0, scope)?;
    Ok(Text::Literal(&LOCAL_HOST.0))
}

/// `__machineIP`.
pub(super) fn ip<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    args.store(0, &LOCAL_HOST.1, scope)?;
    Ok(Text::Literal(&LOCAL_HOST.1))
}
