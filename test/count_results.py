"""Prints `N passed, N failed, N skipped` for a results file of lit; the exit status is 0 if nothing failed."""
import json
import sys

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def main(path):
    try:
        with open(path, encoding="utf-8") as file:
            codes = [test["code"] for test in json.load(file)["tests"]]
    except (OSError, ValueError) as error:
        print(f"the tests did not run to their end: {error}", file=sys.stderr)
        codes = ["UNRESOLVED"]
    passed = sum(code in PASSED for code in codes)
    skipped = sum(code in SKIPPED for code in codes)
    failed = len(codes) - passed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
    # A run of no tests proves nothing.
    return 0 if failed == 0 and passed > 0 else 1


sys.exit(main(sys.argv[1]))
