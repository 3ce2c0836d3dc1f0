/**
 * The guest's side of a JavaScript run. QuickJS evaluates it before the guest's code. It defines `console`, `stdout`,
 * `stderr`, `stdinBytes`, `vfs`, `require` and the values that were passed. It takes its own
 * references first, so nothing that the guest redefines changes what it does.
 */

/**
 * Source of a function of (host functions, names of the functions that `vfs` has). The function returns the guest's
 * JSON serialiser.
 */
export const PRELUDE = `((host, names) => {
  'use strict';
  const { parse, stringify } = JSON;
  const text = String;
  const Bytes = ArrayBuffer;
  const isView = Bytes.isView;
  const bytesOf = (value) => {
    if (value instanceof Bytes) return value;
    if (!isView(value)) return undefined;
    const { buffer, byteOffset, byteLength } = value;
    return byteLength === buffer.byteLength ? buffer : buffer.slice(byteOffset, byteOffset + byteLength);
  };
  const plain = (_key, value) => (typeof value === 'bigint' ? text(value) : value);
  const show = (value) => {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'function') return '[function ' + (value.name || 'anonymous') + ']';
    if (typeof value !== 'object' || value === null) return text(value);
    if (value instanceof Error) return value.name + ': ' + value.message + (value.stack ? '\\n' + value.stack.trimEnd() : '');
    try { return stringify(value, plain) ?? text(value); } catch { return text(value); }
  };
  const printer = (stream) => (...values) => host.say(stream, values.map(show).join(' ') + '\\n');
  const [out, err] = [printer('stdout'), printer('stderr')];
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err };
  const writer = (stream) => Object.freeze({ write: (content) => { host.say(stream, bytesOf(content) ?? text(content)); } });
  globalThis.stdout = writer('stdout');
  globalThis.stderr = writer('stderr');
  const { read } = host;
  if (read) globalThis.stdinBytes = () => new Uint8Array(read());
  const optional = (value) => (value === undefined || value === null ? undefined : text(value));
  const functions = {
    get: (path, volume) => host.get(text(path), optional(volume)) ?? null,
    getBytes: (path, volume) => {
      const content = host.getBytes(text(path), optional(volume));
      return content === undefined ? null : new Uint8Array(content);
    },
    put: (path, content, volume) => { host.put(text(path), bytesOf(content) ?? { utf8: text(content) }, optional(volume)); },
    list: (prefix, volume) => parse(host.list(optional(prefix), optional(volume))),
    delete: (path, volume) => parse(host.delete(text(path), optional(volume))),
    query: (sql, params) => parse(host.query(text(sql), params === undefined ? undefined : stringify(params))),
  };
  const has = names.split(' ').filter((name) => name in functions);
  if (has.length > 0) globalThis.vfs = Object.freeze(Object.fromEntries(has.map((name) => [name, functions[name]])));
  Object.assign(globalThis, parse(host.values));
  const { resolve, source, main } = host;
  if (resolve) {
    const modules = new Map();
    const evaluate = eval;
    const { env = {}, args = [] } = globalThis;
    const folderOf = (path) => path.slice(0, path.lastIndexOf('/')) || '/';
    const argv = ['js', main, ...args];
    const process = { env, argv, platform: 'linux', versions: {}, cwd: () => env.PWD ?? '/', nextTick: (work, ...values) => { Promise.resolve().then(() => work(...values)); } };
    const requireFrom = (from) => {
      const require = (specifier) => {
        const path = resolve(text(specifier), from);
        const known = modules.get(path);
        if (known !== undefined) return known.exports;
        const module = { exports: {}, id: path, filename: path, loaded: false };
        modules.set(path, module);
        try {
          const code = source(path);
          if (path.endsWith('.json')) module.exports = parse(code);
          else {
            const body = code.startsWith('#!') ? '//' + code : code;
            const run = evaluate('(function (exports, require, module, __filename, __dirname, process, global) {' + body + '\\n})');
            run.call(module.exports, module.exports, requireFrom(path), module, path, folderOf(path), process, globalThis);
          }
        } catch (error) {
          modules.delete(path);
          throw error;
        }
        module.loaded = true;
        return module.exports;
      };
      require.resolve = (specifier) => resolve(text(specifier), from);
      return require;
    };
    globalThis.require = requireFrom(main);
    globalThis.module = { exports: {}, id: '.', filename: main, loaded: false };
    globalThis.exports = globalThis.module.exports;
  }
  // A replacer is called for every value, and only bigints need it.
  return (value) => { try { return stringify(value); } catch { return stringify(value, plain); } };
})`;
