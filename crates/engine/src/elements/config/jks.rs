//! Java's own key store format, as `keytool -storetype JKS` writes it (`sun.security.provider.JavaKeyStore`).

use drumfire_java::text::hash_code;
use drumfire_platform::message_error;
use sha1::{Digest, Sha1};

use super::der::{Der, OCTET_STRING, SEQUENCE};

/// The first bytes of a JKS file.
pub const MAGIC: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];

message_error! {
    /// Why a key store cannot be read.
    pub struct KeyStoreError;
}

/// A private key with its certificates, the key's own first; all in DER.
pub struct PrivateKeyEntry {
    pub alias: String,
    pub key: Vec<u8>,
    pub chain: Vec<Vec<u8>>,
}

/// Reads the keys of a store, in the order in which Java's `aliases()` gives them.
///
/// # Errors
/// If this is not a JKS store, or the password is wrong.
pub fn read(data: &[u8], password: &str) -> Result<Vec<PrivateKeyEntry>, KeyStoreError> {
    let password: Vec<u8> = password.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let Some((body, digest)) = data.split_last_chunk::<20>() else {
        return Err("the file is too short".into());
    };
    let mut hash = Sha1::new();
    hash.update(&password);
    hash.update("Mighty Aphrodite");
    hash.update(body);
    if hash.finalize()[..] != digest[..] {
        return Err("Keystore was tampered with, or password was incorrect".into());
    }
    let mut reader = KeystoreReader(body);
    let entries = reader.entries(&password).ok_or("the file is cut off")?;
    Ok(in_hashtable_order(entries))
}

/// The certificates that a store trusts: its own entries, and the first of each key (`PKIXParameters`). No password is needed.
/// `None` if this is not a JKS store, or it is cut off.
pub fn certificates(data: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (body, _) = data.split_last_chunk::<20>()?;
    if !body.starts_with(&MAGIC) {
        return None;
    }
    let mut reader = KeystoreReader(body);
    let (version, count) = reader.head()?;
    let mut trusted = Vec::new();
    for _ in 0..count {
        let certificates = match reader.entry(version)? {
            (_, Entry::Certificate(certificate)) => Some(certificate),
            (_, Entry::Key { chain, .. }) => chain.into_iter().next(),
        };
        trusted.extend(certificates);
    }
    Some(trusted)
}

struct KeystoreReader<'d>(&'d [u8]);

enum Entry<'d> {
    Key {
        protected: &'d [u8],
        chain: Vec<Vec<u8>>,
    },
    Certificate(Vec<u8>),
}

impl<'d> KeystoreReader<'d> {
    fn take(&mut self, len: usize) -> Option<&'d [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn int(&mut self) -> Option<usize> {
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(bytes)).ok()
    }

    /// `DataInput#readUTF`, for the characters that Java writes as UTF-8 does.
    fn text(&mut self) -> Option<String> {
        let len: [u8; 2] = self.take(2)?.try_into().ok()?;
        let bytes = self.take(usize::from(u16::from_be_bytes(len)))?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }

    fn certificate(&mut self, version: usize) -> Option<Vec<u8>> {
        if version == 2 {
            self.text()?; // its type, X.509
        }
        let len = self.int()?;
        self.take(len).map(<[u8]>::to_vec)
    }

    /// Version and number of entries.
    fn head(&mut self) -> Option<(usize, usize)> {
        self.take(MAGIC.len())?;
        Some((self.int()?, self.int()?))
    }

    /// The next entry with its alias.
    fn entry(&mut self, version: usize) -> Option<(String, Entry<'d>)> {
        const KEY: usize = 1;
        let tag = self.int()?;
        let alias = self.text()?;
        self.take(8)?; // when it was made
        if tag != KEY {
            return Some((alias, Entry::Certificate(self.certificate(version)?)));
        }
        let len = self.int()?;
        let protected = self.take(len)?;
        let certificates = self.int()?;
        let chain = (0..certificates)
            .map(|_| self.certificate(version))
            .collect::<Option<Vec<_>>>()?;
        Some((alias, Entry::Key { protected, chain }))
    }

    /// All entries whose key the password opens; `None` if the data end too soon.
    fn entries(&mut self, password: &[u8]) -> Option<Vec<PrivateKeyEntry>> {
        let (version, count) = self.head()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            let (alias, entry) = self.entry(version)?;
            if let Entry::Key { protected, chain } = entry
                && let Some(key) = recover(protected, password)
            {
                entries.push(PrivateKeyEntry {
                    alias: alias.to_lowercase(),
                    key,
                    chain,
                });
            }
        }
        Some(entries)
    }
}

