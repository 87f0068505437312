"""The command line: one command a file, the options and help of all of them in `app`.

Nothing that `app` imports at its top imports TensorFlow, which takes seconds.
"""
