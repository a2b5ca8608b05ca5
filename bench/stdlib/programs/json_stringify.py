# A document of 5 MB, written.
import sys
import json

from timing import timed

folder = sys.argv[1]
text = open(folder + "/data.json", encoding="utf-8").read()
data = json.loads(text)


def work():
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


timed(work)
