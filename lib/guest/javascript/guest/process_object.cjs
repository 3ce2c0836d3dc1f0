/** `process`: what a program is told of itself, its listeners and its end. */
'use strict';
const { queueTick, now, settings } = require('./boot');
const { requireFunction } = require('timer_queue');
const { formatted, print } = require('node:console');
const { parse } = JSON;
const define = Object.defineProperty;
const hidden = (target, name, value) => define(target, name, { value, writable: true, configurable: true });

const listeners = new Map();
const process = {
  title: settings.name,
  version: settings.version,
  versions: { quickjs: settings.version },
  arch: 'wasm32',
  platform: 'linux',
  release: { name: 'quickjs' },
  argv: settings.argv,
  execArgv: [],
  execPath: `/usr/bin/${settings.name}`,
  pid: 2,
  ppid: 1,
  exitCode: undefined,
  argv0: settings.name,
  config: {},
  features: {},
};
const texts = (target) =>
  new Proxy(target, {
    set(env, name, value) {
      if (typeof name === 'symbol' || typeof value === 'symbol')
        throw new TypeError('Cannot convert a Symbol value to a string');
      env[name] = String(value);
      return true;
    },
  });
globalThis.env ??= {};
process.env = texts(globalThis.env);
let cwd = settings.cwd;
let isEnding = false;
/** What `on('exit')` and the like were given. */
const emit = (event, ...values) => {
  const works = listeners.get(event);
  if (works === undefined || works.length === 0) return false;
  for (const entry of [...works]) {
    if (entry.once) works.splice(works.indexOf(entry), 1);
    entry.work.apply(process, values);
  }
  return true;
};
const listen = (once, first) =>
  function on(event, work) {
    requireFunction(work);
    const works = listeners.get(event) ?? [];
    listeners.set(event, works);
    if (first) works.unshift({ work, once });
    else works.push({ work, once });
    return process;
  };
const codeOf = () => {
  const code = process.exitCode;
  const number = code === undefined || code === null ? 0 : Number(code);
  if (!Number.isInteger(number)) {
    const error = new TypeError(
      `The "code" argument must be of type number. Received ${typeof code === 'string' ? `type string ('${code}')` : String(code)}`,
    );
    error.code = 'ERR_INVALID_ARG_TYPE';
    throw error;
  }
  return number & 255;
};
/** Tells the listeners of the end, once; returns the exit code. */
const end = () => {
  if (isEnding) return codeOf();
  isEnding = true;
  try {
    emit('exit', codeOf());
  } catch (error) {
    report(error);
    process.exitCode = process.exitCode || 1;
  }
  return codeOf();
};
/** The program ends at the next look of the interpreter at its clock: nothing catches that, and no `finally` runs. */
const leave = (code) => {
  host.exit(String(code));
  for (;;);
};
const methods = {
  cwd: () => cwd,
  chdir(folder) {
    cwd = require('node:fs').folderOf(folder);
  },
  exit(code) {
    if (code !== undefined) process.exitCode = code;
    leave(end());
  },
  reallyExit: (code) => leave(Number(code) & 255),
  abort: () => leave(134),
  kill: () => {
    const error = new Error('kill is not here: a program sees no other process');
    error.code = 'ENOSYS';
    throw error;
  },
  nextTick: queueTick,
  hrtime: Object.assign(
    (since) => {
      const time = host.nanoseconds();
      const nanoseconds = BigInt(time) - (since === undefined ? 0n : BigInt(since[0]) * 1000000000n + BigInt(since[1]));
      return [Number(nanoseconds / 1000000000n), Number(nanoseconds % 1000000000n)];
    },
    { bigint: () => BigInt(host.nanoseconds()) },
  ),
  uptime: () => now() / 1000,
  memoryUsage: Object.assign(() => parse(host.memory()), { rss: () => parse(host.memory()).rss }),
  cpuUsage: () => ({ user: Math.round(now() * 1000), system: 0 }),
  resourceUsage: () => ({
    userCPUTime: Math.round(now() * 1000),
    systemCPUTime: 0,
    maxRSS: Math.round(parse(host.memory()).rss / 1024),
  }),
  umask: () => settings.umask,
  getuid: () => settings.uid,
  geteuid: () => settings.uid,
  getgid: () => settings.uid,
  getegid: () => settings.uid,
  emitWarning(warning, type) {
    const name = typeof type === 'string' ? type : (type?.type ?? warning?.name ?? 'Warning');
    print.err(`(${settings.name}:2) ${name === 'Error' ? 'Warning' : name}: ${warning?.message ?? warning}`);
  },
  on: listen(false, false),
  addListener: listen(false, false),
  once: listen(true, false),
  prependListener: listen(false, true),
  off(event, work) {
    const works = listeners.get(event);
    const at = works?.findIndex((entry) => entry.work === work) ?? -1;
    if (at >= 0) works.splice(at, 1);
    return process;
  },
  removeAllListeners(event) {
    if (event === undefined) listeners.clear();
    else listeners.delete(event);
    return process;
  },
  emit,
  listeners: (event) => (listeners.get(event) ?? []).map(({ work }) => work),
  listenerCount: (event) => (listeners.get(event) ?? []).length,
  setMaxListeners: () => process,
  binding() {
    throw new Error('process.binding is not here: there is nothing of Node.js behind it');
  },
};
methods.removeListener = methods.off;
Object.assign(process, methods);
hidden(process, Symbol.toStringTag, 'process');
for (const name of ['stdin', 'stdout', 'stderr']) {
  const set = (value) => define(process, name, { value, writable: true, enumerable: true, configurable: true });
  define(process, name, {
    configurable: true,
    set,
    get() {
      set(require('standard_streams')[name]);
      return process[name];
    },
  });
}
/** Prints what ends the program, as Node does. */
const report = (thrown, isRejection = false) => {
  const isError = thrown instanceof Error;
  let text;
  try {
    text = isError ? require('inspect').inspect(thrown) : formatted([require('inspect').inspect(thrown)]);
  } catch {
    text = 'an error whose text throws';
  }
  if (!isError && isRejection) {
    text = `[UnhandledPromiseRejection: This error originated either by throwing inside of an async function without a catch block, or by rejecting a promise which was not handled with .catch(). The promise rejected with the reason "${text}".] {\n  code: 'ERR_UNHANDLED_REJECTION'\n}`;
  } else if (!isError) text = `Uncaught ${text}`;
  host.say('stderr', `${text}\n`);
};

module.exports = { process, emit, end, leave, report, codeOf, isEnding: () => isEnding };
