"""Check functions of the user's: the same oracles as for graphs, on any callable of tensors."""
