# Half of the files in many folders, found by a pattern.
import sys
import time
import glob

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])


def work():
    return len(sorted(glob.glob(folder + "/tree/**/*.txt", recursive=True, include_hidden=True)))


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
