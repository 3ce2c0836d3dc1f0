# The cursors and connections of sqlite3, behind module.py: see python-module.ts.
def _unsupported(name):
    def method(self, *args, **kwargs):
        raise NotSupportedError(name + " is not supported in this sandbox")
    method.__name__ = name
    return method


class Cursor:
    def __init__(self, connection, /):
        if not isinstance(connection, Connection):
            raise TypeError("Cursor() argument 1 must be sqlite3.Connection")
        self.connection = connection
        self.description = None
        self.rowcount = -1
        self.lastrowid = None
        self.arraysize = 1
        self.row_factory = connection.row_factory
        self._rows = []
        self._at = 0
        self._done = True
        self._statement = None
        self._converters = None
        self._closed = False
        self._verb = ""

    def _check(self):
        if self._closed:
            raise ProgrammingError("Cannot operate on a closed cursor.")
        self.connection._check()

    def _reset(self):
        if self._statement is not None and not self._done and self.connection._id is not None:
            _exchange(op="reset", id=self._statement)
        self._rows, self._at, self._done, self._statement = [], 0, True, None

    def _begin(self, sql):
        if not isinstance(sql, str):
            raise TypeError("execute() argument 1 must be str, not " + type(sql).__name__)
        if "\0" in sql:
            raise ProgrammingError("the query contains a null character")
        self._check()
        self._reset()
        self._verb = _verb(sql)
        self.connection._before(self._verb)

    def _take(self, answer):
        connection = self.connection
        connection._state(answer)
        columns = answer.get("columns")
        self.description = None if columns is None else tuple((self._name(name),) + (None,) * 6 for name in columns)
        self._converters = self._chosen(columns, answer.get("types"))
        self._rows, self._at, self._done = answer["rows"], 0, answer["done"]
        self._statement = answer.get("cursor")

    def _name(self, name):
        if self.connection._detect & PARSE_COLNAMES and name.endswith("]") and " [" in name:
            return name[:name.rindex(" [")]
        return name

    def _chosen(self, columns, types):
        detect = self.connection._detect
        if columns is None or not detect:
            return None
        chosen = []
        for name, declared in zip(columns, types):
            found = None
            if detect & PARSE_COLNAMES and name.endswith("]") and "[" in name:
                found = _converters.get(name[name.rindex("[") + 1:-1].upper())
            if found is None and detect & PARSE_DECLTYPES and declared:
                found = _converters.get(_re.split(r"[ (]", declared)[0].upper())
            chosen.append(found)
        return chosen

    def execute(self, sql, parameters=(), /):
        self._begin(sql)
        answer = self.connection._ask(op="execute", id=self.connection._id, sql=sql, parameters=_parameters(parameters))
        self._take(answer)
        is_change = self._verb in ("INSERT", "UPDATE", "DELETE", "REPLACE")
        self.rowcount = answer["direct"] if is_change and answer.get("columns") is None else -1
        if is_change and self._done and answer.get("columns") is not None:
            self.rowcount = answer["direct"]
        if self._verb in ("INSERT", "REPLACE"):
            self.lastrowid = self.connection._last
        return self

    def executemany(self, sql, seq_of_parameters, /):
        self._begin(sql)
        if self._verb not in ("INSERT", "UPDATE", "DELETE", "REPLACE"):
            raise ProgrammingError("executemany() can only execute DML statements.")
        self.rowcount = 0
        self.description = None
        batch, size = [], 0
        for parameters in seq_of_parameters:
            given = _parameters(parameters)
            batch.append(given)
            size += sum(len(value) if isinstance(value, str) else 32 + len(str(value)) for value in (given.values() if isinstance(given, dict) else given))
            if len(batch) >= _BATCH or size > _MOST // 8:
                self._many(sql, batch)
                batch, size = [], 0
        if batch:
            self._many(sql, batch)
        return self

    def _many(self, sql, batch):
        answer = self.connection._ask(op="many", id=self.connection._id, sql=sql, sets=batch)
        self.connection._state(answer)
        self.rowcount += answer["changes"]

    def executescript(self, script, /):
        if not isinstance(script, str):
            raise TypeError("executescript() argument must be str, not " + type(script).__name__)
        self._check()
        self._reset()
        if self.connection.in_transaction:
            self.connection.commit()
        self.connection._run(script)
        self.description, self.rowcount = None, -1
        return self

    def _row(self, values):
        values = [_plain(value) for value in values]
        connection = self.connection
        if self._converters is not None:
            for at, convert in enumerate(self._converters):
                if convert is not None and values[at] is not None:
                    value = values[at]
                    values[at] = convert(value if isinstance(value, bytes) else str(value).encode())
        factory = connection.text_factory
        if factory is not str:
            values = [factory(value.encode()) if type(value) is str else value for value in values]
        row = tuple(values)
        return row if self.row_factory is None else self.row_factory(self, row)

    def fetchone(self):
        self._check()
        if self._at >= len(self._rows):
            if self._done:
                return None
            answer = _exchange(op="fetch", id=self._statement)
            self.connection._state(answer)
            self._rows, self._at, self._done = answer["rows"], 0, answer["done"]
            if not self._rows:
                return None
        values = self._rows[self._at]
        self._at += 1
        return self._row(values)

    def fetchmany(self, size=None):
        found = []
        for _ in range(self.arraysize if size is None else size):
            row = self.fetchone()
            if row is None:
                break
            found.append(row)
        return found

    def fetchall(self):
        return list(iter(self.fetchone, None))

    def __iter__(self):
        return self

    def __next__(self):
        row = self.fetchone()
        if row is None:
            raise StopIteration
        return row

    def close(self):
        if not self._closed:
            self._reset()
        self._closed = True

    def setinputsizes(self, sizes, /):
        pass

    def setoutputsize(self, size, column=None, /):
        pass


