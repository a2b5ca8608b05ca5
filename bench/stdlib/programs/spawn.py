# Processes, one after the other.
import sys
import time
import subprocess

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work():
    good = 0
    for n in range(count):
        end = subprocess.run(["echo", str(n)], capture_output=True, text=True)
        good += end.stdout == f"{n}\n"
    return good


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
