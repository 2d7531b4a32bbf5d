//! NTLM as HttpClient's `NTLMScheme` and `NTLMEngineImpl` answer it: three messages over one connection (MS-NLMP).
//!
//! The first message is always the same. The third uses NTLMv2 if the server describes its target, else NTLMv1, with
//! session security if the server requests it.

use base64::Engine;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use des::Des;
use des::cipher::{BlockCipherEncrypt, KeyInit as _};
use drumfire_java::charset::Charset;
use hmac::{Hmac, Mac};
use md4::{Digest as _, Md4};
use md5::Md5;
use rc4::{Rc4, StreamCipher as _};

use super::{AuthRequest, Credentials};

const SIGNATURE: &[u8] = b"NTLMSSP\0";
/// Texts are UTF-16, little-endian; without this flag they are ASCII.
const UNICODE: u32 = 0x0000_0001;
const SIGN: u32 = 0x0000_0010;
const LAN_MANAGER_KEY: u32 = 0x0000_0080;
const NTLM: u32 = 0x0000_0200;
const ALWAYS_SIGN: u32 = 0x0000_8000;
const SESSION_SECURITY: u32 = 0x0008_0000;
const TARGET_INFO: u32 = 0x0080_0000;
const VERSION: u32 = 0x0200_0000;
const KEY_128_BIT: u32 = 0x2000_0000;
const KEY_EXCHANGE: u32 = 0x4000_0000;
const KEY_56_BIT: u32 = 0x8000_0000;
/// The version that HttpClient claims: Windows XP, build 2600, revision 15 of NTLM.
const CLAIMED_VERSION: [u8; 8] = [0x05, 0x01, 0x28, 0x0a, 0, 0, 0, 0x0f];
/// Milliseconds from 1601 to 1970.
const WINDOWS_EPOCH_MS: u64 = 11_644_473_600_000;

/// The state of the three-message exchange (`NTLMScheme.State`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Ntlm {
    /// The server has not sent a challenge yet.
    #[default]
    Uninitiated,
    /// The first message must be sent next.
    Challenged,
    /// The first message was sent.
    Negotiated,
    /// The third message must be sent next, as the answer to this second one, in base64.
    Answerable(String),
    /// The third message was sent.
    Answered,
    /// The server refused the authorization.
    Failed,
}

/// The server's second message came before the first.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OutOfSequence;

impl Ntlm {
    /// Processes the rest of a challenge's line (`NTLMScheme.parseChallenge`): true if it needs an answer.
    pub fn challenge(&mut self, rest: &str) -> Result<bool, OutOfSequence> {
        let message = rest.trim();
        *self = match (&*self, message.is_empty()) {
            (Self::Uninitiated, true) => Self::Challenged,
            (_, true) => Self::Failed,
            (Self::Uninitiated | Self::Challenged, false) => return Err(OutOfSequence),
            (Self::Negotiated, false) => Self::Answerable(message.to_owned()),
            (other, false) => other.clone(),
        };
        Ok(!matches!(self, Self::Answered | Self::Failed))
    }

    /// The value of the header; `None` if there is nothing to send or the second message is invalid.
    pub fn answer(
        &mut self,
        request: &AuthRequest<'_>,
        credentials: &Credentials,
        random: &mut dyn FnMut() -> [u8; 8],
    ) -> Option<String> {
        let domain = credentials.domain.as_deref()?;
        let message = match self {
            Self::Challenged => {
                *self = Self::Negotiated;
                first_message()
            }
            Self::Answerable(second) => {
                let challenge = Challenge::decode(second)?;
                let identity = Identity {
                    user: &credentials.user,
                    password: &credentials.password,
                    domain: before_dot(domain),
                };
                let our_part = Own {
                    nonces: [random(), random()],
                    session_key: [random(), random()].concat(),
                    now_ms: request.now_ms,
                };
                *self = Self::Answered;
                let workstation = request.workstation.to_uppercase();
                third_message(&challenge, &identity, before_dot(&workstation), &our_part)
            }
            _ => return None,
        };
        Some(format!("NTLM {}", STANDARD.encode(message)))
    }
}

fn before_dot(name: &str) -> &str {
    name.split('.').next().unwrap_or_default()
}

