# A document of 5 MB, parsed.
import sys
import json

from timing import timed

folder = sys.argv[1]
text = open(folder + "/data.json", encoding="utf-8").read()


def work():
    return len(json.loads(text)["items"])


timed(work)
