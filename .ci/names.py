# python3 .ci/names.py [FOLDER]: fails if two files under src define a class or struct of one name in one named namespace.
# The linker takes one of their destructors and vectors for both, which no compiler sees.
import pathlib
import re
import sys

# What opens and closes scopes: namespaces, definitions of classes, other braces. Forward declarations have no brace.
SCOPES = re.compile(
    r"namespace\s*(?P<space>[\w:]*)\s*{|(?:class|struct)\s+(?P<class>\w+)\b(?!\s*::)(?:\s+final)?\s*(?::[^{};]*)?{|(?P<open>{)|(?P<close>})"
)
TEXTS = re.compile(r"//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'")


def definitions(text):
    scopes = []  # the namespaces around; None for others, "" for one without a name
    for found in SCOPES.finditer(TEXTS.sub("", text)):
        if found["close"]:
            scopes and scopes.pop()
        elif found["class"]:
            if all(scopes):
                yield "::".join([*scopes, found["class"]])
            scopes.append(None)
        else:
            scopes.append(None if found["open"] else found["space"])


folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "src"
files = {}
for path in sorted(folder.rglob("*")):
    if path.suffix in (".h", ".cpp", ".cu"):
        for name in definitions(path.read_text()):
            files.setdefault(name, set()).add(str(path))
several = {name: paths for name, paths in files.items() if len(paths) > 1}
for name, paths in several.items():
    print(f"{name} is defined in {' and in '.join(sorted(paths))}: rename one, or put it into an unnamed namespace.")
sys.exit(len(several) > 0)
