"""Top-level names that flambeau-autograd adds."""

LOAD = "flambeau.autograd"  # with `import flambeau`
NAMES = {
    "autograd": "flambeau.autograd",
    "is_anomaly_check_nan_enabled": "flambeau.autograd.anomaly_mode:is_anomaly_check_nan_enabled",
    "is_anomaly_enabled": "flambeau.autograd.anomaly_mode:is_anomaly_enabled",
    "set_anomaly_enabled": "flambeau.autograd.anomaly_mode:set_anomaly_enabled",
}
