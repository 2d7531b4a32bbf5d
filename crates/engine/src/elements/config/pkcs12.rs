//! PKCS#12 key stores (RFC 7292), as `keytool`, OpenSSL and Windows write them.
//!
//! | protection | kinds |
//! |---|---|
//! | password, today | PBES2: PBKDF2 with HMAC of SHA-1 or SHA-2; AES-CBC or triple DES |
//! | password, older stores | PBE with SHA-1 and triple DES, RC2-128 or RC2-40 |
//! | integrity | HMAC of SHA-1 or SHA-2, or none |

use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt as _, KeyInit, KeyIvInit as _};
use hmac::{Mac as _, SimpleHmac};
use sha1::Sha1;
use sha2::digest::block_api::BlockSizeUser;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};

use super::der::{BMP_STRING, Der, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, field};
use super::jks::KeyStoreError;
use super::jks::PrivateKeyEntry;

/// Reads the keys of a store with their certificates, in the order of the file, as Java's `PKCS12KeyStore` gives them.
///
/// # Errors
/// If this is not a PKCS#12 store, the password is wrong, or the store is protected in another way.
pub fn read(data: &[u8], password: &str) -> Result<Vec<PrivateKeyEntry>, KeyStoreError> {
    let (authenticated, integrity) = open(data).ok_or("this is not a PKCS#12 store")?;
    if let Some(integrity) = integrity {
        check(integrity, authenticated, password)?;
    }
    let mut bags = Bags::default();
    let damaged = "the store is damaged";
    for info in Der(authenticated).enter(SEQUENCE).ok_or(damaged)? {
        let mut info = Der(info.content);
        let kind = info.tagged(OBJECT_IDENTIFIER).ok_or(damaged)?.content;
        let mut content = info.enter(field(0)).ok_or(damaged)?;
        match kind {
            oid::DATA => {
                let contents = content.tagged(OCTET_STRING).ok_or(damaged)?;
                bags.read(contents.content, password)?;
            }
            oid::ENCRYPTED_DATA => {
                let (method, encrypted) = encrypted_data(content).ok_or(damaged)?;
                bags.read(&decrypt(method, &encrypted, password)?, password)?;
            }
            _ => return Err("the store is encrypted with a public key".into()),
        }
    }
    Ok(bags.entries())
}

/// The content of a store, which its MAC covers, and the MAC.
fn open(data: &[u8]) -> Option<(&[u8], Option<Der<'_>>)> {
    let mut store = Der(data).enter(SEQUENCE)?;
    store.number().filter(|version| *version == 3)?;
    let mut info = store.enter(SEQUENCE)?;
    info.tagged(OBJECT_IDENTIFIER)
        .filter(|kind| kind.content == oid::DATA)?;
    let content = info.enter(field(0))?.tagged(OCTET_STRING)?.content;
    Some((content, store.enter(SEQUENCE)))
}

/// Checks the MAC of a store.
fn check(integrity: Der, data: &[u8], password: &str) -> Result<(), KeyStoreError> {
    let mac = StoreMac::read(integrity).ok_or("the store's MAC is damaged")?;
    let hash = hash(mac.algorithm, oid::DIGESTS).ok_or("the store has a MAC of an unknown kind")?;
    let rounds = limited(mac.rounds)?;
    let key = (hash.derive)(MAC_KEY, password, mac.salt, rounds, mac.expected.len());
    if (hash.mac)(&key, data) == mac.expected {
        Ok(())
    } else {
        Err("the password is wrong, or the store was tampered with".into())
    }
}

/// `MacData`.
struct StoreMac<'d> {
    algorithm: &'d [u8],
    expected: &'d [u8],
    salt: &'d [u8],
    rounds: u32,
}

