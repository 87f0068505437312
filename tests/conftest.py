from gradfuzz.runtime import use_one_thread

use_one_thread()
