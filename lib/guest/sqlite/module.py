"""SQLite databases in the files of the sandbox: the usual part of the DB-API 2.0."""
import json as _json
import os as _os
import re as _re
from base64 import b64decode as _b64decode, b64encode as _b64encode

apilevel = "2.0"
paramstyle = "qmark"
threadsafety = 1
version = "2.6.0"
version_info = (2, 6, 0)
PARSE_DECLTYPES = 1
PARSE_COLNAMES = 2
LEGACY_TRANSACTION_CONTROL = -1
SQLITE_OK = 0
SQLITE_DENY = 1
SQLITE_IGNORE = 2

_DEVICE = "/dev/.sqlite"
_MOST = 8_000_000
_BATCH = 1000


class Warning(Exception):
    pass


class Error(Exception):
    pass


class InterfaceError(Error):
    pass


class DatabaseError(Error):
    pass


class DataError(DatabaseError):
    pass


class OperationalError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


class InternalError(DatabaseError):
    pass


class ProgrammingError(DatabaseError):
    pass


class NotSupportedError(DatabaseError):
    pass


_OPERATIONAL = (1, 3, 4, 5, 6, 8, 9, 10, 13, 14, 15, 16, 17)
_NAMES = {
    1: "SQLITE_ERROR", 2: "SQLITE_INTERNAL", 3: "SQLITE_PERM", 4: "SQLITE_ABORT", 5: "SQLITE_BUSY", 6: "SQLITE_LOCKED",
    7: "SQLITE_NOMEM", 8: "SQLITE_READONLY", 9: "SQLITE_INTERRUPT", 10: "SQLITE_IOERR", 11: "SQLITE_CORRUPT",
    12: "SQLITE_NOTFOUND", 13: "SQLITE_FULL", 14: "SQLITE_CANTOPEN", 15: "SQLITE_PROTOCOL", 17: "SQLITE_SCHEMA",
    18: "SQLITE_TOOBIG", 19: "SQLITE_CONSTRAINT", 20: "SQLITE_MISMATCH", 21: "SQLITE_MISUSE", 25: "SQLITE_RANGE",
    26: "SQLITE_NOTADB", 275: "SQLITE_CONSTRAINT_CHECK", 787: "SQLITE_CONSTRAINT_FOREIGNKEY",
    1299: "SQLITE_CONSTRAINT_NOTNULL", 1555: "SQLITE_CONSTRAINT_PRIMARYKEY", 1811: "SQLITE_CONSTRAINT_TRIGGER",
    2067: "SQLITE_CONSTRAINT_UNIQUE", 2579: "SQLITE_CONSTRAINT_ROWID", 3091: "SQLITE_CONSTRAINT_DATATYPE",
}


def _failure(answer):
    message = answer["error"]
    if "kind" in answer:
        return globals().get(answer["kind"], OperationalError)(message)
    code, extended = answer["code"], answer["extended"]
    if code == 7:
        return MemoryError(message)
    if code in (2, 12):
        kind = InternalError
    elif code in _OPERATIONAL:
        kind = OperationalError
    elif code == 18:
        kind = DataError
    elif code in (19, 20):
        kind = IntegrityError
    elif code in (21, 25):
        kind = InterfaceError
    else:
        kind = DatabaseError
    error = kind(message)
    error.sqlite_errorcode = extended
    error.sqlite_errorname = _NAMES.get(extended) or _NAMES.get(code, "SQLITE_ERROR")
    return error


def _exchange(**request):
    data = _json.dumps(request).encode()
    if len(data) > _MOST:
        raise DataError("string or blob too big")
    rest = len(data).to_bytes(4, "big") + data
    fd = _os.open(_DEVICE, _os.O_RDWR)
    try:
        while rest:
            rest = rest[_os.write(fd, rest):]
    finally:
        _os.close(fd)
    fd = _os.open(_DEVICE, _os.O_RDONLY)
    try:
        answer = _json.loads(b"".join(iter(lambda: _os.read(fd, 1 << 20), b"")))
    finally:
        _os.close(fd)
    if "error" in answer:
        raise _failure(answer)
    return answer


