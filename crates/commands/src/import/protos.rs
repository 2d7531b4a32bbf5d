//! Imports `.proto` files: a plan with a GRPC Request for each method.

use std::path::Path;

use drumfire_grpc::{Schema, compile};
use drumfire_import::{GrpcMethod, GrpcServer, ImportError, grpc_plan};

use super::arguments::ImportArguments;
use super::refusal;
use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::new::base_name;
use crate::refusal::Refusal;
use crate::terminal::format::counted;

/// The file among those to import that has services; the plan of such a file is made here.
pub(super) fn asked(files: &[std::path::PathBuf]) -> Option<&Path> {
    files
        .iter()
        .find(|file| file.extension().is_some_and(|ending| ending == "proto"))
        .map(std::path::PathBuf::as_path)
}

/// Writes the plan of a `.proto` file.
pub(super) fn import(
    file: &Path,
    arguments: &ImportArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    if arguments.files.len() > 1 {
        let message = "a `.proto` file is imported alone; the others are found by its imports";
        return Err(refusal(
            &ImportError::new(message).hint("name the file with the service"),
        ));
    }
    let refused = |message: String| refusal(&ImportError::new(message).hint("correct the file"));
    let set = compile(file, &[]).map_err(|error| refused(error.to_string()))?;
    let schema = Schema::of(&set).map_err(|error| refused(error.to_string()))?;
    let methods: Vec<GrpcMethod> = schema
        .methods()
        .iter()
        .map(|method| GrpcMethod {
            name: method.path()[1..].to_owned(),
            request: if method.client_streaming {
                format!("[{}]", schema.example(method.input))
            } else {
                schema.example(method.input)
            },
        })
        .collect();
    if methods.is_empty() {
        let message = format!("`{}` has no service", file.display());
        return Err(refusal(
            &ImportError::new(message).hint("name the file with the service"),
        ));
    }
    let server = server(arguments.server.as_deref(), protos(file, &arguments.output))?;
    let tree = grpc_plan(&base_name(file), &server, &methods);
    super::write_checked(
        drumfire_jmx::write(&tree),
        &arguments.output,
        engine,
        console,
    )?;
    let requests = counted(methods.len() as u64, "request");
    console.print(&format!("{}: {requests}\n", arguments.output.display()));
    Ok(Exit::Ok)
}

/// The folder of a `.proto` file as the plan names it: from the plan's own folder.
fn protos(file: &Path, plan: &Path) -> String {
    let folder = file.parent().unwrap_or(Path::new(""));
    let of_plan = plan.parent().unwrap_or(Path::new(""));
    let named = match folder.strip_prefix(of_plan) {
        Ok(own) if own.as_os_str().is_empty() => Some(Path::new(".").to_owned()),
        Ok(own) => Some(own.to_owned()),
        Err(_) => std::path::absolute(folder).ok(),
    };
    named
        .unwrap_or_else(|| folder.to_owned())
        .display()
        .to_string()
}

/// The server of `--server`, such as `https://api.example:443`; without it, properties name the server.
fn server(given: Option<&str>, protos: String) -> Result<GrpcServer, Refusal> {
    let (host, port, tls) = match given {
        None => ("127.0.0.1".to_owned(), "50051".to_owned(), false),
        Some(text) => {
            let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
            let (host, port) = rest
                .trim_end_matches('/')
                .rsplit_once(':')
                .ok_or_else(|| not_a_server(text))?;
            if !matches!(scheme, "http" | "https")
                || port.parse::<u16>().is_err()
                || host.is_empty()
            {
                return Err(not_a_server(text));
            }
            (host.to_owned(), port.to_owned(), scheme == "https")
        }
    };
    Ok(GrpcServer {
        host: format!("${{__P(host,{host})}}"),
        port: format!("${{__P(port,{port})}}"),
        tls,
        protos,
    })
}

/// The refusal of a text that names no server.
fn not_a_server(text: &str) -> Refusal {
    let message = format!("`{text}` is not a gRPC server");
    refusal(&ImportError::new(message).hint("write `http://host:port` or `https://host:port`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_name_the_folder_from_their_own() {
        for (file, plan, named) in [
            ("a.proto", "plan.jmx", "."),
            ("protos/a.proto", "plan.jmx", "protos"),
            ("x/protos/a.proto", "x/plan.jmx", "protos"),
            ("/p/a.proto", "plan.jmx", "/p"),
        ] {
            assert_eq!(protos(Path::new(file), Path::new(plan)), named);
        }
    }

    #[test]
    fn servers_are_addresses_with_a_port() {
        let parts = |given| {
            let server = server(Some(given), String::new()).ok()?;
            Some((server.host, server.port, server.tls))
        };
        let of = |host: &str, port: &str, tls| {
            Some((
                format!("${{__P(host,{host})}}"),
                format!("${{__P(port,{port})}}"),
                tls,
            ))
        };
        assert_eq!(
            parts("https://api.example:443/"),
            of("api.example", "443", true)
        );
        assert_eq!(parts("127.0.0.1:9000"), of("127.0.0.1", "9000", false));
        assert_eq!(parts("http://api.example"), None);
        assert_eq!(parts("ftp://a:1"), None);
    }
}
