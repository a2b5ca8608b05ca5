# The SHA-256 digest of 100 MB.
import sys
import time
import hashlib

folder, count, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
octets = open(folder + "/large.txt", "rb").read()


def work():
    return hashlib.sha256(octets).hexdigest()


started = time.perf_counter()
for _ in range(rounds):
    answer = work()
took = time.perf_counter() - started
print(answer)
print(took * 1000 / rounds)
