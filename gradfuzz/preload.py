"""What the fork server imports, so that a worker has it from the start.

No op may run here: TensorFlow starts threads with its first one, and they do not survive a
fork.  So of the catalogues only the built-in one is imported; those of others might run one.
"""

from importlib.metadata import entry_points

import hypothesis
from hypothesis import strategies as st

from gradfuzz import worker
from gradfuzz.catalogue import GROUP

for _point in entry_points(group=GROUP, name="builtin"):
    _point.load()

# At its first example, Hypothesis reads the constants in all modules there are: 0.2 s.
hypothesis.find(st.integers(), lambda _: True, settings=hypothesis.settings(database=None))

__all__ = ["worker"]
