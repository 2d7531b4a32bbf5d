//! The mechanisms that an Authorization Manager names.

use drumfire_java::Exception;

/// `Authorization.mechanism`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mechanism {
    /// `BASIC_DIGEST`: as `Basic`.
    BasicDigest,
    /// `BASIC`: sent with the first request. The default.
    #[default]
    Basic,
    /// `DIGEST`: sent only after a challenge.
    Digest,
    /// `KERBEROS`.
    Kerberos,
}

impl Mechanism {
    /// The mechanism with this name (`Mechanism.valueOf`).
    ///
    /// # Errors
    /// If JMeter does not know it.
    pub fn from_name(name: &str) -> Result<Self, Exception> {
        Ok(match name {
            "BASIC_DIGEST" => Self::BasicDigest,
            "BASIC" => Self::Basic,
            "DIGEST" => Self::Digest,
            "KERBEROS" => Self::Kerberos,
            other => {
                return Err(Exception::illegal_argument(format!(
                    "No enum constant org.apache.jmeter.protocol.http.control.AuthManager.Mechanism.{other}"
                )));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_mechanisms() {
        assert_eq!(Mechanism::from_name("DIGEST"), Ok(Mechanism::Digest));
        let unknown = ["NTLM", "", "basic"].map(Mechanism::from_name);
        assert!(unknown.iter().all(Result::is_err));
    }
}
