# The GoogleTest programs of the build: each of their cases counts as a test.
import os

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))

config.name = "tenon-unit"
config.test_format = lit.formats.GoogleTest(".", "_test")
config.test_source_root = os.path.join(build, "unit")
config.test_exec_root = config.test_source_root
if "TMPDIR" in os.environ:
    config.environment["TMPDIR"] = os.environ["TMPDIR"]
