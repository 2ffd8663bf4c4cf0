#!/usr/bin/env python3
"""Compiles the programs that the documentation shows.

A fenced block of language `tenon` is a program that has to pass the checker. Words behind the language say more:
`T=f16` is passed on as --set, and a code such as `E0401` is a diagnostic that the block has to be refused with, and
with no other.
"""
import re
import subprocess
import sys


def blocks(path):
    """(line, words, text) of each program of a page."""
    words, text, start = None, [], 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.startswith("```"):
                if words is not None:
                    yield start, words, "".join(text)
                    words = None
                elif line[3:].split()[:1] == ["tenon"]:
                    words, text, start = line[3:].split()[1:], [], number
            elif words is not None:
                text.append(line)


def complaint(tenon, words, text):
    """What is wrong with a block, or None."""
    settings = [word for word in words if "=" in word]
    refused = {word for word in words if re.fullmatch(r"E\d{4}", word)}
    unknown = [word for word in words if word not in settings and word not in refused]
    if unknown:
        return "the words behind `tenon` are settings or codes, not " + " ".join(unknown)
    command = [tenon, "compile", "-", "--emit", "tensor-ir"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    found = set(re.findall(r"error\[(E\d{4})\]", done.stdout + done.stderr))
    if found != refused or (done.returncode != 0) != bool(refused):
        expected = "refused with " + " ".join(sorted(refused)) if refused else "accepted"
        return f"should be {expected}; exit status {done.returncode}\n{done.stderr}"
    return None


def main(tenon, pages):
    checked, wrong = 0, 0
    for page in pages:
        for line, words, text in blocks(page):
            checked += 1
            problem = complaint(tenon, words, text)
            if problem:
                wrong += 1
                print(f"{page}:{line}: {problem}")
    print(f"{checked} programs, {wrong} wrong")
    return 1 if wrong or not checked else 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
