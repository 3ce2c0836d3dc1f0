/**
 * The first part of a program's realm: finds and loads modules, keeps timers and what is to be done at the next tick,
 * and says how the program ends. Evaluated in QuickJS before the program. `host` is what it reaches outside; the rest
 * of Node's interface is loaded when a program first uses it.
 */
'use strict';
const { parse, stringify } = JSON;
const settings = parse(host.settings());
const define = Object.defineProperty;
const hidden = (target, name, value) => define(target, name, { value, writable: true, configurable: true });

// A stack overflow is a RangeError, as everywhere else; QuickJS has a class of its own for it and for lack of memory.
Object.setPrototypeOf(InternalError, RangeError);
Object.setPrototypeOf(InternalError.prototype, RangeError.prototype);
hidden(InternalError.prototype, 'constructor', RangeError);
define(InternalError.prototype, 'name', {
  configurable: true,
  get() {
    return this.message === 'stack overflow' ? 'RangeError' : 'InternalError';
  },
});
delete globalThis.InternalError;
define(Error, 'captureStackTrace', {
  configurable: true,
  writable: true,
  value: function captureStackTrace(target) {
    const [, ...frames] = new Error().stack.split('\n');
    const header = target instanceof Error ? String(target) : (target?.name ?? 'Error');
    hidden(target, 'stack', [header, ...frames].join('\n'));
  },
});
hidden(Error, 'stackTraceLimit', 10);

/** Modules that are files beside this one. */
const BUILTINS = new Set(settings.builtins);
const PARTS = new Set(settings.parts);
const ABSENT = settings.absent;
const loaded = new Map();

/** A part of Node's interface, or a package that it is made of. */
const internal = (id) => {
  const known = loaded.get(id);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(id, module);
  const isOwn = BUILTINS.has(id) || PARTS.has(id);
  const run = host.compile(
    host.internal(id),
    `node:${id}`,
    isOwn ? 'exports, require, module, host' : 'exports, require, module',
  );
  run.call(module.exports, module.exports, requireInternal(id), module, host);
  return module.exports;
};
const STAND_INS = { 'process/': 'process', 'string_decoder/': 'string_decoder', 'safe-buffer': 'buffer' };
const requireInternal = (from) => (id) => {
  if (id === './boot') return boot;
  if (id === 'process' || id === 'process/') return process;
  if (id === 'abort-controller') return globalThis;
  const named = STAND_INS[id] ?? id.replace(/^node:/, '');
  return BUILTINS.has(named) || PARTS.has(named) ? internal(named) : internal(host.internalPath(id, from));
};

const absent = (name) => {
  const error = new Error(`'${name}' is a module of Node.js that is not here: ${ABSENT[name]}`);
  error.code = 'ERR_UNKNOWN_BUILTIN_MODULE';
  throw error;
};
/** The name of a module of Node; null for any other specifier. Absent ones throw. */
const builtinOf = (specifier, isFile) => {
  const name = specifier.startsWith('node:') ? specifier.slice(5) : specifier;
  if (BUILTINS.has(name)) return name;
  if (Object.hasOwn(ABSENT, name)) return isFile ? null : absent(name);
  if (name !== specifier) {
    const error = new Error(`No such built-in module: ${specifier}`);
    error.code = 'ERR_UNKNOWN_BUILTIN_MODULE';
    throw error;
  }
  return null;
};
const builtin = (name) => (name === 'process' ? process : name === 'console' ? globalThis.console : internal(name));

const cache = Object.create(null);
const folderOf = (path) => path.slice(0, path.lastIndexOf('/')) || '/';
const PARAMETERS = 'exports, require, module, __filename, __dirname';
const newModule = (path) => ({
  exports: {},
  id: path,
  filename: path,
  path: folderOf(path),
  loaded: false,
  children: [],
  paths: [],
});

const loadFile = (path) => {
  const known = cache[path];
  if (known !== undefined) return known.exports;
  const module = newModule(path);
  cache[path] = module;
  try {
    if (path.endsWith('.json')) {
      try {
        module.exports = parse(host.source(path).replace(/^\uFEFF/, ''));
      } catch (error) {
        error.message = `${path}: ${error.message}`;
        throw error;
      }
    } else if (host.isEsModule(path) === 'true') {
      const space = host.importNow(path);
      module.exports = Object.hasOwn(space, 'module.exports') ? space['module.exports'] : space;
    } else runModule(module, host.compile(host.source(path), path, PARAMETERS));
  } catch (error) {
    delete cache[path];
    throw error;
  }
  module.loaded = true;
  return module.exports;
};
const runModule = (module, run) => {
  module.require = requireFrom(module.filename);
  run.call(module.exports, module.exports, module.require, module, module.filename, module.path);
};

const requireFrom = (from) => {
  const require = (specifier) => {
    if (typeof specifier !== 'string') {
      const error = new TypeError(
        `The "id" argument must be of type string. Received ${specifier === null ? 'null' : typeof specifier}`,
      );
      error.code = 'ERR_INVALID_ARG_TYPE';
      throw error;
    }
    const name = builtinOf(specifier, false);
    return name !== null ? builtin(name) : loadFile(host.resolve(specifier, from, 'require'));
  };
  require.resolve = (specifier) =>
    builtinOf(String(specifier), false) === null ? host.resolve(String(specifier), from, 'require') : specifier;
  require.cache = cache;
  require.main = main;
  return require;
};

