"""Runs an agent and writes down what it says: record.py WIRES STDERR COMMAND ARGUMENT...

A file of our own in the folder WIRES gets every byte of its standard output, one with the ending
`.in` those of its input, and STDERR its standard error. The agent is killed, not asked to end, if
this process is killed.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading

PR_SET_PDEATHSIG = 1


def dies_with_us():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


wires, errors, *command = sys.argv[1:]
wire = os.path.join(wires, f"stdio-{os.getpid()}")
said, heard, errors = open(wire, "ab", 0), open(wire + ".in", "ab", 0), open(errors, "ab")
agent = subprocess.Popen(
    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, preexec_fn=dies_with_us
)

def pass_on():
    while piece := os.read(0, 65536):
        heard.write(piece)
        agent.stdin.write(piece)
        agent.stdin.flush()
    agent.stdin.close()

threading.Thread(target=pass_on, daemon=True).start()
while piece := agent.stdout.read1(65536):
    said.write(piece)
    os.write(1, piece)
os._exit(agent.wait())
