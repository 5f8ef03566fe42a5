from enum import Enum
from typing import TYPE_CHECKING

class KVCacheType(str, Enum):
    CONTINUOUS = 'continuous'
    PAGED = 'paged'
    DISABLED = 'disabled'
