//! `DigestEncodeFunction`, and `MD5` of jmeter-plugins.

use drumfire_java::values::parse_bool;
use drumfire_platform::words::hex;
use md2::Md2;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

use crate::call::{Args, CallResult, NULL};
use crate::scope::{Level, Scope};
use crate::text::Text;

/// The digest of text and salt in hexadecimal; `null` for an unknown algorithm.
pub(super) fn digest<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let algorithm = args.text(0, scope)?;
    let text = args.text(1, scope)?;
    let salt = args.text(2, scope)?;
    let Some(mut hasher) = hasher(&algorithm) else {
        let message = format!(
            "Error calling __digest function with value {text}, digest algorithm {algorithm}, salt {salt}, \
             java.security.NoSuchAlgorithmException: {algorithm} MessageDigest not available"
        );
        scope.log_failure(Level::Error, &message);
        return Ok(NULL);
    };
    hasher.update(text.as_bytes());
    hasher.update(salt.as_bytes());
    let upper = parse_bool(&args.text(3, scope)?);
    let bytes = hasher.finalize();
    let mut digits = hex(&bytes);
    if upper {
        digits.make_ascii_uppercase();
    }
    args.store(4, &digits, scope)?;
    Ok(Text::Owned(digits))
}

/// `MD5` of jmeter-plugins.
pub(super) fn md5<'a>(args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
    let text = args.text(0, scope)?;
    let mut hasher = Md5::default();
    sha2::Digest::update(&mut hasher, text.as_bytes());
    let digits = hex(&sha2::Digest::finalize(hasher));
    args.store(1, &digits, scope)?;
    Ok(Text::Owned(digits))
}

/// The algorithms of the JDK's own provider, with the aliases that `MessageDigest.getInstance`
/// accepts.
fn hasher(algorithm: &str) -> Option<Box<dyn DynDigest>> {
    Some(match algorithm.to_ascii_uppercase().as_str() {
        "MD2" => Box::<Md2>::default(),
        "MD5" => Box::<Md5>::default(),
        "SHA-1" | "SHA1" | "SHA" => Box::<Sha1>::default(),
        "SHA-224" | "SHA224" => Box::<Sha224>::default(),
        "SHA-256" | "SHA256" => Box::<Sha256>::default(),
        "SHA-384" | "SHA384" => Box::<Sha384>::default(),
        "SHA-512" | "SHA512" => Box::<Sha512>::default(),
        "SHA-512/224" | "SHA512/224" => Box::<Sha512_224>::default(),
        "SHA-512/256" | "SHA512/256" => Box::<Sha512_256>::default(),
        "SHA3-224" => Box::<Sha3_224>::default(),
        "SHA3-256" => Box::<Sha3_256>::default(),
        "SHA3-384" => Box::<Sha3_384>::default(),
        "SHA3-512" => Box::<Sha3_512>::default(),
        _ => return None,
    })
}
