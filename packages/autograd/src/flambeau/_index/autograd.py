"""Top-level names that flambeau-autograd adds."""

LOAD = "flambeau.autograd"  # with `import flambeau`
NAMES = {
    "autograd": "flambeau.autograd",
    "_custom_op_function": "flambeau.autograd._custom_op:make_function",
    "is_anomaly_check_nan_enabled": "flambeau.autograd.anomaly_mode:is_anomaly_check_nan_enabled",
    "is_anomaly_enabled": "flambeau.autograd.anomaly_mode:is_anomaly_enabled",
    "set_anomaly_enabled": "flambeau.autograd.anomaly_mode:set_anomaly_enabled",
}
