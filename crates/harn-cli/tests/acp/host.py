"""A host on the Python SDK: lends an agent what it can do, and tells what it was asked for.

    host.py SCRIPT REPORT bare
    host.py SCRIPT REPORT ws URL

`bare` is `harn run --bridge` at the standard input and output. SCRIPT is a JSON list of steps
`{"do": NAME, "calls": {CALL: [ACTION, ...]}, ...}`; the calls are what the host lends from then
on. REPORT gets one line of JSON for each step, with what the host was asked and told meanwhile.
What the library itself complains about goes to the standard error, which must stay empty.
"""

import asyncio
import json
import logging
import os
import signal
import sys

import acp
from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, text_block
from acp.connection import StreamDirection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    Implementation,
    RequestPermissionResponse,
)

LIMIT = 64 * 1024 * 1024
WITHIN = 60
WITHDRAWAL = "$/cancel_request"

# The library has no route for what withdraws a request, and says so; all its other complaints are
# faults.
logging.basicConfig(level=logging.WARNING)
logging.getLogger().handlers[0].addFilter(lambda record: WITHDRAWAL not in record.getMessage())


class Wire:
    """Writes down every message, and sees which calls are withdrawn."""

    def __init__(self, file):
        self.said, self.heard = open(file, "w"), open(file + ".in", "w")
        self.names = {}
        self.withdrawn = []
        self.changed = asyncio.Event()

    def __call__(self, event):
        message = event.message
        is_incoming = event.direction == StreamDirection.INCOMING
        print(json.dumps(message), file=self.said if is_incoming else self.heard, flush=True)
        if not is_incoming:
            return
        if "id" in message and "method" in message:
            params = message.get("params") or {}
            self.names[message["id"]] = params.get("name") or message["method"]
        if message.get("method") == WITHDRAWAL:
            self.withdrawn.append(self.names[message["params"]["requestId"]])
            self.changed.set()


class Host(acp.Client):
    """What is lent, and what it was asked for."""

    def __init__(self, wire):
        self.wire = wire
        self.connection = None
        self.session = None
        self.calls = {}
        self.permit = "allow_once"
        self.people = None
        self.forget()

    def forget(self):
        self.updates, self.asked, self.told, self.answers = [], [], [], []
        self.changed = asyncio.Event()

    async def until(self, holds):
        """Waits until something is true of what was asked and told."""
        while not holds():
            self.changed.clear()
            await self.changed.wait()

    async def session_update(self, session_id, update, **meta):
        self.updates.append(update.model_dump(by_alias=True, exclude_none=True, mode="json"))
        self.changed.set()

    async def request_permission(self, session_id, tool_call, options, **meta):
        self.asked.append({"method": "session/request_permission", "name": tool_call.title})
        chosen = [option.option_id for option in options if option.kind == self.permit]
        if not chosen:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        return RequestPermissionResponse(outcome=AllowedOutcome(option_id=chosen[0], outcome="selected"))

    # The library has taken the underscore away from the names.
    async def ext_method(self, method, params):
        asked = {"method": f"_{method}"} | {key: params[key] for key in ("name", "args") if key in params}
        self.asked.append(asked)
        self.changed.set()
        if method == "harn/host/capabilities":
            return lent(self.calls)
        if method == "harn/host/tools/list":
            return {"tools": [{"name": name} for name in self.calls if "." not in name]}
        if method not in ("harn/host/call", "harn/host/builtin") or params["name"] not in self.calls:
            raise RequestError.method_not_found(method)
        return await self.perform(self.calls[params["name"]])

    async def perform(self, actions):
        for action in list(actions):
            (kind, value) = next(iter(action.items()))
            if kind == "result":
                return {"result": value}
            if kind == "error":
                raise RequestError(value["code"], value["message"])
            if kind == "once":
                # What is said the first time that the call is made.
                actions.remove(action)
                self.answers.append(await self.input(value))
            elif kind == "meet":
                await self.until(lambda: any(asked.get("name") == value for asked in self.asked))
            elif kind == "withdrawn":
                while value not in self.wire.withdrawn:
                    self.wire.changed.clear()
                    await self.wire.changed.wait()
            elif kind == "cancel":
                await self.connection.cancel(session_id=self.session)
            elif kind == "interrupt":
                os.kill(int(os.environ["HARN_TEST_PROGRAM"]), signal.SIGINT)
            elif kind == "vanish":
                os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.Event().wait()  # It never answers.

    async def input(self, value):
        try:
            return await self.connection.ext_method("harn/session/input", {"sessionId": self.session} | value)
        except RequestError as error:
            return {"error": {"code": error.code}}

    async def ext_notification(self, method, params):
        self.told.append({"method": f"_{method}", "kind": params.get("kind")})
        if method == "harn/hitl/requested":
            wanted = {"requestId": params["requestId"], "sessionId": self.session} | self.people
            self.answers.append(await self.connection.ext_method("harn/hitl/respond", wanted))
        self.changed.set()


