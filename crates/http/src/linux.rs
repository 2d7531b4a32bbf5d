//! System calls that only Linux has. `portable.rs` implements the same functions for other systems.

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::OnceLock;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Creates a non-blocking TCP socket in one system call.
pub(crate) fn tcp_socket(domain: Domain) -> io::Result<Socket> {
    let kind = Type::STREAM.nonblocking().cloexec();
    Socket::new_raw(domain, kind, Some(Protocol::TCP))
}

/// Makes the kernel stamp what arrives, so that [`receive`] and [`discard`] know when it did (SO_TIMESTAMPING, the kernel's
/// networking/timestamping.rst).
pub(crate) fn stamp_arrivals(socket: &impl AsFd) -> io::Result<()> {
    let flags: libc::c_uint = libc::SOF_TIMESTAMPING_RX_SOFTWARE | libc::SOF_TIMESTAMPING_SOFTWARE;
    // SAFETY: the option's value is a live c_uint of the length given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_TIMESTAMPING,
            (&raw const flags).cast(),
            size_of::<libc::c_uint>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Reads into a buffer. Returns the number of bytes, 0 at the end of the stream, and when the kernel received the last of them,
/// since the Unix epoch.
pub(crate) fn receive(
    socket: &impl AsFd,
    buffer: &mut [MaybeUninit<u8>],
) -> io::Result<(usize, Option<Duration>)> {
    // SAFETY: the buffer is live and this long.
    unsafe { received(socket, buffer.as_mut_ptr().cast(), buffer.len(), 0) }
}

/// Drops up to `limit` received bytes inside the kernel. The result is that of [`receive`].
pub(crate) fn discard(
    socket: &impl AsFd,
    limit: usize,
    _scratch: &mut [u8],
) -> io::Result<(usize, Option<Duration>)> {
    // SAFETY: for TCP, MSG_TRUNC makes recvmsg drop the bytes without writing to the buffer (tcp(7)), so a null buffer is
    // never touched.
    unsafe { received(socket, std::ptr::null_mut(), limit, libc::MSG_TRUNC) }
}

/// Room for one control message with the kernel's stamps: a header and three times (`struct scm_timestamping`).
#[repr(C)]
struct StampMessage {
    head: libc::cmsghdr,
    times: [libc::timespec; 3],
}

/// Receives bytes with the stamp of the last one.
///
/// # Safety
/// The flags must not make the kernel write beyond what is valid at `to`.
unsafe fn received(
    socket: &impl AsFd,
    to: *mut libc::c_void,
    length: usize,
    flags: libc::c_int,
) -> io::Result<(usize, Option<Duration>)> {
    let mut piece = libc::iovec {
        iov_base: to,
        iov_len: length,
    };
    let mut stamps = MaybeUninit::<StampMessage>::uninit();
    // SAFETY: zeros are a message without name, pieces and control data.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = stamps.as_mut_ptr().cast();
    message.msg_controllen = size_of::<StampMessage>() as _;
    // SAFETY: the descriptor is open while borrowed, the message's parts are live, and the caller vouches for `to`.
    let got = unsafe { libc::recvmsg(socket.as_fd().as_raw_fd(), &raw mut message, flags) };
    let count = usize::try_from(got).map_err(|_| io::Error::last_os_error())?;
    if (message.msg_controllen as usize) < size_of::<StampMessage>() {
        return Ok((count, None));
    }
    // SAFETY: the kernel has filled all of it.
    let StampMessage { head, times } = unsafe { stamps.assume_init() };
    let is_stamp = head.cmsg_level == libc::SOL_SOCKET && head.cmsg_type == libc::SCM_TIMESTAMPING;
    let [software, ..] = times;
    let since_epoch = || {
        let seconds = u64::try_from(software.tv_sec).ok()?;
        Some(Duration::new(
            seconds,
            u32::try_from(software.tv_nsec).ok()?,
        ))
    };
    let stamp = since_epoch().filter(|stamp| is_stamp && !stamp.is_zero());
    Ok((count, stamp))
}

/// Makes the socket readable only when this many bytes or the end of the stream have arrived (SO_RCVLOWAT, socket(7)). The kernel
/// enlarges the buffer for them, and immediately checks whether there are enough (`tcp_set_rcvlowat`).
pub(crate) fn set_low_water(socket: &impl AsFd, bytes: usize) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the option's value is a live c_int of the length given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// The TCP segments that a connection has sent so far, and how many of them were retransmissions (TCP_INFO, tcp(7)); `None`
/// if the kernel does not report them.
pub(crate) fn segments(socket: &impl AsFd) -> Option<(u64, u64)> {
    /// `tcpi_total_retrans` and `tcpi_segs_out` of `struct tcp_info`, which only grows at its end (linux/tcp.h).
    const SENT_AGAIN: usize = 100;
    const SENT: usize = 136;
    const ROOM: usize = 144;
    let mut info = [0u8; ROOM];
    let mut length = ROOM as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes into the live buffer, and says how many in `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let number = |at: usize| {
        let bytes = info.get(at..at + 4)?.try_into().ok()?;
        Some(u64::from(u32::from_ne_bytes(bytes)))
    };
    if result != 0 || (length as usize) < SENT + 4 {
        return None;
    }
    Some((number(SENT)?, number(SENT_AGAIN)?))
}

/// Sends up to `length` bytes of a file without copying them through this process; 0 is the end of the file.
pub(crate) fn send_file(
    socket: &impl AsFd,
    file: &File,
    offset: u64,
    length: u64,
    _scratch: &mut [u8],
) -> io::Result<usize> {
    let mut at = libc::off_t::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // SAFETY: both descriptors are open while borrowed, and `at` outlives the call.
    let sent = unsafe {
        libc::sendfile(
            socket.as_fd().as_raw_fd(),
            file.as_raw_fd(),
            &raw mut at,
            length,
        )
    };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Lets the kernel choose the local port when connecting instead of when binding. When connecting, it may share a port between
/// connections to different servers.
pub(crate) fn bind_address_no_port(socket: &impl AsFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the option's value is a live c_int of the length given.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_IP,
            libc::IP_BIND_ADDRESS_NO_PORT,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Whether the system's default congestion control paces connections, as BBR does (`net.ipv4.tcp_congestion_control`).
fn default_paces() -> bool {
    static PACES: OnceLock<bool> = OnceLock::new();
    *PACES.get_or_init(|| {
        let setting = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
        setting.is_ok_and(|name| name.trim().starts_with("bbr"))
    })
}

/// Disables pacing for a connection that never leaves this machine. BBR spreads segments over time by a timer, which
/// protects a network; on the loopback interface, the timers cause most of the cost of an upload. Call it before
/// connecting, since a socket that paces never stops. It changes nothing if the system's default does not pace.
pub(crate) fn send_unpaced(socket: &impl AsFd) -> io::Result<()> {
    if !default_paces() {
        return Ok(());
    }
    // Every process may choose `reno` (tcp(7), `tcp_allowed_congestion_control`).
    SockRef::from(socket).set_tcp_congestion(b"reno")
}

/// The scheduler slice of a thread with short turns: the shortest that Linux supports.
const SHORT_TURN: Duration = Duration::from_micros(100);

/// Requests short scheduler slices for this thread (sched_setattr(2)). Since Linux 6.12, such a thread preempts threads
/// with longer slices as soon as it is woken, instead of after up to some milliseconds. Its share of the core stays the
/// same. Nothing changes on systems without support, and for threads under another scheduling policy.
pub fn take_short_turns() {
    let size = size_of::<libc::sched_attr>() as libc::c_uint;
    let mut attributes = libc::sched_attr {
        size,
        sched_policy: 0,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 0,
        sched_deadline: 0,
        sched_period: 0,
    };
    let own_thread: libc::pid_t = 0;
    // SAFETY: the kernel fills at most `size` bytes of a live structure of that size.
    let got = unsafe {
        let to = &raw mut attributes;
        libc::syscall(libc::SYS_sched_getattr, own_thread, to, size, 0)
    };
    let is_usual = attributes.sched_policy == libc::SCHED_OTHER as u32;
    if got != 0 || !is_usual {
        return;
    }
    attributes.sched_runtime = SHORT_TURN.as_nanos() as u64;
    // SAFETY: the kernel reads a live structure that says its own size.
    unsafe {
        libc::syscall(
            libc::SYS_sched_setattr,
            own_thread,
            &raw const attributes,
            0,
        )
    };
}

/// A kernel timer (timerfd_create(2)) with nanosecond resolution, which the runtime watches like a socket.
pub struct KernelTimer(AsyncFd<OwnedFd>);

impl KernelTimer {
    /// A disarmed timer.
    ///
    /// # Errors
    /// When there are too many open files, or on other systems than Linux.
    pub fn new() -> io::Result<KernelTimer> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        // SAFETY: an OwnedFd gives the same descriptor for as long as it lives, and AsyncFd deregisters it before
        // it drops it.
        let watched = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) }?;
        Ok(KernelTimer(watched))
    }

    /// Arms the timer to expire once, after `delay`. This also clears an unread expiration, so expirations need not be read.
    pub fn set(&self, delay: Duration) -> io::Result<()> {
        // Zero would disarm the timer.
        let delay = delay.max(Duration::from_nanos(1));
        let once = Itimerspec {
            it_interval: Timespec::default(),
            it_value: Timespec {
                tv_sec: i64::try_from(delay.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: delay.subsec_nanos().into(),
            },
        };
        timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
        Ok(())
    }

    /// Waits until the timer expires.
    pub async fn expired(&self) {
        match self.0.readable().await {
            Ok(mut ready) => ready.clear_ready(),
            Err(_) => std::future::pending().await, // the runtime is going down
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_thread_with_short_turns_is_scheduled_as_others_are() {
        take_short_turns();
        // SAFETY: it reads nothing but the scheduling policy of this thread.
        let policy = unsafe { libc::sched_getscheduler(0) };
        assert_eq!(policy, libc::SCHED_OTHER);
    }

    #[test]
    fn a_socket_that_sends_unpaced_has_a_control_without_pacing() {
        let socket = tcp_socket(Domain::IPV4).expect("a socket");
        send_unpaced(&socket).expect("every process may choose it");
        let control = socket.tcp_congestion().expect("the kernel says which");
        assert!(!control.starts_with(b"bbr"), "{control:?}");
    }

    #[tokio::test]
    async fn a_timer_goes_off_again_and_again_and_never_early() {
        let timer = KernelTimer::new().expect("there is a descriptor left");
        for ms in [3, 0, 2] {
            let delay = Duration::from_millis(ms);
            let begin = Instant::now();
            timer.set(delay).expect("it is open");
            timer.expired().await;
            assert!(begin.elapsed() >= delay);
        }
        // Arming it again before it expires replaces the time.
        let begin = Instant::now();
        timer.set(Duration::from_secs(3600)).expect("it is open");
        timer.set(Duration::from_millis(1)).expect("it is open");
        timer.expired().await;
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
}
