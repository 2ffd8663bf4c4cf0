# The GoogleTest programs of the build: each of their cases counts as a test.
import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))

config.name = "tenon-unit"
config.test_format = lit.formats.GoogleTest(".", "_test")
config.test_source_root = os.path.join(build, "unit")
config.test_exec_root = config.test_source_root
for variable in ("TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
