//! FTP Request.

use crate::form::{ElementFacts, Role};
use crate::shared::{ftp, login};
use crate::when::May;

pub const CLASS: &str = "FTPSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "FTP Request", "FtpTestSamplerGui")
        .help("Sends or fetches a file over FTP.")
        .sections(&[ftp::REQUEST, login::LOGIN])
        .may(&[May::WriteFiles]);
