"""The script of a case that is the end of the process: it runs in a child of the script."""

from gradfuzz.finding import Finding
from gradfuzz.graph import Graph
from gradfuzz.oracles import second
from gradfuzz.repro.shown import gradient_source, tangent_source
from gradfuzz.repro.ways import ways_of
from gradfuzz.subject import Subject

FATAL = """if sys.argv[1:] == ["child"]:
{limit}    for function in ({functions}):
{calls}    sys.exit()

print("expected a process that ends by itself, with a gradient or a refusal")
child = subprocess.run([sys.executable, __file__, "child"], stderr=subprocess.PIPE, text=True)
if child.returncode in (0, 1):  # no end that one may call fatal
    print("observed", child.stderr.splitlines()[-1] if child.returncode else "a gradient")
    sys.exit(0)
code = child.returncode
print("observed", signal.Signals(-code).name if code < 0 else f"exit code {{code}}")
sys.exit(1)
"""

# What ends a child that takes more time, or memory, than any gradient of small arrays.
LIMITS = {
    "hangs": "    signal.alarm(60)\n",
    "memory": """    def watch():
        while resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 3 * 2**20:  # KiB
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, daemon=True).start()
""",
}


def standard_imports(kind: str) -> str:
    """Return the imports of Python's own modules that such a script needs."""
    watching = ("os", "resource", "threading", "time") if kind == "memory" else ()
    names = sorted(("signal", "subprocess", "sys", *watching))
    return "\n".join(f"import {name}" for name in names)


def fatal_tail(finding: Finding) -> str:
    """Return what comes behind the leaves: every way of the oracle that ended it, tried.

    At second order the graph itself runs to write it, which is then no end of this process.
    """
    bucket = finding.bucket
    ways = list(ways_of(bucket.oracle))
    sources = dict.fromkeys(part for way in ways for part in way.definitions)
    is_second = bucket.oracle == second.NAME
    return "".join((
        _derived(finding.graph) if is_second else "",
        *sources,
        FATAL.format(
            limit=LIMITS.get(bucket.kind, ""),
            functions="gradient_of(function), tangent_of(function)" if is_second else "function,",
            calls="".join(f"        {call}\n" for call in dict.fromkeys(w.call for w in ways)),
        ),
    ))  # fmt: skip


def _derived(graph: Graph) -> str:
    subject = Subject.of(graph)
    return gradient_source(subject) + tangent_source(subject)