def __getattr__(name):
    if name == "sqlite_version":
        return _exchange(op="version")["version"]
    if name == "sqlite_version_info":
        return tuple(int(part) for part in __getattr__("sqlite_version").split("."))
    raise AttributeError("module 'sqlite3' has no attribute " + repr(name))


class PrepareProtocol:
    pass


_adapters = {}
_converters = {}


def register_adapter(type, adapter, /):
    _adapters[type] = adapter


def register_converter(typename, converter, /):
    _converters[typename.upper()] = converter


def adapt(value, protocol=PrepareProtocol, alternate=None, /):
    kind = type(value)
    if kind in _adapters:
        return _adapters[kind](value)
    if kind.__module__ == "datetime" and kind.__name__ in ("date", "datetime"):
        return value.isoformat() if kind.__name__ == "date" else value.isoformat(" ")
    if hasattr(value, "__conform__"):
        return value.__conform__(protocol)
    raise ProgrammingError("can't adapt")


def _convert_date(value):
    import datetime
    return datetime.date(*map(int, value.split(b"-")))


def _convert_timestamp(value):
    import datetime
    return datetime.datetime.fromisoformat(value.decode())


register_converter("date", _convert_date)
register_converter("timestamp", _convert_timestamp)


def Date(*args):
    import datetime
    return datetime.date(*args)


def Time(*args):
    import datetime
    return datetime.time(*args)


def Timestamp(*args):
    import datetime
    return datetime.datetime(*args)


Binary = memoryview
STRING = str
BINARY = bytes
NUMBER = float
DATETIME = object
ROWID = int


def _given(value, name, adapted=False):
    if value is None:
        return None
    kind = type(value)
    if not adapted and (kind in _adapters or kind not in (int, float, str, bytes, bytearray, bool)):
        try:
            return _given(adapt(value), name, True)
        except ProgrammingError:
            pass
    if isinstance(value, str):
        if not value.isascii():
            value.encode()
        return str(value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise OverflowError("Python int too large to convert to SQLite INTEGER")
        return {"i": str(int(value))}
    if isinstance(value, float):
        return None if value != value else {"f": repr(float(value))}
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"b": _b64encode(value).decode()}
    raise ProgrammingError("Error binding parameter " + name + ": type '" + kind.__name__ + "' is not supported")


def _parameters(parameters):
    if isinstance(parameters, dict):
        return {name: _given(value, "':" + str(name) + "'") for name, value in parameters.items()}
    if hasattr(parameters, "keys") and hasattr(parameters, "__getitem__"):
        return {name: _given(parameters[name], "':" + str(name) + "'") for name in parameters.keys()}
    if not hasattr(parameters, "__len__") or not hasattr(parameters, "__getitem__"):
        raise ProgrammingError("parameters are of unsupported type")
    return [_given(parameters[at], str(at + 1)) for at in range(len(parameters))]


def _plain(value):
    if type(value) is dict:
        return float(value["f"]) if "f" in value else _b64decode(value["b"])
    return value


_STARTS = _re.compile(r"(?:\s+|--[^\n]*(?:\n|$)|/\*.*?(?:\*/|$))*([A-Za-z]*)", _re.S)


def _verb(sql):
    return _STARTS.match(sql).group(1).upper()


class Row:
    __slots__ = ("_names", "_values")

    def __init__(self, cursor, values):
        self._names = tuple(column[0] for column in cursor.description)
        self._values = tuple(values)

    def keys(self):
        return list(self._names)

    def __getitem__(self, key):
        if isinstance(key, str):
            for at, name in enumerate(self._names):
                if name == key or name.lower() == key.lower():
                    return self._values[at]
            raise IndexError("No item with that key")
        return self._values[key]

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values)

    def __eq__(self, other):
        if not isinstance(other, Row):
            return NotImplemented
        return self._names == other._names and self._values == other._values

    def __hash__(self):
        return hash(self._names) ^ hash(self._values)

    def __repr__(self):
        return "<sqlite3.Row object at " + hex(id(self)) + ">"
