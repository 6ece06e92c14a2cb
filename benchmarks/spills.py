"""Finds vectors that loops of the compiled core keep on the stack.

  objdump -d -C -w --no-show-raw-insn ARCHIVE... | python3 benchmarks/spills.py ALLOWED

A load of 32 or 64 bytes from the stack, in a loop, is a spill. It is a stall if stores of fewer bytes wrote what it
reads: the load waits until they have left the store buffer. ALLOWED has a line for each function with spills: how many,
its name, and why. Stalls are never allowed. Ends with 1 if a function has a stall, or more spills than allowed.
"""
import re
import sys

FUNCTION = re.compile(r"^[0-9a-f]+ <(.*)>:$")
INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\s+(\S+)\s*([^#<]*)")
STACK = re.compile(r"(?<![%\w])(-?0x[0-9a-f]+)?\(%(rsp|rbp)\)")
REGISTER = re.compile(r"%([xyz])mm")
BYTES = {"x": 16, "y": 32, "z": 64}
LEAST = 32  # bytes of a vector; compilers move whole structs by 16


def functions(lines):
    """Yields the name of each function, and its instructions as (address, operation, operands)."""
    name, body = None, []
    for line in lines:
        begin = FUNCTION.match(line)
        if begin:
            yield name, body
            name, body = begin.group(1), []
            continue
        found = INSTRUCTION.match(line)
        if found:
            body.append((int(found.group(1), 16), found.group(2), found.group(3).strip()))
    yield name, body


def loops(body):
    """The ranges of addresses that a jump repeats."""
    jumps = [(operands, address) for address, operation, operands in body if operation.startswith("j")]
    targets = [(int(to.split()[0], 16), at) for to, at in jumps if re.match(r"[0-9a-f]+\b", to)]
    return [(to, at) for to, at in targets if to < at]


def width(operation, others):
    """Bytes that an instruction moves."""
    half = re.match(r"vextract[fi](128|32x4|64x2)", operation)
    if half:
        return 16
    if operation.startswith("vextract"):
        return 32
    register = REGISTER.search(others)
    if register:
        scalar = {"s": 4, "d": 8, "q": 8}.get(operation[-1]) if re.match(r"v?mov(ss|sd|d|q)$", operation) else None
        return scalar or BYTES[register.group(1)]
    return {"b": 1, "w": 2, "l": 4}.get(operation[-1], 8)


def is_store(operation, operands):
    return operands.endswith(")") and re.match(r"v?mov|vextract|vpextr", operation) is not None


def on_the_stack(body):
    """The numbers of spills and of stalls."""
    repeated = loops(body)
    stores, spills, stalls = [], 0, 0
    for address, operation, operands in body:
        place = STACK.search(operands)
        if not place or operation.startswith("lea"):
            continue
        base, begin = place.group(2), int(place.group(1) or "0", 16)
        end = begin + width(operation, operands[: place.start()] + operands[place.end() :])
        below = [s for s in stores if s[0] == base and s[1] < end and begin < s[2]]
        if is_store(operation, operands):
            stores = [s for s in stores if s not in below] + [(base, begin, end)]
        elif end - begin >= LEAST and "broadcast" not in operation and below:
            if any(first <= address <= last for first, last in repeated):
                is_whole = all(s[1] <= begin and end <= s[2] for s in below)
                spills, stalls = spills + is_whole, stalls + (not is_whole)
    return spills, stalls


def read_allowed(path):
    with open(path) as file:
        rows = [line.split(maxsplit=2) for line in file if line.strip() and not line.startswith("#")]
    return {name: int(most) for most, name, _ in rows}


def short_name(name):
    """Without arguments, results and unnamed namespaces."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"\(.*", "", name)
    return re.sub(r"<.*", "", name).split()[-1]


def main():
    allowed = read_allowed(sys.argv[1])
    seen, wrong = 0, 0
    for name, body in functions(sys.stdin):
        # Those of libraries are not ours to mend.
        if name is None or not any("%ymm" in o or "%zmm" in o for _, _, o in body) or "Eigen" in name:
            continue
        spills, stalls = on_the_stack(body)
        most = allowed.get(short_name(name), 0)
        seen += spills > 0
        if stalls or spills > most:
            wrong += 1
            print(f"{short_name(name)}: {spills} spills, of which {most} are allowed, and {stalls} stalls")
    print(f"{seen} functions spill vectors in a loop, {wrong} of them more than allowed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
