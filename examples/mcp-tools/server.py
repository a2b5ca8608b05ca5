"""A library as a server of the Model Context Protocol, over standard input and output.

It needs Python and nothing else, so that the example runs everywhere; a real server would use one
of the SDKs.
"""

import json
import sys

BOOKS = {
    "Frankenstein": {"shelf": "B4", "copies": 2},
    "Middlemarch": {"shelf": "C1", "copies": 0},
}

TOOLS = [
    {
        "name": "find_book",
        "description": "Tells on which shelf a book is and how many copies are there",
        "inputSchema": {
            "type": "object",
            "properties": {"title": {"type": "string"}},
            "required": ["title"],
        },
        "annotations": {"readOnlyHint": True},
    }
]


def find_book(title):
    book = BOOKS.get(title)
    if book is None:
        return f"There is no book called {title}.", True
    return f"{title}: shelf {book['shelf']}, {book['copies']} copies", False


def answer(method, params):
    """What a request is answered with; None if nobody knows the method."""
    if method == "initialize":
        return {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "library", "version": "1.0.0"},
        }
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params.get("name") == "find_book":
        text, is_error = find_book(params.get("arguments", {}).get("title", ""))
        return {"content": [{"type": "text", "text": text}], "isError": is_error}
    return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request["method"], request.get("params", {}))
    response = {"jsonrpc": "2.0", "id": request["id"]}
    if result is None:
        response["error"] = {"code": -32601, "message": "unknown method"}
    else:
        response["result"] = result
    print(json.dumps(response), flush=True)
