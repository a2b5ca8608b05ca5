"""Octets that are compressed and files that are packed, by each for the other."""

import base64
import gzip
import io
import json
import random
import sys
import tarfile
import zipfile

rng = random.Random(4)


def octets():
    kind = rng.randrange(4)
    if kind == 0:
        return b""
    if kind == 1:
        return rng.randbytes(rng.randrange(3000))
    words = [rng.randbytes(rng.randrange(1, 8)) for _ in range(10)]
    return b"".join(rng.choice(words) for _ in range(rng.randrange(3000)))


def files():
    paths = {"".join(rng.choice("ab/é ") for _ in range(rng.randrange(1, 150))).strip("/ ").replace("//", "/") for _ in range(rng.randrange(4))}
    return [(path, octets(), rng.randrange(0o1000)) for path in sorted(paths) if path and "//" not in path]


def tar_of(listed):
    out = io.BytesIO()
    form = rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for path, content, mode in listed:
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def zip_of(listed):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        for path, content, _ in listed:
            archive.writestr(path, content)
    return out.getvalue()


def plain(data):
    return base64.b64encode(data).decode()


def make():
    cases = []
    for _ in range(60):
        data, listed = octets(), files()
        cases.append({
            "data": plain(data), "gzip": plain(gzip.compress(data, rng.randrange(10))), "level": rng.randrange(10),
            "files": [{"path": path, "content": plain(content), "mode": mode} for path, content, mode in listed],
            "tar": plain(tar_of(listed)), "zip": plain(zip_of(listed)),
        })
    print(json.dumps(cases))


def differences(line):
    one = json.loads(line)
    data = lambda key: base64.b64decode(one[key])
    if gzip.decompress(data("gzip")) != data("data"):
        yield "gzip"
    files = [(file["path"], base64.b64decode(file["content"]), file["mode"]) for file in one["files"]]
    with tarfile.open(fileobj=io.BytesIO(data("tar"))) as archive:
        if [(entry.name, archive.extractfile(entry).read(), entry.mode) for entry in archive] != files:
            yield "tar"
    with zipfile.ZipFile(io.BytesIO(data("zip"))) as archive:
        if archive.testzip() or [(path, archive.read(path)) for path in archive.namelist()] != [file[:2] for file in files]:
            yield "zip"


def read():
    lines = sys.stdin.read().splitlines()
    assert len(lines) == 60, lines[:3]
    for line in lines:
        for part in differences(line):
            print(part, line[:500])
    print("done")


{"make": make, "read": read}[sys.argv[1]]()