fn first_message() -> Vec<u8> {
    let flags =
        UNICODE | NTLM | ALWAYS_SIGN | SESSION_SECURITY | VERSION | KEY_128_BIT | KEY_56_BIT;
    let mut message = Vec::with_capacity(40);
    message.extend(SIGNATURE);
    message.extend(1u32.to_le_bytes());
    message.extend(flags.to_le_bytes());
    for _ in ["domain", "workstation"] {
        append_place(&mut message, 0, 40);
    }
    message.extend(CLAIMED_VERSION);
    message
}

/// Appends the location of a part: its length, twice, and its offset.
fn append_place(message: &mut Vec<u8>, length: usize, offset: usize) {
    let length = (length as u16).to_le_bytes();
    message.extend(length);
    message.extend(length);
    message.extend((offset as u32).to_le_bytes());
}

/// The second message.
struct Challenge {
    flags: u32,
    nonce: [u8; 8],
    /// Description of the target, if the server also gave it a name.
    target_info: Option<Vec<u8>>,
}

impl Challenge {
    fn decode(text: &str) -> Option<Self> {
        const LENIENT: GeneralPurpose = GeneralPurpose::new(
            &ALPHABET,
            GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
        );
        let message = LENIENT.decode(text).ok()?;
        if !message.starts_with(SIGNATURE) || u32_at(&message, 8) != 2 {
            return None;
        }
        let nonce = message.get(24..32)?.try_into().ok()?;
        let target = part_at(&message, 12);
        let has_info = message.len() >= 48;
        let target_info = has_info.then(|| part_at(&message, 40));
        Some(Self {
            flags: u32_at(&message, 20),
            nonce,
            target_info: target_info.filter(|info| !info.is_empty() && !target.is_empty()),
        })
    }
}

fn u32_at(message: &[u8], at: usize) -> u32 {
    let bytes = message.get(at..at + 4).and_then(|b| b.try_into().ok());
    bytes.map(u32::from_le_bytes).unwrap_or(0)
}

/// The part whose location is stored at `at`; zeros if the message is too short (`NTLMEngineImpl.readSecurityBuffer`).
fn part_at(message: &[u8], at: usize) -> Vec<u8> {
    let length = (u32_at(message, at) & 0xffff) as usize;
    let offset = u32_at(message, at + 4) as usize;
    let part = message.get(offset..offset.saturating_add(length));
    part.map(<[u8]>::to_vec).unwrap_or_else(|| vec![0; length])
}

struct Identity<'a> {
    user: &'a str,
    password: &'a str,
    domain: &'a str,
}

/// The client's own random and time values in an answer.
struct Own {
    nonces: [[u8; 8]; 2],
    session_key: Vec<u8>,
    now_ms: u64,
}

struct Responses {
    lan_manager: Vec<u8>,
    nt: Vec<u8>,
    key: [u8; 16],
}

fn third_message(
    challenge: &Challenge,
    identity: &Identity<'_>,
    workstation: &str,
    own: &Own,
) -> Vec<u8> {
    let flags = challenge.flags;
    let responses = responses(challenge, identity, own);
    let session_key = match (flags & SIGN != 0, flags & KEY_EXCHANGE != 0) {
        (false, _) => Vec::new(),
        (true, false) => responses.key.to_vec(),
        (true, true) => encrypted_key(&responses.key, &own.session_key),
    };
    let encode = |text: &str| match flags & UNICODE {
        0 => Charset::US_ASCII.encode(text).into_owned(),
        _ => utf16(text),
    };
    let parts = [
        responses.lan_manager,
        responses.nt,
        encode(identity.domain),
        encode(identity.user),
        encode(workstation),
        session_key,
    ];
    let mut message = Vec::with_capacity(512);
    message.extend(SIGNATURE);
    message.extend(3u32.to_le_bytes());
    let mut offset = 72;
    for part in &parts {
        append_place(&mut message, part.len(), offset);
        offset += part.len();
    }
    message.extend(flags.to_le_bytes());
    message.extend(CLAIMED_VERSION);
    message.extend(parts.concat());
    message
}

