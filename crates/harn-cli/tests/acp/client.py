"""An editor on the Python SDK: does the steps of a file and tells what came of each.

    client.py STEPS stdio COMMAND ARGUMENT...
    client.py STEPS net WIRES

STEPS is a JSON list of `{"do": NAME, ...}`. One line of JSON is printed for each step, or
`{"error": {"code", "message", "data"}}` if the agent refused it. What the library itself complains
about goes to the standard error, which must stay empty.

On the network the steps say where to connect to, and every message of a connection is written to
a file of its own in the folder WIRES: what the agent said, and with the ending `.in` what it was
told.
"""

import asyncio
import json
import logging
import os
import signal
import sys
import time

import acp
from acp import PROTOCOL_VERSION, RequestError, connect_to_agent, spawn_agent_process, text_block
from acp.connection import StreamDirection
from acp.schema import (
    AllowedOutcome,
    ClientCapabilities,
    CreateTerminalResponse,
    DeniedOutcome,
    FileSystemCapabilities,
    Implementation,
    ReadTextFileResponse,
    RequestPermissionResponse,
    TerminalOutputResponse,
    WaitForTerminalExitResponse,
    WriteTextFileResponse,
)

if sys.argv[2] == "net":
    # They take a while to load.
    from acp.http import create_http_stream
    from acp.http.client import AcpHttpStatusError
    from acp.ws.client import create_websocket_stream
    from websockets.exceptions import InvalidStatus

LIMIT = 64 * 1024 * 1024
WITHDRAWAL = "$/cancel_request"

# The library has no route for what withdraws a request, and says so; all its other complaints are
# faults.
logging.basicConfig(level=logging.WARNING)
logging.getLogger().handlers[0].addFilter(lambda record: WITHDRAWAL not in record.getMessage())


class Terminal:
    """A command that the editor runs for the agent."""

    def __init__(self, process):
        self.process = process
        self.output = ""
        self.reading = asyncio.ensure_future(self.read())

    async def read(self):
        while piece := await self.process.stdout.read(65536):
            self.output += piece.decode()


class Editor(acp.Client):
    """The client's side: answers what the agent asks and remembers what it was told."""

    def __init__(self):
        self.updates = []
        self.asked = []
        self.extensions = []
        self.answer = "allow_once"
        self.terminals = {}
        self.released = []
        self.let_go = asyncio.Event()
        self.seen = asyncio.Event()
        self.until = None

    def forget(self):
        self.updates, self.asked, self.extensions = [], [], []
        self.seen.clear()

    async def session_update(self, session_id, update, **meta):
        self.updates.append(update.model_dump(by_alias=True, exclude_none=True, mode="json"))
        if self.until and self.until(self.updates[-1]):
            self.seen.set()

    async def request_permission(self, session_id, tool_call, options, **meta):
        kinds = {option.kind: option.option_id for option in options}
        self.asked.append(
            {
                "method": "session/request_permission",
                "toolCallId": tool_call.tool_call_id,
                "kinds": sorted(kinds),
                "approval": sorted((meta.get("harn") or {}).get("approval") or {}),
            }
        )
        if self.answer not in kinds:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        chosen = AllowedOutcome(option_id=kinds[self.answer], outcome="selected")
        return RequestPermissionResponse(outcome=chosen)

    async def read_text_file(self, session_id, path, line=None, limit=None, **meta):
        self.asked.append({"method": "fs/read_text_file", "path": path})
        with open(path) as file:
            return ReadTextFileResponse(content=file.read())

    async def write_text_file(self, session_id, path, content, **meta):
        self.asked.append({"method": "fs/write_text_file", "path": path})
        with open(path, "w") as file:
            file.write(content)
        return WriteTextFileResponse()

    async def create_terminal(self, session_id, command, args=None, env=None, cwd=None, output_byte_limit=None, **meta):
        self.asked.append({"method": "terminal/create", "command": command, "args": args})
        process = await asyncio.create_subprocess_exec(
            command,
            *(args or []),
            cwd=cwd,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        name = f"terminal-{len(self.terminals)}"
        self.terminals[name] = Terminal(process)
        return CreateTerminalResponse(terminal_id=name)

    async def terminal_output(self, session_id, terminal_id, **meta):
        terminal = self.terminals[terminal_id]
        code = terminal.process.returncode
        status = None if code is None else {"exitCode": max(code, 0)}
        return TerminalOutputResponse(output=terminal.output, truncated=False, exit_status=status)

    async def wait_for_terminal_exit(self, session_id, terminal_id, **meta):
        terminal = self.terminals[terminal_id]
        await terminal.reading
        code = await terminal.process.wait()
        return WaitForTerminalExitResponse(exit_code=max(code, 0))

    async def kill_terminal(self, session_id, terminal_id, **meta):
        self.asked.append({"method": "terminal/kill"})
        process = self.terminals[terminal_id].process
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)

    async def release_terminal(self, session_id, terminal_id, **meta):
        self.released.append(terminal_id)
        self.let_go.set()
        process = self.terminals[terminal_id].process
        if process.returncode is None:
            os.killpg(process.pid, signal.SIGKILL)

    async def ext_notification(self, method, params):
        self.extensions.append({"method": f"_{method}", "params": params})

    async def ext_method(self, method, params):
        self.asked.append({"method": f"_{method}", "params": params})
        return {}


