//! `drumfire mcp`: an agent edits, checks and runs the plans of a folder, by the Model Context Protocol over standard input and
//! output.

pub mod arguments;
mod bounds;
mod desk;
mod explain;
mod running;
mod tools;

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, ServiceExt as _};

use crate::console::Console;
use crate::engine::Engine;
use crate::exit_codes::Exit;
use crate::mcp::arguments::McpArguments;
use crate::mcp::desk::Desk;
use crate::refusal::Refusal;

/// The instructions of the server, which an agent reads first.
const INSTRUCTIONS: &str = "Edits, checks and runs Apache JMeter test plans (.jmx). `open` a plan, read it with `tree` and \
    `element`, change it with `edit`, which answers with the findings that are new and the difference of the text, and write it \
    with `save`: nothing reaches the file before that. `explain` describes element types, functions, properties and exit codes.";

/// Answers an agent until its input ends.
pub fn mcp(
    arguments: &McpArguments,
    engine: &Engine,
    console: &mut Console<'_>,
) -> Result<Exit, Refusal> {
    let desk = Arc::new(Desk::new(arguments, engine, console)?);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Refusal::failed)?;
    let served = runtime.block_on(async {
        let service = Server(desk).serve(rmcp::transport::stdio()).await;
        match service {
            Ok(service) => service
                .waiting()
                .await
                .map(drop)
                .map_err(|error| error.to_string()),
            // The input ended before the agent said who it is.
            Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    });
    // A read of the standard input cannot be cancelled.
    runtime.shutdown_background();
    served.map_err(Refusal::run_failed)?;
    Ok(Exit::Ok)
}

struct Server(Arc<Desk>);

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("drumfire", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::all()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let desk = self.0.clone();
        let outcome = tokio::task::spawn_blocking(move || {
            tools::call(&desk, &request.name, request.arguments.unwrap_or_default())
        })
        .await
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let result = match outcome {
            Ok(value) => CallToolResult::structured(value),
            Err(refused) => CallToolResult::structured_error(desk::shown(&refused)),
        };
        Ok(result.into())
    }
}