/// Computes NTLMv2, NTLMv1 with session security, or NTLMv1 responses, depending on the server's offer (MS-NLMP 3.3).
fn responses(challenge: &Challenge, identity: &Identity<'_>, own: &Own) -> Responses {
    let nt_hash = nt_hash(identity.password);
    let (lan_manager, nt, key) = if let Some(info) = challenge
        .target_info
        .as_ref()
        .filter(|_| challenge.flags & TARGET_INFO != 0)
    {
        let hash = v2_hash(&nt_hash, identity.user, identity.domain);
        let nt = v2_response(&hash, &challenge.nonce, &v2_blob(own, info));
        let key = hmac_md5(&hash, &[&nt[..16]]);
        (
            v2_response(&hash, &challenge.nonce, &own.nonces[1]),
            nt,
            key,
        )
    } else if challenge.flags & SESSION_SECURITY != 0 {
        let mut padded = [0; 24];
        padded[..8].copy_from_slice(&own.nonces[0]);
        let session = Md5::digest([challenge.nonce, own.nonces[0]].concat());
        let nt = des_response(&nt_hash, &first_eight(&session));
        let key = hmac_md5(&user_key(&nt_hash), &[&challenge.nonce, &padded]);
        (padded.to_vec(), nt.to_vec(), key)
    } else {
        let old = des_response(&lan_manager_hash(identity.password), &challenge.nonce);
        let nt = des_response(&nt_hash, &challenge.nonce);
        (old.to_vec(), nt.to_vec(), user_key(&nt_hash))
    };
    let key = match challenge.flags & LAN_MANAGER_KEY {
        0 => key,
        _ => lan_manager_key(identity.password, &challenge.nonce),
    };
    Responses {
        lan_manager,
        nt,
        key,
    }
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

fn first_eight(bytes: &[u8]) -> [u8; 8] {
    std::array::from_fn(|at| bytes[at])
}

fn nt_hash(password: &str) -> [u8; 16] {
    Md4::digest(utf16(password)).into()
}

fn user_key(nt_hash: &[u8; 16]) -> [u8; 16] {
    Md4::digest(nt_hash).into()
}

/// The hash that keys NTLMv2 responses; uses the name in upper case and the domain unchanged.
fn v2_hash(nt_hash: &[u8; 16], user: &str, domain: &str) -> [u8; 16] {
    hmac_md5(nt_hash, &[&utf16(&user.to_uppercase()), &utf16(domain)])
}

fn v2_blob(own: &Own, target_info: &[u8]) -> Vec<u8> {
    let ticks = (own.now_ms + WINDOWS_EPOCH_MS).wrapping_mul(10_000);
    let mut blob = vec![1, 1, 0, 0, 0, 0, 0, 0];
    blob.extend(ticks.to_le_bytes());
    blob.extend(own.nonces[0]);
    blob.extend([0; 4]);
    blob.extend(target_info);
    blob.extend([0; 4]);
    blob
}

fn v2_response(hash: &[u8; 16], nonce: &[u8; 8], data: &[u8]) -> Vec<u8> {
    let mut response = hmac_md5(hash, &[nonce, data]).to_vec();
    response.extend(data);
    response
}

fn hmac_md5(key: &[u8; 16], parts: &[&[u8]]) -> [u8; 16] {
    let mut hmac = Hmac::<Md5>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in parts {
        hmac.update(part);
    }
    hmac.finalize().into_bytes().into()
}

fn lan_manager_hash(password: &str) -> [u8; 16] {
    let upper = password.to_uppercase();
    let encoded = Charset::US_ASCII.encode(&upper);
    let mut key = [0; 14];
    let length = encoded.len().min(14);
    key[..length].copy_from_slice(&encoded[..length]);
    let halves = [0, 7].map(|at| des_encrypt(&key[at..at + 7], b"KGS!@#$%"));
    std::array::from_fn(|at| halves[at / 8][at % 8])
}

/// The nonce, encrypted under three parts of the hash.
fn des_response(hash: &[u8; 16], nonce: &[u8; 8]) -> [u8; 24] {
    let mut key = [0; 21];
    key[..16].copy_from_slice(hash);
    let thirds = [0, 7, 14].map(|at| des_encrypt(&key[at..at + 7], nonce));
    std::array::from_fn(|at| thirds[at / 8][at % 8])
}

fn lan_manager_key(password: &str, nonce: &[u8; 8]) -> [u8; 16] {
    let hash = lan_manager_hash(password);
    let start = first_eight(&des_response(&hash, nonce));
    let mut key = [0xbd; 14];
    key[..8].copy_from_slice(&hash[..8]);
    let halves = [0, 7].map(|at| des_encrypt(&key[at..at + 7], &start));
    std::array::from_fn(|at| halves[at / 8][at % 8])
}

/// One block under 56 bits of key; DES ignores the lowest bit of each of its eight bytes.
fn des_encrypt(key: &[u8], block: &[u8; 8]) -> [u8; 8] {
    let bits = key
        .iter()
        .fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
    let spread: [u8; 8] = std::array::from_fn(|at| ((bits >> (49 - 7 * at)) as u8) << 1);
    let mut block = (*block).into();
    Des::new(&spread.into()).encrypt_block(&mut block);
    block.into()
}

fn encrypted_key(key: &[u8; 16], session_key: &[u8]) -> Vec<u8> {
    let mut encrypted = session_key.to_vec();
    let mut cipher = Rc4::new_from_slice(key).expect("RC4 takes keys of 16 bytes");
    cipher.apply_keystream(&mut encrypted);
    encrypted
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values of MS-NLMP 4.2.
    const NONCE: [u8; 8] = [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef];
    const USER: Identity<'_> = Identity {
        user: "User",
        password: "Password",
        domain: "Domain",
    };

    fn own() -> Own {
        Own {
            nonces: [[0xaa; 8]; 2],
            session_key: vec![0x55; 16],
            now_ms: 0,
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn answered(flags: u32, target_info: Option<Vec<u8>>) -> Responses {
        let challenge = Challenge {
            flags,
            nonce: NONCE,
            target_info,
        };
        responses(&challenge, &USER, &own())
    }

    #[test]
    fn version_1() {
        assert_eq!(
            hex(&lan_manager_hash("Password")),
            "e52cac67419a9a224a3b108f3fa6cb6d"
        );
        assert_eq!(
            hex(&nt_hash("Password")),
            "a4f49c406510bdcab6824ee7c30fd852"
        );
        let plain = answered(0, None);
        assert_eq!(
            hex(&plain.nt),
            "67c43011f30298a2ad35ece64f16331c44bdbed927841f94"
        );
        assert_eq!(
            hex(&plain.lan_manager),
            "98def7b87f88aa5dafe2df779688a172def11c7d5ccdef13"
        );
        assert_eq!(hex(&plain.key), "d87262b0cde4b1cb7499becccdf10784");
        assert_eq!(
            hex(&encrypted_key(&plain.key, &own().session_key)),
            "518822b1b3f350c8958682ecbb3e3cb7"
        );
        let key = answered(LAN_MANAGER_KEY, None).key;
        assert_eq!(
            hex(&encrypted_key(&key, &own().session_key)),
            "4cd7bb57d697ef9b549f02b8f9b37864"
        );
    }

    #[test]
    fn version_1_with_session_security() {
        let session = answered(SESSION_SECURITY, None);
        assert_eq!(
            hex(&session.nt),
            "7537f803ae367128ca458204bde7caf81e97ed2683267232"
        );
        assert_eq!(
            hex(&session.lan_manager),
            "aaaaaaaaaaaaaaaa00000000000000000000000000000000"
        );
        // MS-NLMP uses eight bytes of the response for the key, HttpClient all of them
        // (`getNTLM2SessionResponseUserSessionKey`).
        let user_key = user_key(&nt_hash("Password"));
        let of = |response: &[u8]| hmac_md5(&user_key, &[&NONCE, response]);
        assert_eq!(hex(&of(&[0xaa; 8])), "eb93429a8bd952f8b89c55b87f475edc");
        assert_eq!(session.key, of(&session.lan_manager));
    }

    fn target_info() -> Vec<u8> {
        let mut info = vec![2, 0, 12, 0];
        info.extend(utf16("Domain"));
        info.extend([1, 0, 12, 0]);
        info.extend(utf16("Server"));
        info.extend([0; 4]);
        info
    }

    #[test]
    fn version_2() {
        let hash = v2_hash(&nt_hash("Password"), "User", "Domain");
        assert_eq!(hex(&hash), "0c868a403bfd7a93a3001ef22ef02e3f");
        // The vectors' time is that of 1601.
        let mut blob = v2_blob(&own(), &target_info());
        blob[8..16].fill(0);
        let nt = v2_response(&hash, &NONCE, &blob);
        assert_eq!(hex(&nt[..16]), "68cd0ab851e51c96aabc927bebef6a1c");
        let key = hmac_md5(&hash, &[&nt[..16]]);
        assert_eq!(hex(&key), "8de40ccadbc14a82f15cb0ad0de95ca3");
        assert_eq!(
            hex(&encrypted_key(&key, &own().session_key)),
            "c5dad2544fc9799094ce1ce90bc9d03e"
        );
        let lan_manager = answered(TARGET_INFO, Some(target_info())).lan_manager;
        assert_eq!(
            hex(&lan_manager),
            "86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa"
        );
    }

    fn second_message(flags: u32) -> String {
        let (target, info) = (utf16("Server"), target_info());
        let mut message = SIGNATURE.to_vec();
        message.extend(2u32.to_le_bytes());
        append_place(&mut message, target.len(), 48);
        message.extend(flags.to_le_bytes());
        message.extend(NONCE);
        message.extend([0; 8]);
        append_place(&mut message, info.len(), 48 + target.len());
        message.extend(target);
        message.extend(info);
        STANDARD.encode(message)
    }

    const GET: AuthRequest<'_> = AuthRequest {
        method: "GET",
        target: "/",
        entity: None,
        workstation: "host.example.org",
        now_ms: 0,
    };

    fn credentials() -> Credentials {
        Credentials {
            user: "User".into(),
            password: "Password".into(),
            domain: Some("DOMAIN.EXAMPLE".into()),
        }
    }

    #[test]
    fn three_messages_in_their_order() {
        let mut ntlm = Ntlm::default();
        let answer = |ntlm: &mut Ntlm| ntlm.answer(&GET, &credentials(), &mut || [0xaa; 8]);
        assert_eq!(ntlm.challenge(""), Ok(true));
        // Recorded from JMeter.
        assert_eq!(
            answer(&mut ntlm).as_deref(),
            Some("NTLM TlRMTVNTUAABAAAAAYIIogAAAAAoAAAAAAAAACgAAAAFASgKAAAADw==")
        );
        let second = second_message(UNICODE | TARGET_INFO | SIGN | KEY_EXCHANGE);
        assert_eq!(ntlm.challenge(&format!(" {second} ")), Ok(true));
        let third = answer(&mut ntlm).unwrap();
        let third = STANDARD.decode(&third["NTLM ".len()..]).unwrap();
        let part = |at| part_at(&third, at);
        assert_eq!(part(28), utf16("DOMAIN"));
        assert_eq!(part(36), utf16("User"));
        assert_eq!(part(44), utf16("HOST"));
        assert_eq!(part(52).len(), 16);
        let hash = v2_hash(&nt_hash("Password"), "User", "DOMAIN");
        let nt = part(20);
        assert_eq!(nt[..16], hmac_md5(&hash, &[&NONCE, &nt[16..]]));
        assert_eq!(ntlm.challenge(""), Ok(false));
        assert_eq!(answer(&mut ntlm), None);
    }

    #[test]
    fn names_are_ascii_where_the_server_knows_no_unicode() {
        let mut ntlm = Ntlm::Answerable(second_message(0));
        let third = ntlm.answer(&GET, &credentials(), &mut || [0; 8]).unwrap();
        let third = STANDARD.decode(&third["NTLM ".len()..]).unwrap();
        assert_eq!(part_at(&third, 36), b"User");
        assert_eq!(
            (part_at(&third, 12).len(), part_at(&third, 20).len()),
            (24, 24)
        );
        assert!(part_at(&third, 52).is_empty());
    }

    #[test]
    fn nonsense_is_not_answered() {
        assert_eq!(Ntlm::default().challenge("TlRM"), Err(OutOfSequence));
        for second in ["!", "TlRMTVNTUAABAAAA", "TlRMTVNTUAACAAAA"] {
            let mut ntlm = Ntlm::Negotiated;
            assert_eq!(ntlm.challenge(second), Ok(true));
            assert_eq!(
                ntlm.answer(&GET, &credentials(), &mut || [0; 8]),
                None,
                "{second}"
            );
        }
        let no_domain = Credentials {
            domain: None,
            ..credentials()
        };
        assert_eq!(
            Ntlm::Challenged.answer(&GET, &no_domain, &mut || [0; 8]),
            None
        );
    }
}
