"""Decodes a stream once for every line on its input and says how many nanoseconds that took.

usage: decode.py WIRE FILE
As in `timeit`, the collector of garbage rests.
"""

import gc
import json
import sys
import time

import httpx2

wire, path = sys.argv[1:]
content = open(path, "rb").read()


def response():
    return httpx2.Response(
        200,
        headers={"content-type": "text/event-stream"},
        content=content,
        request=httpx2.Request("POST", "http://127.0.0.1/"),
    )


if wire == "anthropic":
    import anthropic

    kind, client = anthropic.types.RawMessageStreamEvent, anthropic.Anthropic(api_key="none")

    def events():
        return anthropic.Stream(cast_to=kind, response=response(), client=client)

elif wire in ("chat", "responses"):
    import openai
    from openai.types.chat import ChatCompletionChunk
    from openai.types.responses import ResponseStreamEvent

    kind = ChatCompletionChunk if wire == "chat" else ResponseStreamEvent
    client = openai.OpenAI(api_key="none")

    def events():
        return openai.Stream(cast_to=kind, response=response(), client=client)

elif wire == "gemini":
    from google.genai import types
    from google.genai._api_client import HttpResponse

    def events():
        for segment in HttpResponse({}, response()).segments():
            yield types.GenerateContentResponse._from_response(response=segment, kwargs={})

else:
    import ollama

    # What its client does with a response, which it does not let anybody else do.
    def events():
        for line in response().iter_lines():
            part = json.loads(line)
            if error := part.get("error"):
                raise ollama.ResponseError(error)
            yield ollama.ChatResponse(**part)


gc.disable()
for _ in sys.stdin:
    start = time.perf_counter_ns()
    for event in events():
        pass
    print(time.perf_counter_ns() - start, flush=True)
