//! This machine's time zone.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;

const LINK: &str = "/etc/localtime";

/// The zone of `TZ` or of the system, as of the first call.
///
/// [`TimeZone::system`] lists the whole time zone database first, which takes a third of a plain run's work. If the
/// system's zone is a link into that database, reading that one file suffices.
pub fn local_zone() -> TimeZone {
    static ZONE: OnceLock<TimeZone> = OnceLock::new();
    let zone = ZONE.get_or_init(|| match std::env::var_os("TZ") {
        None => linked(Path::new(LINK)).unwrap_or_else(TimeZone::system),
        Some(_) => TimeZone::system(),
    });
    zone.clone()
}

/// The zone that a link into a time zone database points to.
fn linked(link: &Path) -> Option<TimeZone> {
    let target = std::fs::read_link(link).ok()?;
    let (_, name) = target.to_str()?.split_once("/zoneinfo/")?;
    TimeZone::tzif(name, &std::fs::read(link).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    #[test]
    fn it_is_the_zone_of_the_system() {
        let now = Timestamp::now();
        let (ours, systems) = (local_zone(), TimeZone::system());
        assert_eq!(ours.to_offset(now), systems.to_offset(now));
        if std::fs::read_link(LINK).is_ok() {
            assert_eq!(ours.iana_name(), systems.iana_name());
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_link_into_the_database_is_left_to_the_library() {
        let folder = tempfile::tempdir().expect("there is room");
        let link = folder.path().join("localtime");
        assert!(linked(&link).is_none());
        std::os::unix::fs::symlink("elsewhere", &link).expect("a link");
        assert!(linked(&link).is_none());
    }
}
