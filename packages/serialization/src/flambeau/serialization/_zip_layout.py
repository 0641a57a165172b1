"""Structures of the zip format that both the reader and the writer need.

Source: PKWARE APPNOTE 6.3.9, sections 4.3 and 4.5.3 (zip64).
"""

from __future__ import annotations

import struct

# signature, version, flags, method, time, date, crc, packed size, size, length of name, of extra
LOCAL = struct.Struct("<4s5H3I2H")
# Of that, what a reader needs that trusts the directory: signature, length of name, of extra.
LOCAL_LENGTHS = struct.Struct("<4s22x2H")
LOCAL_MAGIC = b"PK\x03\x04"

# signature, made by, version, flags, method, time, date, crc, packed size, size, length of name, of extra,
# of comment, disk, internal attributes, external attributes, offset of the local header
CENTRAL = struct.Struct("<4s6H3I5H2I")
CENTRAL_MAGIC = b"PK\x01\x02"

# signature, disk, first disk, records here, records, size of the directory, its offset, length of comment
END = struct.Struct("<4s4H2IH")
END_MAGIC = b"PK\x05\x06"

# signature, size of the rest, made by, version, disk, first disk, records here, records, size, offset
END64 = struct.Struct("<4sQ2H2I4Q")
END64_MAGIC = b"PK\x06\x06"

# signature, disk, offset of END64, disks
LOCATOR = struct.Struct("<4sIQI")
LOCATOR_MAGIC = b"PK\x06\x07"

STORED, DEFLATED = 0, 8
FLAG_ENCRYPTED, FLAG_UTF8 = 0x1, 0x800
ZIP64_EXTRA = 1
LIMIT32 = 0xFFFFFFFF
LIMIT16 = 0xFFFF