class Talk:
    """One connection, and the session that is spoken of."""

    def __init__(self, editor, connection=None, process=None, wires=None):
        self.connection = connection
        self.editor = editor
        self.process = process
        self.wires = wires
        self.session = None

    async def do(self, step):
        return await getattr(self, "do_" + step["do"])(step)

    async def do_connect(self, step):
        """Leaves, and comes again."""
        await self.leave()
        headers = {"Authorization": f"Bearer {step['token']}"} if "token" in step else {}
        if step["transport"] == "http":
            stream = create_http_stream(step["url"], headers=headers)
        else:
            stream = await create_websocket_stream(step["url"], headers=headers)
        observers = [self.recorder()]
        self.connection = connect_to_agent(self.editor, stream, use_unstable_protocol=True, observers=observers)
        return {}

    def recorder(self):
        wire = os.path.join(self.wires, f"net-{os.getpid()}-{time.monotonic_ns()}")
        said, heard = open(wire, "w"), open(wire + ".in", "w")

        def record(event):
            is_incoming = event.direction == StreamDirection.INCOMING
            print(json.dumps(event.message), file=said if is_incoming else heard, flush=True)

        return record

    async def do_knock(self, step):
        """Tries whether it would be let in."""
        try:
            await self.do_connect(step)
            await self.do_initialize(step)
        except AcpHttpStatusError as error:
            return {"status": error.status_code}
        except InvalidStatus as error:
            return {"status": error.response.status_code}
        return {"status": 200}

    async def leave(self):
        if self.connection:
            await self.connection.close()
        self.connection = None

    async def do_initialize(self, step):
        files = step.get("fs", False)
        answer = await self.connection.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=files, write_text_file=files),
                terminal=step.get("terminal", False),
            ),
            client_info=Implementation(name="harn-test-python", version="0"),
        )
        return told(answer)

    async def do_new(self, step):
        answer = await self.connection.new_session(cwd=step["cwd"], mcp_servers=[])
        self.session = answer.session_id
        return told(answer)

    async def do_use(self, step):
        self.session = step["session"]
        return {}

    async def do_answer(self, step):
        self.editor.answer = step["with"]
        return {}

    async def do_prompt(self, step):
        self.editor.forget()
        prompt = [text_block(step["text"])]
        turn = asyncio.ensure_future(self.connection.prompt(session_id=self.session, prompt=prompt))
        if "cancel_at" in step:
            await self.reaches(step["cancel_at"], turn)
            await self.connection.cancel(session_id=self.session)
        answer = told(await turn)
        return answer | self.seen()

    async def do_kill_at(self, step):
        """Kills the agent in the middle of a turn, when there is a line in a pipe."""
        self.editor.forget()
        prompt = [text_block(step["text"])]
        turn = asyncio.ensure_future(self.connection.prompt(session_id=self.session, prompt=prompt))
        await asyncio.to_thread(lambda: open(step["at"]).readline())
        self.process.kill()
        turn.cancel()
        await asyncio.gather(turn, return_exceptions=True)
        return {}

    async def reaches(self, wanted, turn):
        def fits(update):
            return all(update.get(key) == value for key, value in wanted.items())

        self.editor.until = fits
        if any(map(fits, self.editor.updates)):
            self.editor.seen.set()
        waiting = asyncio.ensure_future(self.editor.seen.wait())
        await asyncio.wait([waiting, turn], return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def do_load(self, step):
        self.editor.forget()
        answer = await self.connection.load_session(
            cwd=step["cwd"], session_id=self.session, mcp_servers=[], **step.get("meta", {})
        )
        await asyncio.sleep(0)
        return told(answer) | self.seen()

    async def do_resume(self, step):
        return told(await self.connection.resume_session(cwd=step["cwd"], session_id=self.session, mcp_servers=[]))

    async def do_fork(self, step):
        answer = await self.connection.fork_session(
            cwd=step["cwd"], session_id=self.session, mcp_servers=[], **step.get("meta", {})
        )
        self.session = answer.session_id
        return told(answer)

    async def do_list(self, step):
        return told(await self.connection.list_sessions(cwd=step.get("cwd")))

    async def do_mode(self, step):
        self.editor.forget()
        answer = await self.connection.set_session_mode(session_id=self.session, mode_id=step["mode"])
        await asyncio.sleep(0)
        return told(answer) | self.seen()

    async def do_config(self, step):
        return told(
            await self.connection.set_config_option(
                session_id=self.session, config_id=step["option"], value=step["value"]
            )
        )

    async def do_released(self, step):
        """Waits for terminals that may be let go after the turn."""
        while len(self.editor.released) < step["count"]:
            self.editor.let_go.clear()
            await self.editor.let_go.wait()
        return {"released": sorted(self.editor.released), "asked": self.editor.asked}

    async def do_close(self, step):
        return told(await self.connection.close_session(session_id=self.session))

    def seen(self):
        editor = self.editor
        chunks = [update for update in editor.updates if update["sessionUpdate"] == "agent_message_chunk"]
        return {
            "text": "".join(chunk["content"]["text"] for chunk in chunks),
            "updates": editor.updates,
            "asked": editor.asked,
            "extensions": editor.extensions,
            "terminals": {"made": sorted(editor.terminals), "released": sorted(editor.released)},
        }


def told(answer):
    return answer.model_dump(by_alias=True, exclude_none=True, mode="json") if answer else {}


async def steps(talk, list_of_steps):
    for step in list_of_steps:
        try:
            outcome = await asyncio.wait_for(talk.do(step), 60)
        except RequestError as error:
            outcome = {"error": {"code": error.code, "message": str(error), "data": error.data}}
        print(json.dumps(outcome), flush=True)


async def main(file, transport, *rest):
    with open(file) as steps_file:
        list_of_steps = json.load(steps_file)
    editor = Editor()
    if transport == "stdio":
        kwargs = {"limit": LIMIT, "stderr": None}
        spawned = spawn_agent_process(
            editor, *rest, env=dict(os.environ), transport_kwargs=kwargs, use_unstable_protocol=True
        )
        async with spawned as (connection, process):
            await steps(Talk(editor, connection, process), list_of_steps)
        return
    talk = Talk(editor, wires=rest[0])
    await steps(talk, list_of_steps)
    await talk.leave()


asyncio.run(main(*sys.argv[1:]))
