# Requests to a server on this machine, 64 of them at once.
import sys
import http.client
import threading
from concurrent.futures import ThreadPoolExecutor

from timing import timed

folder, count = sys.argv[1], int(sys.argv[2])
host = open(folder + "/url.txt").read().removeprefix("http://")
local = threading.local()


def get(n):
    if not hasattr(local, "connection"):
        local.connection = http.client.HTTPConnection(host)
    local.connection.request("GET", f"/{n}")
    return len(local.connection.getresponse().read())


def work():
    with ThreadPoolExecutor(64) as pool:
        return sum(pool.map(get, range(count)))


timed(work)
