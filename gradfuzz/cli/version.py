"""`gradfuzz --version`: the versions, without the seconds that TensorFlow takes to import."""

from importlib.metadata import PackageNotFoundError, version

from gradfuzz import __version__

# The packages that are imported as `tensorflow`.
PACKAGES = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")


def versions() -> str:
    """Return the versions of gradfuzz and of each installed TensorFlow package, a line each."""
    found = [f"{package} {installed}" for package in PACKAGES if (installed := _installed(package))]
    return "\n".join([f"gradfuzz {__version__}", *(found or ["TensorFlow is not installed"])])


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
