//! Long conversations over the network: server-sent events and web sockets.

use super::table::builtins;

builtins! {
    "sse_close(stream: string | dict) -> bool" [bool] Io "Closes a stream of events.";
    "sse_connect(method: string, url: string, options: dict | nil = nil) -> string" [string] Io "Opens a stream of events.";
    "sse_event(event: any, options: dict | nil = nil) -> string" [string] Pure "Writes an event as it is sent.";
    "sse_mock(pattern: string, events: list | dict) -> nil" [nil] Io "Makes events stand for those of a server.";
    "sse_receive(stream: string | dict, timeout: duration | int = 30000) -> dict | nil" [dict nil] Io "Waits for the next event.";
    "sse_server_cancel(response: string | dict, reason: string | nil = nil) -> bool" [bool] Io "Breaks a response of events off.";
    "sse_server_cancelled(response: string | dict) -> bool" [bool] Io "Tells whether a response was broken off.";
    "sse_server_close(response: string | dict) -> bool" [bool] Io "Ends a response of events.";
    "sse_server_disconnected(response: string | dict) -> bool" [bool] Io "Tells whether the reader has gone.";
    "sse_server_flush(response: string | dict) -> bool" [bool] Io "Sends what waits to be sent.";
    r#"sse_server_heartbeat(response: string | dict, comment: string = "heartbeat") -> bool"# [bool] Io "Sends a sign of life.";
    "sse_server_mock_disconnect(response: string | dict) -> bool" [bool] Io "Lets the reader go.";
    "sse_server_mock_receive(response: string | dict) -> dict | nil" [dict nil] Io "Takes the next event as its reader would.";
    "sse_server_response(options: dict | nil = nil) -> dict" [dict] Io "Begins a response of events.";
    "sse_server_send(response: string | dict, event: any, options: dict | nil = nil) -> bool" [bool] Io "Sends an event.";
    "sse_server_status(response: string | dict) -> dict" [dict] Io "Tells how a response of events goes.";
    "transport_mock_calls() -> list<dict>" [list] Io "Lists what was done with mocked connections.";
    "transport_mock_clear() -> nil" [nil] Io "Forgets all mocked connections.";
    "websocket_accept(server: string | dict, timeout: duration | int = 30000) -> dict | nil" [dict nil] Io "Waits for the next web socket.";
    "websocket_close(socket: string | dict) -> bool" [bool] Io "Closes a web socket.";
    "websocket_connect(url: string, options: dict | nil = nil) -> string" [string] Io "Opens a web socket.";
    "websocket_mock(pattern: string, messages: list | dict) -> nil" [nil] Io "Makes messages stand for those of a server.";
    "websocket_receive(socket: string | dict, timeout: duration | int = 30000) -> dict | nil" [dict nil] Io "Waits for the next message.";
    "websocket_route(server: string | dict, path: string, options: dict | nil = nil) -> bool" [bool] Io "Lets a server accept a path.";
    "websocket_send(socket: string | dict, message: string | bytes, options: dict | nil = nil) -> bool" [bool] Io "Sends a message.";
    r#"websocket_server(address: string = "127.0.0.1:0", options: dict | nil = nil) -> dict"# [dict] Io "Opens a server of web sockets.";
    "websocket_server_close(server: string | dict) -> bool" [bool] Io "Closes a server of web sockets.";
}
