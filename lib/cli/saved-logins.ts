/**
 * The contexts that `login` saves: names of servers, each with its address and a key, in one file that only its owner
 * can read. A key is sent only to the address that it was saved for.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { addressIn, DEFAULT_URL, whereaboutsIn } from '../client/client.ts';
import { CliError } from './failure.ts';

export interface Logins {
  /** The name of the context that is used by default: of the last login, or chosen since. */
  current: string | null;
  contexts: Record<string, SavedLogin>;
}

interface SavedLogin {
  url: string;
  key: string;
}

const CONTEXT_NAME = /^[A-Za-z0-9_][A-Za-z0-9._:/[\]-]{0,200}$/;

/** Checks the name of a context. Throws a usage error. */
export function parseContextName(name: string): string {
  if (CONTEXT_NAME.test(name) && name !== '__proto__') return name;
  throw new CliError('usage', `"${name}" cannot name a context.`, 'Such as production, or dock.example.com.');
}

/** What a context is called that nobody named: its address without the scheme. */
export const contextNameOf = (url: string) => url.replace(/^https?:\/\//, '');

type Environment = Readonly<Record<string, string | undefined>>;

/** The file's path: `winterdock/logins.json` below `XDG_CONFIG_HOME` or `~/.config`. */
export function loginsFile(env: Environment): string {
  const base = env.XDG_CONFIG_HOME?.startsWith('/') === true ? env.XDG_CONFIG_HOME : join(homedir(), '.config');
  return join(base, 'winterdock', 'logins.json');
}

/** An address in its normal form. Throws a usage error when it is not one. */
export function loginAddress(text: string): string {
  try {
    return addressIn(text);
  } catch (error) {
    throw new CliError('usage', messageOf(error), `Such as ${DEFAULT_URL}.`);
  }
}

/** The saved logins; none when there is no file. Throws a usage error when it cannot be read. */
export function readLogins(env: Environment): Logins {
  const path = loginsFile(env);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { current: null, contexts: {} };
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new CliError('usage', `Others can read ${path}.`, `Run chmod 600 ${path}, and consider making new keys.`);
  }
  try {
    const { current, contexts } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Logins>;
    return { current: current ?? null, contexts: { ...contexts } };
  } catch {
    throw new CliError('usage', `${path} is not a file that login wrote.`, 'Remove it and log in again.');
  }
}

/** Saves the logins atomically, with mode 0600. */
export function writeLogins(env: Environment, logins: Logins): void {
  const path = loginsFile(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(logins, null, 2)}\n`, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

export interface LoginServer {
  url: string;
  /** Null when there is none for this address. */
  key: string | null;
}

/** The saved login of a name. Throws when there is none. */
export function savedLogin({ contexts }: Logins, name: string): SavedLogin {
  const login = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (login !== undefined) return login;
  throw new CliError('absent', `There is no context "${name}".`, 'winterdock contexts list shows those there are.');
}

/** The key that was saved for an address; of several that of the current context, or else the first. */
function keyFor({ current, contexts }: Logins, url: string): string | null {
  const own = current === null ? undefined : contexts[current];
  if (own?.url === url) return own.key;
  return Object.values(contexts).find((login) => login.url === url)?.key ?? null;
}

/**
 * The server to use: `--context` whatever the environment says, else `--url`, else `WINTERDOCK_URL`, else the current
 * context, else this machine. Its key: of the context, else `WINTERDOCK_KEY`, else the one that was saved for exactly
 * this address.
 */
export function resolveServer(env: Environment, named: string | undefined, context?: string): LoginServer {
  if (context !== undefined) {
    if (named !== undefined) throw new CliError('usage', 'A context has its address: leave --url out.');
    const { url, key } = savedLogin(readLogins(env), context);
    return { url, key };
  }
  const { url: givenUrl, key: own } = whereaboutsIn(env);
  const given = named === undefined || named === '' ? givenUrl : named;
  if (given !== null && own !== null) return { url: loginAddress(given), key: own };
  const logins = readLogins(env);
  const current = logins.current === null ? undefined : logins.contexts[logins.current];
  const url = given === null ? (current?.url ?? DEFAULT_URL) : loginAddress(given);
  return { url, key: own ?? keyFor(logins, url) };
}
