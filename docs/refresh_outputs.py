#!/usr/bin/env python3
"""Runs the commands that the documentation shows and puts what they print behind them.

A fenced block of language `console` holds commands, each on a line that begins with `$ `, and below each what it
prints on both streams. With --check nothing is written: the exit status is 1, and a difference is shown, where a
page no longer tells the truth. Commands run in bash in the root of the tree, with `tenon` taken from the build
folder; it sees neither ptxas nor GPUs, so that every machine prints the same.
"""
import argparse
import difflib
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGES = ["README.md"] + sorted(
    os.path.relpath(os.path.join(folder, name), ROOT)
    for folder, _, names in os.walk(os.path.join(ROOT, "docs"))
    for name in names
    if name.endswith(".md")
)
SECONDS_PER_COMMAND = 120


def run(command, build):
    environment = {"PATH": "/usr/bin:/bin", "CUDA_VISIBLE_DEVICES": "", "LC_ALL": "C.UTF-8", "TENON": build + "/bin/tenon"}
    done = subprocess.run(
        ["bash", "-c", 'tenon() { PATH=/nowhere "$TENON" "$@"; }\n' + command],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=SECONDS_PER_COMMAND,
    )
    return done.stdout.decode("utf-8", "replace").rstrip("\n").splitlines()


def refreshed(text, build):
    lines = []
    in_console = False
    for line in text.splitlines():
        if line.startswith("```"):
            in_console = not in_console and line == "```console"
            lines.append(line)
        elif in_console and line.startswith("$ "):
            lines.append(line)
            lines += run(line[2:], build)
        elif not in_console:
            lines.append(line)
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="the build folder")
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is stale")
    parser.add_argument("pages", nargs="*", default=PAGES, help="by default all")
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    if not os.access(build + "/bin/tenon", os.X_OK):
        sys.exit(f"{build}/bin/tenon is not there; ./dev build makes it")
    stale = False
    for page in options.pages:
        path = os.path.join(ROOT, page)
        with open(path, encoding="utf-8") as file:
            old = file.read()
        new = refreshed(old, build)
        if new == old:
            continue
        stale = True
        if options.check:
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, page + " as it should be", n=1)
            )
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
            print(f"refreshed {page}")
    if stale and options.check:
        print("stale; `python3 docs/refresh_outputs.py` puts it right")
        return 1
    return 0


sys.exit(main())
