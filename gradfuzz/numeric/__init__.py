"""The numeric side: derivatives from values of the function alone, each with an error bound."""
