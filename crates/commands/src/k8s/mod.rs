//! `drumfire k8s manifest`: prints the Kubernetes resources of a run on agents in a cluster.

pub mod arguments;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use drumfire_fleet::agent_name;
use drumfire_platform::causes::unreadable;
use serde_json::{Value, json};

use crate::console::Console;
use crate::doctor::BYTES_PER_USER;
use crate::engine::{Engine, Rung};
use crate::exit_codes::Exit;
use crate::fleet::plan_files;
use crate::k8s::arguments::{K8sArguments, K8sCommand, ManifestArguments};
use crate::refusal::{Refusal, UsageError};
use crate::settings::options::PropertyOptions;
use crate::settings::plan_file::existing_plan;
use crate::settings::settings;

/// The memory of an agent without users, and of its JVM, in MiB.
const AGENT_MIB: u64 = 192;
const JAVA_MIB: u64 = 768;
/// The largest total of the plan's files in bytes: Kubernetes accepts resources of at most 1 MiB, including names.
const MOST_BYTES: usize = 900 << 10;
/// The longest name of a run: Kubernetes allows 63 characters, and suffixes are added.
const LONGEST_NAME: usize = 40;
/// Paths in the pods.
const PLAN: &str = "/plan";
const KEYS: &str = "/keys";
/// The Secret with the fleet's keys, unless the command line names another.
const DEFAULT_KEYS: &str = "drumfire-keys";
const CACHE: &str = "/cache";
const PORT: u16 = 4222;
/// How long a pod of an agent has from SIGTERM to its end, and how much of that its users may take to finish their samples, in
/// seconds. The rest is for the delivery of results.
const POD_GRACE_S: u32 = 60;
const USERS_GRACE_S: u32 = 30;
/// How often the Job restarts the agent of one index.
const RETRIES: u32 = 3;

/// Prints the resources.
pub fn k8s(
    arguments: &K8sArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let K8sCommand::Manifest(arguments) = &arguments.command;
    let plan = if arguments.in_image {
        None
    } else {
        Some(existing_plan(&arguments.plan)?)
    };
    let name = name(arguments)?;
    let mut arguments = arguments.clone();
    // Agents on other machines accept only signed plans.
    if arguments.keys.is_none() && !arguments.nats.as_deref().is_some_and(is_loopback) {
        arguments.keys = Some(DEFAULT_KEYS.to_owned());
        console.print_error(&how_to_make_keys(&name, arguments.agents));
    }
    let arguments = &arguments;
    let mut manifest = Manifest {
        arguments,
        url: match (&arguments.nats, &arguments.keys) {
            (Some(url), _) => url.clone(),
            (None, _) => format!("tls://{name}-nats:{PORT}"),
        },
        name,
        files: Vec::new(),
        memory: arguments.memory.clone(),
    };
    if let Some(plan) = &plan {
        manifest.read(plan, engine, console)?;
    }
    let text = serde_saphyr::to_string_multiple(&manifest.resources()?);
    console.print_as_it_is(&text.map_err(|error| Refusal::usage(error.to_string()))?);
    Ok(Exit::Ok)
}

/// The two commands that make the keys and their Secret.
fn how_to_make_keys(name: &str, agents: u32) -> String {
    let agents: String = (0..agents)
        .map(|index| format!(" --agent {name}-{index}"))
        .collect();
    format!(
        "Agents take only signed plans. The Secret {DEFAULT_KEYS} holds the keys; make it once:\n  \
         drumfire fleet init keys --host {name}-nats --at {KEYS}{agents}\n  \
         kubectl create secret generic {DEFAULT_KEYS} --from-file keys --from-file keys/agents\n"
    )
}

fn is_loopback(url: &str) -> bool {
    let options = drumfire_fleet::LinkOptions {
        url: url.to_owned(),
        ..Default::default()
    };
    options.is_loopback()
}

/// The prefix of all names: letters, digits and dashes.
fn name(arguments: &ManifestArguments) -> Result<String, UsageError> {
    let stem = arguments
        .plan
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let requested = arguments.name.clone().unwrap_or_else(|| stem.into_owned());
    let plain = agent_name(&requested).to_lowercase().replace('_', "-");
    let name = plain.trim_matches('-');
    let is_good = name.len() <= LONGEST_NAME && name.starts_with(|c: char| c.is_ascii_lowercase());
    if is_good {
        Ok(name.to_owned())
    } else {
        Err(format!(
            "`{requested}` is not a valid Kubernetes name; pass `--name` with a letter and then letters, digits and dashes, {LONGEST_NAME} at most"
        )
        .into())
    }
}

