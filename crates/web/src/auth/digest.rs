//! HTTP Digest as HttpClient's `DigestScheme` answers it.

use drumfire_java::charset::Charset;
use md5::Md5;
use sha2::{Digest as _, Sha256};

use super::AuthRequest;
use crate::header_value::{append_parameter, parse_elements};

/// A function that passes the pieces of a request body to a digest.
pub type EntityReader<'a> = dyn Fn(&mut dyn FnMut(&[u8])) + 'a;

/// A challenge and the state that persists between answers to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Digest {
    params: Vec<(String, Option<String>)>,
    last_nonce: Option<String>,
    nonce_count: u32,
    cnonce: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Qop {
    Missing,
    Auth,
    AuthInt,
}

impl Digest {
    /// Sets the parameters of a challenge; true if the challenge only reports a stale nonce.
    pub fn challenge(&mut self, params: &str) -> bool {
        self.params = parse_elements(params)
            .into_iter()
            .map(|element| (element.name.to_lowercase(), element.value))
            .collect();
        self.param("stale")
            .is_some_and(|stale| stale.eq_ignore_ascii_case("true"))
    }

    fn param(&self, name: &str) -> Option<&str> {
        self.params
            .iter()
            .rev()
            .find(|(own, _)| own == name)?
            .1
            .as_deref()
    }

    /// The quality of protection to use; `None` if the server offers no known one.
    fn qop(&self, has_entity: bool) -> Option<Qop> {
        let Some(offered) = self.param("qop") else {
            return Some(Qop::Missing);
        };
        let offers = |name: &str| {
            offered
                .split(',')
                .any(|own| own.trim().eq_ignore_ascii_case(name))
        };
        if has_entity && offers("auth-int") {
            Some(Qop::AuthInt)
        } else if offers("auth") {
            Some(Qop::Auth)
        } else {
            None
        }
    }

    /// The value of the `Authorization` header (`DigestScheme.createDigestHeader`); `None` when the challenge cannot be
    /// answered.
    pub fn answer(
        &mut self,
        request: &AuthRequest<'_>,
        user: &str,
        password: &str,
        cnonce: &mut dyn FnMut() -> [u8; 8],
    ) -> Option<String> {
        let realm = self.param("realm")?.to_owned();
        let nonce = self.param("nonce")?.to_owned();
        let algorithm = self.param("algorithm").unwrap_or("MD5").to_owned();
        let hasher = Hasher::of(&algorithm)?;
        let qop = self.qop(request.entity.is_some())?;
        if self.last_nonce.as_deref() == Some(nonce.as_str()) {
            self.nonce_count += 1;
        } else {
            self.nonce_count = 1;
            self.cnonce = hex(&cnonce());
            self.last_nonce = Some(nonce.clone());
        }
        let charset = self
            .param("charset")
            .and_then(Charset::find)
            .unwrap_or(Charset::US_ASCII);
        let hash = |text: &str| hasher.hash(&charset.encode(text));
        let mut a1 = format!("{user}:{realm}:{password}");
        if algorithm.eq_ignore_ascii_case("MD5-sess") {
            a1 = format!("{}:{nonce}:{}", hash(&a1), self.cnonce);
        }
        let mut a2 = format!("{}:{}", request.method, request.target);
        if qop == Qop::AuthInt {
            a2 = format!("{a2}:{}", hasher.hash_entity(request.entity));
        }
        let nc = format!("{:08x}", self.nonce_count);
        let qop_name = if qop == Qop::AuthInt {
            "auth-int"
        } else {
            "auth"
        };
        let response = if qop == Qop::Missing {
            hash(&format!("{}:{nonce}:{}", hash(&a1), hash(&a2)))
        } else {
            hash(&format!(
                "{}:{nonce}:{nc}:{}:{qop_name}:{}",
                hash(&a1),
                self.cnonce,
                hash(&a2)
            ))
        };
        let mut params = vec![
            ("username", user),
            ("realm", &realm),
            ("nonce", &nonce),
            ("uri", request.target),
            ("response", &response),
        ];
        if qop != Qop::Missing {
            params.extend([("qop", qop_name), ("nc", &nc), ("cnonce", &self.cnonce)]);
        }
        params.push(("algorithm", &algorithm));
        params.extend(self.param("opaque").map(|opaque| ("opaque", opaque)));
        let mut out = String::from("Digest ");
        for (i, (name, value)) in params.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            let quote = !matches!(*name, "nc" | "qop" | "algorithm");
            append_parameter(name, Some(value), quote, &mut out);
        }
        Some(out)
    }
}

