/**
 * WB_REGISTRY: where the registry is, as a URL or as the path of a file. A URL may hold a password, so no message here
 * repeats what was given, and what may be a mistyped URL is never taken for a path: a file of that name would be made.
 */
import { resolve } from 'node:path';
import { isPostgresUrl, type PostgresAddress, parsePostgresUrl } from './postgres-url.ts';

/** What WB_REGISTRY says. */
type RegistryUrl =
  | { readonly driver: 'memory' }
  /** `path`: absolute, as it was given; it may be a link. */
  | { readonly driver: 'sqlite'; readonly path: string }
  | { readonly driver: 'postgres'; readonly server: PostgresAddress };

/** Where a registry is, and which driver opens it. */
export type RegistryAddress =
  | Exclude<RegistryUrl, { driver: 'postgres' }>
  /** `headFolder`: absolute, of the signed head. `connections`: at once, of each that opens it. */
  | {
      readonly driver: 'postgres';
      readonly server: PostgresAddress;
      readonly headFolder: string;
      readonly connections: number;
    };

const MEMORY = ':memory:';
const FORMS = 'a path, sqlite:///PATH, postgres://USER:PASSWORD@HOST/DATABASE or :memory:';
/** A scheme, as RFC 3986 has it. */
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;
/** Control characters, which URL parsers pass over in silence. */
const CONTROL = /[\u0000-\u001f\u007f]/;
/** What only a path has at its beginning. */
const PATH_BEGIN = /^(?:\/(?!\/)|\.\.?\/)/;
/** In a path without such a beginning these are the marks of a URL: `host:5432/db`, `postgres//user:word@host`. */
const URL_MARKS = /[:@]|\/\//;

/**
 * Parses WB_REGISTRY. A relative path is one of the working folder; one with `:`, `@` or `//` in it has to begin with
 * `./`. Throws an Error whose message says what is allowed and never contains the text.
 */
export function parseRegistryUrl(text: string): RegistryUrl {
  if (text === MEMORY) return { driver: 'memory' };
  if (text === '' || CONTROL.test(text)) throw new Error(`must be ${FORMS}, without control characters`);
  if (isPostgresUrl(text)) return { driver: 'postgres', server: parsePostgresUrl(text) };
  if (/^sqlite:\/\//i.test(text)) return { driver: 'sqlite', path: pathOfUrl(text) };
  const isPath = PATH_BEGIN.test(text) ? !text.includes('://') : !URL_MARKS.test(text) && text.trim() === text;
  if (isPath) return { driver: 'sqlite', path: resolve(text) };
  const [, scheme] = SCHEME.exec(text) ?? [];
  if (scheme !== undefined && text.startsWith('://', scheme.length)) {
    throw new Error(`must be ${FORMS}: there is no driver for ${scheme.toLowerCase()}://`);
  }
  throw new Error(`must be ${FORMS}. This may be a mistyped URL; if it is a relative path, begin it with ./`);
}

/** The path in `sqlite:///PATH`. */
function pathOfUrl(text: string): string {
  const wrong = (why: string) => new Error(`must be ${FORMS}: ${why}`);
  const rest = text.slice(text.indexOf('://') + 3);
  if (!rest.startsWith('/')) throw wrong('a URL of a file has three slashes and an absolute path');
  if (/[?#]/.test(rest)) throw wrong('it takes no parameters; a ? or # in a name is written %3F or %23');
  let path: string;
  try {
    path = decodeURIComponent(rest);
  } catch {
    throw wrong('a % in a name is written %25');
  }
  if (CONTROL.test(path)) throw wrong('its path has control characters');
  if (path === `/${MEMORY}`) throw wrong(`a registry in memory is ${MEMORY}`);
  if (path.endsWith('/')) throw wrong('its path is that of a folder');
  return resolve(path);
}

/** The address of a registry: what WB_REGISTRY says, with what else a database on a server needs of the settings. */
export function registryAddress(
  url: RegistryUrl,
  { headFolder, connections }: { headFolder: string; connections: number },
): RegistryAddress {
  return url.driver === 'postgres' ? { ...url, headFolder, connections } : url;
}

/** Names a registry for people: the path of its file, its address, or `:memory:`. Never a password. */
export function registryName(address: RegistryUrl): string {
  switch (address.driver) {
    case 'memory':
      return MEMORY;
    case 'sqlite':
      return address.path;
    case 'postgres':
      return address.server.name;
  }
}
