/** The guest's side of a JavaScript run: see javascript-prelude.ts. */
(host, names) => {
  'use strict';
  const { parse, stringify } = JSON;
  const text = String;
  const headOf = (error) => error.name + (text(error.message) === '' ? '' : `: ${error.message}`);
  const isOurs = (frame) => frame.endsWith(')') && (frame.includes('(node:') || frame === '    at call (native)');
  const framesOf = (error) => {
    const frames = error['%tack'];
    if (typeof frames !== 'string' || frames === '') return '';
    const lines = frames.trimEnd().split('\n');
    return ['', ...(frames.includes('(node:') ? lines.filter((frame) => !isOurs(frame)) : lines)].join('\n');
  };
  Object.defineProperty(Error.prototype, 'stack', {
    configurable: true,
    get() {
      return headOf(this) + framesOf(this);
    },
    set(value) {
      Object.defineProperty(this, 'stack', { value, writable: true, configurable: true });
    },
  });
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
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'function') return `[function ${value.name || 'anonymous'}]`;
    if (typeof value !== 'object' || value === null) return text(value);
    if (value instanceof Error) return value.stack;
    try {
      return stringify(value, plain) ?? text(value);
    } catch {
      return text(value);
    }
  };
  const printer =
    (stream) =>
    (...values) =>
      host.say(stream, `${values.map(show).join(' ')}\n`);
  const [out, err] = [printer('stdout'), printer('stderr')];
  globalThis.console = { log: out, info: out, debug: out, warn: err, error: err };
  const writer = (stream) =>
    Object.freeze({
      write: (content) => {
        host.say(stream, bytesOf(content) ?? text(content));
      },
    });
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
    put: (path, content, volume) => {
      host.put(text(path), bytesOf(content) ?? { utf8: text(content) }, optional(volume));
    },
    list: (prefix, volume) => parse(host.list(optional(prefix), optional(volume))),
    delete: (path, volume) => parse(host.delete(text(path), optional(volume))),
    query: (sql, params) => parse(host.query(text(sql), params === undefined ? undefined : stringify(params))),
  };
  const has = names.split(' ').filter((name) => name in functions);
  if (has.length > 0) globalThis.vfs = Object.freeze(Object.fromEntries(has.map((name) => [name, functions[name]])));
  Object.assign(globalThis, parse(host.values));
  // A replacer is called for every value, and only bigints need it.
  return (value) => {
    try {
      return stringify(value);
    } catch {
      return stringify(value, plain);
    }
  };
};
