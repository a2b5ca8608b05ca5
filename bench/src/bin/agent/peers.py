"""Does a piece of work as often as each line on its input says, and says how many nanoseconds
that took; for `agno_memory`, how many bytes the agents keep.

usage: peers.py WORK [FILE]
As in `timeit`, the collector of garbage rests while the time is taken.

Every peer is used the way its own documents do when speed matters:

- Pydantic-AI: one `Agent` for all runs, a `FunctionModel` that answers at once, `await run` in
  one event loop (`run_sync` would make a loop for each run), no instrumentation.
- LangGraph: one compiled graph for all runs, called synchronously. `langgraph_prebuilt` is
  `create_react_agent` with a fake chat model; `langgraph_nodes` is the graph that the tutorial
  "an agent from scratch" writes by hand, whose node for the model is a plain function. With a
  saver, every run is a thread of its own and every step is durable before the next begins.
- Agno: model and function exist already, as in its own benchmark; only `Agent(...)` is timed.
"""

import asyncio
import gc
import os
import sys
import time

# Nobody is told about what runs here.
os.environ.update(LANGSMITH_TRACING="false", AGNO_TELEMETRY="false", AGNO_MONITOR="false")

work, *rest = sys.argv[1:]
ASKED = "add 2 and 3"
ANSWER = "The sum is 5."


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


def pydantic_ai():
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.messages import ToolReturnPart
    from pydantic_ai.models.function import FunctionModel

    def model(messages, info):
        if any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
            return ModelResponse(parts=[TextPart(ANSWER)])
        return ModelResponse(parts=[ToolCallPart("add", {"a": 2, "b": 3}, "call_1")])

    agent = Agent(FunctionModel(model), tools=[add])

    async def run(count):
        start = time.perf_counter_ns()
        for _ in range(count):
            result = await agent.run(ASKED)
        took = time.perf_counter_ns() - start
        assert result.output == ANSWER
        return took

    loop = asyncio.new_event_loop()
    return lambda count: loop.run_until_complete(run(count))


def langgraph(has_nodes, file=None):
    import warnings

    warnings.simplefilter("ignore")
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.tools import tool
    from langgraph.prebuilt import ToolNode, create_react_agent, tools_condition

    def answer(messages):
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(ANSWER)
        call = {"name": "add", "args": {"a": 2, "b": 3}, "id": "call_1", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])

    saver = None
    if file:
        import sqlite3
        from langgraph.checkpoint.sqlite import SqliteSaver

        # What we ask of our own log: a write-ahead log, and every commit on the disk.
        connection = sqlite3.connect(file, check_same_thread=False)
        connection.execute("PRAGMA synchronous=FULL")
        saver = SqliteSaver(connection)
        saver.setup()

    tools = [tool(add)]
    if has_nodes:
        from langgraph.graph import START, MessagesState, StateGraph

        graph = StateGraph(MessagesState)
        graph.add_node("model", lambda state: {"messages": [answer(state["messages"])]})
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "model")
        graph.add_conditional_edges("model", tools_condition)
        graph.add_edge("tools", "model")
        graph = graph.compile(checkpointer=saver)
    else:
        from langchain_core.language_models import BaseChatModel
        from langchain_core.outputs import ChatGeneration, ChatResult

        class Fake(BaseChatModel):
            @property
            def _llm_type(self):
                return "fake"

            def bind_tools(self, tools, **options):
                return self

            def _generate(self, messages, stop=None, run_manager=None, **options):
                return ChatResult(generations=[ChatGeneration(message=answer(messages))])

        graph = create_react_agent(Fake(), tools, checkpointer=saver)

    question = {"messages": [{"role": "user", "content": ASKED}]}
    names = iter(range(sys.maxsize))

    def run(count):
        start = time.perf_counter_ns()
        for _ in range(count):
            if saver:
                config = {"configurable": {"thread_id": str(next(names))}}
                result = graph.invoke(question, config, durability="sync")
            else:
                result = graph.invoke(question)
        took = time.perf_counter_ns() - start
        assert result["messages"][-1].content == ANSWER
        return took

    return run


def agno_agents():
    from agno.agent import Agent
    from agno.models.base import Model

    # A model that is never asked need not answer.
    class Fake(Model):
        pass

    Fake.__abstractmethods__ = frozenset()
    model = Fake(id="fake")
    return lambda: Agent(model=model, tools=[add], telemetry=False)


def agno():
    make = agno_agents()

    def run(count):
        start = time.perf_counter_ns()
        for _ in range(count):
            make()
        return time.perf_counter_ns() - start

    return run


def agno_memory():
    import tracemalloc

    make = agno_agents()
    make()

    def run(count):
        tracemalloc.start()
        agents = [None] * count
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            agents[number] = make()
        kept = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        return kept

    return run


run = {
    "pydantic_ai": pydantic_ai,
    "langgraph_prebuilt": lambda: langgraph(False),
    "langgraph_nodes": lambda: langgraph(True),
    "langgraph_sqlite": lambda: langgraph(True, *rest),
    "agno": agno,
    "agno_memory": agno_memory,
}[work]()

gc.disable()
for line in sys.stdin:
    print(run(int(line)), flush=True)
    gc.collect()
