/**
 * The addresses and keys that `login` saves, in one file that only its owner can read. A key is sent only to the
 * address that it was saved for.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { addressIn, DEFAULT_URL, whereaboutsIn } from '../client/client.ts';
import { CliError } from './failure.ts';

export interface Logins {
  /** The address of the last login: the default. */
  current: string | null;
  /** Keys by address. */
  keys: Record<string, string>;
}

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
  if (stat === undefined) return { current: null, keys: {} };
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new CliError('usage', `Others can read ${path}.`, `Run chmod 600 ${path}, and consider making new keys.`);
  }
  try {
    const { current, keys } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Logins>;
    return { current: current ?? null, keys: { ...keys } };
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

/**
 * The server to use: `--url`, else `WINTERDOCK_URL`, else the last login, else this machine. Its key: `WINTERDOCK_KEY`,
 * else the one that was saved for exactly this address.
 */
export function resolveServer(env: Environment, named: string | undefined): LoginServer {
  const { url: givenUrl, key: own } = whereaboutsIn(env);
  const given = named === undefined || named === '' ? givenUrl : named;
  if (given !== null && own !== null) return { url: loginAddress(given), key: own };
  const { current, keys } = readLogins(env);
  const url = given === null ? (current ?? DEFAULT_URL) : loginAddress(given);
  return { url, key: own ?? keys[url] ?? null };
}
