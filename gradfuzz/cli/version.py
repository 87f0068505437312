"""`gradfuzz --version`: the versions, without the seconds that TensorFlow takes to import."""

from importlib.metadata import PackageNotFoundError, version

from gradfuzz import __version__

# The packages that are imported as `tensorflow`.
PACKAGES = ("tensorflow", "tensorflow-cpu", "tf-nightly", "tf-nightly-cpu")


def versions() -> str:
    """Return the versions of gradfuzz and of each installed TensorFlow package, a line each."""
    found = installed_packages()
    return "\n".join([f"gradfuzz {__version__}", *(found or ["TensorFlow is not installed"])])


def installed_packages() -> list[str]:
    """Return each installed TensorFlow package with its version."""
    return [f"{name} {number}" for name in PACKAGES if (number := _installed(name))]


def _installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