/// The resources to print.
struct Manifest<'a> {
    arguments: &'a ManifestArguments,
    name: String,
    url: String,
    /// The plan's files: the path of each, relative to the plan's folder, and its content.
    files: Vec<(String, Vec<u8>)>,
    memory: Option<String>,
}

impl Manifest<'_> {
    /// Reads the plan's files, and computes the memory that an agent needs for its users.
    fn read(
        &mut self,
        plan: &Path,
        engine: &Engine,
        console: &mut Console<'_>,
    ) -> Result<(), Refusal> {
        let settings = settings(&PropertyOptions::default(), &[], Some(plan), console)?;
        let (program, _) = engine
            .draft(plan, &settings)
            .map_err(|faults| console.refusal_of(&faults))?;
        for file in plan_files(&program, plan, &self.arguments.send)? {
            let read = std::fs::read(&file.here).map_err(|error| {
                let message = unreadable(&file.here, &error);
                Refusal::run_failed(message)
            })?;
            self.files.push((file.path, read));
        }
        let bytes: usize = self.files.iter().map(|(_, content)| content.len()).sum();
        if bytes > MOST_BYTES {
            let message = format!(
                "the plan and its files have {} KiB, and a ConfigMap takes {}; put them into an image and pass `--in-image`",
                bytes >> 10,
                MOST_BYTES >> 10
            );
            return Err(Refusal::usage(message));
        }
        let users = program.describe().demand.users;
        let survey = engine.survey(plan, &settings);
        let rows = survey.map(|survey| survey.rows).unwrap_or_default();
        let java_mib = if rows.iter().any(|row| row.rung == Rung::Jvm) {
            JAVA_MIB
        } else {
            0
        };
        let each = users.div_ceil(u64::from(self.arguments.agents));
        let mib = AGENT_MIB + java_mib + (each * BYTES_PER_USER).div_ceil(1 << 20);
        self.memory.get_or_insert_with(|| format!("{mib}Mi"));
        Ok(())
    }

    fn resources(&self) -> Result<Vec<Value>, UsageError> {
        let mut resources = vec![self.account()];
        if !self.files.is_empty() {
            resources.push(self.plan_files());
        }
        if self.arguments.nats.is_none() {
            resources.extend([self.server(), self.service()]);
        }
        resources.extend([self.agents(), self.coordinator()?]);
        Ok(resources)
    }

    fn resource(&self, api: &str, kind: &str, part: &str, more: Value) -> Value {
        let mut resource = json!({
            "apiVersion": api,
            "kind": kind,
            "metadata": {"name": self.named(part), "labels": self.labels(part)},
        });
        if let Some(namespace) = &self.arguments.namespace {
            resource["metadata"]["namespace"] = json!(namespace);
        }
        for (key, value) in more.as_object().into_iter().flatten() {
            resource[key] = value.clone();
        }
        resource
    }

    fn named(&self, part: &str) -> String {
        match part {
            "" => self.name.clone(),
            part => format!("{}-{part}", self.name),
        }
    }

    fn labels(&self, part: &str) -> Value {
        json!({
            "app.kubernetes.io/name": "drumfire",
            "app.kubernetes.io/instance": self.name,
            "app.kubernetes.io/component": if part.is_empty() { "run" } else { part },
        })
    }

    /// The service account of the pods. No container calls the Kubernetes API, so it has no rights and no token.
    fn account(&self) -> Value {
        let more = json!({"automountServiceAccountToken": false});
        self.resource("v1", "ServiceAccount", "", more)
    }

    fn plan_files(&self) -> Value {
        let (mut text, mut binary) = (json!({}), json!({}));
        for (number, (_, content)) in self.files.iter().enumerate() {
            let key = format!("file-{number}");
            match std::str::from_utf8(content) {
                Ok(content) => text[key] = json!(content),
                Err(_) => binary[key] = json!(STANDARD.encode(content)),
            }
        }
        let more = json!({"data": text, "binaryData": binary});
        self.resource("v1", "ConfigMap", "plan", more)
    }

    fn server(&self) -> Value {
        let container = json!({
            "name": "nats",
            "image": self.arguments.nats_image,
            "args": ["-c", format!("{KEYS}/nats.conf")],
            "ports": [{"name": "nats", "containerPort": PORT}],
            "readinessProbe": {"tcpSocket": {"port": PORT}, "periodSeconds": 2},
            "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            "securityContext": closed(),
            "volumeMounts": [keys_mount(), {"name": "store", "mountPath": format!("{KEYS}-store")}],
        });
        let pod = self.pod(
            "nats",
            "Always",
            container,
            vec![
                self.keys_volume(&["nats.conf", "server.pem", "server.key"]),
                json!({"name": "store", "emptyDir": {}}),
            ],
        );
        let more = json!({"spec": {
            "replicas": 1,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": self.labels("nats")},
            "template": pod,
        }});
        self.resource("apps/v1", "Deployment", "nats", more)
    }

    fn service(&self) -> Value {
        let more = json!({"spec": {
            "selector": self.labels("nats"),
            "ports": [{"name": "nats", "port": PORT, "targetPort": "nats"}],
        }});
        self.resource("v1", "Service", "nats", more)
    }

    fn agents(&self) -> Value {
        let count = self.arguments.agents;
        let mut command = self.words(&[
            "drumfire", "agent", "--once", "--name", &self.name, "--cache", CACHE,
        ]);
        command.extend(self.words(&["--grace", &format!("{USERS_GRACE_S}s")]));
        command.extend(self.words(&["--label", &format!("run={}", self.name)]));
        command.extend(self.link("agent.creds"));
        if self.arguments.keys.is_some() {
            command.extend(self.words(&["--trust", &format!("{KEYS}/trust.pub")]));
        }
        let mut volumes = vec![json!({"name": "cache", "emptyDir": {}})];
        let mut mounts = vec![json!({"name": "cache", "mountPath": CACHE})];
        if self.arguments.keys.is_some() {
            // An agent sees only those files of the volume that are mounted.
            volumes.push(self.keys_volume(&[]));
            mounts.extend(self.agent_keys());
        }
        let mut resources = json!({"requests": {"cpu": self.arguments.cpu}});
        if let Some(memory) = &self.memory {
            // There is no CPU limit, since CFS quotas would pause the generator within each second.
            resources["requests"]["memory"] = json!(memory);
            resources["limits"] = json!({"memory": twice(memory)});
        }
        let container = json!({
            "name": "agent",
            "image": self.arguments.image,
            "command": command,
            "env": [{"name": "HOME", "value": CACHE}],
            "resources": resources,
            "securityContext": closed(),
            "volumeMounts": mounts,
        });
        let mut pod = self.pod("agent", "Never", container, volumes);
        pod["spec"]["terminationGracePeriodSeconds"] = json!(POD_GRACE_S);
        pod["spec"]["topologySpreadConstraints"] = json!([{
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": self.labels("agent")},
        }]);
        let more = json!({"spec": {
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            "backoffLimitPerIndex": RETRIES,
            "template": pod,
        }});
        self.resource("batch/v1", "Job", "agents", more)
    }

    fn coordinator(&self) -> Result<Value, UsageError> {
        let plan = match (self.arguments.in_image, self.files.first()) {
            (false, Some((path, _))) => PathBuf::from(PLAN).join(path),
            _ => self.arguments.plan.clone(),
        };
        let plan = plan.display().to_string();
        let selection = format!("run={}:{}", self.name, self.arguments.agents);
        let mut command = self.words(&["drumfire", "run", &plan, "--agents", &selection]);
        command.extend(self.words(&[
            "--agents-wait",
            "10m",
            "--progress",
            "lines",
            "--no-run-file",
        ]));
        command.extend(self.link("coordinator.creds"));
        if self.arguments.keys.is_some() {
            command.extend(self.words(&["--sign", &format!("{KEYS}/coordinator.key")]));
        }
        let mut env = vec![json!({"name": "HOME", "value": "/tmp"})];
        for (number, secret) in self.arguments.secret.iter().enumerate() {
            let parts = secret.split_once('=').and_then(|(name, place)| {
                let (secret, key) = place.split_once('/')?;
                Some((name, secret, key))
            });
            let (name, secret, key) = parts.ok_or_else(|| {
                format!("`--secret {secret}` names no key of a Secret; write NAME=SECRET/KEY")
            })?;
            let variable = format!("DRUMFIRE_SECRET_{number}");
            command.push(json!(format!("-J{name}=$({variable})")));
            env.push(json!({
                "name": variable,
                "valueFrom": {"secretKeyRef": {"name": secret, "key": key}},
            }));
        }
        command.extend(self.arguments.options.iter().map(|word| json!(word)));
        let mut volumes = vec![json!({"name": "work", "emptyDir": {}})];
        let mut mounts = vec![json!({"name": "work", "mountPath": "/tmp"})];
        if self.arguments.keys.is_some() {
            volumes.push(self.keys_volume(&["coordinator.creds", "coordinator.key", "server.pem"]));
            mounts.push(keys_mount());
        }
        if !self.files.is_empty() {
            let items = self.files.iter().enumerate();
            let items: Vec<Value> = items
                .map(|(number, (path, _))| json!({"key": format!("file-{number}"), "path": path}))
                .collect();
            let map = json!({"name": self.named("plan"), "items": items});
            volumes.push(json!({"name": "plan", "configMap": map}));
            mounts.push(json!({"name": "plan", "mountPath": PLAN, "readOnly": true}));
        }
        let container = json!({
            "name": "coordinator",
            "image": self.arguments.image,
            "command": command,
            "workingDir": "/tmp",
            "env": env,
            "resources": {"requests": {"cpu": "250m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            "securityContext": closed(),
            "volumeMounts": mounts,
        });
        let pod = self.pod("coordinator", "Never", container, volumes);
        let more = json!({"spec": {"backoffLimit": 0, "template": pod}});
        Ok(self.resource("batch/v1", "Job", "run", more))
    }

    /// A pod with one container.
    fn pod(&self, part: &str, restart: &str, container: Value, volumes: Vec<Value>) -> Value {
        json!({
            "metadata": {"labels": self.labels(part)},
            "spec": {
                "serviceAccountName": self.name,
                "automountServiceAccountToken": false,
                "restartPolicy": restart,
                "securityContext": {
                    "runAsNonRoot": true,
                    "runAsUser": 65532,
                    "runAsGroup": 65532,
                    "fsGroup": 65532,
                    "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [container],
                "volumes": volumes,
            },
        })
    }

    /// The options with which a container reaches NATS.
    fn link(&self, credentials: &str) -> Vec<Value> {
        let mut words = self.words(&["--nats", &self.url]);
        if self.arguments.keys.is_some() {
            words.extend(self.words(&["--nats-creds", &format!("{KEYS}/{credentials}")]));
            words.extend(self.words(&["--nats-ca", &format!("{KEYS}/server.pem")]));
        }
        words
    }

    fn words(&self, words: &[&str]) -> Vec<Value> {
        words.iter().map(|word| json!(word)).collect()
    }

    /// A volume with these files of the Secret, or with all if the list is empty. No container gets more than it
    /// needs.
    fn keys_volume(&self, files: &[&str]) -> Value {
        let mut secret = json!({"secretName": self.arguments.keys, "defaultMode": 0o440});
        if !files.is_empty() {
            let items = files.iter().map(|file| json!({"key": file, "path": file}));
            secret["items"] = items.collect();
        }
        json!({"name": "keys", "secret": secret})
    }

    /// The mounts of an agent's keys. The pods of a Job are identical, so each finds its credentials by its index.
    fn agent_keys(&self) -> Vec<Value> {
        let shared = ["server.pem", "trust.pub"].map(|file| {
            let path = format!("{KEYS}/{file}");
            json!({"name": "keys", "mountPath": path, "subPath": file, "readOnly": true})
        });
        let key_mount = json!({
            "name": "keys",
            "mountPath": format!("{KEYS}/agent.creds"),
            "subPathExpr": format!("{}-$(JOB_COMPLETION_INDEX).creds", self.name),
            "readOnly": true,
        });
        shared.into_iter().chain([key_mount]).collect()
    }
}

/// Mounts a volume with all its keys.
fn keys_mount() -> Value {
    json!({"name": "keys", "mountPath": KEYS, "readOnly": true})
}

/// The security context of a container without privileges.
fn closed() -> Value {
    json!({
        "allowPrivilegeEscalation": false,
        "readOnlyRootFilesystem": true,
        "capabilities": {"drop": ["ALL"]},
    })
}

/// Doubles an amount of memory such as `512Mi`. Other texts stay unchanged.
fn twice(memory: &str) -> String {
    let digits = memory.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = &memory[digits.len()..];
    digits
        .parse::<u64>()
        .map_or_else(|_| memory.to_owned(), |size| format!("{}{unit}", size * 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_keep_their_unit() {
        assert_eq!(twice("256Mi"), "512Mi");
        assert_eq!(twice("2Gi"), "4Gi");
        assert_eq!(twice("1.5Gi"), "1.5Gi", "it is no whole number");
    }
}
