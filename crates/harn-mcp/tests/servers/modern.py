"""A server of the generation 2026-07-28 over stdio: every request stands alone.

If its second argument names a file that is not there, it makes it and says what it can do only
when it was asked for a handshake as well: it is slow to start for the first time.
"""

import json
import os
import sys

SLOW = []
if len(sys.argv) > 2 and not os.path.exists(sys.argv[2]):
    open(sys.argv[2], "x").close()
    SLOW.append(sys.argv[2])


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def answer(request, result):
    result.setdefault("resultType", "complete")
    send({"id": request["id"], "result": result})


def refuse(request, code, text):
    send({"id": request["id"], "error": {"code": code, "message": text}})


def text(words, **more):
    return dict({"content": [{"type": "text", "text": words}]}, **more)


def tool(name):
    return {"name": name, "description": "Does " + name, "inputSchema": {"type": "object"}}


NAMES = ["hello", "ask", "badger", "pair", "crowd", "leave", "work", "doubt", "grow"]
TOOLS = [tool(name) for name in NAMES]
LISTS = [0]
TASKS = {}
UPDATES = {}
SUBSCRIPTIONS = []
SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId"


def question(name):
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    params = {"mode": "form", "message": "Who?", "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def call(request):
    params = request["params"]
    name = params["name"]
    if name == "hello":
        answer(request, text("hello"))
    elif name == "ask":
        given = params.get("inputResponses")
        if given is None:
            questions = {"who": question("name")}
            answer(
                request,
                {
                    "resultType": "input_required",
                    "inputRequests": questions,
                    "requestState": "state-1",
                },
            )
        else:
            answer(request, text(json.dumps([given, params.get("requestState")])))
    elif name == "badger":
        answer(
            request,
            {"resultType": "input_required", "inputRequests": {"who": question("name")}},
        )
    elif name in ("pair", "crowd", "leave"):
        count = {"pair": 2, "crowd": 17, "leave": 1}[name]
        questions = {"q%02d" % number: question("name") for number in range(count)}
        if params.get("inputResponses") is None:
            answer(request, {"resultType": "input_required", "inputRequests": questions})
            if name == "leave":
                sys.exit(1)
        else:
            answer(request, text(json.dumps(params["inputResponses"])))
    elif name in ("work", "doubt"):
        task_id = "%s-%d" % ("task" if name == "work" else "doubt", len(TASKS) + 1)
        TASKS[task_id] = 0
        answer(request, dict(task(task_id, "working"), resultType="task"))
    elif name == "grow":
        TOOLS.append(tool("grown"))
        for subscription in SUBSCRIPTIONS:
            meta = {SUBSCRIPTION_KEY: subscription}
            send({"method": "notifications/tools/list_changed", "params": {"_meta": meta}})
        answer(request, text("grown"))
    else:
        refuse(request, -32602, "Unknown tool: " + name)


def task(task_id, status):
    now = "2026-08-01T00:00:00Z"
    return {
        "taskId": task_id,
        "status": status,
        "createdAt": now,
        "lastUpdatedAt": now,
        "ttlMs": None,
        "pollIntervalMs": 10,
    }


def get_task(request):
    task_id = request["params"]["taskId"]
    if task_id not in TASKS and task_id != "task-old":
        refuse(request, -32602, "no such task")
        return
    seen = TASKS.get(task_id, 5)
    TASKS[task_id] = seen + 1
    if task_id.startswith("doubt") and task_id not in UPDATES:
        asked = {"who": question("name")}
        answer(request, dict(task(task_id, "input_required"), inputRequests=asked))
        return
    if seen < 2:
        answer(request, task(task_id, "working"))
    else:
        done = text("worked on " + task_id, resultType="complete")
        answer(request, dict(task(task_id, "completed"), result=done))


DISCOVERED = {
    "supportedVersions": ["2026-07-28"],
    "capabilities": {
        "tools": {"listChanged": True},
        "extensions": {"io.modelcontextprotocol/tasks": {}},
    },
    "instructions": "Be kind.",
    "ttlMs": 0,
    "cacheScope": "private",
}

for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if "id" in request and method != "initialize":
        meta = (request.get("params") or {}).get("_meta") or {}
        if "io.modelcontextprotocol/protocolVersion" not in meta:
            refuse(request, -32602, "the version is missing")
            continue
    if method == "server/discover" and SLOW:
        SLOW[0] = request
        # So that a test knows that it was asked.
        send({"method": "notifications/message", "params": {"level": "info", "data": "later"}})
    elif method == "server/discover":
        answer(request, DISCOVERED)
    elif method == "initialize":
        for late in SLOW:
            answer(late, DISCOVERED)
        refuse(request, -32601, "there is no handshake")
    elif method == "tools/list":
        LISTS[0] += 1
        counted = [dict(entry, title="list %d" % LISTS[0]) for entry in TOOLS]
        answer(request, {"tools": counted, "ttlMs": 60000, "cacheScope": "private"})
    elif method == "tools/call":
        call(request)
    elif method == "tasks/get":
        get_task(request)
    elif method == "tasks/update":
        UPDATES[request["params"]["taskId"]] = request["params"]["inputResponses"]
        answer(request, {})
    elif method == "tasks/cancel":
        answer(request, {})
    elif method == "subscriptions/listen":
        SUBSCRIPTIONS.append(request["id"])
        wanted = request["params"].get("notifications", {})
        send(
            {
                "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": {SUBSCRIPTION_KEY: request["id"]}, "notifications": wanted},
            }
        )
    elif "id" in request:
        refuse(request, -32601, "Method not found: " + str(method))
