# Serves components: see python-bootstrap.ts.
def _winterdock():
    import base64, io, json, linecache, os, sys, traceback, types
    fd = os.open("/dev/winterdock", os.O_RDWR)
    read, write, dumps, loads = os.read, os.write, json.dumps, json.loads
    b64encode, b64decode, format_exception, format_exception_only = base64.b64encode, base64.b64decode, traceback.format_exception, traceback.format_exception_only

    def take(count):
        parts = []
        while count > 0:
            part = read(fd, count)
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def exchange(message):
        data = dumps(message).encode()
        data = len(data).to_bytes(4, "big") + data
        while data:
            data = data[write(fd, data):]
        return loads(take(int.from_bytes(take(4), "big")))

    class Output(io.TextIOBase):
        encoding, errors = "utf-8", "backslashreplace"

        def __init__(self, stream):
            self._stream, self._parts, self._size = stream, [], 0

        def writable(self):
            return True

        def write(self, text):
            if not isinstance(text, str):
                raise TypeError("write() argument must be str, not " + type(text).__name__)
            self._parts.append(text)
            self._size += len(text)
            if self._size > 8192:
                self.flush()
            return len(text)

        def flush(self):
            text, self._parts, self._size = "".join(self._parts), [], 0
            if text:
                exchange(["log", self._stream, text.encode("utf-8", "backslashreplace").decode()])

    out, err = Output("stdout"), Output("stderr")

    class Vfs:
        __slots__ = ()

        def _ask(self, name, *args):
            value, error = exchange(["ask", name, args])
            if error is not None:
                raise PermissionError(error) if "does not declare it" in error else OSError(error)
            return value

        def get(self, path, volume=None):
            return self._ask("vfs.get", str(path), volume)

        def get_bytes(self, path, volume=None):
            value = self._ask("vfs.getBytes", str(path), volume)
            return None if value is None else b64decode(value["base64"])

        def put(self, path, content, volume=None):
            if isinstance(content, (bytes, bytearray, memoryview)):
                content = {"base64": b64encode(content).decode()}
            elif not isinstance(content, str):
                raise TypeError("content must be str or bytes, not " + type(content).__name__)
            self._ask("vfs.put", str(path), content, volume)

        def list(self, prefix=None, volume=None):
            return self._ask("vfs.list", prefix, volume)

        def delete(self, path, volume=None):
            return self._ask("vfs.delete", str(path), volume)

        def query(self, sql, params=None):
            return self._ask("vfs.query", sql, None if params is None else dumps(params))

    # A module of the library may look at the clock and seed itself while it loads, and to wait is to use neither.
    import builtins, time
    modules, find, wait, sleeping = sys.modules, builtins.__import__, time.sleep, [0]
    RANDOM = ("random", "uniform", "triangular", "randint", "choice", "randrange", "sample", "shuffle", "choices",
              "normalvariate", "lognormvariate", "expovariate", "vonmisesvariate", "gammavariate", "gauss",
              "betavariate", "binomialvariate", "paretovariate", "weibullvariate", "getrandbits", "randbytes")

    def quietly(work, *args, **named):
        if sleeping[0] == 0:
            exchange(["quiet", True])
        sleeping[0] += 1
        try:
            return work(*args, **named)
        finally:
            sleeping[0] -= 1
            if sleeping[0] == 0:
                exchange(["quiet", False])

    def asking(work):
        def guarded(*args, **named):
            _, error = exchange(["ask", "use", ["random"]])
            if error is not None:
                raise PermissionError(error)
            return work(*args, **named)
        guarded.__name__ = guarded.__qualname__ = work.__name__
        guarded.__doc__ = work.__doc__
        return guarded

    def guard_random():
        module = modules.get("random")
        if module is None or hasattr(module, "_guarded"):
            return
        module._guarded = True
        for name in RANDOM:
            setattr(module, name, asking(getattr(module, name)))

    def load_module(name, *args, **named):
        module, wanted = modules.get(name), args[2] if len(args) > 2 else named.get("fromlist")
        if module is not None and all(hasattr(module, one) for one in wanted or ()):
            return find(name, *args, **named)
        return quietly(find, name, *args, **named)

    def imported(name, globals=None, locals=None, fromlist=(), level=0):
        module = load_module(name, globals, locals, fromlist, level)
        if sleeping[0] == 0:
            guard_random()
        return module

    def sleep(seconds):
        return quietly(wait, seconds)

    builtins.__import__, time.sleep = imported, sleep

    class Refusal(Exception):
        def __init__(self, kind, message):
            self.kind, self.message = kind, message

    loaded = {}

    def described(error, skip):
        frames = error.__traceback__
        for _ in range(skip):
            frames = frames.tb_next if frames else None
        return "".join(format_exception(type(error), error, frames)).strip()[-16384:]

    def load(call):
        path, file = call["path"], call["path"] + ".py"
        module = types.ModuleType(path.replace("/", "."))
        module.__file__ = file
        module.vfs = Vfs()
        source = call["source"]
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), module.__dict__)
        if not callable(getattr(module, "run", None)):
            raise Refusal("component", "It defines no function run(input).")
        if call["persist"] != "no":
            for name in ("get_state", "set_state"):
                if not callable(getattr(module, name, None)):
                    raise Refusal("state", "It has :persist and defines no function " + name + ".")
            saved, error = exchange(["ask", "savedState", []])
            if error is not None:
                raise Refusal("state", error)
            if saved is not None:
                try:
                    module.set_state(loads(b64decode(saved["base64"])))
                except BaseException as error:
                    raise Refusal("state", "set_state refused what was kept: " + described(error, 1))
        loaded[path] = (call["hash"], module)
        return module

    def as_json(value, kind, what):
        try:
            return dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise Refusal(kind, what + " is nothing that JSON has: " + str(error))

    def perform(call):
        kept = loaded.get(call["path"])
        if kept is not None and kept[0] != call["hash"]:
            del loaded[call["path"]]
            kept = None
        module = load(call) if kept is None else kept[1]
        output = as_json(module.run(loads(call["input"])), "output", "What it returned")
        result = {"ok": True, "json": output, "keeps": "memory"}
        if call["persist"] != "no":
            try:
                state = module.get_state()
            except BaseException as error:
                raise Refusal("state", "get_state failed: " + described(error, 1))
            result["state"] = as_json(state, "state", "What get_state returned")
        return result

    own = dict(os.environ)

    def set_env(env):
        os.environ.clear()
        os.environ.update(own)
        os.environ.update(env)

    def answer(call):
        set_env(call["env"])
        sys.stdout, sys.stderr = out, err
        try:
            return perform(call)
        except Refusal as refusal:
            return {"ok": False, "kind": refusal.kind, "message": refusal.message, "keeps": "memory" if call["path"] in loaded else "nothing"}
        except MemoryError:
            loaded.pop(call["path"], None)
            return {"ok": False, "kind": "memory", "message": "MemoryError: it has no memory left, and starts afresh.", "keeps": "nothing"}
        except BaseException as error:
            return {"ok": False, "kind": "component", "message": described(error, 2), "keeps": "memory" if call["path"] in loaded else "nothing"}
        finally:
            out.flush()
            err.flush()

    message = exchange(["next"])
    while True:
        if message["type"] == "forget":
            loaded.pop(message["path"], None)
            message = exchange(["next"])
        else:
            message = exchange(["result", answer(message["call"])])

_winterdock()
