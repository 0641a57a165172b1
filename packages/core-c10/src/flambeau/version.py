"""Version of the core package; `torch_compatible` is the release of torch whose behaviour is promised."""

__version__ = "0.1.0"
torch_compatible = "2.13.0"
git_version = "unknown"
cuda = None
hip = None
debug = False
