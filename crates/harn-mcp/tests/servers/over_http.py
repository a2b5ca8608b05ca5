# A server made with the SDK of other people, over HTTP: `over_http.py PORT`.
import sys

from mcp.server import MCPServer

server = MCPServer("py-srv")


@server.tool()
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b


@server.resource("res://x")
def x() -> str:
    return "X"


@server.prompt()
def review(code: str) -> str:
    return "review " + code


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
