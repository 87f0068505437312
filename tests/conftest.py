from hypothesis.internal.conjecture import providers

from gradfuzz.runtime import use_one_thread

use_one_thread()

# Hypothesis also draws constants that it reads in whatever modules are loaded, which differ from
# one test process to the next: without them, derandomized tests draw the same everywhere.
NO_CONSTANTS = providers._local_constants
providers._get_local_constants = lambda: NO_CONSTANTS
