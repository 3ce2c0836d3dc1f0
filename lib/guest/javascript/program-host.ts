/**
 * What a program is given by the server's own Node: addresses, languages, hashes, packed contents and text of other
 * encodings. Texts and bytes go in, texts and bytes come out; nothing is kept between two calls.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { posix } from 'node:path';
import { pathToFileURL } from 'node:url';
import zlib from 'node:zlib';
import { isTimeZone, offsetAt } from '../../base/zoned-time.ts';
import type { HostFunction } from './javascript-bridge.ts';

const HASHES = [
  'md5',
  'sha1',
  'sha224',
  'sha256',
  'sha384',
  'sha512',
  'sha512-256',
  'sha3-256',
  'sha3-512',
  'ripemd160',
];
const PACKERS = {
  gzip: zlib.gzipSync,
  gunzip: zlib.gunzipSync,
  deflate: zlib.deflateSync,
  inflate: zlib.inflateSync,
  deflateRaw: zlib.deflateRawSync,
  inflateRaw: zlib.inflateRawSync,
  unzip: zlib.unzipSync,
};
const BROTLI = { brotliCompress: zlib.brotliCompressSync, brotliDecompress: zlib.brotliDecompressSync };
const URL_PARTS = [
  'href',
  'origin',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
] as const;
const SETTABLE = ['href', 'protocol', 'username', 'password', 'host', 'hostname', 'port', 'pathname', 'search', 'hash'];
const INTL: Readonly<Record<string, readonly string[]>> = {
  Collator: ['compare', 'resolvedOptions'],
  NumberFormat: ['format', 'formatToParts', 'resolvedOptions'],
  DateTimeFormat: ['format', 'formatToParts', 'formatRange', 'resolvedOptions'],
  PluralRules: ['select', 'resolvedOptions'],
  ListFormat: ['format', 'resolvedOptions'],
  RelativeTimeFormat: ['format', 'resolvedOptions'],
  DisplayNames: ['of', 'resolvedOptions'],
  Date: ['toLocaleString', 'toLocaleDateString', 'toLocaleTimeString'],
  String: ['toLocaleUpperCase', 'toLocaleLowerCase'],
  Segmenter: ['segment'],
  Intl: ['getCanonicalLocales'],
};

const bytesOf = (given: string | Uint8Array | undefined) => (given instanceof Uint8Array ? given : new Uint8Array(0));
/** Bytes of the guest's memory, which may move. */
const copyOf = (given: string | Uint8Array | undefined) => Uint8Array.from(bytesOf(given));

/** `mostBytes`: what an unpacked content may have. */
export function programHost(mostBytes: number): Record<string, HostFunction> {
  return {
    url: (question) => JSON.stringify(addressAnswer(JSON.parse(String(question)) as unknown[])),
    intl: (question) => JSON.stringify(languageAnswer(JSON.parse(String(question)) as unknown[]) ?? null),
    zone: (name, moment) => JSON.stringify(zoneAnswer(String(name), Number(moment))),
    hashes: () => HASHES,
    hash: (name, data, key) => {
      const algorithm = String(name);
      if (!HASHES.includes(algorithm)) throw new Error('Digest method not supported');
      const hash = key === undefined ? createHash(algorithm) : createHmac(algorithm, copyOf(key));
      return Uint8Array.from(hash.update(bytesOf(data)).digest());
    },
    random: (size) => Uint8Array.from(randomBytes(Math.min(Number(size), 1024 * 1024))),
    pack: (name, data, level) => {
      const options = { maxOutputLength: mostBytes, ...(level !== '' && { level: Number(level) }) };
      const own = Object.hasOwn(BROTLI, String(name)) ? BROTLI[String(name) as keyof typeof BROTLI] : null;
      if (own !== null) return own(copyOf(data), { maxOutputLength: mostBytes });
      if (!Object.hasOwn(PACKERS, String(name))) throw new Error('There is no such packer.');
      return PACKERS[String(name) as keyof typeof PACKERS](copyOf(data), options);
    },
    crc32: (data, start) => zlib.crc32(copyOf(data), Number(start)),
    encode: (text) => copyOf(text),
    encodingOf: (label) => encodingOf(String(label)),
    decode: (bytes, encoding, fatal, mark) =>
      new TextDecoder(String(encoding), { fatal: fatal === 'fatal', ignoreBOM: mark === 'keep' }).decode(copyOf(bytes)),
  };
}

