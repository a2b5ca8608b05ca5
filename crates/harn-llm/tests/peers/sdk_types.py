"""Reads requests and answers with the types of the official SDKs, and writes them again.

stdin   {"requests": [{"wire", "body"}], "answers": [{"wire", "text"}]}
stdout  {"requests": [body], "answers": [{"events", "invalid", "text", "calls"}]}

What an SDK does not know gets lost on the way or becomes {"error": "…"}, so whoever compares
both sides sees it. `invalid` says what in an answer does not fit the SDK's types, which read
more than they describe; `text` and `calls` are what the SDK puts together from the pieces.
"""

import json
import sys
import typing
from typing import Any, Iterable, Union

from pydantic import TypeAdapter

# Pydantic reads what is declared as an iterable when somebody asks for it, and then only once.
# While the SDKs are imported, an iterable is a list.
typing.Iterable = typing.List

import anthropic
import anthropic.types
import httpx2
import ollama
import openai
import openai.types.chat
import openai.types.responses
from anthropic.lib.streaming._messages import accumulate_event
from anthropic.types import message_create_params
from google.genai import types as gemini
from openai.lib.streaming.chat import ChatCompletionStreamState
from openai.types.chat import completion_create_params
from openai.types.responses import response_create_params

typing.Iterable = Iterable

PARAMETERS = {
    "anthropic": TypeAdapter(
        Union[
            message_create_params.MessageCreateParamsStreaming,
            message_create_params.MessageCreateParamsNonStreaming,
        ]
    ),
    "chat": TypeAdapter(
        Union[
            completion_create_params.CompletionCreateParamsStreaming,
            completion_create_params.CompletionCreateParamsNonStreaming,
        ]
    ),
    "responses": TypeAdapter(
        Union[
            response_create_params.ResponseCreateParamsStreaming,
            response_create_params.ResponseCreateParamsNonStreaming,
        ]
    ),
    "ollama": TypeAdapter(ollama._types.ChatRequest),
}

# Google's SDK has no type for a body as a whole.
GEMINI_MEMBERS = {
    "contents": list[gemini.Content],
    "systemInstruction": gemini.Content,
    "tools": list[gemini.Tool],
    "toolConfig": gemini.ToolConfig,
    "safetySettings": list[gemini.SafetySetting],
    "generationConfig": gemini.GenerationConfig,
    "cachedContent": str,
}

CLIENTS = {
    "anthropic": anthropic.Anthropic(api_key="none"),
    "openai": openai.OpenAI(api_key="none"),
}


def through(adapter: TypeAdapter, value: Any) -> Any:
    typed = adapter.validate_python(value)
    return adapter.dump_python(typed, mode="json", by_alias=True, exclude_unset=True, warnings=False)


def request(wire: str, body: dict) -> Any:
    if wire != "gemini":
        return through(PARAMETERS[wire], body)
    return {
        name: through(TypeAdapter(GEMINI_MEMBERS[name]), value)
        for name, value in body.items()
        if name in GEMINI_MEMBERS
    }


def streamed(stream, kind, client, text: str) -> Iterable[Any]:
    """What the SDK's own decoder of streams makes of an answer."""
    response = httpx2.Response(
        200,
        headers={"content-type": "text/event-stream"},
        content=text.encode(),
        request=httpx2.Request("POST", "http://127.0.0.1/"),
    )
    return stream(cast_to=kind, response=response, client=client)


KINDS = {
    "anthropic": anthropic.types.RawMessageStreamEvent,
    "chat": openai.types.chat.ChatCompletionChunk,
    "responses": openai.types.responses.ResponseStreamEvent,
    "gemini": gemini.GenerateContentResponse,
    "ollama": ollama.ChatResponse,
}


def decode(wire: str, text: str) -> list:
    if wire == "anthropic":
        return list(streamed(anthropic.Stream, KINDS[wire], CLIENTS["anthropic"], text))
    if wire in ("chat", "responses"):
        return list(streamed(openai.Stream, KINDS[wire], CLIENTS["openai"], text))
    return [KINDS[wire].model_validate(frame) for frame in frames(wire, text)]


def frames(wire: str, text: str) -> list:
    lines = [line for line in text.splitlines() if line]
    if wire != "ollama":
        lines = [line[len("data:"):].strip() for line in lines if line.startswith("data:")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def put_together(wire: str, events: list) -> tuple:
    """The text and the calls of an answer."""
    if wire == "anthropic":
        message, buffers = None, {}
        for event in events:
            message = accumulate_event(
                event=event, current_snapshot=message, json_bufs=buffers
            )
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = [(block.name, block.input) for block in message.content if block.type == "tool_use"]
        return text, calls
    if wire == "chat":
        state = ChatCompletionStreamState()
        for event in events:
            state.handle_chunk(event)
        message = state.current_completion_snapshot.choices[0].message
        calls = [call.function for call in message.tool_calls or []]
        return message.content or "", [(call.name, json.loads(call.arguments)) for call in calls]
    if wire == "responses":
        response = events[-1].response
        calls = [item for item in response.output if item.type == "function_call"]
        return response.output_text, [(call.name, json.loads(call.arguments)) for call in calls]
    if wire == "gemini":
        parts = [part for event in events for part in event.candidates[0].content.parts or []]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        calls = [part.function_call for part in parts if part.function_call]
        return text, [(call.name, call.args or {}) for call in calls]
    messages = [event.message for event in events]
    text = "".join(message.content or "" for message in messages)
    calls = [call.function for message in messages for call in message.tool_calls or []]
    return text, [(call.name, dict(call.arguments)) for call in calls]


# What a snapshot of a response repeats of the request. Nobody needs it, and servers that copy
# OpenAI's leave it out.
OF_THE_REQUEST = {
    "created_at": 0,
    "model": "",
    "object": "response",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}


def complaint(wire: str, text: str) -> Any:
    adapter = TypeAdapter(KINDS[wire])
    try:
        for frame in frames(wire, text):
            if frame == {"type": "ping"}:  # The SDK drops these before it looks at types.
                continue
            if "response" in frame:
                frame["response"] = {**OF_THE_REQUEST, **frame["response"]}
            adapter.validate_python(frame)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def answer(wire: str, text: str) -> dict:
    events = decode(wire, text)
    said, calls = put_together(wire, events)
    dumped = [
        event.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
        for event in events
    ]
    return {"events": dumped, "invalid": complaint(wire, text), "text": said, "calls": calls}


def attempt(work, *arguments):
    try:
        return work(*arguments)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


task = json.load(sys.stdin)
json.dump(
    {
        "requests": [attempt(request, one["wire"], one["body"]) for one in task["requests"]],
        "answers": [attempt(answer, one["wire"], one["text"]) for one in task["answers"]],
    },
    sys.stdout,
)
