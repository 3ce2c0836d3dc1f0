/** `url`: the server takes addresses apart, as browsers and Node do; objects and the old interface are here. */
'use strict';
const { coded, invalid } = require('argument_errors');
const { inspect } = require('inspect');
const ask = (...question) => JSON.parse(host.url(JSON.stringify(question)));
const PARTS = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const wellFormed = (value) => String(value).toWellFormed();

class URLSearchParams {
  #list = [];
  #changed = null;
  constructor(init = '') {
    if ((typeof init === 'object' && init !== null) || typeof init === 'function') {
      if (typeof init[Symbol.iterator] === 'function') {
        for (const pair of init) {
          const [name, value, ...more] = [...pair];
          if (value === undefined || more.length > 0)
            throw coded(new TypeError('Each query pair must be an iterable [name, value] tuple'), 'ERR_INVALID_TUPLE');
          this.#list.push([wellFormed(name), wellFormed(value)]);
        }
      } else for (const name of Object.keys(init)) this.#list.push([wellFormed(name), wellFormed(init[name])]);
    } else this.#list = ask('parse', wellFormed(init));
  }
  static of(text, changed) {
    const params = new URLSearchParams(text);
    params.#changed = changed;
    return params;
  }
  static reset(params, text) {
    params.#list = ask('parse', text);
  }
  #note() {
    this.#changed?.(this.toString());
  }
  get size() {
    return this.#list.length;
  }
  append(name, value) {
    this.#list.push([wellFormed(name), wellFormed(value)]);
    this.#note();
  }
  delete(name, value) {
    this.#list = this.#list.filter(
      ([one, other]) => one !== wellFormed(name) || (value !== undefined && other !== wellFormed(value)),
    );
    this.#note();
  }
  get(name) {
    return this.#list.find(([one]) => one === wellFormed(name))?.[1] ?? null;
  }
  getAll(name) {
    return this.#list.filter(([one]) => one === wellFormed(name)).map(([, value]) => value);
  }
  has(name, value) {
    return this.#list.some(
      ([one, other]) => one === wellFormed(name) && (value === undefined || other === wellFormed(value)),
    );
  }
  set(name, value) {
    const at = this.#list.findIndex(([one]) => one === wellFormed(name));
    if (at < 0) this.#list.push([wellFormed(name), wellFormed(value)]);
    else {
      this.#list[at] = [wellFormed(name), wellFormed(value)];
      this.#list = this.#list.filter(([one], index) => index <= at || one !== wellFormed(name));
    }
    this.#note();
  }
  sort() {
    this.#list.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    this.#note();
  }
  toString() {
    return ask('serialize', this.#list);
  }
  forEach(work, self) {
    for (const [name, value] of this) work.call(self, value, name, this);
  }
  *entries() {
    for (const [name, value] of this.#list) yield [name, value];
  }
  *keys() {
    for (const [name] of this.#list) yield name;
  }
  *values() {
    for (const [, value] of this.#list) yield value;
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  get [Symbol.toStringTag]() {
    return 'URLSearchParams';
  }
  [inspect.custom](depth, options) {
    if (depth < 0) return '[Object]';
    const shown = this.#list.map(([name, value]) => `${inspect(name, options)} => ${inspect(value, options)}`);
    if (shown.length === 0) return 'URLSearchParams {}';
    const line = `URLSearchParams { ${shown.join(', ')} }`;
    return line.length <= options.breakLength ? line : `URLSearchParams {\n  ${shown.join(',\n  ')} }`;
  }
}
const { of: paramsOf, reset } = URLSearchParams;
delete URLSearchParams.of;
delete URLSearchParams.reset;

class URL {
  #parts;
  #params = null;
  constructor(...args) {
    const [input, base] = args;
    if (args.length === 0) throw coded(new TypeError('The "url" argument must be specified'), 'ERR_MISSING_ARGS');
    const parts = ask('new', wellFormed(input), base === undefined ? null : wellFormed(base));
    if (parts === null)
      throw Object.assign(coded(new TypeError('Invalid URL'), 'ERR_INVALID_URL'), {
        input: String(input),
        ...(base !== undefined && { base: String(base) }),
      });
    this.#parts = parts;
  }
  static canParse(input, base) {
    return ask('new', wellFormed(input), base === undefined ? null : wellFormed(base)) !== null;
  }
  static parse(input, base) {
    return URL.canParse(input, base) ? new URL(input, base) : null;
  }
  static set(url, name, value) {
    const parts = ask('set', url.#parts.href, name, wellFormed(value));
    if (parts === null)
      throw Object.assign(coded(new TypeError('Invalid URL'), 'ERR_INVALID_URL'), { input: String(value) });
    url.#parts = parts;
    if (url.#params !== null && (name === 'href' || name === 'search')) reset(url.#params, parts.search);
  }
  static get(url, name) {
    return url.#parts[name];
  }
  get origin() {
    return this.#parts.origin;
  }
  get searchParams() {
    this.#params ??= paramsOf(this.#parts.search, (text) => {
      this.#parts = ask('set', this.#parts.href, 'search', text);
    });
    return this.#params;
  }
  toString() {
    return this.#parts.href;
  }
  toJSON() {
    return this.#parts.href;
  }
  get [Symbol.toStringTag]() {
    return 'URL';
  }
  [inspect.custom](depth, options) {
    if (depth < 0) return '[Object]';
    const { href, origin, protocol, username, password, host: where, hostname, port, pathname, search, hash } = this;
    return `URL ${inspect({ href, origin, protocol, username, password, host: where, hostname, port, pathname, search, searchParams: this.searchParams, hash }, options)}`;
  }
}
const { set, get } = URL;
delete URL.set;
delete URL.get;
for (const name of PARTS) {
  Object.defineProperty(URL.prototype, name, {
    configurable: true,
    enumerable: true,
    get() {
      return get(this, name);
    },
    set(value) {
      set(this, name, value);
    },
  });
}

const requireText = (name, value) => {
  if (typeof value !== 'string') throw invalid(name, 'of type string', value);
};
function fileURLToPath(address) {
  if (typeof address !== 'string' && !(address instanceof URL))
    throw invalid('path', 'of type string or an instance of URL', address);
  const url = new URL(address);
  if (url.protocol !== 'file:') throw coded(new TypeError('The URL must be of scheme file'), 'ERR_INVALID_URL_SCHEME');
  if (url.hostname !== '')
    throw coded(new TypeError('File URL host must be "localhost" or empty on linux'), 'ERR_INVALID_FILE_URL_HOST');
  if (/%2f/i.test(url.pathname))
    throw coded(new TypeError('File URL path must not include encoded / characters'), 'ERR_INVALID_FILE_URL_PATH');
  return decodeURIComponent(url.pathname);
}
function pathToFileURL(path) {
  requireText('path', path);
  const resolved = require('node:path').resolve(path) + (/.\/$/.test(path) ? '/' : '');
  return new URL(`file://${ask('path', resolved)}`);
}

class Url {
  constructor() {
    for (const name of [
      'protocol',
      'slashes',
      'auth',
      'host',
      'port',
      'hostname',
      'hash',
      'search',
      'query',
      'pathname',
      'path',
      'href',
    ])
      this[name] = null;
  }
}
const LEGACY = /^(?:([a-z][a-z0-9+.-]*:))?(?:(\/\/)(?:([^/?#]*)@)?([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$/is;
function parse(text, withQuery = false, slashesDenote = false) {
  requireText('url', text);
  const url = new Url();
  const [, protocol, slashes, auth, where, pathname, search, hash] = LEGACY.exec(text.trim()) ?? [];
  const hasHost = slashes !== undefined && (protocol !== undefined || slashesDenote);
  url.protocol = protocol?.toLowerCase() ?? null;
  url.slashes = hasHost ? true : null;
  url.auth = auth === undefined ? null : decodeURIComponent(auth);
  const path = hasHost || slashes === undefined ? pathname : `//${where ?? ''}${pathname}`;
  if (hasHost) {
    const [, name, port] = /^(.*?)(?::(\d*))?$/.exec((where ?? '').toLowerCase()) ?? [];
    Object.assign(url, { host: where?.toLowerCase() ?? '', hostname: name, port: port || null });
  }
  url.hash = hash ?? null;
  url.search = search ?? (withQuery ? '' : null);
  url.query = withQuery ? require('node:querystring').parse((search ?? '').slice(1)) : (search?.slice(1) ?? null);
  url.pathname = path || (hasHost ? '/' : null);
  url.path = url.pathname === null && !search ? null : (url.pathname ?? '') + (search ?? '');
  url.href = format(url);
  return url;
}
function format(url, options = {}) {
  if (typeof url === 'string') return parse(url).href;
  if (url instanceof URL) {
    const copy = new URL(url);
    if (options.fragment === false) copy.hash = '';
    if (options.search === false) copy.search = '';
    if (options.auth === false) copy.username = copy.password = '';
    return copy.href;
  }
  const protocol = url.protocol ? url.protocol.replace(/:?$/, ':') : '';
  const where = url.host ?? (url.hostname ? url.hostname + (url.port ? `:${url.port}` : '') : null);
  const hasSlashes = url.slashes || /^(?:https?|ftp|file|wss?):$/.test(protocol);
  const auth = url.auth ? `${encodeURIComponent(url.auth).replace(/%3A/i, ':')}@` : '';
  const query =
    url.query !== null && typeof url.query === 'object' ? require('node:querystring').stringify(url.query) : '';
  const search = url.search || (query && `?${query}`) || '';
  const pathname = (url.pathname ?? '').replace(/[?#]/g, encodeURIComponent);
  const place =
    where === null ? (hasSlashes && protocol === 'file:' ? '//' : '') : `${hasSlashes ? '//' : ''}${auth}${where}`;
  return (
    protocol +
    place +
    (place && pathname && !pathname.startsWith('/') ? '/' : '') +
    pathname +
    search.replace(/^(?=[^?])/, '?').replaceAll('#', '%23') +
    (url.hash ? url.hash.replace(/^#?/, '#') : '')
  );
}
function resolve(from, to) {
  const base = new URL(to, new URL(from, 'resolve://'));
  return base.protocol === 'resolve:' ? base.pathname + base.search + base.hash : base.href;
}
module.exports = {
  URL,
  URLSearchParams,
  Url,
  parse,
  format,
  resolve,
  fileURLToPath,
  pathToFileURL,
  domainToASCII: (name) => (URL.canParse(`http://${name}`) ? new URL(`http://${name}`).hostname : ''),
  urlToHttpOptions: ({ protocol, hostname, hash, search, pathname, href, port, username, password }) => ({
    protocol,
    hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
    hash,
    search,
    pathname,
    path: pathname + search,
    href,
    ...(port !== '' && { port: Number(port) }),
    ...((username || password) && { auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}` }),
  }),
};