/** The name of an encoding; empty when there is none. */
function encodingOf(label: string): string {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return '';
  }
}

function addressAnswer([kind, first, second, third]: unknown[]): unknown {
  switch (kind) {
    case 'new': {
      const made = URL.parse(String(first), second === null ? undefined : String(second));
      return made && partsOf(made);
    }
    case 'set': {
      const url = URL.parse(String(first));
      const name = String(second);
      if (url === null || !SETTABLE.includes(name)) return null;
      if (name === 'href') return URL.canParse(String(third)) ? partsOf(new URL(String(third))) : null;
      Reflect.set(url, name, String(third));
      return partsOf(url);
    }
    case 'parse':
      return [...new URLSearchParams(String(first))];
    case 'serialize':
      return new URLSearchParams(
        (first as unknown[][]).map(([name, value]): [string, string] => [`${name}`, `${value}`]),
      ).toString();
    case 'path':
      return (
        pathToFileURL(posix.resolve('/', String(first))).pathname +
        (String(first).length > 1 && String(first).endsWith('/') ? '/' : '')
      );
    default:
      return null;
  }
}

function partsOf(url: URL): Record<string, string> {
  const parts = Object.fromEntries(URL_PARTS.map((name) => [name, url[name]]));
  return { ...parts, search: url.search, hash: url.hash };
}

/** A value as JSON cannot have it. */
function special(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if ('bigint' in value) return BigInt(String(value.bigint));
  return 'number' in value ? Number(value.number) : value;
}

/** The offset of a zone at a moment, and how it is called then. Both in milliseconds. */
function zoneAnswer(timeZone: string, moment: number): [offset: number, name: string] {
  const parts = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'long' }).formatToParts(moment);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? timeZone;
  return [offsetAt(Math.floor(moment / 1000), timeZone) * 1000, name];
}

function languageAnswer([kind, locales, options, method, values]: unknown[]): unknown {
  const [name, asked] = [String(kind), String(method)];
  const isStatic = asked === 'supportedLocalesOf';
  if (!Object.hasOwn(INTL, name) || !(isStatic || INTL[name]?.includes(asked)))
    throw new TypeError('There is no such method.');
  const args = (values as unknown[]).map(special);
  const [language, given] = [
    (locales ?? undefined) as string | undefined,
    (options ?? undefined) as object | undefined,
  ];
  if (name === 'Intl') return Intl.getCanonicalLocales(args[0] as string);
  const date = new Date(Number(args[0]));
  if (name === 'Date')
    return (Reflect.get(date, asked) as (...given: unknown[]) => unknown).call(date, language, given);
  const text = String(args[0]);
  if (name === 'String')
    return asked === 'toLocaleUpperCase' ? text.toLocaleUpperCase(language) : text.toLocaleLowerCase(language);
  const Kind = Reflect.get(Intl, name) as new (language?: string, options?: object) => Record<string, unknown>;
  if (isStatic) return (Kind as unknown as typeof Intl.NumberFormat).supportedLocalesOf(language);
  const made = new Kind(language, given);
  if (name === 'Segmenter') return [...(made as unknown as Intl.Segmenter).segment(text)];
  const work = made[asked] as (...given: unknown[]) => unknown;
  return work.apply(made, args);
}

/** Those that are as without TZ. */
const UTC = /^(?:|UTC|GMT|UCT|Zulu|Etc\/(?:UTC|GMT|UCT|Zulu))$/;

/** The zone of the tz database that TZ names; null: the clocks show UTC. */
export function zoneIn(env: Readonly<Record<string, string>>): string | null {
  const name = env.TZ?.replace(/^:/, '') ?? '';
  return UTC.test(name) || !isTimeZone(name) ? null : name;
}
