//! How a run ends: decides how each kind of trouble affects the exit code.
//!
//! A user's trouble is a failed row and changes nothing here. An output's trouble costs that output and fails the run. In
//! every case, everything measured is written before the exit code is decided.

use crate::exit_codes::Exit;

/// The facts, once everything is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// The code of the signal that ended the run early, or of a repeated run that did not come to its end.
    pub interrupted: Option<Exit>,
    /// Outputs were lost, or there were defects.
    pub has_faults: bool,
    /// No request was sent.
    pub sent_nothing: bool,
    /// A threshold is true, or could not be judged and that is not allowed.
    pub broke_threshold: bool,
    /// The verdict is not VALID, and `--strict` asks for that.
    pub is_distrusted: bool,
    /// The run is worse than its baseline.
    pub is_worse: bool,
}

impl Ending {
    /// The exit code: that of the gravest trouble.
    pub fn exit(&self) -> Exit {
        match self {
            Ending {
                has_faults: true, ..
            } => Exit::RunFailed,
            Ending {
                interrupted: Some(exit),
                ..
            } => *exit,
            Ending {
                sent_nothing: true, ..
            } => Exit::NothingSent,
            Ending {
                broke_threshold: true,
                ..
            } => Exit::ThresholdsNotMet,
            Ending {
                is_distrusted: true,
                ..
            } => Exit::NotTrusted,
            Ending { is_worse: true, .. } => Exit::Worse,
            Ending { .. } => Exit::Ok,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_trouble_gives_the_exit_code() {
        let mut ending = Ending::default();
        assert_eq!(ending.exit(), Exit::Ok);
        ending.is_worse = true;
        assert_eq!(ending.exit(), Exit::Worse);
        ending.is_distrusted = true;
        assert_eq!(ending.exit(), Exit::NotTrusted);
        ending.broke_threshold = true;
        assert_eq!(ending.exit(), Exit::ThresholdsNotMet);
        ending.sent_nothing = true;
        assert_eq!(ending.exit(), Exit::NothingSent);
        ending.interrupted = Some(Exit::Interrupted);
        assert_eq!(ending.exit(), Exit::Interrupted);
        ending.has_faults = true;
        assert_eq!(ending.exit(), Exit::RunFailed);
    }
}
