# A document of 5 MB, parsed.
import sys
import time
import json

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
text = open(folder + "/data.json", encoding="utf-8").read()


def work():
    return len(json.loads(text)["items"])


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
