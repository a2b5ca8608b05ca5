"""A server of the Model Context Protocol over stdio, without anything but Python.

The first argument says how it behaves; see BEHAVIOURS. Without one it is a plain server of the
handshake generation.
"""

import json
import os
import signal
import sys
import time

BEHAVIOUR = sys.argv[1] if len(sys.argv) > 1 else "plain"


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def answer(request, result):
    send({"id": request["id"], "result": result})


def refuse(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def tool(name, **more):
    entry = {"name": name, "description": "Does " + name, "inputSchema": {"type": "object"}}
    entry.update(more)
    return entry


TOOLS = [
    tool(
        "echo",
        inputSchema={
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
        annotations={"readOnlyHint": True},
    ),
    tool("fail"),
    tool("nothing"),
    tool("many"),
    tool("env"),
    tool("slow"),
    tool("grow"),
    tool("meta"),
    tool("ask"),
    tool("secret"),
    tool(
        "sum",
        inputSchema={
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
        outputSchema={
            "type": "object",
            "properties": {"sum": {"type": "integer"}},
            "required": ["sum"],
        },
    ),
    tool("lie", outputSchema={"type": "object", "required": ["sum"]}),
    tool("die"),
    tool("odd"),
]

# What a server of the behaviour "curious" has besides.
CURIOUS = [tool("told"), tool("sample"), tool("roots"), tool("vanish")]

GROWN = []
CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {},
    "prompts": {},
    "completions": {},
}
PENDING = {}
NEXT_ID = [1000]
CANCELLED = []
LATE = []
CLIENT = {}


def ask_client(method, params, then):
    NEXT_ID[0] += 1
    PENDING[NEXT_ID[0]] = then
    send({"id": NEXT_ID[0], "method": method, "params": params})


def tell(request):
    """Answers with what the client has said."""
    return lambda reply: answer(request, text(json.dumps(reply.get("result", reply))))


def form(name):
    return {
        "mode": "form",
        "message": "Who?",
        "requestedSchema": {
            "type": "object",
            "properties": {name: {"type": "string"}},
            "required": [name],
        },
    }


def call(request):
    params = request["params"]
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        answer(request, text(arguments["text"]))
    elif name == "fail":
        blocks = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
        answer(request, {"content": blocks, "isError": True})
    elif name == "nothing":
        answer(request, {"content": []})
    elif name == "many":
        blocks = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        answer(request, {"content": blocks})
    elif name == "env":
        answer(request, text(json.dumps(dict(os.environ), sort_keys=True)))
    elif name == "slow":
        token = params["_meta"]["progressToken"]
        for step in range(1, 4):
            progress = {"progressToken": token, "progress": step, "total": 3}
            send({"method": "notifications/progress", "params": progress})
        answer(request, text("done"))
    elif name == "grow":
        GROWN.append(tool("grown"))
        send({"method": "notifications/tools/list_changed"})
        answer(request, text("grown"))
    elif name == "meta":
        answer(request, text(params.get("_meta", {}).get("traceparent", "none")))
    elif name in ("ask", "secret"):
        field = "name" if name == "ask" else "api_key"
        ask_client("elicitation/create", form(field), tell(request))
    elif name == "sum":
        total = {"sum": arguments["a"] + arguments["b"]}
        answer(request, dict(text(json.dumps(total)), structuredContent=total))
    elif name == "lie":
        answer(request, dict(text("x"), structuredContent={"total": 1}))
    elif name == "die":
        sys.stderr.write("the key is " + os.environ.get("KEY", "-") + "\n")
        sys.stderr.flush()
        os._exit(3)
    elif name == "odd":
        send({"id": 424242, "result": text("for somebody else")})
        send({"id": "x", "result": text("for nobody")})
        send({"method": "notifications/never/heard", "params": {"a": 1}})
        answer(request, text("odd"))
    elif name == "grown":
        answer(request, text("as grown"))
    elif name == "told":
        answer(request, text(json.dumps(CLIENT["capabilities"])))
    elif name == "sample":
        said = {"role": "user", "content": {"type": "text", "text": "Hello?"}}
        ask_client("sampling/createMessage", {"messages": [said], "maxTokens": 7}, tell(request))
    elif name == "roots":
        ask_client("roots/list", {}, tell(request))
    elif name == "vanish":
        TOOLS.remove(next(one for one in TOOLS if one["name"] == "vanish"))
        send({"method": "notifications/tools/list_changed"})
        answer(request, text("vanished"))
    else:
        refuse(request, -32602, "Unknown tool: " + name)


def page(request, entries, key):
    cursor = (request.get("params") or {}).get("cursor")
    if BEHAVIOUR == "endless":
        answer(request, {key: [tool("t")], "nextCursor": "again"})
    elif BEHAVIOUR == "pages":
        start = int(cursor or 0)
        result = {key: entries[start : start + 2]}
        if start + 2 < len(entries):
            result["nextCursor"] = str(start + 2)
        answer(request, result)
    else:
        answer(request, {key: entries})


RESOURCES = [
    {"uri": "test://one", "name": "one"},
    {"uri": "test://two", "name": "two"},
    {"uri": "test://none", "name": "none"},
]


def read(request):
    uri = request["params"]["uri"]
    if uri == "test://one":
        answer(request, {"contents": [{"uri": uri, "text": "the text"}]})
    elif uri == "test://two":
        contents = [{"uri": uri, "text": "a"}, {"uri": uri, "blob": "AA=="}]
        answer(request, {"contents": contents})
    elif uri == "test://none":
        answer(request, {"contents": []})
    else:
        refuse(request, -32002, "Resource not found")


def handle(request):
    method = request.get("method")
    if method is None:
        then = PENDING.pop(request.get("id"), None)
        if then:
            then(request)
    elif method == "initialize":
        CLIENT.update(request["params"])
        info = {"name": "test-server", "version": "1"}
        version = request["params"]["protocolVersion"]
        result = {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": info}
        answer(request, result)
    elif method == "notifications/cancelled":
        CANCELLED.append(request["params"].get("requestId"))
    elif method == "ping":
        answer(request, {})
    elif method == "tools/list":
        page(request, TOOLS + GROWN, "tools")
    elif method == "tools/call":
        call(request)
    elif method == "resources/list":
        page(request, RESOURCES, "resources")
    elif method == "resources/templates/list":
        answer(request, {"resourceTemplates": [{"uriTemplate": "test://{id}", "name": "t"}]})
    elif method == "resources/read":
        read(request)
    elif method == "prompts/list":
        answer(request, {"prompts": [{"name": "greet", "arguments": [{"name": "who"}]}]})
    elif method == "prompts/get":
        who = (request["params"].get("arguments") or {}).get("who", "you")
        message = {"role": "user", "content": {"type": "text", "text": "Greet " + who}}
        answer(request, {"description": "A greeting", "messages": [message]})
    elif method == "completion/complete":
        start = request["params"]["argument"]["value"]
        answer(request, {"completion": {"values": [start + "x"], "hasMore": False}})
    elif "id" in request:
        refuse(request, -32601, "Method not found: " + str(method))


def misbehave(request):
    """What happens instead of an answer; whether something did."""
    method = request.get("method")
    is_call = method == "tools/call"
    if BEHAVIOUR == "silent":
        return True
    if BEHAVIOUR == "deaf" and is_call:
        send({"method": "notifications/test/called"})
        return True
    if BEHAVIOUR == "deaf" and method == "notifications/cancelled":
        send({"method": "notifications/test/cancelled"})
        return True
    if BEHAVIOUR == "huge" and is_call:
        out = sys.stdout
        out.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"' % json.dumps(request["id"]))
        for _ in range(100):
            out.write("x" * (1024 * 1024))
        out.write('"}]}}\n')
        out.flush()
        return True
    if BEHAVIOUR == "deep" and is_call:
        sys.stdout.write('{"jsonrpc":"2.0","id":%s,"result":' % json.dumps(request["id"]))
        sys.stdout.write("[" * 100000 + "]" * 100000 + "}\n")
        sys.stdout.flush()
        return True
    if BEHAVIOUR == "malformed" and is_call:
        send({"id": request["id"], "result": 7})
        return True
    if BEHAVIOUR == "late" and method == "server/discover":
        LATE.append(request)
        # So that a test knows that it was asked.
        send({"method": "notifications/message", "params": {"level": "info", "data": "later"}})
        return True
    if BEHAVIOUR == "late" and method == "initialize":
        handle(LATE.pop())
    if BEHAVIOUR == "touchy" and method == "server/discover":
        os._exit(1)
    if BEHAVIOUR == "stubborn" and method == "initialize":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return False


if BEHAVIOUR == "noisy":
    sys.stdout.write("Starting up…\nwarning: { not json\n[1, 2]\n")
    sys.stdout.flush()
if BEHAVIOUR == "garbage":
    sys.stdout.buffer.write(bytes(range(256)) * 1000 + b"\n" + b"\xff\xfe\n" * 20000)
    sys.stdout.flush()
if BEHAVIOUR == "curious":
    TOOLS.extend(CURIOUS)
if BEHAVIOUR == "duplicates":
    TOOLS.insert(0, tool("echo", description="not this one"))
    TOOLS.append(tool("evil\u001b[31m\nname"))
    TOOLS.append(tool("x" * 500, description="y" * 100000))

for line in sys.stdin:
    request = json.loads(line)
    if BEHAVIOUR == "noisy":
        print("got " + str(request.get("method")))
    if not misbehave(request):
        handle(request)

if BEHAVIOUR == "stubborn":
    # Longer than anybody waits, but not for ever.
    time.sleep(30)
