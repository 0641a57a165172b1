# What type checkers read for `flambeau`. Names come from the installed packages' stubs; those of packages that are not
# installed are unknown, as they are at run time.
from flambeau import _C as _C
from flambeau._C import *
from flambeau._stubs.aten_functions import *
from flambeau._stubs.aten_index import *
from flambeau._stubs.autograd_index import *
from flambeau._stubs.core_functions import *
from flambeau._stubs.core_index import *
from flambeau._stubs.nn_index import *
from flambeau._stubs.serialization_index import *

__version__: str
