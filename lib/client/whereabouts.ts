/**
 * Which server is meant, and with which key, when that is not said: `WINTERDOCK_URL` and `WINTERDOCK_KEY` of a
 * program's environment. The client and the command line ask here, so that both understand the same. Safe for the
 * browser, which has no environment.
 */

/** This machine. */
export const DEFAULT_URL = 'http://localhost:3000';

type Environment = Readonly<Record<string, string | undefined>>;

/** What a program says in its environment; null for what is not there or empty. */
export interface Whereabouts {
  url: string | null;
  key: string | null;
}

/** The environment of the program that runs; empty in a browser. */
function ownEnvironment(): Environment {
  const { process: program } = globalThis as { process?: { env?: Environment } };
  return program?.env ?? {};
}

/** What the environment says. */
export function whereaboutsIn(environment: Environment = ownEnvironment()): Whereabouts {
  return { url: environment.WINTERDOCK_URL || null, key: environment.WINTERDOCK_KEY || null };
}

/**
 * An address in the one form that it is asked and kept under: `localhost:3000` is `http://localhost:3000`. Throws a
 * TypeError whose message says what is wrong with one that is none, or that holds a name or a password.
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
 * The address of a client that was given `url` or nothing; empty for where the page came from. Throws a TypeError when
 * it is none.
 */
export function addressOfClient(url: string | undefined, said: Whereabouts): string {
  if (url === '') return '';
  if (url !== undefined) return addressIn(url);
  if (said.url !== null) return addressIn(said.url);
  return (globalThis as { location?: unknown }).location === undefined ? DEFAULT_URL : '';
}
