"""An agent on the Python SDK that says one thing to every prompt."""

import asyncio
import uuid

from acp import Agent, InitializeResponse, NewSessionResponse, PromptResponse, run_agent, text_block, update_agent_message


class OneThing(Agent):
    def on_connect(self, conn):
        self.conn = conn

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **kwargs):
        return InitializeResponse(protocol_version=protocol_version)

    async def new_session(self, cwd, mcp_servers=None, **kwargs):
        return NewSessionResponse(session_id=uuid.uuid4().hex)

    async def prompt(self, prompt, session_id, **kwargs):
        await self.conn.session_update(session_id=session_id, update=update_agent_message(text_block("Hello.")))
        return PromptResponse(stop_reason="end_turn")


asyncio.run(run_agent(OneThing()))
