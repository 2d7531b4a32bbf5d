//! The memory of the control groups that this process is in, of version 1 or 2. Each group's limit also holds for those below
//! it, so the tightest group counts.

use std::path::{Path, PathBuf};

use drumfire_platform::words::count;

use crate::machine::Machine;

/// The share of its limit at which a group's memory is scarce.
const SCARCE: f64 = 0.9;
/// Version 1 states a limit of almost 2^63 bytes where there is none.
const NO_LIMIT: u64 = 1 << 62;

/// A control group's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupMemory {
    /// The limit, at which the system kills the process, in bytes.
    pub limit_bytes: u64,
    /// The memory of its processes in bytes. File content that the system can discard does not count.
    pub used_bytes: u64,
}

impl GroupMemory {
    /// The warning, if little is left.
    pub fn warning(&self) -> Option<String> {
        let is_scarce = self.used_bytes as f64 >= self.limit_bytes as f64 * SCARCE;
        is_scarce.then(|| {
            format!(
                "{} of {} MiB of the control group's memory are in use, and the system kills the run at the limit; give the \
                 group more memory, or run fewer users",
                count(self.used_bytes >> 20),
                count(self.limit_bytes >> 20)
            )
        })
    }
}

/// The names of the files of a version.
struct Names {
    limit: &'static str,
    used: &'static str,
    discardable: &'static str,
}

const V1: Names = Names {
    limit: "memory.limit_in_bytes",
    used: "memory.usage_in_bytes",
    discardable: "total_inactive_file",
};
const V2: Names = Names {
    limit: "memory.max",
    used: "memory.current",
    discardable: "inactive_file",
};

impl Machine {
    /// The memory of the control group with the lowest limit; `None` if none has a limit.
    pub fn group_memory(&self) -> Option<GroupMemory> {
        let own = self.text("proc/self/cgroup").unwrap_or_default();
        let mut groups = Vec::new();
        for line in own.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else {
                continue;
            };
            match kinds {
                "" => groups.extend(folders("sys/fs/cgroup", path).map(|folder| (folder, &V2))),
                _ if kinds.split(',').any(|kind| kind == "memory") => {
                    groups
                        .extend(folders("sys/fs/cgroup/memory", path).map(|folder| (folder, &V1)));
                }
                _ => {}
            }
        }
        let found = groups
            .iter()
            .filter_map(|(folder, names)| self.memory_of(folder, names));
        found.min_by_key(|memory| memory.limit_bytes)
    }

    fn memory_of(&self, folder: &Path, names: &Names) -> Option<GroupMemory> {
        let number = |name: &str| self.number(&folder.join(name).to_string_lossy());
        let limit_bytes = number(names.limit).filter(|limit| *limit < NO_LIMIT)?;
        let stat = folder.join("memory.stat");
        let stat = self.text(&stat.to_string_lossy()).unwrap_or_default();
        let discardable = stat.lines().find_map(|line| {
            let (name, bytes) = line.split_once(' ')?;
            (name == names.discardable).then(|| bytes.trim().parse().ok())?
        });
        let used = number(names.used).unwrap_or(0);
        Some(GroupMemory {
            limit_bytes,
            used_bytes: used.saturating_sub(discardable.unwrap_or(0)),
        })
    }
}

/// The folders of a group and of those above it. In a container, the root may be the group itself.
fn folders(root: &str, path: &str) -> impl Iterator<Item = PathBuf> {
    let inner = Path::new(path.trim_start_matches('/'));
    let root = PathBuf::from(root);
    let all: Vec<_> = inner.ancestors().map(|group| root.join(group)).collect();
    all.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&str, &str)]) -> Option<GroupMemory> {
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Machine::at(folder.path()).group_memory()
    }

    #[test]
    fn the_tightest_group_counts_in_both_versions() {
        assert_eq!(of(&[("proc/self/cgroup", "0::/\n")]), None);
        let v2 = of(&[
            ("proc/self/cgroup", "0::/jobs/run\n"),
            ("sys/fs/cgroup/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/memory.max", "1000\n"),
            ("sys/fs/cgroup/jobs/memory.current", "950\n"),
            (
                "sys/fs/cgroup/jobs/memory.stat",
                "anon 700\ninactive_file 200\n",
            ),
            ("sys/fs/cgroup/jobs/run/memory.max", "4000\n"),
        ]);
        let tight = |limit_bytes, used_bytes| {
            Some(GroupMemory {
                limit_bytes,
                used_bytes,
            })
        };
        assert_eq!(v2, tight(1000, 750));
        let container = of(&[
            ("proc/self/cgroup", "0::/\n"),
            ("sys/fs/cgroup/memory.max", "1000\n"),
            ("sys/fs/cgroup/memory.current", "10\n"),
        ]);
        assert_eq!(container, tight(1000, 10));
        let v1 = of(&[
            (
                "proc/self/cgroup",
                "4:cpuset:/x\n3:memory,hugetlb:/pod/run\n0::/\n",
            ),
            (
                "sys/fs/cgroup/memory/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
            (
                "sys/fs/cgroup/memory/pod/run/memory.limit_in_bytes",
                "2000\n",
            ),
            (
                "sys/fs/cgroup/memory/pod/run/memory.usage_in_bytes",
                "1900\n",
            ),
            (
                "sys/fs/cgroup/memory/pod/run/memory.stat",
                "inactive_file 1\ntotal_inactive_file 100\n",
            ),
        ]);
        assert_eq!(v1, tight(2000, 1800));
    }

    #[test]
    fn nine_tenths_of_the_limit_are_warned_of() {
        let memory = |used_mib: u64| GroupMemory {
            limit_bytes: 1000 << 20,
            used_bytes: used_mib << 20,
        };
        assert_eq!(memory(899).warning(), None);
        let told = memory(900).warning().expect("it is scarce");
        assert!(
            told.starts_with("900 of 1,000 MiB of the control group's"),
            "{told}"
        );
    }
}
