# The SHA-256 digest of 100 MB.
import sys
import hashlib

from timing import timed

folder = sys.argv[1]
octets = open(folder + "/large.txt", "rb").read()


def work():
    return hashlib.sha256(octets).hexdigest()


timed(work)
