# Small files, read one after the other.
import sys
import time

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work():
    total = 0
    for n in range(count):
        with open(f"{folder}/small/{n}.txt", encoding="utf-8") as file:
            total += len(file.read())
    return total


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
