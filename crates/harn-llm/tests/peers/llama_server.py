"""Serves a model with llama.cpp.

usage: llama_server.py MODEL.gguf PORT
"""

import os
import signal
import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"scripted"}
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.n_ctx = 8192
params.ctx_shift = True  # an answer may be longer than the context
params.n_parallel = 2
params.warmup = False
params.use_jinja = True
params.cpuparams.n_threads = 1
server = xllamacpp.Server(params)
# In one piece and on a line of its own: the server logs to the same pipe.
os.write(1, f"\nlistening on {server.listening_address}\n".encode())
signal.pause()
