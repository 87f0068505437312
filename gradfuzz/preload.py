"""What the fork server imports, so that a worker has it from the start.

No op may run here: TensorFlow starts threads with its first one, and they do not survive a
fork.  So of the catalogues only the built-in one is imported; those of others might run one.
"""

from importlib.metadata import entry_points

from gradfuzz import worker
from gradfuzz.catalogue import GROUP

for _point in entry_points(group=GROUP, name="builtin"):
    _point.load()

__all__ = ["worker"]