impl<'d> StoreMac<'d> {
    fn read(mut data: Der<'d>) -> Option<StoreMac<'d>> {
        let mut digest = data.enter(SEQUENCE)?;
        Some(StoreMac {
            algorithm: digest.enter(SEQUENCE)?.tagged(OBJECT_IDENTIFIER)?.content,
            expected: digest.tagged(OCTET_STRING)?.content,
            salt: data.tagged(OCTET_STRING)?.content,
            rounds: data.number().unwrap_or(1),
        })
    }
}

/// The method and the content of an `EncryptedData`.
fn encrypted_data(mut content: Der<'_>) -> Option<(Der<'_>, Vec<u8>)> {
    /// Bytes in one piece; otherwise they come in several.
    const WHOLE: u8 = 0x80;
    let mut data = content.enter(SEQUENCE)?;
    data.number()?;
    let mut info = data.enter(SEQUENCE)?;
    info.tagged(OBJECT_IDENTIFIER)?;
    let method = info.enter(SEQUENCE)?;
    let encrypted = match info.tagged(WHOLE) {
        Some(whole) => whole.content.to_vec(),
        None => info
            .enter(field(0))?
            .flat_map(|part| part.content.to_vec())
            .collect(),
    };
    Some((method, encrypted))
}

/// The contents of a store.
#[derive(Default)]
struct Bags {
    keys: Vec<Bag>,
    certificates: Vec<Bag>,
}

/// A key or a certificate in DER, with its name and the number that the two of a pair share.
struct Bag {
    der: Vec<u8>,
    name: Option<String>,
    id: Option<Vec<u8>>,
}

impl Bags {
    fn read(&mut self, contents: &[u8], password: &str) -> Result<(), KeyStoreError> {
        let damaged = "a key or certificate of the store is damaged";
        for bag in Der(contents).enter(SEQUENCE).ok_or(damaged)? {
            let mut bag = Der(bag.content);
            let kind = bag.tagged(OBJECT_IDENTIFIER).ok_or(damaged)?.content;
            let mut value = bag.enter(field(0)).ok_or(damaged)?;
            let (name, id) = bag.enter(SET).map(attributes).unwrap_or((None, None));
            match kind {
                oid::KEY_BAG => {
                    let der = value.tagged(SEQUENCE).ok_or(damaged)?.bytes.to_vec();
                    self.keys.push(Bag { der, name, id });
                }
                oid::SHROUDED_KEY_BAG => {
                    let mut shrouded = value.enter(SEQUENCE).ok_or(damaged)?;
                    let method = shrouded.enter(SEQUENCE).ok_or(damaged)?;
                    let encrypted = shrouded.tagged(OCTET_STRING).ok_or(damaged)?.content;
                    let der = decrypt(method, encrypted, password)?;
                    self.keys.push(Bag { der, name, id });
                }
                oid::CERTIFICATE_BAG => {
                    if let Some(der) = value.enter(SEQUENCE).and_then(x509) {
                        let der = der.to_vec();
                        self.certificates.push(Bag { der, name, id });
                    }
                }
                oid::NESTED_BAGS => {
                    let nested = value.tagged(SEQUENCE).ok_or(damaged)?;
                    self.read(nested.bytes, password)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The keys that have a certificate, each with the certificates of its issuers. Keys without a name are numbered.
    fn entries(self) -> Vec<PrivateKeyEntry> {
        let Bags { keys, certificates } = self;
        let mut nameless = 0;
        let mut entries = Vec::new();
        for key in keys {
            let alias = key.name.unwrap_or_else(|| {
                nameless += 1;
                nameless.to_string()
            });
            let leaf = certificates
                .iter()
                .find(|certificate| key.id.is_some() && certificate.id == key.id);
            if let Some(leaf) = leaf {
                entries.push(PrivateKeyEntry {
                    alias: alias.to_lowercase(),
                    key: key.der,
                    chain: chain(&leaf.der, &certificates),
                });
            }
        }
        entries
    }
}

/// The name and the number of a bag.
fn attributes(attributes: Der) -> (Option<String>, Option<Vec<u8>>) {
    let (mut name, mut id) = (None, None);
    for attribute in attributes {
        let mut attribute = Der(attribute.content);
        let kind = attribute.tagged(OBJECT_IDENTIFIER);
        let value = attribute.enter(SET).and_then(|mut values| values.next());
        match (kind.map(|kind| kind.content), value) {
            (Some(oid::FRIENDLY_NAME), Some(value)) if value.tag == BMP_STRING => {
                let units: Vec<u16> = value
                    .content
                    .chunks_exact(2)
                    .map(|unit| u16::from_be_bytes([unit[0], unit[1]]))
                    .collect();
                name = Some(String::from_utf16_lossy(&units));
            }
            (Some(oid::LOCAL_KEY_ID), Some(value)) => id = Some(value.content.to_vec()),
            _ => {}
        }
    }
    (name, id)
}

/// The certificate in a bag, if it is one of X.509.
fn x509(mut bag: Der<'_>) -> Option<&[u8]> {
    bag.tagged(OBJECT_IDENTIFIER)
        .filter(|kind| kind.content == oid::X509_CERTIFICATE)?;
    Some(bag.enter(field(0))?.tagged(OCTET_STRING)?.content)
}

/// A certificate, the one of its issuer, and so on up to one that issued itself or whose issuer is not in the store.
fn chain(leaf: &[u8], certificates: &[Bag]) -> Vec<Vec<u8>> {
    let mut chain = vec![leaf.to_vec()];
    while let Some((issuer, subject)) = chain.last().and_then(|last| names(last)) {
        let next = certificates.iter().find(|other| {
            issuer != subject
                && names(&other.der).is_some_and(|(_, subject)| subject == issuer)
                && !chain.contains(&other.der)
        });
        let Some(next) = next else { break };
        chain.push(next.der.clone());
    }
    chain
}

/// The issuer and the subject of a certificate.
fn names(certificate: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut fields = Der(certificate).enter(SEQUENCE)?.enter(SEQUENCE)?;
    fields.tagged(field(0)); // the version
    let mut fields = fields.skip(2); // serial number, signature algorithm
    let issuer = fields.next()?;
    let subject = fields.nth(1)?; // behind the validity
    Some((issuer.bytes, subject.bytes))
}

/// Decrypts with the method of an `AlgorithmIdentifier`.
fn decrypt(mut method: Der, data: &[u8], password: &str) -> Result<Vec<u8>, KeyStoreError> {
    let unknown = "the store is encrypted with an unknown method";
    let kind = method.tagged(OBJECT_IDENTIFIER).ok_or(unknown)?.content;
    let parameters = method.enter(SEQUENCE).ok_or(unknown)?;
    let decrypted = match kind {
        oid::PBES2 => {
            let method = Pbes2::read(parameters).ok_or(unknown)?;
            let mut key = vec![0; method.cipher.key_len];
            let rounds = limited(method.rounds)?;
            (method.hash.stretch)(password.as_bytes(), method.salt, rounds, &mut key);
            (method.cipher.decrypt)(&key, method.iv, data)
        }
        _ => {
            let method = Pbes1::read(kind, parameters).ok_or(unknown)?;
            let (salt, rounds) = (method.salt, limited(method.rounds)?);
            let key_len = method.cipher.key_len;
            let key = derive::<Sha1>(CIPHER_KEY, password, salt, rounds, key_len);
            let iv = derive::<Sha1>(CIPHER_IV, password, salt, rounds, 8);
            (method.cipher.decrypt)(&key, &iv, data)
        }
    };
    decrypted.ok_or_else(|| "the password of a key or certificate is wrong".into())
}

/// Decrypts with a key, an initial vector and data.
type Decrypt = fn(&[u8], &[u8], &[u8]) -> Option<Vec<u8>>;

#[derive(Clone, Copy)]
struct Cipher {
    key_len: usize,
    decrypt: Decrypt,
}

impl Cipher {
    fn of<C: KeyInit + BlockCipherDecrypt>(key_len: usize) -> Cipher {
        Cipher {
            key_len,
            decrypt: cbc::<C>,
        }
    }
}

/// The older methods: the key comes from password and salt as RFC 7292 derives it.
struct Pbes1<'d> {
    cipher: Cipher,
    salt: &'d [u8],
    rounds: u32,
}

impl<'d> Pbes1<'d> {
    fn read(kind: &[u8], mut parameters: Der<'d>) -> Option<Pbes1<'d>> {
        let cipher = match kind {
            oid::SHA1_TRIPLE_DES => Cipher::of::<des::TdesEde3>(24),
            oid::SHA1_RC2_128 => Cipher::of::<rc2::Rc2>(16),
            oid::SHA1_RC2_40 => Cipher::of::<rc2::Rc2>(5),
            _ => return None,
        };
        Some(Pbes1 {
            cipher,
            salt: parameters.tagged(OCTET_STRING)?.content,
            rounds: parameters.number()?,
        })
    }
}

/// The methods of RFC 8018.
struct Pbes2<'d> {
    hash: Hash,
    salt: &'d [u8],
    rounds: u32,
    cipher: Cipher,
    iv: &'d [u8],
}

impl<'d> Pbes2<'d> {
    fn read(mut parameters: Der<'d>) -> Option<Pbes2<'d>> {
        let mut derivation = parameters.enter(SEQUENCE)?;
        derivation
            .tagged(OBJECT_IDENTIFIER)
            .filter(|kind| kind.content == oid::PBKDF2)?;
        let mut derivation = derivation.enter(SEQUENCE)?;
        let salt = derivation.tagged(OCTET_STRING)?.content;
        let rounds = derivation.number()?;
        derivation.number(); // the length of the key, which follows from the cipher
        let hash = match derivation.enter(SEQUENCE) {
            Some(mut function) => hash(function.tagged(OBJECT_IDENTIFIER)?.content, oid::HMACS)?,
            None => Hash::of::<Sha1>(),
        };
        let mut encryption = parameters.enter(SEQUENCE)?;
        let cipher = match encryption.tagged(OBJECT_IDENTIFIER)?.content {
            oid::AES_128_CBC => Cipher::of::<aes::Aes128>(16),
            oid::AES_192_CBC => Cipher::of::<aes::Aes192>(24),
            oid::AES_256_CBC => Cipher::of::<aes::Aes256>(32),
            oid::TRIPLE_DES_CBC => Cipher::of::<des::TdesEde3>(24),
            _ => return None,
        };
        Some(Pbes2 {
            hash,
            salt,
            rounds,
            cipher,
            iv: encryption.tagged(OCTET_STRING)?.content,
        })
    }
}

/// Stores may ask for so many rounds that they take hours; Java refuses above this number, too (`PKCS12KeyStore`).
fn limited(rounds: u32) -> Result<u32, KeyStoreError> {
    const MOST: u32 = 5_000_000;
    match rounds {
        1..=MOST => Ok(rounds),
        _ => Err(format!("the store asks for {rounds} rounds of hashing").into()),
    }
}

/// `None` if the key has another length or the result no padding: the password is wrong.
fn cbc<C: KeyInit + BlockCipherDecrypt>(key: &[u8], iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(data).ok()
}

/// The uses that a store has for a hash function.
#[derive(Clone, Copy)]
struct Hash {
    /// A key for a purpose, from password and salt.
    derive: fn(u8, &str, &[u8], u32, usize) -> Vec<u8>,
    mac: fn(&[u8], &[u8]) -> Vec<u8>,
    /// PBKDF2.
    stretch: fn(&[u8], &[u8], u32, &mut [u8]),
}

impl Hash {
    fn of<D: Digest + BlockSizeUser + Clone>() -> Hash {
        Hash {
            derive: derive::<D>,
            mac: mac::<D>,
            stretch: stretch::<D>,
        }
    }
}

/// The function of an identifier: a prefix, then a number for each function.
fn hash(identifier: &[u8], (prefix, numbers): (&[u8], [u8; 6])) -> Option<Hash> {
    if [oid::SHA1, oid::HMAC_SHA1].contains(&identifier) {
        return Some(Hash::of::<Sha1>());
    }
    let [number] = identifier.strip_prefix(prefix)? else {
        return None;
    };
    match numbers.iter().position(|other| other == number)? {
        0 => Some(Hash::of::<Sha224>()),
        1 => Some(Hash::of::<Sha256>()),
        2 => Some(Hash::of::<Sha384>()),
        3 => Some(Hash::of::<Sha512>()),
        4 => Some(Hash::of::<Sha512_224>()),
        _ => Some(Hash::of::<Sha512_256>()),
    }
}

const CIPHER_KEY: u8 = 1;
const CIPHER_IV: u8 = 2;
const MAC_KEY: u8 = 3;

/// The key derivation of RFC 7292, appendix B.2.
fn derive<D: Digest + BlockSizeUser>(
    purpose: u8,
    password: &str,
    salt: &[u8],
    rounds: u32,
    len: usize,
) -> Vec<u8> {
    let block = D::block_size();
    let password: Vec<u8> = password
        .encode_utf16()
        .chain([0])
        .flat_map(u16::to_be_bytes)
        .collect();
    let mut input = repeated(salt, block);
    input.extend(repeated(&password, block));
    let mut key = Vec::new();
    while key.len() < len {
        let mut hash = D::new()
            .chain_update(vec![purpose; block])
            .chain_update(&input)
            .finalize();
        for _ in 1..rounds {
            hash = D::digest(&hash);
        }
        key.extend_from_slice(&hash);
        for number in input.chunks_mut(block) {
            add(number, &hash);
        }
    }
    key.truncate(len);
    key
}

/// These bytes over and over, up to the end of a block.
fn repeated(bytes: &[u8], block: usize) -> Vec<u8> {
    let len = bytes.len().next_multiple_of(block);
    bytes.iter().copied().cycle().take(len).collect()
}

/// Adds the repeated hash and 1 to a number, without its overflow.
fn add(number: &mut [u8], hash: &[u8]) {
    let mut carry = 1;
    for (at, byte) in number.iter_mut().enumerate().rev() {
        carry += u16::from(*byte) + u16::from(hash[at % hash.len()]);
        *byte = carry as u8;
        carry >>= 8;
    }
}

fn mac<D: Digest + BlockSizeUser>(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mac = <SimpleHmac<D> as KeyInit>::new_from_slice(key);
    let mac = mac.expect("HMAC takes keys of any length");
    mac.chain_update(data).finalize().into_bytes().to_vec()
}

fn stretch<D: Digest + BlockSizeUser + Clone>(
    password: &[u8],
    salt: &[u8],
    rounds: u32,
    key: &mut [u8],
) {
    pbkdf2::pbkdf2::<SimpleHmac<D>>(password, salt, rounds, key)
        .expect("HMAC takes keys of any length");
}

/// Object identifiers, encoded.
mod oid {
    pub const DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01";
    pub const ENCRYPTED_DATA: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x06";
    pub const KEY_BAG: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x01";
    pub const SHROUDED_KEY_BAG: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x02";
    pub const CERTIFICATE_BAG: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x03";
    pub const NESTED_BAGS: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x0a\x01\x06";
    pub const FRIENDLY_NAME: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14";
    pub const LOCAL_KEY_ID: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x15";
    pub const X509_CERTIFICATE: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x16\x01";
    pub const SHA1_TRIPLE_DES: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x03";
    pub const SHA1_RC2_128: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x05";
    pub const SHA1_RC2_40: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x06";
    pub const PBKDF2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c";
    pub const PBES2: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d";
    pub const AES_128_CBC: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01\x02";
    pub const AES_192_CBC: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01\x16";
    pub const AES_256_CBC: &[u8] = b"\x60\x86\x48\x01\x65\x03\x04\x01\x2a";
    pub const TRIPLE_DES_CBC: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x03\x07";
    pub const SHA1: &[u8] = b"\x2b\x0e\x03\x02\x1a";
    pub const HMAC_SHA1: &[u8] = b"\x2a\x86\x48\x86\xf7\x0d\x02\x07";

    /// A prefix, and the numbers of SHA-224, SHA-256, SHA-384, SHA-512, SHA-512/224 and SHA-512/256 below it.
    pub type Sha2 = (&'static [u8], [u8; 6]);
    pub const DIGESTS: Sha2 = (b"\x60\x86\x48\x01\x65\x03\x04\x02", [4, 1, 2, 3, 5, 6]);
    pub const HMACS: Sha2 = (b"\x2a\x86\x48\x86\xf7\x0d\x02", [8, 9, 10, 11, 12, 13]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The leaf `CN=Client` with its issuer, exported by OpenSSL 3.0, and a key of keytool 17.
    const STORES: &[(&str, &[u8], &str, usize)] = &[
        (
            "aes256",
            include_bytes!("../../../tests/keystores/aes256.p12"),
            "client one",
            2,
        ),
        (
            "aes128-sha512",
            include_bytes!("../../../tests/keystores/aes128-sha512.p12"),
            "1",
            2,
        ),
        (
            "legacy",
            include_bytes!("../../../tests/keystores/legacy.p12"),
            "legacy",
            2,
        ),
        (
            "rc2-128",
            include_bytes!("../../../tests/keystores/rc2-128.p12"),
            "1",
            2,
        ),
        (
            "des3",
            include_bytes!("../../../tests/keystores/des3.p12"),
            "1",
            2,
        ),
        (
            "nomac",
            include_bytes!("../../../tests/keystores/nomac.p12"),
            "1",
            2,
        ),
        (
            "plain",
            include_bytes!("../../../tests/keystores/plain.p12"),
            "1",
            2,
        ),
        (
            "keytool",
            include_bytes!("../../../tests/keystores/keytool.p12"),
            "k e",
            1,
        ),
    ];

    #[test]
    fn stores_of_every_protection_are_read_with_their_chain() {
        for (name, store, alias, certificates) in STORES {
            let entries = read(store, "changeit").unwrap_or_else(|error| panic!("{name}: {error}"));
            let [entry] = <[PrivateKeyEntry; 1]>::try_from(entries)
                .unwrap_or_else(|entries| panic!("{name}: {} keys", entries.len()));
            assert_eq!(entry.alias, *alias, "{name}");
            assert_eq!(entry.chain.len(), *certificates, "{name}");
            drumfire_http::Identity::from_der(entry.chain, entry.key)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn wrong_passwords_and_cut_stores_are_errors() {
        for (name, store, ..) in STORES {
            if *name != "plain" {
                assert!(read(store, "wrong").is_err(), "{name}");
            }
            for len in 0..store.len() {
                assert!(read(&store[..len], "changeit").is_err(), "{name} {len}");
            }
        }
    }
}
