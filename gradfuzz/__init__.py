"""Property-based fuzzing of TensorFlow gradients."""

__version__ = "0.1.0"
