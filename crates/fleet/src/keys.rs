//! The keys of a fleet: signatures of manifests, and the JWTs that grant users of NATS their rights (version 2 of the claims of
//! github.com/nats-io/jwt).

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use drumfire_expr::Random;
use drumfire_platform::causes::cause;
use drumfire_platform::message_error;
use nkeys::{KeyPair, KeyPairType};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::system_ms;
use crate::error::FleetError;
use crate::wire::{self, Manifest};

/// How long the rights for one run are valid.
const RUN_RIGHTS: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long an agent may take to answer a request.
const ANSWER: Duration = Duration::from_secs(60);
/// A manifest with an older signature is refused, so that nobody can replay an old run.
const FRESH_MS: i64 = 24 * 3600 * 1000;

/// Subjects that a user of NATS may publish to and subscribe to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubjectRights {
    pub publish: Vec<String>,
    pub subscribe: Vec<String>,
    /// Whether it may answer requests, at any reply subject.
    pub answers: bool,
}

/// Whether a text is the public key of a coordinator.
pub fn is_public_key(text: &str) -> bool {
    text.starts_with('U') && KeyPair::from_public_key(text).is_ok()
}

/// The seed of a key pair.
pub fn seed(pair: &KeyPair) -> String {
    pair.seed().unwrap_or_default()
}

