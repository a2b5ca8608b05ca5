"""Answers what the libraries of Python say: one JSON document in, one out."""

import csv
import io
import json
import sys


def read_csv(text):
    rows = csv.reader(io.StringIO(text, newline=""))
    return [row for row in rows if row]


def write_csv(rows):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def read_toml(text):
    import tomllib

    return tomllib.loads(text)


def read_yaml(text):
    import yaml

    return yaml.load(text, Loader=yaml.BaseLoader)


ANSWERS = {
    "read_csv": read_csv,
    "write_csv": write_csv,
    "read_json": json.loads,
    "write_json": lambda value: json.dumps(value, ensure_ascii=False, indent=1),
    "write_json_in_ascii": json.dumps,
    "read_toml": read_toml,
    "read_yaml": read_yaml,
}

answer = ANSWERS[sys.argv[1]]
sys.stdin.reconfigure(encoding="utf-8")
sys.stdout.reconfigure(encoding="utf-8")
json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout)
