/**
 * Addresses and keys that `login` keeps: one file, readable by its owner only. A key is only ever sent to the address
 * it was kept for.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf } from '../base/errors.ts';
import { addressIn, DEFAULT_URL, whereaboutsIn } from '../client/client.ts';
import { CliError } from './failure.ts';

export interface Logins {
  /** The address that is used when none is named. */
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

/** An address in the one form it is kept under. Throws a usage error when it is none. */
export function loginAddress(text: string): string {
  try {
    return addressIn(text);
  } catch (error) {
    throw new CliError('usage', messageOf(error), `Such as ${DEFAULT_URL}.`);
  }
}

/** What is kept; nothing when there is no file. Throws a usage error when it cannot be read. */
export function readLogins(env: Environment): Logins {
  const path = loginsFile(env);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return { current: null, keys: {} };
  if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
    throw new CliError(
      'usage',
      `${path} is open to others.`,
      `Close it: chmod 600 ${path} – and think of making new keys.`,
    );
  }
  try {
    const { current, keys } = JSON.parse(readFileSync(path, 'utf8')) as Partial<Logins>;
    return { current: current ?? null, keys: { ...keys } };
  } catch {
    throw new CliError('usage', `${path} is not what login writes.`, 'Remove it and log in again.');
  }
}

/** Keeps what is known, all at once, mode 0600. */
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
  /** Null when none is known for this address. */
  key: string | null;
}

/**
 * Which server is meant: `--url`, else `WINTERDOCK_URL`, else the last login, else this machine; with `WINTERDOCK_KEY`
 * or else the key that was kept for exactly this address.
 */
export function resolveServer(env: Environment, named: string | undefined): LoginServer {
  const { url: said, key: own } = whereaboutsIn(env);
  const given = named === undefined || named === '' ? said : named;
  if (given !== null && own !== null) return { url: loginAddress(given), key: own };
  const { current, keys } = readLogins(env);
  const url = given === null ? (current ?? DEFAULT_URL) : loginAddress(given);
  return { url, key: own ?? keys[url] ?? null };
}