/// A JWT with these claims for NATS.
pub fn jwt(
    issuer: &KeyPair,
    subject: &str,
    name: &str,
    nats: &Value,
    life: Option<Duration>,
) -> String {
    let now_s = system_ms() / 1000;
    let mut claims = json!({
        "jti": format!("{:016x}", Random::from_entropy().next_u64()),
        "iat": now_s,
        "iss": issuer.public_key(),
        "name": name,
        "sub": subject,
        "nats": nats,
    });
    if let Some(life) = life {
        claims["exp"] = json!(now_s + life.as_secs() as i64);
    }
    let head = json!({"typ": "JWT", "alg": "ed25519-nkey"});
    let signed = format!("{}.{}", part(&head), part(&claims));
    let signature = issuer.sign(signed.as_bytes()).unwrap_or_default();
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn part(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// The claims of an operator for NATS.
pub fn operator() -> Value {
    json!({"type": "operator", "version": 2})
}

/// The claims of an account without limits, for NATS.
pub fn account(has_jetstream: bool) -> Value {
    let most = if has_jetstream { -1 } else { 0 };
    json!({
        "limits": {
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1, "mem_storage": most, "disk_storage": most, "streams": most,
            "consumer": most,
        },
        "default_permissions": {"pub": {}, "sub": {}},
        "type": "account",
        "version": 2,
    })
}

/// The claims of a user for NATS. Without rights, the user may do everything in its account.
pub fn user(rights: Option<&SubjectRights>) -> Value {
    let mut claims = json!({
        "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1, "type": "user", "version": 2,
    });
    if let Some(rights) = rights {
        claims["pub"] = listed(&rights.publish);
        claims["sub"] = listed(&rights.subscribe);
        if rights.answers {
            claims["resp"] = json!({"max": 1, "ttl": ANSWER.as_nanos() as u64});
        }
    }
    claims
}

/// An empty list would allow everything.
fn listed(subjects: &[String]) -> Value {
    match subjects {
        [] => json!({"deny": [">"]}),
        subjects => json!({"allow": subjects}),
    }
}

/// The text of a credentials file.
pub fn credentials(jwt: &str, pair: &KeyPair) -> String {
    let seed = seed(pair);
    format!(
        "-----BEGIN NATS USER JWT-----\n{jwt}\n------END NATS USER JWT------\n\n-----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    )
}

/// Credentials with these rights for a user of an account.
pub fn user_credentials(
    account: &KeyPair,
    name: &str,
    rights: Option<&SubjectRights>,
    life: Option<Duration>,
) -> String {
    let pair = KeyPair::new(KeyPairType::User);
    let jwt = jwt(account, &pair.public_key(), name, &user(rights), life);
    credentials(&jwt, &pair)
}

/// The credentials for an agent of a run without files, from the account's seed; `None` if the seed is not valid.
pub fn run_credentials(account: &str, run: &str, index: u32) -> Option<String> {
    let account = KeyPair::from_seed(account.trim()).ok()?;
    let manifest = Manifest {
        run: run.to_owned(),
        ..Manifest::default()
    };
    let rights = run_rights(&manifest, (index, 0), &[]);
    Some(user_credentials(
        &account,
        run,
        Some(&rights),
        Some(RUN_RIGHTS),
    ))
}

/// The rights of an agent while it waits for work.
pub fn idle_rights(agent: &str) -> SubjectRights {
    let mut publish = stores();
    publish.push(wire::name_subject(agent));
    SubjectRights {
        publish,
        subscribe: vec![
            wire::WHO.to_owned(),
            wire::idle_subject(agent),
            wire::name_subject(agent),
            format!("{}.>", inbox(agent)),
        ],
        answers: true,
    }
}

/// The prefix of the subjects at which answers to this user arrive.
pub fn inbox(user: &str) -> String {
    format!("_INBOX_{user}")
}

/// The right to look up the stores.
fn stores() -> Vec<String> {
    let streams = [
        format!("KV_{}", wire::RUNS),
        format!("OBJ_{}", wire::FILES),
        format!("OBJ_{}", wire::ENDS),
        wire::STREAM.to_owned(),
    ];
    streams
        .map(|stream| format!("$JS.API.STREAM.INFO.{stream}"))
        .to_vec()
}

/// The rights of an agent in one run: to read the run and its files, take leases, send its state, and store its own end. `chunks`
/// are the subjects of the files' parts, in the order of the manifest.
pub fn run_rights(
    manifest: &Manifest,
    (index, token): (u32, u64),
    chunks: &[String],
) -> SubjectRights {
    let run = &manifest.run;
    let (runs, files, ends) = (wire::RUNS, wire::FILES, wire::ENDS);
    let mut publish = stores();
    publish.extend([
        format!("df.{run}.a.{index}.>"),
        wire::time_subject(run),
        format!("$KV.{runs}.{run}.lease.*"),
        format!("$JS.API.DIRECT.GET.KV_{runs}.$KV.{runs}.{run}.>"),
        format!("$O.{ends}.C.*"),
    ]);
    for what in ["end", "rows"] {
        let name = wire::object_name(&wire::end_name(run, index, what));
        publish.push(format!("$O.{ends}.M.{name}"));
        publish.push(format!("$JS.API.DIRECT.GET.OBJ_{ends}.$O.{ends}.M.{name}"));
    }
    for (number, (file, chunk)) in manifest.files.iter().zip(chunks).enumerate() {
        let name = wire::object_name(&file.sha256);
        let reader = wire::reader_name(run, index, token, number);
        publish.extend([
            format!("$JS.API.DIRECT.GET.OBJ_{files}.$O.{files}.M.{name}"),
            format!("$JS.API.CONSUMER.CREATE.OBJ_{files}.{reader}.{chunk}"),
            format!("$JS.API.CONSUMER.MSG.NEXT.OBJ_{files}.{reader}"),
        ]);
    }
    SubjectRights {
        publish,
        subscribe: vec![
            wire::state_subject(run),
            format!("{}.>", inbox(&run_user(run, index))),
        ],
        answers: false,
    }
}

/// The name of an agent's user in a run.
pub fn run_user(run: &str, index: u32) -> String {
    format!("{run}-{index}")
}

/// Signs manifests, and gives agents their rights for a run.
pub struct Signer {
    key: KeyPair,
    /// The account that agents belong to.
    account: Option<KeyPair>,
}

impl Signer {
    /// Reads the file that `drumfire fleet init` wrote. It holds the seed of the signing key and, if agents are to have rights
    /// for one run at a time, that of the account.
    ///
    /// # Errors
    /// If the file cannot be read, or holds no valid seed.
    pub fn read(file: &Path) -> Result<Signer, FleetError> {
        let wrong = |why: String| {
            FleetError::Other(format!(
                "the key {}: {why}; `drumfire fleet init` writes one",
                file.display()
            ))
        };
        let text = std::fs::read_to_string(file).map_err(|error| wrong(cause(&error)))?;
        let pair = |seed: &str| KeyPair::from_seed(seed).map_err(|error| wrong(error.to_string()));
        let mut seeds = text
            .split_whitespace()
            .filter(|word| !word.starts_with('#'));
        let key = seeds
            .next()
            .ok_or_else(|| wrong("it is empty".to_owned()))?;
        Ok(Signer {
            key: pair(key)?,
            account: seeds.next().map(pair).transpose()?,
        })
    }

    /// The public key, which agents trust.
    pub fn public_key(&self) -> String {
        self.key.public_key()
    }

    /// The signed form of a manifest.
    pub fn sign(&self, manifest: String) -> Signed {
        let signature = self.key.sign(manifest.as_bytes()).unwrap_or_default();
        Signed {
            manifest,
            key: Some(self.key.public_key()),
            signature: Some(URL_SAFE_NO_PAD.encode(signature)),
        }
    }

    /// The credentials of an agent for one run, if the file also holds the account's seed.
    pub fn run_credentials(
        &self,
        manifest: &Manifest,
        (index, token): (u32, u64),
        chunks: &[String],
    ) -> Option<String> {
        let account = self.account.as_ref()?;
        let rights = run_rights(manifest, (index, token), chunks);
        let name = run_user(&manifest.run, index);
        Some(user_credentials(
            account,
            &name,
            Some(&rights),
            Some(RUN_RIGHTS),
        ))
    }
}

message_error! {
    /// Why a manifest is refused.
    pub struct SignatureError;
}

/// Returns the key if it is trusted.
///
/// # Errors
/// Why it is not trusted.
pub fn trust<'k>(key: Option<&'k str>, trusted: &[String]) -> Result<&'k str, SignatureError> {
    match key {
        None => Err("the plan is not signed; pass `--sign` to `drumfire run`".into()),
        Some(key) if trusted.iter().any(|known| known == key) => Ok(key),
        Some(key) => {
            Err(format!("the plan is signed by {key}, which this agent does not trust").into())
        }
    }
}

/// A manifest with the signature of its coordinator.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signed {
    /// The manifest as JSON, byte for byte as it was signed.
    pub manifest: String,
    /// The public key of the coordinator.
    pub key: Option<String>,
    pub signature: Option<String>,
}

