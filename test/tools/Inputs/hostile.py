"""Runs the command on hostile input: hostile.py TENON ROOT SCRATCH KIND, where KIND is source, arrays, ptx or ir.

Whatever the input, the command says what is wrong and ends with a status of its own, within ten seconds of CPU time and
4 GiB (and what the emulated device reserves beside it); never by a signal, and never with status 70, which is a bug of
ours."""
import os
import random
import resource
import struct
import subprocess
import sys

CPU_SECONDS = 10
MEMORY_BYTES = 4 << 30
# Address space alone.
DEVICE_BYTES = 20 << 30
# Other programs may want the machine too.
WALL_SECONDS = 300

PIECES = ["(", ")", "[", "]", "{", "}", ",", ":", "=", "|", "?", "<", ">", "%0", "%x", "->", "-", "sum[", "where", "\n", " ",
          "99999999999999999999", "-1", "0", "4294967296", "1e400", "nan", "f16", "f32", "i64", "bool", "index", "\0", "ß",
          "'", "\"", ".", "..", "...", "@", "#", "(" * 300]


class Command:
    def __init__(self, tenon, scratch, memory):
        self.tenon = tenon
        self.scratch = scratch
        self.memory = memory
        self.failures = []
        self.runs = 0

    def file(self, name, content):
        path = os.path.join(self.scratch, name)
        with open(path, "wb") as out:
            out.write(content if isinstance(content, bytes) else content.encode())
        return path

    def expect(self, what, statuses, *arguments, memory=None):
        """Runs `tenon arguments…`, which has to end with one of the statuses and, where that is not 0, a message."""
        memory = memory or self.memory

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        self.runs += 1
        try:
            ended = subprocess.run([self.tenon, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, preexec_fn=limit, timeout=WALL_SECONDS)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{what}: does not end: {arguments}")
            return
        message = ended.stderr.decode(errors="replace")
        if ended.returncode not in statuses or (ended.returncode and not message.strip()):
            self.failures.append(f"{what}: status {ended.returncode}: {arguments}\n{message[:600]}")


def mutated(chance, data):
    """The bytes with one to four changes: pieces put in, parts taken out, doubled, or turned into others."""
    data = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        length = chance.randrange(24)
        choice = chance.randrange(5)
        if choice == 0:
            data[at:at] = chance.choice(PIECES).encode()
        elif choice == 1:
            del data[at:at + length]
        elif choice == 2:
            data[at:at] = data[chance.randrange(len(data) + 1):][:length]
        elif choice == 3:
            data[at:at + length] = chance.choice(PIECES).encode()
        elif at < len(data):
            data[at] = chance.randrange(256)
    return bytes(data)


def body(statements, head="kernel k(x: f32[N]) -> (y: f32[N])"):
    return f"{head} {{\n  {statements}\n}}\n"


def calls_twice(levels):
    functions = "fn f0(a: f32) -> f32 = a * a\n"
    for i in range(1, levels):
        functions += f"fn f{i}(a: f32) -> f32 = f{i - 1}(a) + f{i - 1}(a + 1)\n"
    return functions + body(f"y[i] = f{levels - 1}(x[i])")


def mistaken_sources():
    """Sources that have to be refused, by name."""
    chance = random.Random(1)
    yield from {
        "parentheses": body("y[i] = " + "(" * 200000),
        "closed parentheses": body("y[i] = " + "(" * 100000 + "x[i]" + ")" * 100000),
        "signs": body("y[i] = " + "-" * 200000 + "x[i]"),
        "brackets": body("y[i] = " + "x[" * 100000),
        "braces": "kernel k() " + "{" * 200000,
        "choices": body("y[i] = " + "x[i] > 0 ? 1 : " * 100000 + "2"),
        "calls": body("y[i] = " + "exp(" * 100000 + "x[i]" + ")" * 100000),
        "reductions": body("y[i] = " + "".join(f"sum[j{n} in 0..2](" for n in range(2000)) + "x[i]" + ")" * 2000),
        "type nesting": "kernel k(x: f32[" + "(" * 100000 + ") -> (y: f32) { y = 1 }",
        "long name": body("n" * 10000 + "[i] = x[i]"),
        "long names": body("\n".join(chr(97 + n % 26) * (10000 + n) + " = 1" for n in range(100))),
        "long parameter": "kernel k(" + "x" * 10000 + ": f32[N]) -> (y: f32[N]) { y[i] = 1 }",
        "long number": body("y[i] = " + "1" * 100000),
        "long fraction": body("y[i] = 0." + "1" * 100000),
        "long hexadecimal": body("y[i] = x[0x" + "f" * 100000 + "]"),
        "long exponent": body("y[i] = 1e" + "9" * 100000),
        "rank of a read": body("y[i] = x[" + "i, " * 1999 + "i]"),
        "rank of a type": "kernel k(x: f32[" + "N, " * 1999 + "N]) -> (y: f32[N]) { y[i] = 1 }",
        "rank of a reduction": body("y[i] = sum[" + ", ".join(f"j{n} in 0..1" for n in range(2000)) + "](x[i])"),
        "huge extent": body("y[i] = x[i]", "kernel k(x: f32[99999999999999999999]) -> (y: f32[N])"),
        "subscript of many products": body(
            "y[i] = x[" + " * ".join("(i + " + " + ".join(f"N{n}" for n in range(30)) + ")" for _ in range(60)) + "]"),
        "recursion": "fn f(a: f32) -> f32 = f(a)\n" + body("y[i] = f(x[i])"),
        "mutual recursion": "fn f(a: f32) -> f32 = g(a)\nfn g(a: f32) -> f32 = f(a)\n" + body("y[i] = f(x[i])"),
        "nothing closed": "kernel k(x: f32[N" * 20000,
        "zero bytes": b"\0" * 100000,
        "not text": bytes(range(128, 256)) * 1000,
        "out of bounds": body("y[i] = x[i + 1]"),
        "unprovable": body("y[i] = x[" + " + ".join(f"(i * {n}) % (N + {n})" for n in range(1, 40)) + "]"),
        "many mistakes": body("\n".join(f"a{n} = b{n}" for n in range(50000))),
        "many unknown functions": body("\n".join(f"a{n} = b{n}(1)" for n in range(50000))),
        "one name many times": body("\n".join("a = 1" for n in range(50000))),
    }.items()
    for n in range(40):
        yield f"random bytes {n}", chance.randbytes(chance.randrange(1, 4000))


def odd_sources():
    """Sources that may be right, but are large or strange."""
    clauses = ", ".join(f"N % {n} == 0" for n in range(2, 40))
    return {
        "empty": "",
        "byte order mark": b"\xef\xbb\xbf" + body("y[i] = x[i]").encode(),
        "carriage returns": body("y[i] = x[i]").replace("\n", "\r\n"),
        "long comment": "//" + " x" * 4000000 + "\n" + body("y[i] = x[i]"),
        "long sum": body("y[i] = x[i]" + " + x[i]" * 20000),
        "calls that double": calls_twice(40),
        "many kernels": "".join(body("y[i] = x[i]", f"kernel k{n}(x: f32[N]) -> (y: f32[N])") for n in range(300)),
        "many parameters": body("y[i] = " + " + ".join(f"x{n}[i]" for n in range(390)), "kernel k(" + ", ".join(
            f"x{n}: f32[N]" for n in range(390)) + ") -> (y: f32[N])"),
        "many clauses": body("y[i] = x[i]", f"kernel k(x: f32[N]) -> (y: f32[N]) where {clauses}"),
        "many dimensions": body("y = 1", "kernel k(x: f32[" + ", ".join(f"N{n}" for n in range(64)) + "]) -> (y: f32)"),
        "constant extents": body("y[i, j] = 1", "kernel k(x: f32) -> (y: f32[4294967296, 4294967296])"),
        "long loop": body("y = sum[i in 0..4611686018427387904](x)", "kernel k(x: f32) -> (y: f32)"),
    }


def test_sources(command, root):
    for name, text in mistaken_sources():
        command.expect(name, {1}, "compile", command.file("mistaken.tn", text))
    for name, text in odd_sources().items():
        # 2: there is no kernel.
        command.expect(name, {0, 1, 2}, "compile", command.file("odd.tn", text), "-o", os.devnull)
    command.expect("endless", {1, 3}, "compile", "/dev/zero")
    chance = random.Random(2)
    for folder in ("examples", "test/corpus"):
        for name in sorted(n for n in os.listdir(os.path.join(root, folder)) if n.endswith(".tn")):
            with open(os.path.join(root, folder, name), "rb") as source:
                text = source.read()
            # 2: a kernel is generic.
            for n, form in enumerate(("tensor-ir", "ptx")):
                path = command.file("mutated.tn", mutated(chance, text))
                command.expect(f"{name}, mutated {n}", {0, 1, 2}, "compile", path, "--emit", form)


def npy(header, data=b"", version=1):
    header = header.encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def array_header(dtype="'<f4'", shape="(4,)", order="False"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }" % (dtype, order, shape)


def test_arrays(command, root):
    good = npy(array_header() + " " * 20 + "\n", bytes(16))
    bad = {
        "empty": b"",
        "magic alone": b"\x93NUMPY",
        "no header": b"\x93NUMPY\x01\x00",
        "header longer than the file": b"\x93NUMPY\x01\x00\xff\xff{",
        "header of 4 GiB": b"\x93NUMPY\x02\x00\xff\xff\xff\xff{",
        "later version": npy(array_header(), bytes(16), version=9),
        "too little data": npy(array_header(), bytes(15)),
        "negative extent": npy(array_header(shape="(-4,)"), bytes(16)),
        "huge extent": npy(array_header(shape="(9223372036854775807,)"), bytes(16)),
        "product beyond 64 bits": npy(array_header(shape="(4294967296, 4294967296)"), bytes(16)),
        "large extent without data": npy(array_header(shape="(1000000000,)"), bytes(16)),
        "extent of 1000 digits": npy(array_header(shape="(" + "9" * 1000 + ",)"), bytes(16)),
        "rank of 2000": npy(array_header(shape="(" + "1, " * 2000 + ")"), bytes(4)),
        "objects": npy(array_header(dtype="'|O'"), bytes(16)),
        "records": npy(array_header(dtype="[('a', '<f4')]"), bytes(16)),
        "strings": npy(array_header(dtype="'<U4'"), bytes(64)),
        "other type": npy(array_header(dtype="'<f8'"), bytes(32)),
        "brackets": npy("(" * 60000),
        "open string": npy("{'descr': '<f4"),
        "not a dictionary": npy("[1, 2, 3]"),
        "missing key": npy("{'descr': '<f4'}"),
        "repeated keys": npy("{" + "'shape': (4,), " * 1000 + "}"),
        "archive of nothing": b"PK\x05\x06" + bytes(18),
        "damaged archive": b"PK\x03\x04" + b"\xff" * 200,
    }
    axpy = os.path.join(root, "examples", "axpy.tn")
    for name, data in bad.items():
        path = command.file("bad.npy", data)
        command.expect(name, {1, 2, 3}, "run", axpy, "--in", f"x={path}", "--device", "emulator")
    command.expect("folder", {1, 2, 3}, "run", axpy, "--in", f"x={command.scratch}", "--device", "emulator")
    archive = command.file("bad.npz", b"PK\x03\x04" + b"\xff" * 200)
    endless = os.path.join(command.scratch, "endless.npz")
    if not os.path.lexists(endless):
        os.symlink("/dev/zero", endless)
    # A sparse file, which takes no room on the disk.
    oversized = command.file("oversized.npy", good)
    os.truncate(oversized, 1 << 42)
    for name, path in {
        "damaged archive": archive,
        "endless array": "/dev/zero",
        "endless archive": endless,
        "a good array, then terabytes": oversized,
    }.items():
        command.expect(name, {3}, "run", axpy, "--in", f"x={path}", "--stage", "tensor", memory=MEMORY_BYTES)
    command.expect("no room for the device", {3}, "run", axpy, "--device", "emulator", memory=MEMORY_BYTES)
    chance = random.Random(3)
    for n in range(60):
        path = command.file("mutated.npy", mutated(chance, good))
        command.expect(f"mutated {n}", {0, 1, 2, 3}, "run", axpy, "--in", f"x={path}", "--device", "emulator")


def entry(text, parameters=""):
    return f".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k({parameters})\n{{\n{text}\nret;\n}}\n"


def test_ptx(command, root):
    bad = {
        "empty": "",
        "random bytes": random.Random(4).randbytes(5000),
        "braces": entry("{" * 100000),
        "closing braces": entry("}" * 100000),
        "parentheses": entry("mov.u32 " + "(" * 100000),
        "unknown instruction": entry("frobnicate.b32 %r1, %r2;"),
        "unknown register": entry("mov.u32 %r1, 5;"),
        "unknown label": entry("bra NOWHERE;"),
        "long name": entry(".reg .b32 %" + "r" * 100000 + ";\nfrobnicate;"),
        "long number": entry(".reg .b32 %r<2>;\nmov.u32 %r1, " + "9" * 100000 + ";"),
        "register count": entry(".reg .b32 %r<99999999999>;\nfrobnicate;"),
        "parameters": entry("frobnicate;", ", ".join(f".param .b64 p{n}" for n in range(20000))),
        "shared memory": entry(".shared .b8 s[99999999999];\nfrobnicate;"),
        "alignment": entry(".shared .align 4294967296 .b8 s[16];\nfrobnicate;"),
    }
    for name, text in bad.items():
        command.expect(name, {1, 2, 3}, "emulate", command.file("bad.ptx", text))
    with open(os.path.join(root, "test/tools/Inputs/axpy.ptx"), "rb") as source:
        axpy = source.read()
    arguments = ["--arg", "f32:2", "--arg", "iota:f32:10", "--arg", "ones:f32:10", "--arg", "i32:10"]
    chance = random.Random(5)
    for n in range(80):
        path = command.file("mutated.ptx", mutated(chance, axpy))
        command.expect(f"mutated {n}", {0, 1, 2, 3}, "emulate", path, *arguments, "--block", "32")


def test_ir(command, root):
    head = "kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) {\n  %y: f32[N] = map [i: N] {\n    "
    tail = "\n    yield %0\n  }\n}\n"
    bad = {
        "random bytes": random.Random(6).randbytes(5000),
        "subscript": head + "%0 = read %x[" + "(" * 100000 + tail,
        "closed subscript": head + "%0 = read %x[" + "(" * 100000 + "i" + ")" * 100000 + "] : f32" + tail,
        "subscript of many products": head + "%0 = read %x[" + " * ".join(
            "(i + " + " + ".join(f"N{n}" for n in range(30)) + ")" for _ in range(60)) + "] : f32" + tail,
        "powers": head + "%0 = read %x[" + " * ".join("(i + N + 1)" for _ in range(500)) + "] : f32" + tail,
        "long number": head + "%0 = const 0x" + "f" * 100000 + "p0 : f32" + tail,
        "value number": head + "%99999999999999999999 = const 0x1p0 : f32" + tail,
        "groups": "kernel @k<N>(%x: f32[N]) -> (%y: f32[N]) {" + "group @g {" * 100000,
        "loops": "tile.module @m<N> {\n tensor %x: f32[N] input\n domain i: N\n tile.kernel @k threads(32) grid(b: 1) narrow {\n"
                 + "loop (l: 4) {\n" * 100000,
        "tile of 2^62": "tile.module @m<N> {\n tensor %x: f32[N] input\n domain i: N\n tile t: 4611686018427387904\n"
                        " tile.kernel @k threads(32) grid(b: 1) narrow {\n %0 = index t : index[t]\n yield\n }\n}\n",
        "many threads": "tile.module @m<N> {\n tensor %x: f32[N] input\n domain i: N\n"
                        " tile.kernel @k threads(4294967296) grid(b: 1) narrow {\n yield\n }\n}\n",
    }
    for name, text in bad.items():
        command.expect(name, {1, 2, 3}, "opt", command.file("bad.tir", text), "--passes=fold,cse,inline,dce,group")
    chance = random.Random(7)
    for form, passes in (("tensor-ir", "contract-fma,fold,cse,inline,dce,group,build-nest,assign-layouts"),
                         ("tile-ir", "assign-layouts,vectorize,allocate-shared,place-barriers")):
        for example, size in (("softmax", "N=1000"), ("matmul", "K=64"), ("sum", "N=100000"), ("transpose", "N=100")):
            source = os.path.join(root, "examples", example + ".tn")
            text = subprocess.run([command.tenon, "compile", source, "--emit", form, "--set", size], check=True,
                                  stdout=subprocess.PIPE).stdout
            text = text[:text.index(b"\n}\n") + 3]
            for n in range(12):
                path = command.file("mutated.tir", mutated(chance, text))
                command.expect(f"{example}, {form}, mutated {n}", {0, 1, 2, 3}, "opt", path, "--passes=" + passes)


def main(tenon, root, scratch, kind):
    os.makedirs(scratch, exist_ok=True)
    test, memory = {
        "source": (test_sources, MEMORY_BYTES),
        "arrays": (test_arrays, MEMORY_BYTES + DEVICE_BYTES),
        "ptx": (test_ptx, MEMORY_BYTES + DEVICE_BYTES),
        "ir": (test_ir, MEMORY_BYTES),
    }[kind]
    command = Command(tenon, scratch, memory)
    test(command, root)
    for failure in command.failures:
        print(failure)
    print(f"{command.runs} runs, {len(command.failures)} failed")
    return 1 if command.failures else 0


sys.exit(main(*sys.argv[1:]))
