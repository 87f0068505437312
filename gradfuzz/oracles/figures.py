"""Numbers in messages, with as many digits as a reader needs to see what differs."""

EXACT = 17  # digits, with which every float64 is itself


def told_apart(first: float, second: float, digits: int) -> tuple[str, str]:
    """Return two numbers with so many digits, or with as many as they differ in."""
    for enough in range(digits, EXACT + 1):
        found = f"{first:.{enough}g}", f"{second:.{enough}g}"
        if found[0] != found[1]:
            return found
    return f"{first:.{digits}g}", f"{second:.{digits}g}"
