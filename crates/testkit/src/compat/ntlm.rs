//! Pages for clients that prove by NTLMv2 that they know the password. The connection is authenticated from then on
//! (MS-NLMP).

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md4::{Digest, Md4};
use md5::Md5;

use crate::server::ReceivedRequest;

/// Unicode, NTLM, session security, and a description of the target.
const FLAGS: u32 = 0x0088_0201;
const NONCE: &[u8; 8] = b"\x01\x23\x45\x67\x89\xab\xcd\xef";
/// The password of every user.
const PASSWORD: &str = "secret";

/// The connections that are authenticated.
#[derive(Default)]
pub struct ProvenConnections(Mutex<HashSet<usize>>);

/// The server's decision about a request.
pub enum Verdict {
    /// The connection is authenticated.
    Welcome,
    /// Answer 401 with this challenge.
    Challenge(String),
}

impl ProvenConnections {
    /// Decides about a request.
    pub fn judge(&self, request: &ReceivedRequest) -> Verdict {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&request.connection) {
            return Verdict::Welcome;
        }
        let message = request.header("authorization").and_then(message);
        match message {
            Some(message) if message.get(8) == Some(&1) => {
                Verdict::Challenge(format!("NTLM {}", STANDARD.encode(second_message())))
            }
            Some(message) if is_proof(&message) => {
                known.insert(request.connection);
                Verdict::Welcome
            }
            _ => Verdict::Challenge("NTLM".to_owned()),
        }
    }
}

fn message(header: &str) -> Option<Vec<u8>> {
    STANDARD.decode(header.strip_prefix("NTLM ")?).ok()
}

/// The domain and the user in a third message. The rest of it is random, a time, and the machine's name.
pub fn claimed(header: &str) -> Option<String> {
    let message = message(header)?;
    let text = |at| String::from_utf16_lossy(&units(part(&message, at)));
    (message.get(8) == Some(&3)).then(|| format!("NTLM {}\\{}", text(28), text(36)))
}

fn second_message() -> Vec<u8> {
    let target: Vec<u8> = bytes("SHOP");
    let mut info = vec![2, 0, 8, 0];
    info.extend(&target);
    info.extend([0; 4]);
    let mut message = b"NTLMSSP\0\x02\0\0\0\x08\0\x08\0\x38\0\0\0".to_vec();
    message.extend(FLAGS.to_le_bytes());
    message.extend(NONCE);
    message.extend([0; 8]);
    message.extend([info.len() as u8, 0, info.len() as u8, 0, 0x40, 0, 0, 0]);
    message.extend([0; 8]);
    message.extend(target);
    message.extend(info);
    message
}

fn part(message: &[u8], at: usize) -> &[u8] {
    let number = |at: usize| message.get(at).copied().map(usize::from).unwrap_or(0);
    let length = number(at) | number(at + 1) << 8;
    let offset = number(at + 4) | number(at + 5) << 8;
    message.get(offset..offset + length).unwrap_or_default()
}

fn units(bytes: &[u8]) -> Vec<u16> {
    let pairs = bytes.chunks_exact(2);
    pairs.map(|b| u16::from_le_bytes([b[0], b[1]])).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Whether the sender of a third message knows the password.
fn is_proof(message: &[u8]) -> bool {
    let (response, domain, user) = (part(message, 20), part(message, 28), part(message, 36));
    let Some((proof, blob)) = response.split_at_checked(16) else {
        return false;
    };
    let user = String::from_utf16_lossy(&units(user)).to_uppercase();
    let hash = hmac(&Md4::digest(bytes(PASSWORD)), &[&bytes(&user), domain]);
    hmac(&hash, &[NONCE, blob]) == proof
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    let mut hmac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        hmac.update(part);
    }
    hmac.finalize().into_bytes().to_vec()
}
