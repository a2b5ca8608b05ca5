"""A small server of the Model Context Protocol over stdio, for the programs beside it."""

import json
import sys


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def text(words):
    return {"type": "text", "text": words}


ECHO = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
}
TOOLS = [
    {"name": "echo", "description": "Says it again.", "inputSchema": ECHO},
    {"name": "fail", "description": "Fails.", "inputSchema": {"type": "object"}},
    {"name": "nothing", "description": "Gives nothing.", "inputSchema": {"type": "object"}},
    {"name": "many", "description": "Gives two texts.", "inputSchema": {"type": "object"}},
    {"name": "die", "description": "Ends the server.", "inputSchema": {"type": "object"}},
]


def call(name, arguments):
    if name == "echo":
        return {"content": [text(arguments["text"])]}
    if name == "fail":
        return {"content": [text("it broke"), text("badly")], "isError": True}
    if name == "many":
        return {"content": [text("a"), text("b")]}
    if name == "die":
        sys.exit(1)
    return {"content": []}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "completions": {}},
            "serverInfo": {"name": "small", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}))
    if method == "resources/list":
        return {"resources": [{"uri": "test://one", "name": "one"}]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "test://{id}", "name": "any"}]}
    if method == "resources/read":
        uri = params["uri"]
        if uri == "test://one":
            return {"contents": [{"uri": uri, "text": "the text"}]}
        if uri == "test://two":
            return {"contents": [{"uri": uri, "text": "a"}, {"uri": uri, "text": "b"}]}
        return {"contents": []}
    if method == "prompts/list":
        return {"prompts": [{"name": "greet"}]}
    if method == "prompts/get":
        who = params.get("arguments", {}).get("who", "you")
        return {"messages": [{"role": "user", "content": text("Greet " + who)}]}
    if method == "completion/complete":
        return {"completion": {"values": [params["argument"]["value"] + "x"]}}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params") or {})
    if result is None:
        error = {"code": -32601, "message": "Method not found: " + request["method"]}
        send({"id": request["id"], "error": error})
    else:
        send({"id": request["id"], "result": result})
