//! Servers of the Model Context Protocol: those that are used, and what a program offers.
//!
//! What a program offers is kept; the server for it is not built yet.

use super::table::builtins;

builtins! {
    "mcp_call(client: mcp_client, name: string, arguments: dict | nil = nil) -> any" [] Io "Calls a tool of a server.";
    "mcp_connect(command: string, arguments: list<string> | dict | nil = nil) -> mcp_client" [] Io "Starts a server and connects to it; or connects to the server at a URL, with options as in harn.toml.";
    "mcp_disconnect(client: mcp_client) -> nil" [nil] Io "Ends the connection to a server.";
    "mcp_ensure_active(name: string) -> mcp_client" [] Io "Connects to a configured server unless that was done.";
    "mcp_get_prompt(client: mcp_client, name: string, arguments: dict | nil = nil) -> dict" [dict] Io "Gives a prompt of a server.";
    "mcp_list_prompts(client: mcp_client) -> list<dict>" [list] Io "Lists the prompts of a server.";
    "mcp_list_resource_templates(client: mcp_client) -> any" [] Io "Lists the resource templates of a server.";
    "mcp_list_resources(client: mcp_client) -> list<dict>" [list] Io "Lists the resources of a server.";
    "mcp_list_tools(client: mcp_client) -> list<dict>" [list] Io "Lists the tools of a server.";
    "mcp_prompt(prompt: dict) -> nil" [nil] Pure "Offers a prompt to clients over MCP; the server for them is not built yet.";
    "mcp_read_resource(client: mcp_client, uri: string) -> any" [] Io "Reads a resource of a server.";
    "mcp_registry_status() -> list<dict>" [list] Io "Lists the configured servers.";
    "mcp_release(name: string) -> nil" [nil] Io "Lets go of a configured server.";
    "mcp_resource(resource: dict) -> nil" [nil] Pure "Offers a resource to clients over MCP; the server for them is not built yet.";
    "mcp_resource_template(template: dict) -> nil" [nil] Pure "Offers resources by a template to clients over MCP; the server for them is not built yet.";
    "mcp_serve(registry: dict) -> nil" [] Pure "Offers the tools of a registry to clients over MCP; the server for them is not built yet.";
    "mcp_server_card(source: string) -> dict" [dict] Io "Gives the card of a server.";
    "mcp_server_info(client: mcp_client) -> dict" [dict] Io "Tells about a server.";
    "mcp_tools(registry: dict) -> nil" [] Pure "Offers the tools of a registry to clients over MCP; the server for them is not built yet.";
}
