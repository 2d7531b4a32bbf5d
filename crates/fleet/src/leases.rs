//! Leases blocks of shared rows and numbers to agents. A counter for each shared element holds how many places have been taken.
//! An agent takes the next block by compare-and-set, so no place is ever taken twice, whatever fails.

use std::time::{Duration, Instant};

use async_nats::jetstream::kv;
use bytes::Bytes;
use drumfire_engine::{Lease, LeaseError, LeaseRequest};

use crate::files::sha256;

/// The largest block.
const LARGEST: u64 = 1_024;
/// The block size of an element without an end.
const ENDLESS: u64 = 64;
/// A block is at most an agent's share of the remaining places, divided by this.
const HALVES: u64 = 2;
/// How long users wait for the next row.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The next block after `taken` places; empty at the end. Blocks shrink towards the end of a pass, so that no agent holds rows
/// while others have none.
pub fn block(taken: u64, request: &LeaseRequest<'_>, agents: u64) -> Lease {
    let Some(length) = request.length else {
        return taken..taken.saturating_add(ENDLESS);
    };
    if length == 0 || (!request.is_recycled && taken >= length) {
        return taken..taken;
    }
    let left = length - taken % length;
    let size = (left / (agents.max(1) * HALVES)).clamp(1, LARGEST);
    taken..taken + size
}

/// The first block of an agent. An agent has it without a request, so that agents do not contend for the counter at the start of
/// a run. A restarted agent has already used it.
pub fn first(request: &LeaseRequest<'_>, agents: u64, index: u64) -> Lease {
    let size = first_size(request, agents);
    let start = index * size;
    match request.length {
        Some(0) => 0..0,
        Some(length) if !request.is_recycled && start >= length => start..start,
        _ => start..start + size,
    }
}

/// The number of places in all first blocks, which later blocks skip.
fn first_taken(request: &LeaseRequest<'_>, agents: u64) -> u64 {
    agents * first_size(request, agents)
}

/// The size of a first block. All first blocks together hold at most half of the places, so that none reaches into the next pass.
fn first_size(request: &LeaseRequest<'_>, agents: u64) -> u64 {
    request
        .length
        .map(|length| (length / (agents.max(1) * HALVES)).clamp(1, LARGEST))
        .unwrap_or(ENDLESS)
}

/// Takes the next block of an element of a run.
///
/// # Errors
/// If NATS did not answer within [`PATIENCE`].
pub async fn take(
    runs: &kv::Store,
    run: &str,
    request: &LeaseRequest<'_>,
    agents: u64,
) -> Result<Lease, LeaseError> {
    let key = format!("{run}.lease.{}", &sha256(request.element.as_bytes())[..24]);
    let deadline = Instant::now() + PATIENCE;
    let mut why = String::from("other agents were always faster");
    while Instant::now() < deadline {
        let attempt = tokio::time::timeout(PATIENCE / 4, attempt(runs, &key, request, agents));
        match attempt.await {
            Ok(Ok(Some(lease))) => return Ok(lease),
            Ok(Ok(None)) => continue,
            Ok(Err(error)) => why = error,
            Err(_) => why = "NATS does not answer".to_owned(),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(LeaseError {
        element: request.element.to_owned(),
        tried: Some((PATIENCE, why)),
    })
}

/// Returns `None` if another agent was faster.
async fn attempt(
    runs: &kv::Store,
    key: &str,
    request: &LeaseRequest<'_>,
    agents: u64,
) -> Result<Option<Lease>, String> {
    let entry = runs.entry(key).await.map_err(|error| error.to_string())?;
    let taken = entry
        .as_ref()
        .and_then(|entry| {
            let text = std::str::from_utf8(&entry.value).ok()?;
            text.parse::<u64>().ok()
        })
        .unwrap_or_else(|| first_taken(request, agents));
    let lease = block(taken, request, agents);
    if lease.is_empty() {
        return Ok(Some(lease));
    }
    let next = Bytes::from(lease.end.to_string());
    let stored = match entry {
        Some(entry) => match runs.update(key, next, entry.revision).await {
            Ok(_) => true,
            Err(error) if error.kind() == kv::UpdateErrorKind::WrongLastRevision => false,
            Err(error) => return Err(error.to_string()),
        },
        None => match runs.create(key, next).await {
            Ok(_) => true,
            Err(error) if error.kind() == kv::CreateErrorKind::AlreadyExists => false,
            Err(error) => return Err(error.to_string()),
        },
    };
    Ok(stored.then_some(lease))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(length: Option<u64>, is_recycled: bool) -> LeaseRequest<'static> {
        LeaseRequest {
            element: "rows",
            length,
            is_recycled,
        }
    }

    #[test]
    fn blocks_cover_each_row_once_and_shrink_towards_the_end() {
        for (length, agents) in [(0, 3), (1, 8), (10, 4), (100_000, 8), (5_000, 1)] {
            let request = request(Some(length), false);
            let (mut taken, mut blocks) = (0, 0);
            loop {
                let block = block(taken, &request, agents);
                assert_eq!(block.start, taken);
                if block.is_empty() {
                    break;
                }
                let left = length - taken;
                assert!(
                    block.end - block.start <= left.div_ceil(agents),
                    "{block:?} of {left}"
                );
                (taken, blocks) = (block.end, blocks + 1);
            }
            assert_eq!(taken, length);
            assert!(
                blocks <= length.min(200 + agents * 60),
                "{blocks} blocks of {length} rows"
            );
        }
    }

    #[test]
    fn first_blocks_are_beside_each_other_and_before_all_others() {
        for (length, agents, is_recycled) in [
            (Some(100_000), 8, false),
            (Some(3), 8, false),
            (Some(3), 8, true),
            (None, 4, true),
        ] {
            let request = request(length, is_recycled);
            let mut taken = 0;
            for index in 0..agents {
                let block = first(&request, agents, index);
                assert!(block.start == taken || block.is_empty(), "{block:?}");
                let passes =
                    length.map(|length| (block.start / length, (block.end.max(1) - 1) / length));
                assert!(block.is_empty() || passes.is_none_or(|(first, last)| first == last));
                taken = block.end;
            }
            let after = block(first_taken(&request, agents), &request, agents);
            assert!(after.is_empty() || after.start >= taken, "{after:?}");
            if let Some(length) = length.filter(|_| !is_recycled) {
                assert!(taken <= length.max(agents));
            }
        }
    }

    #[test]
    fn a_file_that_goes_round_has_no_end() {
        let request = request(Some(10), true);
        let mut taken = 0;
        for _ in 0..100 {
            let block = block(taken, &request, 2);
            assert!(!block.is_empty());
            // No block spans two passes.
            assert_eq!(block.start / 10, (block.end - 1) / 10);
            taken = block.end;
        }
        assert_eq!(block(7, &self::request(None, true), 4), 7..71);
    }
}
