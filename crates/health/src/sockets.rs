//! Linux's tables of TCP sockets, `/proc/net/tcp` and `/proc/net/tcp6`.

use std::collections::{BTreeSet, HashMap};

/// `TCP_TIME_WAIT` in the column `st`.
const TIME_WAIT: &str = "06";
/// `TCP_LISTEN`.
const LISTEN: &str = "0A";

/// The inodes of sockets that listen at one of these ports.
pub fn listeners(table: &str, ports: &BTreeSet<u16>) -> Vec<u64> {
    let rows = table.lines().skip(1).filter_map(|line| {
        // sl, local_address, rem_address, st, queues, timer, retrnsmt, uid, timeout, inode
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [_, local, _, LISTEN, _, _, _, _, _, inode, ..] = columns[..] else {
            return None;
        };
        let (_, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        ports.contains(&port).then(|| inode.parse().ok())?
    });
    rows.collect()
}

/// Sockets in TIME_WAIT towards the remote address that has most of them, those of this machine left out if so wished.
pub fn most_time_wait(table: &str, without_loopback: bool) -> u64 {
    let mut counts: HashMap<&str, u64> = HashMap::new();
    for line in table.lines().skip(1) {
        // sl, local_address, rem_address, st
        let mut columns = line.split_whitespace().skip(2);
        let (Some(remote), Some(TIME_WAIT)) = (columns.next(), columns.next()) else {
            continue;
        };
        if !(without_loopback && is_loopback(remote)) {
            *counts.entry(remote).or_default() += 1;
        }
    }
    counts.into_values().max().unwrap_or(0)
}

/// `0100007F:1F90` is 127.0.0.1:8080; addresses are words in the byte order of the machine.
fn is_loopback(remote: &str) -> bool {
    let address = remote.split(':').next().unwrap_or_default();
    let first_octet = |word: &str| {
        u32::from_str_radix(word, 16)
            .ok()
            .map(|word| word.to_ne_bytes()[0])
    };
    match address.len() {
        8 => first_octet(address) == Some(127),
        // ::1, and IPv4 addresses in IPv6's form.
        32 => {
            address == "00000000000000000000000001000000"
                || address.starts_with("0000000000000000FFFF0000")
                    && first_octet(&address[24..]) == Some(127)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_endian = "little")]
    #[test]
    fn sockets_are_counted_by_where_they_go() {
        let row = |remote: &str, state: &str| {
            format!(
                "  0: 0100007F:A000 {remote} {state} 00000000:00000000 00:00000000 00000000 0 0 0\n"
            )
        };
        let head = "  sl  local_address rem_address   st tx_queue rx_queue\n".to_owned();
        let far = row("0A00000A:01BB", "06");
        let near = row("0200007F:0050", "06");
        let open = row("0A00000A:01BB", "01");
        let table = [head, far, near.repeat(3), open].concat();
        assert_eq!(most_time_wait(&table, false), 3);
        assert_eq!(most_time_wait(&table, true), 1);
        assert_eq!(most_time_wait("", true), 0);
    }

    #[test]
    fn addresses_of_this_machine() {
        assert!(is_loopback("00000000000000000000000001000000:0050"));
        assert!(!is_loopback("0000000000000000FFFF00000A00000A:0050"));
        assert!(!is_loopback(""));
    }
}