/// `sun.security.provider.KeyProtector#recover`: the key is mixed with a stream of SHA-1 digests of password and salt.
fn recover(protected: &[u8], password: &[u8]) -> Option<Vec<u8>> {
    let encrypted = octet_string(protected)?;
    let (salt, rest) = encrypted.split_first_chunk::<20>()?;
    let (mixed, check) = rest.split_last_chunk::<20>()?;
    let mut key = Vec::with_capacity(mixed.len());
    let mut stream = *salt;
    for chunk in mixed.chunks(20) {
        stream = digest([password, &stream]);
        key.extend(chunk.iter().zip(stream).map(|(byte, mask)| byte ^ mask));
    }
    (digest([password, &key]) == *check).then_some(key)
}

fn digest(parts: [&[u8]; 2]) -> [u8; 20] {
    let mut hash = Sha1::new();
    parts.iter().for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// The last element of `EncryptedPrivateKeyInfo ::= SEQUENCE { SEQUENCE, OCTET STRING }`.
fn octet_string(der: &[u8]) -> Option<&[u8]> {
    let mut info = Der(der).enter(SEQUENCE)?;
    info.tagged(SEQUENCE)?;
    info.tagged(OCTET_STRING).map(|element| element.content)
}

/// The order of `java.util.Hashtable#keys`: buckets from the last to the first, in each the newest first.
fn in_hashtable_order(entries: Vec<PrivateKeyEntry>) -> Vec<PrivateKeyEntry> {
    let mut buckets: Vec<Vec<PrivateKeyEntry>> = (0..11).map(|_| Vec::new()).collect();
    for (count, entry) in entries.into_iter().enumerate() {
        if count >= buckets.len() * 3 / 4 {
            let size = buckets.len() * 2 + 1;
            let mut larger: Vec<Vec<PrivateKeyEntry>> = (0..size).map(|_| Vec::new()).collect();
            for old in buckets.into_iter().rev().flatten() {
                larger[bucket(&old.alias, size)].insert(0, old);
            }
            buckets = larger;
        }
        let index = bucket(&entry.alias, buckets.len());
        buckets[index].insert(0, entry);
    }
    buckets.into_iter().rev().flatten().collect()
}

/// `String#hashCode` without its sign, by the number of buckets.
fn bucket(alias: &str, size: usize) -> usize {
    (hash_code(alias).cast_unsigned() & 0x7fff_ffff) as usize % size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Made with keytool from the aliases `Zeta`, `client-b`, `client-a`, `m3`; the order was seen in Java 17.
    const STORE: &[u8] = include_bytes!("../../../tests/keystores/clients.jks");

    #[test]
    fn keys_come_in_javas_order() {
        let entries = read(STORE, "changeit").expect("the password is right");
        let aliases: Vec<&str> = entries.iter().map(|entry| entry.alias.as_str()).collect();
        assert_eq!(aliases, ["client-b", "m3", "client-a", "zeta"]);
        for entry in entries {
            drumfire_http::Identity::from_der(entry.chain, entry.key)
                .expect("key and certificate belong together");
        }
    }

    #[test]
    fn a_wrong_password_and_a_broken_file_are_told() {
        assert!(read(STORE, "wrong").is_err());
        assert!(read(&STORE[..100], "changeit").is_err());
        assert!(read(b"short", "").is_err());
    }
}
