"""The oracles: each compares two ways to one derivative."""
