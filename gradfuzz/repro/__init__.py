"""A saved case as something to file upstream: a stand-alone script, and the text of an issue."""