#[derive(Clone, Copy)]
enum Hasher {
    Md5,
    Sha256,
}

impl Hasher {
    /// The algorithms that servers use and `java.security.MessageDigest` supports.
    fn of(algorithm: &str) -> Option<Self> {
        if algorithm.eq_ignore_ascii_case("MD5") || algorithm.eq_ignore_ascii_case("MD5-sess") {
            Some(Self::Md5)
        } else if algorithm.eq_ignore_ascii_case("SHA-256") {
            Some(Self::Sha256)
        } else {
            None
        }
    }

    fn hash(self, bytes: &[u8]) -> String {
        match self {
            Self::Md5 => hex(&Md5::digest(bytes)),
            Self::Sha256 => hex(&Sha256::digest(bytes)),
        }
    }

    fn hash_entity(self, entity: Option<&EntityReader<'_>>) -> String {
        let (mut md5, mut sha256) = (Md5::new(), Sha256::new());
        if let Some(read) = entity {
            read(&mut |piece| match self {
                Self::Md5 => md5.update(piece),
                Self::Sha256 => sha256.update(piece),
            });
        }
        match self {
            Self::Md5 => hex(&md5.finalize()),
            Self::Sha256 => hex(&sha256.finalize()),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(
        challenge: &str,
        request: &AuthRequest<'_>,
        user: &str,
        cnonce: [u8; 8],
    ) -> Option<String> {
        let mut digest = Digest::default();
        digest.challenge(challenge);
        digest.answer(request, user, "p", &mut || cnonce)
    }

    const GET: AuthRequest<'_> = AuthRequest {
        method: "GET",
        target: "/p",
        entity: None,
        workstation: "",
        now_ms: 0,
    };

    #[test]
    fn bodies_are_protected_where_offered() {
        let read = |sink: &mut dyn FnMut(&[u8])| {
            sink(b"bo");
            sink(b"dy");
        };
        let request = AuthRequest {
            method: "POST",
            target: "/p",
            entity: Some(&read),
            ..GET
        };
        let challenge =
            "realm=\"r e\", nonce=\"abc123\", qop=\"auth,auth-int\", opaque=\"op\", algorithm=MD5";
        // Recorded from JMeter, with this client nonce.
        assert_eq!(
            answer(
                challenge,
                &request,
                "u\"\\",
                [0x4a, 0xdb, 0xd4, 0xff, 0xa4, 0xa2, 0x06, 0x38]
            )
            .as_deref(),
            Some(
                "Digest username=\"u\\\"\\\\\", realm=\"r e\", nonce=\"abc123\", uri=\"/p\", \
                 response=\"b82a969173d20cc52d8a4789ac390e6b\", qop=auth-int, nc=00000001, cnonce=\"4adbd4ffa4a20638\", \
                 algorithm=MD5, opaque=\"op\""
            )
        );
    }

    #[test]
    fn old_servers_get_the_old_form() {
        let header = answer("realm=r, nonce=n", &GET, "u", [0; 8]).unwrap();
        // MD5(MD5("u:r:p") ":n:" MD5("GET:/p"))
        assert!(
            !header.contains("qop") && !header.contains("cnonce"),
            "{header}"
        );
        assert!(header.ends_with("algorithm=MD5"), "{header}");
    }

    #[test]
    fn the_count_grows_with_the_same_nonce() {
        let mut digest = Digest::default();
        digest.challenge("realm=r, nonce=n, qop=auth");
        for expected in ["nc=00000001", "nc=00000002"] {
            let header = digest.answer(&GET, "u", "p", &mut || [1; 8]).unwrap();
            assert!(header.contains(expected), "{header}");
        }
    }

    #[test]
    fn unknown_digest_challenges_get_no_answer() {
        for challenge in [
            "nonce=n",
            "realm=r",
            "realm=r, nonce=n, qop=other",
            "realm=r, nonce=n, algorithm=X",
        ] {
            assert_eq!(answer(challenge, &GET, "u", [0; 8]), None, "{challenge}");
        }
    }

    #[test]
    fn sha_256_of_rfc_7616() {
        let mut digest = Digest::default();
        digest.challenge(
            "realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=SHA-256, \
             nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\"",
        );
        let request = AuthRequest {
            method: "GET",
            target: "/dir/index.html",
            ..GET
        };
        digest.last_nonce = Some("7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v".into());
        digest.cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ".into();
        let header = digest
            .answer(&request, "Mufasa", "Circle of Life", &mut || [0; 8])
            .unwrap();
        let expected = "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1";
        assert!(header.contains(expected), "{header}");
    }
}
