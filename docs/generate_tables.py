#!/usr/bin/env python3
"""Prints the reference tables in docs/generated/ from the X-macro tables of the sources.

With --check nothing is written: the exit status is 1 where a page differs from its table.
"""
import argparse
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OUTPUT = os.path.join(ROOT, "docs", "generated")
TOKEN = re.compile(r'\s+|//[^\n]*|\\\n|"(?:[^"\\]|\\.)*"|[A-Za-z0-9_.+-]+|.', re.DOTALL)


def rows(path, macro):
    """The calls of a macro in a table: each a list of arguments, adjacent strings joined and without quotes."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        text = re.sub(r"^#.*?(?<!\\)$", "", file.read(), flags=re.MULTILINE | re.DOTALL)
    tokens = [token for token in TOKEN.findall(text) if not token.isspace() and not token.startswith(("//", "\\"))]
    found, at = [], 0
    while at < len(tokens):
        if tokens[at] != macro or tokens[at + 1] != "(":
            at += 1
            continue
        arguments, depth, at = [""], 1, at + 2
        while depth:
            token = tokens[at]
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token == "," and depth == 1:
                arguments.append("")
            elif depth:
                arguments[-1] += token[1:-1].replace('\\"', '"') if token.startswith('"') else token
            at += 1
        found.append(arguments)
    if not found:
        sys.exit(f"{path} has no {macro}")
    return found


def table(head, lines):
    cells = lambda line: "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
    return "\n".join([cells(head), "|" + "---|" * len(head)] + [cells(line) for line in lines])


def page(title, source, *parts):
    return f"# {title}\n\nPrinted by `docs/generate_tables.py` from {source}.\n\n" + "\n\n".join(parts) + "\n"


def ops():
    arity = lambda count: "any" if count == "-1" else count
    all_rows = rows("ir/ops.def", "TENON_OP")

    def stage(name):
        return table(
            ["op", "operands", "type rule", "traits", "meaning"],
            [
                [f"`{mnemonic}`", arity(count), rule, "" if traits == "None" else traits.lower(), doc]
                for _, mnemonic, count, rule, stages, traits, doc in all_rows
                if stages == name
            ],
        )

    functions = table(
        ["op", "operands", "operand types", "result", "f32 error in ulp", "f64"],
        [
            [f"`{name}`", count, operands.lower(), "the same" if result == "Same" else result.lower(), ulp,
             "yes" if f64 == "true" else ""]
            for _, name, count, operands, result, ulp, _, _, _, f64 in rows("support/functions.def", "TENON_FUNCTION")
        ],
    )
    monoids = table(
        ["monoid", "slots", "meaning"],
        [[f"`{name}`", slots, doc] for _, name, slots, doc in rows("ir/monoids.def", "TENON_MONOID")],
    )
    return page(
        "Operations of the IR",
        "`ir/ops.def`, `ir/monoids.def` and `support/functions.def`",
        "The type rules are those of `TypeRule` in `ir/ops.h`.",
        "## In bodies, and elementwise on tiles",
        stage("Body"),
        "## On whole tensors",
        stage("Tensor"),
        "## On tiles",
        stage("Tile"),
        "## Functions of the language\n\nBody operations too; [math_accuracy.md](math_accuracy.md) has their accuracy in full.",
        functions,
        "## Monoids of reductions",
        monoids,
    )


def passes():
    parts = []
    for macro, title in [
        ("TENON_TENSOR_PASS", "Tensor IR to tensor IR"),
        ("TENON_NEST_PASS", "Tensor IR to tile IR"),
        ("TENON_TILE_PASS", "Tile IR to tile IR"),
    ]:
        lines = [[f"`{flag}`", doc] for _, _, flag, doc in rows("passes/passes.def", macro)]
        parts += ["## " + title, table(["flag", "what it does"], lines)]
    return page("Passes", "`passes/passes.def`", *parts)


def diagnostics():
    return page(
        "Diagnostics",
        "`support/diagnostics.def`",
        "A pair of braces stands for what the message names.",
        table(
            ["code", "severity", "message"],
            [
                [code, severity[1:].lower(), text.replace("{{", "{").replace("}}", "}")]
                for _, code, severity, text in rows("support/diagnostics.def", "TENON_DIAGNOSTIC")
            ],
        ),
    )


def targets():
    return page(
        "Targets",
        "`support/targets.def`",
        table(
            ["target", "instruction paths of", "PTX ISA", "shared memory a block", "multiprocessors assumed"],
            [
                [f"`{name}`", f"sm_{codegen}", f"{int(isa) // 10}.{int(isa) % 10}", f"{shared} bytes", sms]
                for name, _, codegen, isa, shared, _, sms, _, _ in rows("support/targets.def", "TENON_TARGET")
            ],
        ),
    )


PAGES = {"ops.md": ops, "passes.md": passes, "diagnostics.md": diagnostics, "targets.md": targets}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a page is stale")
    check = parser.parse_args().check
    stale = []
    for name, make in PAGES.items():
        path, text = os.path.join(OUTPUT, name), make()
        if check:
            with open(path, encoding="utf-8") as file:
                if file.read() != text:
                    stale.append(name)
        else:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    if stale:
        print("stale: " + ", ".join(stale) + "; `python3 docs/generate_tables.py` puts it right")
    return 1 if stale else 0


sys.exit(main())