def lent(calls):
    """The operations among the calls: what has a dot in its name."""
    operations = {}
    for name in calls:
        if "." in name:
            capability, operation = name.split(".")
            operations.setdefault(capability, []).append(operation)
    return operations


class Pipe(asyncio.StreamReader):
    """The standard input; says when everything in it was read."""

    def __init__(self):
        super().__init__(limit=LIMIT)
        self.ended = asyncio.Event()

    async def readuntil(self, separator=b"\n"):
        try:
            return await super().readuntil(separator)
        except asyncio.IncompleteReadError:
            self.ended.set()
            raise


async def do(host, step, ended):
    # A program without sessions has begun by the time that it is served.
    if step["do"] != "serve":
        host.forget()
    host.calls = step.get("calls", host.calls)
    host.permit = step.get("permit", host.permit)
    host.people = step.get("people", host.people)
    outcome = {}
    match step["do"]:
        case "initialize":
            able = ClientCapabilities(field_meta={"harn": step["harn"]})
            info = Implementation(name="harn-test-python-host", version="0")
            outcome = await host.connection.initialize(
                protocol_version=PROTOCOL_VERSION, client_capabilities=able, client_info=info
            )
        case "new":
            outcome = await host.connection.new_session(cwd=step["cwd"], mcp_servers=[])
            host.session = outcome.session_id
        case "load":
            host.session = step["session"]
            outcome = await host.connection.load_session(cwd=step["cwd"], session_id=host.session, mcp_servers=[])
        case "close":
            outcome = await host.connection.close_session(session_id=host.session)
        case "prompt":
            outcome = await host.connection.prompt(session_id=host.session, prompt=[text_block(step["text"])])
        case "load_until":
            # What was said meanwhile is replayed, or comes when it happens.
            host.session = step["session"]
            outcome = await host.connection.load_session(cwd=step["cwd"], session_id=host.session, mcp_servers=[])
            wanted = step["text"]
            await host.until(lambda: wanted in text(host.updates))
        case "serve":
            await ended()
    return (outcome.model_dump(by_alias=True, exclude_none=True, mode="json") if outcome else {}) | {
        "text": text(host.updates),
        "updates": host.updates,
        "asked": host.asked,
        "told": host.told,
        "answers": host.answers,
        "withdrawn": host.wire.withdrawn,
    }


def text(updates):
    chunks = [update for update in updates if update["sessionUpdate"] == "agent_message_chunk"]
    return "".join(chunk["content"]["text"] for chunk in chunks)


async def main(script, report, transport, *rest):
    with open(script) as file:
        steps = json.load(file)
    wire = Wire(os.environ["HARN_TEST_WIRE"])
    host = Host(wire)
    pipe = Pipe()
    if transport == "bare":
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(pipe), sys.stdin)
        flow = await loop.connect_write_pipe(lambda: asyncio.streams.FlowControlMixin(loop=loop), sys.stdout)
        streams = [asyncio.StreamWriter(*flow, pipe, loop), pipe]
    else:
        from acp.ws.client import create_websocket_stream

        streams = [await create_websocket_stream(rest[0])]
    host.connection = connect_to_agent(host, *streams, use_unstable_protocol=True, observers=[wire])
    with open(report, "w") as file:
        for step in steps:
            outcome = await asyncio.wait_for(do(host, step, pipe.ended.wait), WITHIN)
            print(json.dumps(outcome), file=file, flush=True)
    await host.connection.close()


asyncio.run(main(*sys.argv[1:]))
