# What flambeau/_index/autograd.py says, for type checkers; a test compares the two.
import flambeau.autograd as autograd
from flambeau.autograd.anomaly_mode import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from flambeau.autograd.anomaly_mode import is_anomaly_enabled as is_anomaly_enabled
from flambeau.autograd.anomaly_mode import set_anomaly_enabled as set_anomaly_enabled

__all__ = ["autograd", "is_anomaly_check_nan_enabled", "is_anomaly_enabled", "set_anomaly_enabled"]
