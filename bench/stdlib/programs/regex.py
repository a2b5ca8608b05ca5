# Addresses and dates in a text of 10 MB.
import sys
import time
import re

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
text = open(folder + "/text.txt", encoding="utf-8").read()
pattern = re.compile("[a-z0-9]+@[a-z]+[.]org|[0-9]{4}-[0-9]{2}-[0-9]{2}")


def work():
    return len(pattern.findall(text))


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
