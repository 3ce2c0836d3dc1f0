/**
 * The parts of Node's interface that a program may load, as source text: files beside this one and packages. Owns which
 * there are, and what is said of those that are not. Nothing else is read by these names.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('./guest/', import.meta.url));

/** What a program may require. */
export const BUILTINS = [
  ...['assert', 'assert/strict', 'buffer', 'console', 'crypto', 'events', 'fs', 'fs/promises', 'module', 'os', 'path'],
  ...['path/posix', 'perf_hooks', 'process', 'querystring', 'readline', 'readline/promises', 'stream'],
  ...['stream/promises', 'string_decoder', 'timers', 'timers/promises', 'url', 'util', 'util/types', 'zlib'],
] as const;

/** What those are made of. */
export const GUEST_PARTS = [
  ...[
    'argument_errors',
    'clone',
    'console_more',
    'encoding',
    'equality',
    'event_target',
    'fs_calls',
    'fs_streams',
    'fs_trees',
    'inspect',
  ],
  ...[
    'intl',
    'locale',
    'parse_args',
    'process_object',
    'standard_streams',
    'system_errors',
    'timer_queue',
    'webcrypto',
    'zone',
  ],
] as const;

const SHELL = 'commands of the shell run before and after the program, not from it';
const NO_SERVER = 'nothing listens for connections; fetch sends requests';
const NO_SOCKETS = 'there are no sockets; fetch sends HTTP requests';
const ONE_REALM = 'a program has one realm and no inspector';
const ONE_THREAD = 'a program has one thread; a second js beside it can be started with & of the shell';

/** What is there instead of the modules of Node.js that are not. */
export const ABSENT: Readonly<Record<string, string>> = {
  async_hooks: 'pass a context along as an argument',
  child_process: SHELL,
  cluster: ONE_THREAD,
  constants: 'fs.constants and os.constants have them',
  dgram: NO_SOCKETS,
  diagnostics_channel: 'use events',
  dns: 'fetch takes names as they are',
  domain: 'use try and catch',
  http: NO_SERVER,
  http2: NO_SERVER,
  https: NO_SERVER,
  inspector: ONE_REALM,
  net: NO_SOCKETS,
  'path/win32': 'the sandbox has paths of Linux alone',
  punycode: 'url.domainToASCII has what addresses need',
  repl: 'js -e runs a line',
  sea: 'the shell runs files',
  sqlite: 'sqlite3 in the shell reads databases, python3 has sqlite3',
  'stream/web': 'use stream',
  'stream/consumers': 'use for await over a stream',
  sys: 'use util',
  test: 'use assert; a test that throws ends with exit code 1',
  'test/reporters': 'use assert',
  tls: NO_SOCKETS,
  trace_events: ONE_REALM,
  tty: 'a program has no terminal',
  v8: ONE_REALM,
  vm: `${ONE_REALM}; eval and new Function run code`,
  wasi: 'components may be in WebAssembly',
  worker_threads: ONE_THREAD,
};

/** Packages by the name under which the parts ask for them. */
const PACKAGES: Readonly<Record<string, string>> = {
  'base64-js': 'base64-js/index.js',
  'buffer-package': 'buffer/index.js',
  'events-package': 'events/events.js',
  ieee754: 'ieee754/index.js',
  'node-inspect-extracted': 'node-inspect-extracted',
  'path-browserify': 'path-browserify/index.js',
  'readable-stream': 'readable-stream/lib/ours/index.js',
  'string_decoder-package': 'string_decoder/lib/string_decoder.js',
};
const FILES_OF_STREAMS = /^readable-stream\/lib\/(?:[\w-]+\/)*[\w-]+\.js$/;

const sources = new Map<string, string>();
const isOwn = (id: string) => id === 'boot' || [...BUILTINS, ...GUEST_PARTS].some((name) => name === id);

/** The source of a part. Throws for any other name. */
export function guestSource(id: string): string {
  const known = sources.get(id);
  if (known !== undefined) return known;
  const source = readFileSync(fileOf(id), 'utf8');
  sources.set(id, source);
  return source;
}

function fileOf(id: string): string {
  if (isOwn(id)) return `${FOLDER}${id.replace('/', '_')}.cjs`;
  const path = PACKAGES[id] ?? (FILES_OF_STREAMS.test(id) ? id : null);
  if (path === null) throw new Error(`There is no part "${id}".`);
  return createRequire(import.meta.url).resolve(path);
}

/** The name of what a part asks for: a package, or a file beside one of a package. */
export function guestPath(asked: string, from: string): string {
  if (!asked.startsWith('.')) return asked;
  const path = posix.join(posix.dirname(PACKAGES[from] ?? from), asked);
  return path.endsWith('.js') ? path : `${path}.js`;
}
