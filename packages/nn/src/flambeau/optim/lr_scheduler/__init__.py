"""Learning-rate schedules."""

from flambeau.optim.lr_scheduler._base import EPOCH_DEPRECATION_WARNING, LRScheduler, _LRScheduler
from flambeau.optim.lr_scheduler._compose import ChainedScheduler, SequentialLR
from flambeau.optim.lr_scheduler._cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from flambeau.optim.lr_scheduler._cyclic import CyclicLR
from flambeau.optim.lr_scheduler._decay import ConstantLR, ExponentialLR, LinearLR, MultiStepLR, PolynomialLR, StepLR
from flambeau.optim.lr_scheduler._lambda import LambdaLR, MultiplicativeLR
from flambeau.optim.lr_scheduler._one_cycle import OneCycleLR
from flambeau.optim.lr_scheduler._plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "EPOCH_DEPRECATION_WARNING",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
