//! Faults of gRPC samplers that are known before the run: every sample would fail with them.

use std::path::Path;
use std::sync::Arc;

use drumfire_elements::samplers::{grpc_request as facts, old_grpc_request as old};
use drumfire_grpc::{Metadata, Schema};
use drumfire_java::text::is_blank;
use drumfire_jmx::Diagnostic;

use super::schemas::{ProtoPlace, Schemas};
use crate::resolve::Element;

/// Checks the samplers of a plan. Files are compiled once for all of them.
#[derive(Default)]
pub struct GrpcCheck {
    schemas: Schemas,
}

/// The properties of a sampler that are checked.
struct Checked {
    folder: &'static str,
    libraries: &'static str,
    method: &'static str,
    request: &'static str,
    metadata: &'static str,
}

const NEW: Checked = Checked {
    folder: facts::PROTO_FOLDER.name,
    libraries: facts::LIB_FOLDER.name,
    method: facts::FULL_METHOD.name,
    request: facts::REQUEST_JSON.name,
    metadata: facts::METADATA.name,
};

const OLD: Checked = Checked {
    folder: old::PROTO_FOLDER.name,
    libraries: old::LIB_FOLDER.name,
    method: old::FULL_METHOD.name,
    request: old::REQUEST_JSON.name,
    metadata: old::METADATA.name,
};

impl GrpcCheck {
    /// Checks an element. `value` gives a property's value if it is known before the run; `remedy` is added to each help.
    pub fn element(
        &self,
        element: &Element,
        base_dir: &Path,
        value: &mut dyn FnMut(&str) -> Option<String>,
        remedy: &str,
    ) -> Vec<Diagnostic> {
        let names = match element.class.as_str() {
            facts::CLASS => &NEW,
            old::CLASS => &OLD,
            _ => return Vec::new(),
        };
        let mut findings = Vec::new();
        let mut find = |code, property: &str, message: String, help: &str| {
            let message = format!("{message}, in '{}'", element.name);
            let help = format!("{help}, {remedy}");
            findings.push(element.error(code, message).about(property).help(help));
        };
        if let Some(metadata) = value(names.metadata)
            && let Err(error) = Metadata::parse(&metadata)
        {
            let help = "write `{\"name\": \"value\"}` or `name:value,name:value`";
            find("grpc-metadata", names.metadata, error.to_string(), help);
        }
        let (Some(folder), Some(libraries)) = (value(names.folder), value(names.libraries)) else {
            return findings;
        };
        let place = ProtoPlace::of(&folder, &libraries, base_dir);
        let Some(root) = place.root.as_deref() else {
            return findings;
        };
        let schema = match self.schemas.compiled(root, &place) {
            Ok(schema) => schema,
            Err(error) => {
                let help = "correct the folder or the file";
                find("grpc-proto", names.folder, error.to_string(), help);
                return findings;
            }
        };
        let Some(method) = value(names.method) else {
            return findings;
        };
        if let Err(error) = schema.method(&method) {
            let help = "write `package.Service/Method`";
            find("grpc-method", names.method, error.to_string(), help);
        } else if let Some(request) = value(names.request)
            && let Some(error) = misfit(&schema, &method, &request)
        {
            let message = format!("the request of `{method}` does not fit: {error}");
            let help = "correct the JSON";
            find("grpc-request", names.request, message, help);
        }
        findings
    }
}

/// Why a request is no message of a method.
fn misfit(schema: &Arc<Schema>, method: &str, request: &str) -> Option<String> {
    let method = schema.method(method).ok()?;
    let encoded = match method.client_streaming && !is_blank(request) {
        true => schema.encode_each(request, method.input).map(drop),
        false => schema.encode(request, method.input).map(drop),
    };
    encoded.err().map(String::from)
}
