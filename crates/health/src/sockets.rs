//! Linux's tables of TCP sockets, `/proc/net/tcp` and `/proc/net/tcp6`.

use std::collections::{BTreeSet, HashMap};
use std::io::BufRead;

/// `TCP_TIME_WAIT` in the column `st`.
const TIME_WAIT: &str = "06";
/// `TCP_LISTEN`.
const LISTEN: &str = "0A";

/// The inodes of sockets that listen on one of these ports. Linux lists listening sockets first (`tcp_seq_start` in
/// `net/ipv4/tcp_ipv4.c`), so the tens of thousands of connections after them are never read.
pub fn listeners<'a>(
    table: impl BufRead + 'a,
    ports: &'a BTreeSet<u16>,
) -> impl Iterator<Item = u64> + 'a {
    let rows = table.lines().skip(1).map_while(Result::ok);
    rows.map_while(|row| listener(&row))
        .filter_map(|(port, inode)| ports.contains(&port).then_some(inode))
}

/// The port and inode of a listening socket.
fn listener(row: &str) -> Option<(u16, u64)> {
    // sl, local_address, rem_address, st, queues, timer, retrnsmt, uid, timeout, inode
    let mut columns = row.split_whitespace().skip(1);
    let (_, port) = columns.next()?.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let is_listening = columns.nth(1)? == LISTEN;
    let inode = columns.nth(5)?.parse().ok()?;
    is_listening.then_some((port, inode))
}

/// Sockets in TIME_WAIT to the remote address that has most of them, optionally without those of this machine.
pub fn most_time_wait(mut table: impl BufRead, without_loopback: bool) -> u64 {
    let mut counts: HashMap<String, u64> = HashMap::new();
    let mut line = String::new();
    while table.read_line(&mut line).is_ok_and(|length| length > 0) {
        // sl, local_address, rem_address, st
        let mut columns = line.split_whitespace().skip(2);
        if let (Some(remote), Some(TIME_WAIT)) = (columns.next(), columns.next())
            && !(without_loopback && is_loopback(remote))
        {
            match counts.get_mut(remote) {
                Some(count) => *count += 1,
                None => drop(counts.insert(remote.to_owned(), 1)),
            }
        }
        line.clear();
    }
    counts.into_values().max().unwrap_or(0)
}

/// Whether the address is a loopback address. `0100007F:1F90` is 127.0.0.1:8080; addresses are words in the machine's
/// byte order.
fn is_loopback(remote: &str) -> bool {
    let address = remote.split(':').next().unwrap_or_default();
    match address.len() {
        8 => first_octet(address) == Some(127),
        // ::1, and IPv4-mapped addresses.
        32 => {
            address == "00000000000000000000000001000000"
                || address.starts_with("0000000000000000FFFF0000")
                    && first_octet(&address[24..]) == Some(127)
        }
        _ => false,
    }
}

fn first_octet(word: &str) -> Option<u8> {
    u32::from_str_radix(word, 16)
        .ok()
        .map(|word| word.to_ne_bytes()[0])
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
        assert_eq!(most_time_wait(table.as_bytes(), false), 3);
        assert_eq!(most_time_wait(table.as_bytes(), true), 1);
        assert_eq!(most_time_wait(&b""[..], true), 0);
    }

    #[test]
    fn the_table_is_read_as_far_as_sockets_listen() {
        let row = |port: &str, state: &str, inode: u32| {
            format!(
                "  0: 0100007F:{port} 00000000:0000 {state} 0:0 00:0 0 0 0 {inode} 1 0 100 0 0\n"
            )
        };
        let head = "  sl  local_address rem_address   st\n".to_owned();
        let listening = [row("1F90", LISTEN, 7), row("0050", LISTEN, 8)];
        let behind = [row("1F90", "01", 9), row("1F90", LISTEN, 10)];
        let table = [head, listening.concat(), behind.concat()].concat();
        let ports = BTreeSet::from([8080, 443]);
        let found: Vec<u64> = listeners(table.as_bytes(), &ports).collect();
        assert_eq!(found, [7]);
    }

    #[test]
    fn addresses_of_this_machine() {
        assert!(is_loopback("00000000000000000000000001000000:0050"));
        assert!(!is_loopback("0000000000000000FFFF00000A00000A:0050"));
        assert!(!is_loopback(""));
    }
}
