"""Every pass is run by a test through its flag, and every diagnostic of a program is expected by a test: coverage.py ROOT.

What the tables have and the tests have not is printed; the exit status is then 1. Diagnostics of IR text are held against
their table by test/unit/ir, operations by test/conformance/coverage_test.cpp."""
import os
import re
import sys


def column(root, table, macro, index):
    with open(os.path.join(root, table), encoding="utf-8") as file:
        rows = re.findall(rf"^{macro}\(([^\n]*)", file.read(), re.MULTILINE)
    return [row.split(",")[index].strip().strip('"') for row in rows]


def test_texts(root):
    for folder, _, names in os.walk(os.path.join(root, "test")):
        for name in names:
            if name.endswith((".cpp", ".def", ".test", ".tir", ".tn")):
                with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                    yield file.read()


def main(root):
    texts = list(test_texts(root))
    flags = set()
    for text in texts:
        for passes in re.findall(r"--passes=([a-z,-]+)", text):
            flags.update(passes.split(","))
    # A place stands before or behind a code that a test expects.
    place_behind = r"\b[EW]\d{4}(?= \d+[:-]\d+)"
    place_before = r"(?<=\d )[EW]\d{4}\b|(?<=\d: error\[)E\d{4}\b|(?<=\d: warning\[)W\d{4}\b"
    codes = {code for text in texts for code in re.findall(f"{place_behind}|{place_before}", text)}
    missing = [f"no test runs --passes={flag}"
               for macro in ("TENON_TENSOR_PASS", "TENON_NEST_PASS", "TENON_TILE_PASS")
               for flag in column(root, "passes/passes.def", macro, 2) if flag not in flags]
    diagnostics = (column(root, "support/diagnostics.def", "TENON_DIAGNOSTIC", index) for index in (0, 1))
    missing += [f"no test expects {code}" for name, code in zip(*diagnostics)
                if not name.startswith("kIr") and code not in codes]
    print("\n".join(missing))
    return 1 if missing else 0


sys.exit(main(*sys.argv[1:]))