class Connection:
    Warning, Error, InterfaceError, DatabaseError = Warning, Error, InterfaceError, DatabaseError
    DataError, OperationalError, IntegrityError = DataError, OperationalError, IntegrityError
    InternalError, ProgrammingError, NotSupportedError = InternalError, ProgrammingError, NotSupportedError

    def __init__(self, database, timeout=5.0, detect_types=0, isolation_level="", check_same_thread=True,
                 cached_statements=128, uri=False, autocommit=LEGACY_TRANSACTION_CONTROL, **_):
        self._id = None
        if autocommit != LEGACY_TRANSACTION_CONTROL:
            raise NotSupportedError("autocommit is not supported in this sandbox")
        path = _os.fsdecode(database)
        read_only = False
        if uri and path.startswith("file:"):
            path, _, query = path[5:].partition("?")
            options = dict(part.partition("=")[::2] for part in query.split("&") if part)
            read_only = options.get("mode") == "ro" or options.get("immutable") == "1"
            if options.get("mode") == "memory":
                path = ":memory:"
            if path.startswith("//"):
                path = "/" + path[2:].partition("/")[2]
        if path not in (":memory:", ""):
            path = _os.path.join(_os.getcwd(), path)
        self.row_factory = None
        self.text_factory = str
        self._detect = detect_types
        self._in_transaction = False
        self._changes = 0
        self._last = 0
        self.isolation_level = isolation_level
        self._id = _exchange(op="open", path=path, readOnly=read_only)["id"]

    def _check(self):
        if self._id is None:
            raise ProgrammingError("Cannot operate on a closed database.")

    def _state(self, answer):
        self._in_transaction = answer["transaction"]
        self._changes = answer["totalChanges"]
        self._last = answer["lastRowId"]

    def _before(self, verb):
        level = self.isolation_level
        if level is not None and not self._in_transaction and verb in ("INSERT", "UPDATE", "DELETE", "REPLACE"):
            self._run(("BEGIN " + level).strip())

    def _run(self, sql):
        self._state(self._ask(op="script", id=self._id, sql=sql))

    def _ask(self, **request):
        try:
            return _exchange(**request)
        except Exception:
            # What failed may have ended the transaction.
            try:
                self._state(_exchange(op="state", id=self._id))
            except Exception:
                self._in_transaction = False
            raise

    @property
    def isolation_level(self):
        return self._level

    @isolation_level.setter
    def isolation_level(self, level):
        if level is not None and level.upper() not in ("", "DEFERRED", "IMMEDIATE", "EXCLUSIVE"):
            raise ValueError("isolation_level string must be '', 'DEFERRED', 'IMMEDIATE', or 'EXCLUSIVE'")
        self._level = level
        if level is None and self._id is not None and self._in_transaction:
            self.commit()

    @property
    def autocommit(self):
        return LEGACY_TRANSACTION_CONTROL

    @property
    def in_transaction(self):
        self._check()
        return self._in_transaction

    @property
    def total_changes(self):
        self._check()
        return self._changes

    def cursor(self, factory=Cursor):
        self._check()
        cursor = factory(self)
        if self.row_factory is not None:
            cursor.row_factory = self.row_factory
        return cursor

    def execute(self, sql, parameters=(), /):
        return self.cursor().execute(sql, parameters)

    def executemany(self, sql, parameters, /):
        return self.cursor().executemany(sql, parameters)

    def executescript(self, script, /):
        return self.cursor().executescript(script)

    __call__ = _unsupported("a prepared statement")

    def commit(self):
        self._check()
        if self._in_transaction:
            self._run("COMMIT")

    def rollback(self):
        self._check()
        if self._in_transaction:
            self._run("ROLLBACK")

    def close(self):
        if self._id is not None:
            _exchange(op="close", id=self._id)
        self._id = None

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if kind is None:
            self.commit()
        else:
            self.rollback()
        return False

    def interrupt(self):
        self._check()

    def iterdump(self, *, filter=None):
        quoted = lambda name: '"' + name.replace('"', '""') + '"'
        yield "BEGIN TRANSACTION;"
        found = self.cursor()
        found.row_factory = None
        schema = found.execute("SELECT name, type, sql FROM sqlite_master WHERE sql NOT NULL ORDER BY type = 'table' DESC, name").fetchall()
        for name, kind, sql in schema:
            if filter is not None and not found.execute("SELECT ? LIKE ?", (name, filter)).fetchone()[0]:
                continue
            if name.startswith("sqlite_"):
                if name == "sqlite_sequence":
                    yield "DELETE FROM \"sqlite_sequence\";"
                else:
                    continue
            elif sql.upper().startswith("CREATE VIRTUAL TABLE"):
                raise NotSupportedError("iterdump of a virtual table is not supported in this sandbox")
            else:
                yield sql + ";"
            if kind == "table":
                columns = [row[1] for row in found.execute("PRAGMA table_info(" + quoted(name) + ")").fetchall()]
                values = " || ',' || ".join("quote(" + quoted(column) + ")" for column in columns)
                for (line,) in found.execute("SELECT 'INSERT INTO " + quoted(name).replace("'", "''") + " VALUES(' || " + values + " || ')' FROM " + quoted(name)).fetchall():
                    yield line + ";"
        yield "COMMIT;"


for _name in ("create_function", "create_aggregate", "create_window_function", "create_collation", "set_authorizer",
              "set_progress_handler", "set_trace_callback", "enable_load_extension", "load_extension", "blobopen", "backup",
              "serialize", "deserialize", "setlimit", "getlimit", "getconfig", "setconfig"):
    setattr(Connection, _name, _unsupported(_name))
Blob = type("Blob", (), {"__init__": _unsupported("Blob")})


def connect(database, timeout=5.0, detect_types=0, isolation_level="", check_same_thread=True, factory=Connection,
            cached_statements=128, uri=False, *, autocommit=LEGACY_TRANSACTION_CONTROL):
    return factory(database, timeout=timeout, detect_types=detect_types, isolation_level=isolation_level,
                   check_same_thread=check_same_thread, cached_statements=cached_statements, uri=uri, autocommit=autocommit)


def complete_statement(statement):
    return _exchange(op="complete", sql=statement)["complete"]


def enable_callback_tracebacks(flag, /):
    pass


for _kind in (Warning, Error, InterfaceError, DatabaseError, DataError, OperationalError, IntegrityError, InternalError,
              ProgrammingError, NotSupportedError, Row, Cursor, Connection, PrepareProtocol):
    _kind.__module__ = "sqlite3"
