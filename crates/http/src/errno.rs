//! Error numbers of the operating system.

#[cfg(unix)]
pub(crate) use libc::{
    EADDRINUSE, EADDRNOTAVAIL, ECONNREFUSED, ECONNRESET, EHOSTUNREACH, EMFILE, ENETUNREACH, ENFILE,
    EPIPE, ETIMEDOUT,
};

/// Numbers of Winsock, and of Windows itself (winerror.h).
#[cfg(windows)]
mod windows {
    pub const ENFILE: i32 = 4; // ERROR_TOO_MANY_OPEN_FILES
    pub const EPIPE: i32 = 10058; // WSAESHUTDOWN
    pub const EMFILE: i32 = 10024;
    pub const EADDRINUSE: i32 = 10048;
    pub const EADDRNOTAVAIL: i32 = 10049;
    pub const ENETUNREACH: i32 = 10051;
    pub const ECONNRESET: i32 = 10054;
    pub const ETIMEDOUT: i32 = 10060;
    pub const ECONNREFUSED: i32 = 10061;
    pub const EHOSTUNREACH: i32 = 10065;
}

#[cfg(windows)]
pub(crate) use windows::*;
