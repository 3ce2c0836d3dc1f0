/**
 * The default server and key of the client and the command line: `WINTERDOCK_URL` and `WINTERDOCK_KEY` of the
 * environment. Safe for the browser, which has no environment.
 */

/** A server on this machine. */
export const DEFAULT_URL = 'http://localhost:3000';

type Environment = Readonly<Record<string, string | undefined>>;

/** Server and key from the environment; null when not set or empty. */
export interface Whereabouts {
  url: string | null;
  key: string | null;
}

/** The environment of the program that runs; empty in a browser. */
function ownEnvironment(): Environment {
  const { process: program } = globalThis as { process?: { env?: Environment } };
  return program?.env ?? {};
}

/** Reads them from the environment. */
export function whereaboutsIn(environment: Environment = ownEnvironment()): Whereabouts {
  return { url: environment.WINTERDOCK_URL || null, key: environment.WINTERDOCK_KEY || null };
}

/**
 * Normalizes the address of a server: `localhost:3000` becomes `http://localhost:3000`. Throws a TypeError for what is
 * no http(s) address, or holds a name or a password.
 */
export function addressIn(text: string): string {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new TypeError(`"${text}" is neither an http nor an https address.`);
  }
  const withScheme = scheme === undefined ? `http://${text}` : text;
  if (!URL.canParse(withScheme)) throw new TypeError(`"${text}" is not an address.`);
  const { origin, pathname, username, password } = new URL(withScheme);
  if (username !== '' || password !== '') throw new TypeError('An address must not hold a name or a password.');
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * The server of a client: `url`, else the environment's, else, in a browser, the page's own origin (empty). Throws a
 * TypeError when `url` is no address.
 */
export function addressOfClient(url: string | undefined, fromEnvironment: Whereabouts): string {
  if (url === '') return '';
  if (url !== undefined) return addressIn(url);
  if (fromEnvironment.url !== null) return addressIn(fromEnvironment.url);
  return (globalThis as { location?: unknown }).location === undefined ? DEFAULT_URL : '';
}