impl Signed {
    /// The manifest, if one of these keys has signed it recently. Without keys, no signature is required.
    ///
    /// # Errors
    /// Why it is refused.
    pub fn open(&self, trusted: &[String]) -> Result<Manifest, SignatureError> {
        if !trusted.is_empty() {
            self.verify(trusted)?;
        }
        let manifest: Manifest =
            serde_json::from_str(&self.manifest).map_err(|error| error.to_string())?;
        if !trusted.is_empty() && (system_ms() - manifest.made_ms).abs() > FRESH_MS {
            return Err("it was signed more than a day ago; start the run again".into());
        }
        Ok(manifest)
    }

    fn verify(&self, trusted: &[String]) -> Result<(), SignatureError> {
        let key = trust(self.key.as_deref(), trusted)?;
        let signature = self.signature.as_deref().unwrap_or_default();
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        let verified = KeyPair::from_public_key(key)
            .and_then(|key| key.verify(self.manifest.as_bytes(), &signature));
        verified.map_err(|_| "its signature is wrong".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer() -> Signer {
        Signer {
            key: KeyPair::new(KeyPairType::User),
            account: Some(KeyPair::new(KeyPairType::Account)),
        }
    }

    fn manifest() -> Manifest {
        Manifest {
            run: "r".to_owned(),
            made_ms: system_ms(),
            ..Manifest::default()
        }
    }

    #[test]
    fn only_what_a_trusted_key_has_signed_is_taken() {
        let (own, other) = (signer(), signer());
        let manifest = manifest();
        let text = serde_json::to_string(&manifest).expect("JSON");
        let trusted = [own.key.public_key()];
        let signed = own.sign(text.clone());
        assert_eq!(signed.open(&trusted), Ok(manifest.clone()));
        assert_eq!(signed.open(&[]), Ok(manifest.clone()), "on the loopback");
        assert!(
            other.sign(text.clone()).open(&trusted).is_err(),
            "another key"
        );
        let changed = Signed {
            manifest: text.replace("\"r\"", "\"x\""),
            ..signed.clone()
        };
        assert_eq!(changed.open(&trusted), Err("its signature is wrong".into()));
        let unsigned = Signed {
            manifest: text,
            ..Signed::default()
        };
        assert!(unsigned.open(&trusted).is_err());
        let old = Manifest {
            made_ms: 5,
            ..manifest
        };
        let old = own.sign(serde_json::to_string(&old).expect("JSON"));
        assert!(
            old.open(&trusted)
                .is_err_and(|error| error.as_ref().contains("a day ago"))
        );
    }

    #[test]
    fn rights_of_one_run_name_no_other() {
        let rights = run_rights(&manifest(), (3, 7), &[]);
        let own = |subject: &String| {
            let is_store = subject.starts_with("$JS.API.STREAM.INFO.");
            is_store
                || subject.contains("df.r.")
                || subject.contains(".r.")
                || subject.contains("df_ends")
        };
        assert!(rights.publish.iter().all(own), "{:?}", rights.publish);
        assert!(!rights.publish.contains(&"df.r.a.*.>".to_owned()));
        let none = user(Some(&SubjectRights::default()));
        assert_eq!(none["pub"]["deny"][0], ">", "no rights are none");
    }
}
