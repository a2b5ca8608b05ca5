# Names of some items of a document of 5 MB.
import sys
import json

from timing import timed

folder = sys.argv[1]
text = open(folder + "/data.json", encoding="utf-8").read()
data = json.loads(text)


def work():
    return len([item["name"] for item in data["items"] if item["active"] is True and item["score"] > 1000])


timed(work)
