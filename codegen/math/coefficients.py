#!/usr/bin/env python3
"""Derives the polynomial coefficients of the math expansions; needs mpmath.

    python3 codegen/math/coefficients.py [NAME...]

For each fit it prints the coefficients as hex floats, lowest power first, and the largest weighted error as a power
of two. Coefficients are rounded to f32 one after the other, the rest being fitted again after each, so that the later
ones make up for the rounding of the earlier.
"""

import struct
import sys

import mpmath as mp

mp.mp.prec = 120
GRID = 250


def solve(target, weight, basis, low, high):
    """Minimax fit by Remez exchange: the coefficients and the largest weighted error."""
    n = len(basis)
    at = lambda k, count: (low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * k / count)
    # Inside and off centre, so that no point falls on a zero of the weight.
    points = [at(k + mp.mpf("0.51"), n + 1) for k in range(n + 1)]
    grid = [x for x in (at(mp.mpf(k), GRID) for k in range(GRID + 1)) if weight(x) > mp.mpf("1e-15")]
    values, weights = [target(x) for x in grid], [weight(x) for x in grid]
    powers = [[b(x) for b in basis] for x in grid]
    best = None
    for _ in range(20):
        matrix, right = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
        for i, x in enumerate(points):
            for j, b in enumerate(basis):
                matrix[i, j] = weight(x) * b(x)
            matrix[i, n] = (-1) ** i
            right[i] = weight(x) * target(x)
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[j] for j in range(n)]
        error = [w * (v - mp.fdot(coefficients, p)) for w, v, p in zip(weights, values, powers)]
        largest = max(abs(e) for e in error)
        if best is None or largest < best[1]:
            best = (coefficients, largest)
        # One extremum of each sign change.
        extrema = []
        for k, e in enumerate(error):
            if extrema and (error[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = k
            else:
                extrema.append(k)
        size = lambda i: abs(error[extrema[i]])
        while len(extrema) > n + 1:
            smallest = min(range(len(extrema)), key=size)
            if smallest in (0, len(extrema) - 1):
                extrema.pop(smallest)
            elif len(extrema) == n + 2:
                extrema.pop(0 if size(0) < size(-1) else -1)
            else:
                # With its smaller neighbour, so that the signs still alternate.
                pair = min(smallest - 1, smallest, key=lambda i: size(i) + size(i + 1))
                del extrema[pair : pair + 2]
        if len(extrema) < n + 1:
            break
        new_points = [grid[k] for k in extrema]
        if new_points == points:
            break
        points = new_points
    return best


def to_f32(x):
    return mp.mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def neighbours_f32(x):
    """The f32 around x."""
    nearest = to_f32(x)
    unit = mp.mpf(2) ** (mp.floor(mp.log(abs(x), 2)) - 23)
    return nearest, to_f32(nearest + (unit if nearest < x else -unit))


def hex_f32(x):
    """A C++ literal of an f32, without trailing zeros."""
    mantissa, exponent = float(x).hex().split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}f"


def fit(name, target, weight, powers, low, high):
    """Fits sum c_k x^powers[k] to target on [low, high], minimising weight * error; prints the rounded result."""
    low, high = mp.mpf(low), mp.mpf(high)
    powers = list(powers)
    nudged = lambda x: x if x != 0 else (high - low) * mp.mpf("1e-8")
    rounded = []
    left = lambda x: target(x) - mp.fsum(c * x**k for c, k in zip(rounded, powers))

    def solve_rest():
        # Dividing by the lowest power left gives a basis without a common zero, as the exchange needs.
        at = len(rounded)
        reduced = lambda x: left(nudged(x)) / nudged(x) ** powers[at]
        basis = [lambda x, k=k: x ** (k - powers[at]) for k in powers[at:]]
        return solve(reduced, lambda x: weight(x) * abs(x ** powers[at]), basis, low, high)

    def error_now():
        if len(rounded) < len(powers):
            return solve_rest()[1]
        return max(abs(weight(x) * left(x)) for x in (low + (high - low) * i / 500 for i in range(501)))

    _, exact_error = solve_rest()
    while len(rounded) < len(powers):
        # Of the two neighbours the one that the remaining coefficients make up for best.
        outcomes = []
        for candidate in neighbours_f32(solve_rest()[0][0]):
            rounded.append(candidate)
            outcomes.append((error_now(), candidate))
            rounded.pop()
        error, best = min(outcomes)
        rounded.append(best)
    print(f"{name}: 2^{float(mp.log(error, 2)):.2f} (exact coefficients: 2^{float(mp.log(exact_error, 2)):.2f})")
    for k, c in zip(powers, rounded):
        print(f"  x^{k}: {hex_f32(c)}")


def split(name, value, parts=2, truncated=False):
    """Prints a constant as a sum of f32; where truncated, all parts are positive (what keeps -0 in reductions)."""
    value = mp.mpf(value)
    out = []
    for _ in range(parts):
        part = to_f32(value)
        if truncated and part > value:
            part -= mp.mpf(2) ** (mp.floor(mp.log(part, 2)) - 23)
        out.append(hex_f32(part))
        value -= part
    print(f"{name}: {' + '.join(out)}, short by {float(value):.2g}")


def over(function, limit):
    """function(x) / x as a function of q = x^2, with its limit at 0."""
    return lambda q: function(mp.sqrt(q)) / mp.sqrt(q) if q > mp.mpf("1e-12") else mp.mpf(limit)


def odd(name, function, count, end, slope=1):
    """Fits an odd function as x + x * (c_1 q + c_2 q^2 + ...), q = x^2, on [0, end], by relative error."""
    ratio = over(function, slope)
    fit(name, lambda q: ratio(q) - 1, lambda q: 1 / ratio(q), range(1, count + 1), 0, mp.mpf(end) ** 2)


def exponentials():
    split("log2(e)", 1 / mp.log(2))
    split("ln(2)", mp.log(2), truncated=True)
    expm1 = lambda f: mp.expm1(f) / f if abs(f) > mp.mpf("1e-12") else 1 + f / 2
    fit("expm1(f)/f - 1", lambda f: expm1(f) - 1, lambda f: 1 / expm1(f), range(1, 6), -mp.log(2) / 2 * 1.001, mp.log(2) / 2 * 1.001)


def logarithms():
    def relative(f):
        return 1 if abs(f) < mp.mpf("1e-12") else f / mp.log1p(f)

    # The last bits near zero cancel: series there.
    def tail(f):
        return mp.log1p(f) - f if abs(f) > mp.mpf("1e-12") else -f * f / 2

    # As a function divided by f, so that the weight stays finite.
    ratio = lambda f: tail(f) / f if f != 0 else mp.mpf(0)
    fit("log1p(f)/f - 1", ratio, relative, range(1, 9), "-0.3334", "0.3334")
    log2e = to_f32(1 / mp.log(2))
    ratio2 = lambda f: (mp.log1p(f) / f if abs(f) > mp.mpf("1e-12") else 1 - f / 2) / mp.log(2) - log2e
    fit("log2(1+f)/f - f32(log2 e)", ratio2, lambda f: mp.log(2) * relative(f), range(1, 9), "-0.3334", "0.3334")


def hyperbolic():
    odd("tanh", mp.tanh, 4, "0.55")
    odd("sinh", mp.sinh, 5, "2.1")


def error_function():
    border = mp.mpf("0.875")
    z = lambda a: -mp.log(mp.erfc(a), 2)
    fit("-log2(erfc(a))", z, lambda a: mp.erfc(a) * mp.log(2) / mp.erf(a), range(0, 6), border, 4)
    ratio = over(mp.erf, 2 / mp.sqrt(mp.pi))
    fit("erf(x)/x - 1", lambda q: ratio(q) - 1, lambda q: 1 / ratio(q), range(0, 6), 0, border**2)


def inverse_trigonometric():
    odd("asin", mp.asin, 5, "0.5605")
    odd("atan", mp.atan, 8, 1)


def trigonometric():
    quarter = mp.pi / 4 * mp.mpf("1.0005")
    odd("sin", mp.sin, 3, quarter)
    cosine = lambda q: mp.cos(mp.sqrt(q))
    fit("cos", lambda q: cosine(q) - 1, lambda q: 1 / cosine(q), range(1, 5), 0, quarter**2)
    odd("tan", mp.tan, 6, quarter)
    split("2/pi", 2 / mp.pi, 1)
    split("pi/2", mp.pi / 2, 3, truncated=True)


def powers():
    # log2((1+s)/(1-s)) = s * (2/ln2 + s^2 * ...)
    ratio = lambda q: 2 * mp.atanh(mp.sqrt(q)) / mp.sqrt(q) / mp.log(2) if q > 0 else 2 / mp.log(2)
    lead = 2 / mp.log(2)
    fit("log2 by s", lambda q: ratio(q) - lead, lambda q: 1 / ratio(q), range(1, 5), 0, "0.04005")
    split("2/ln(2)", lead)


GROUPS = {
    "exponentials": exponentials,
    "logarithms": logarithms,
    "hyperbolic": hyperbolic,
    "error_function": error_function,
    "inverse_trigonometric": inverse_trigonometric,
    "trigonometric": trigonometric,
    "powers": powers,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or GROUPS:
        GROUPS[name]()
