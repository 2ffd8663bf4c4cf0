# The lit suite: every .test, .tn and .tir file below this folder is a test. Run by `./dev test`, or for one of them
#   lit -v test/frontend/parse/precedence.test
# with the build folder in --param build=… (build/release by default). The GoogleTest programs are a suite of their
# own, in unit/.
import ctypes
import importlib.util
import os
import re
import shutil

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = os.path.abspath(lit_config.params.get("build", os.path.join(root, "build", "release")))
llvm_bin = "/usr/lib/llvm-22/bin"


def column(table, index):
    """The entries of one column of an X-macro table: strings without quotes, or identifiers."""
    rows = re.findall(r"^TENON_\w+\((.*)\)$", open(os.path.join(root, table)).read(), re.MULTILINE)
    return [row.split(",")[index].strip().strip('"') for row in rows]


def cuda_device():
    """Whether the CUDA driver is there and sees a device."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test", ".tn", ".tir"]
# What tests read, and are none themselves.
config.excludes = ["Inputs", "corpus"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(build, "test")

# Seconds; a test that hangs is a failed test. lit ends it by way of psutil, which `./dev test` installs.
if importlib.util.find_spec("psutil"):
    lit_config.maxIndividualTestTime = 900

# FileCheck, not, count.
config.environment["PATH"] = os.pathsep.join([llvm_bin, os.environ.get("PATH", "")])
for variable in ("TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

config.substitutions += [
    (r"%exits\b", "bash " + os.path.join(config.test_source_root, "exits")),
    (r"%tenon\b", os.path.join(build, "bin", "tenon")),
    (r"%build\b", build),
    (r"%root\b", root),
    (r"%examples\b", os.path.join(root, "examples")),
    (r"%python\b", "/usr/bin/python3"),
]

# Tiers that a machine may lack; a test names what it needs in REQUIRES and is skipped elsewhere.
for tool in ("ptxas", "nvcc"):
    if shutil.which(tool):
        config.available_features.add(tool)
if cuda_device():
    config.available_features.add("cuda-device")
config.available_features.update(column("support/targets.def", 0))
# The preset's name: debug, release, asan+ubsan, tsan.
config.available_features.add(os.path.basename(build))
if os.path.basename(build) in ("asan+ubsan", "tsan"):
    config.available_features.add("sanitizer")
