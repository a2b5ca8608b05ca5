//! HTTP: requests, mocks, where requests may go, and servers.

use super::table::builtins;

builtins! {
    "egress_policy(config: dict) -> dict" [dict] Io "Decides once where requests may go.";
    "http_delete(url: string, options: dict | nil = nil) -> dict" [dict] Io "Sends a DELETE request.";
    "http_download(url: string, path: string, options: dict | nil = nil) -> dict" [dict] Io "Writes what a URL gives into a file.";
    "http_get(url: string, options: dict | nil = nil) -> dict" [dict] Io "Sends a GET request.";
    "http_header(message: dict, name: string) -> string | nil" [string nil] Io "Gives a header, however its name is spelled.";
    "http_mock(method: string, pattern: string, response: dict) -> nil" [nil] Io "Makes answers stand for those of a server.";
    "http_mock_calls(options: dict | nil = nil) -> list<dict>" [list] Io "Lists the requests that mocked answers served.";
    "http_mock_clear() -> nil" [nil] Io "Forgets all mocked answers of servers.";
    "http_patch(url: string, body: any = nil, options: dict | nil = nil) -> dict" [dict] Io "Sends a PATCH request.";
    "http_post(url: string, body: any = nil, options: dict | nil = nil) -> dict" [dict] Io "Sends a POST request.";
    "http_put(url: string, body: any = nil, options: dict | nil = nil) -> dict" [dict] Io "Sends a PUT request.";
    "http_request(method: string, url: string, options: dict | nil = nil) -> dict" [dict] Io "Sends a request.";
    "http_response(status: int = 200, body: any = nil, headers: dict = {}) -> dict" [dict] Io "Makes a response.";
    "http_response_bytes(body: any, options: dict | nil = nil) -> dict" [dict] Io "Makes a response of bytes.";
    "http_response_json(body: any, options: dict | nil = nil) -> dict" [dict] Io "Makes a response of JSON.";
    "http_response_text(body: any, options: dict | nil = nil) -> dict" [dict] Io "Makes a response of text.";
    "http_server(options: dict | nil = nil) -> dict" [dict] Io "Makes a server without routes.";
    "http_server_after(server: string | dict, hook: closure) -> dict" [dict] Io "Shows every response to a function last.";
    "http_server_before(server: string | dict, hook: closure) -> dict" [dict] Io "Shows every request to a function first.";
    "http_server_on_shutdown(server: string | dict, hook: closure) -> dict" [dict] Io "Calls a function when a server is shut down.";
    "http_server_readiness(server: string | dict, check: closure) -> dict" [dict] Io "Lets a function decide whether a server answers.";
    "http_server_ready(server: string | dict) -> bool" [bool] Io "Tells whether a server answers.";
    "http_server_request(server: string | dict, request: dict) -> dict" [dict] Io "Gives a server's response to a request.";
    "http_server_route(server: string | dict, method: string, template: string, handler: closure, options: dict | nil = nil) -> dict" [dict] Io "Lets a handler answer requests.";
    "http_server_security_headers(tls: dict) -> dict" [dict] Io "Gives the headers that go with an encrypted server.";
    "http_server_set_ready(server: string | dict, ready: bool) -> bool" [bool] Io "Decides whether a server answers.";
    "http_server_shutdown(server: string | dict) -> bool" [bool] Io "Shuts a server down.";
    "http_server_test(server: string | dict, request: dict) -> dict" [dict] Io "Gives a server's response to a request.";
    "http_server_tls_edge(options: dict | nil = nil) -> dict" [dict] Io "Describes a server behind one that encrypts.";
    "http_server_tls_pem(certificate: string, key: string) -> dict" [dict] Io "Describes a server that encrypts with a certificate.";
    "http_server_tls_plain() -> dict" [dict] Io "Describes a server without encryption.";
    r#"http_server_tls_self_signed_dev(hosts: list<string> = ["localhost", "127.0.0.1"]) -> dict"# [dict] Io "Describes a server that encrypts with a certificate of its own.";
    "http_session(options: dict | nil = nil) -> string" [string] Io "Opens a session whose requests share connections and settings.";
    "http_session_close(session: string | dict) -> bool" [bool] Io "Closes a session.";
    "http_session_request(session: string | dict, method: string, url: string, options: dict | nil = nil) -> dict" [dict] Io "Sends a request in a session.";
    "http_stream_close(stream: string | dict) -> bool" [bool] Io "Stops to read from a URL.";
    "http_stream_info(stream: string | dict) -> dict" [dict] Io "Gives the status and headers of what is read from a URL.";
    "http_stream_open(url: string, options: dict | nil = nil) -> string" [string] Io "Begins to read what a URL gives.";
    "http_stream_read(stream: string | dict, max_bytes: int = 1048576) -> bytes | nil" [bytes nil] Io "Reads on from a URL.";
}
