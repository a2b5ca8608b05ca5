# Objects compared with a schema.
import sys
import json
import re

from timing import timed

folder, count = sys.argv[1], int(sys.argv[2])
text = open(folder + "/data.json", encoding="utf-8").read()
items = json.loads(text)["items"][:count]
email = re.compile("^[a-z0-9]+@[a-z.]+$")
schema = {
    "type": dict,
    "required": ["id", "name", "email", "active", "score", "tags", "address"],
    "additional": False,
    "properties": {
        "id": {"type": int, "min": 0},
        "name": {"type": str, "min_length": 1, "max_length": 100},
        "email": {"type": str, "pattern": email},
        "active": {"type": bool},
        "score": {"type": float},
        "tags": {"type": list, "max_items": 10, "items": {"type": str}},
        "address": {"type": dict, "required": ["city", "zip"], "properties": {"city": {"type": str}, "zip": {"type": str}}},
    },
}


def is_valid(value, schema):
    if type(value) is not schema["type"]:
        return False
    if "min" in schema and value < schema["min"]:
        return False
    if "min_length" in schema and len(value) < schema["min_length"]:
        return False
    if "max_length" in schema and len(value) > schema["max_length"]:
        return False
    if "pattern" in schema and not schema["pattern"].search(value):
        return False
    if "max_items" in schema and len(value) > schema["max_items"]:
        return False
    if "items" in schema and not all(is_valid(item, schema["items"]) for item in value):
        return False
    if "required" in schema and not all(key in value for key in schema["required"]):
        return False
    properties = schema.get("properties")
    if properties is None:
        return True
    for key, item in value.items():
        if key in properties:
            if not is_valid(item, properties[key]):
                return False
        elif not schema.get("additional", True):
            return False
    return True


def work():
    return sum(1 for item in items if is_valid(item, schema))


timed(work)
