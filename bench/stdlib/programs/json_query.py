# Names of some items of a document of 5 MB.
import sys
import time
import json

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
text = open(folder + "/data.json", encoding="utf-8").read()
data = json.loads(text)


def work():
    return len([item["name"] for item in data["items"] if item["active"] is True and item["score"] > 1000])


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