const { timers, globals, requireFunction, runDue, now } = internal('timer_queue');
for (const [name, value] of Object.entries(globals)) hidden(globalThis, name, value);
/** Functions for the next tick, in order. */
let ticks = [];
const queueTick = (work, ...args) => {
  requireFunction(work);
  ticks.push({ work, args });
};

/** Names that are there once a program uses them: the file that defines each. */
const LATE = {
  Buffer: 'buffer',
  atob: 'buffer',
  btoa: 'buffer',
  Blob: 'buffer',
  URL: 'url',
  URLSearchParams: 'url',
  TextEncoder: 'encoding',
  TextDecoder: 'encoding',
  structuredClone: 'clone',
  DOMException: 'clone',
  EventTarget: 'event_target',
  Event: 'event_target',
  performance: 'perf_hooks',
  crypto: 'webcrypto',
  Intl: 'intl',
};
for (const [name, file] of Object.entries(LATE)) {
  const set = (value) => hidden(globalThis, name, value);
  define(globalThis, name, {
    configurable: true,
    set,
    get() {
      set(internal(file)[name]);
      return globalThis[name];
    },
  });
}
hidden(globalThis, 'global', globalThis);

/** What the other parts reach of this one. */
const boot = {
  queueTick,
  globals,
  builtins: settings.builtins,
  requireFrom,
  now,
  settings,
  cwd: () => process.cwd(),
  isFile: (specifier) => builtinOf(specifier, true) === null,
  fatal: (error) => fatal(error, 'uncaughtException'),
};

const { console, print } = internal('console');
boot.print = print;
globalThis.console = console;

const { process, emit, end, leave, report, codeOf, isEnding } = internal('process_object');
hidden(globalThis, 'process', process);
process.getBuiltinModule = (name) =>
  builtinOf(String(name), true) === null ? undefined : builtin(builtinOf(String(name), true));

/** An error that nothing caught: its listeners, or the end with exit code 1. */
const fatal = (thrown, origin) => {
  try {
    if (emit('uncaughtException', thrown, origin)) return;
  } catch (other) {
    thrown = other;
  }
  report(thrown, origin === 'unhandledRejection');
  if (!isEnding()) {
    process.exitCode = 1;
    leave(end());
  }
  leave(process.exitCode || 1);
};

/** Runs what is due at the next tick, and what that adds. */
const runTicks = () => {
  while (ticks.length > 0) {
    const due = ticks;
    ticks = [];
    for (const { work, args } of due) {
      try {
        work(...args);
      } catch (error) {
        fatal(error, 'uncaughtException');
      }
    }
  }
};

const main = newModule(settings.main);
main.id = '.';
main.require = requireFrom(settings.main);
// A text that waits at its top may require all the same, unless it says that it is a module.
if (!settings.isModule) hidden(globalThis, 'require', main.require);
if (settings.isPrinted) Object.assign(globalThis, { module: main, exports: main.exports });
hidden(globalThis, Symbol.for('js.require'), (path) =>
  path.startsWith('node:') ? builtin(path.slice(5)) : loadFile(path),
);
hidden(globalThis, Symbol.for('js.resolve'), (from, asked) => {
  const specifier = String(asked);
  if (builtinOf(specifier, true) !== null) return `node:${builtinOf(specifier, true)}`;
  if (/^[a-z]+:/.test(specifier)) return specifier;
  const url = internal('url');
  if (/^(?:\.{0,2}\/)/.test(specifier)) return new url.URL(specifier, url.pathToFileURL(from)).href;
  return url.pathToFileURL(host.resolve(specifier, from, 'import')).href;
});
internal('locale');
if (settings.zone !== null) internal('zone').use(settings.zone);

module.exports = {
  /** Runs the compiled body of a CommonJS program. */
  run(body) {
    if (settings.isFile) cache[settings.main] = main;
    runModule(main, body);
    main.loaded = true;
  },
  print: (value) => print.out(value),
  tick: runTicks,
  turn() {
    const wait = runDue((error) => fatal(error, 'uncaughtException'));
    if (ticks.length > 0) runTicks();
    return wait;
  },
  /** Nothing is left to wait for: listeners may add something. */
  idle() {
    emit('beforeExit', codeOf());
    return timers.refs > 0 || timers.immediates.length > 0 || ticks.length > 0;
  },
  rejected(reason, promise) {
    try {
      if (emit('unhandledRejection', reason, promise)) return;
    } catch (error) {
      fatal(error, 'uncaughtException');
    }
    fatal(reason, 'unhandledRejection');
  },
  fatal: (error) => fatal(error, 'uncaughtException'),
  end,
  namesOf: (path) => {
    const value = path.startsWith('node:') ? builtin(path.slice(5)) : loadFile(path);
    const isHolder = (typeof value === 'object' && value !== null) || typeof value === 'function';
    return stringify(isHolder ? Object.keys(value).filter((name) => name !== 'default') : []);
  },
};
