"""The scalar types that bodies are traced for, and the named sets of dtypes that a body may claim."""

from __future__ import annotations

from dataclasses import dataclass

NUM_DTYPES = 30
"""Length of a kernel's table of loops: one slot per dtype code up to uint64."""


@dataclass(frozen=True)
class ScalarType:
    """A dtype as the generator sees it.

    `code` is the dtype's number in the framework (and in torch). `compute` names the type that arithmetic runs in: half
    kinds are computed in float32 and rounded once, at the store.
    """

    name: str
    short: str
    code: int
    kind: str  # "bool" | "int" | "uint" | "float" | "complex"
    bits: int
    cpp: str
    compute_name: str = ""

    @property
    def compute(self) -> ScalarType:
        return BY_NAME[self.compute_name or self.name]

    @property
    def is_floating(self) -> bool:
        return self.kind == "float"

    @property
    def is_complex(self) -> bool:
        return self.kind == "complex"

    @property
    def is_integral(self) -> bool:
        return self.kind in ("int", "uint")

    @property
    def is_bool(self) -> bool:
        return self.kind == "bool"

    @property
    def real(self) -> ScalarType:
        """The type of the real part; the type itself if it is not complex."""
        return {"complex64": F32, "complex128": F64}.get(self.name, self)

    @property
    def complex(self) -> ScalarType:
        return {"float32": C64, "float64": C128}.get(self.name, self)

    @property
    def unsigned(self) -> ScalarType:
        """The unsigned integer of the same width, in which wrapping arithmetic is defined."""
        return BY_NAME["uint" + self.name.removeprefix("u").removeprefix("int")] if self.is_integral else self

    @property
    def is_signed(self) -> bool:
        return self.kind in ("int", "float", "complex")

    @property
    def max(self) -> float:
        """The largest finite value."""
        if self.is_integral:
            return (1 << (self.bits - (self.kind == "int"))) - 1
        return _LARGEST[self.name]

    @property
    def min(self) -> float:
        """The most negative finite value."""
        if self.is_integral:
            return -(1 << (self.bits - 1)) if self.kind == "int" else 0
        return -_LARGEST[self.name]

    def __str__(self) -> str:
        return self.name


_LARGEST = {
    "float16": 65504.0,
    "bfloat16": float.fromhex("0x1.fep127"),
    "float32": float.fromhex("0x1.fffffep127"),
    "float64": float.fromhex("0x1.fffffffffffffp1023"),
}


U8 = ScalarType("uint8", "u8", 0, "uint", 8, "uint8_t")
I8 = ScalarType("int8", "i8", 1, "int", 8, "int8_t")
I16 = ScalarType("int16", "i16", 2, "int", 16, "int16_t")
I32 = ScalarType("int32", "i32", 3, "int", 32, "int32_t")
I64 = ScalarType("int64", "i64", 4, "int", 64, "int64_t")
F16 = ScalarType("float16", "f16", 5, "float", 16, "uint16_t", "float32")
F32 = ScalarType("float32", "f32", 6, "float", 32, "float")
F64 = ScalarType("float64", "f64", 7, "float", 64, "double")
C64 = ScalarType("complex64", "c64", 9, "complex", 64, "c64")
C128 = ScalarType("complex128", "c128", 10, "complex", 128, "c128")
BOOL = ScalarType("bool", "b", 11, "bool", 8, "bool")
BF16 = ScalarType("bfloat16", "bf16", 15, "float", 16, "uint16_t", "float32")
U16 = ScalarType("uint16", "u16", 27, "uint", 16, "uint16_t")
U32 = ScalarType("uint32", "u32", 28, "uint", 32, "uint32_t")
U64 = ScalarType("uint64", "u64", 29, "uint", 64, "uint64_t")

ALL_TYPES = (U8, I8, I16, I32, I64, F16, F32, F64, C64, C128, BOOL, BF16, U16, U32, U64)
BY_NAME = {t.name: t for t in ALL_TYPES}

_ATOMS = {
    "bool": (BOOL,),
    "integral": (U8, I8, I16, I32, I64),
    "signed": (I8, I16, I32, I64),
    "wide_unsigned": (U16, U32, U64),
    "floating": (F32, F64, F16, BF16),
    "full_floating": (F32, F64),
    "complex": (C64, C128),
}
_ALIASES = {
    "all": "bool|integral|floating|complex",
    "any_integral": "integral|wide_unsigned",
    "anything": "bool|integral|wide_unsigned|floating|complex",
    "numeric": "integral|floating|complex",
    "real": "bool|integral|floating",
    "any_real": "bool|integral|wide_unsigned|floating",
    "real_numeric": "integral|floating",
    "float_complex": "floating|complex",
    "bits": "bool|integral",
}


def dtype_set(spec: str) -> tuple[ScalarType, ...]:
    """The types that `spec` names: atoms or aliases joined with `|`, such as "bool|integral" or "numeric".

    Raises
    ------
    ValueError  if a word is neither an atom, an alias nor a dtype
    """
    out: dict[str, ScalarType] = {}
    for word in spec.split("|"):
        if word in _ALIASES:
            members = dtype_set(_ALIASES[word])
        elif word in _ATOMS:
            members = _ATOMS[word]
        elif word in BY_NAME:
            members = (BY_NAME[word],)
        else:
            allowed = ", ".join([*_ATOMS, *_ALIASES, *BY_NAME])
            raise ValueError(f'no dtype set is called "{word}"; allowed are {allowed}, joined with |')
        out.update((t.name, t) for t in members)
    return tuple(out.values())


def describe_dtypes(types: tuple[ScalarType, ...]) -> str:
    """`types` in words: a kind of dtypes by its name where all of it is there."""
    words, names = [], {t.name for t in types}
    for word in ("bool", "integral", "wide_unsigned", "floating", "complex"):
        members = [t.name for t in _ATOMS[word]]
        if word != "wide_unsigned" and names.issuperset(members):
            words.append(word)
        else:
            words += [m for m in members if m in names]
    return ", ".join(words)


def float32_of(value: float) -> float:
    """`value` rounded to float32."""
    import struct

    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def wrap_integer(value: int, t: ScalarType) -> int:
    """`value` reduced to the range of `t`, as two's complement arithmetic does."""
    value &= (1 << t.bits) - 1
    return value - (1 << t.bits) if t.kind == "int" and value >> (t.bits - 1) else value
