/**
 * Why the server cannot start, for the person who started it: the problem, where it is, and the setting that avoids it.
 * Translates error codes of the system and of SQLite.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../base/config.ts';
import { isWinterdockError, messageOf } from '../base/errors.ts';
import { registryName } from '../base/registry-url.ts';
import { isStartRefused } from '../ledger/start-check.ts';
import { foreignFolders } from '../storage/foreign-folders.ts';

/** With less than this free, a failed start is put down to a full disk: registry, journal and key need about half. */
const LEAST_FREE_BYTES = 1024 * 1024;

const MOST_PORT = 65_535;

type Settings = Pick<Config, 'port' | 'host' | 'dataFolder' | 'registry'>;

/** The codes of an error and of its causes. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error; at instanceof Error && codes.length < 10; at = at.cause) {
    if ('code' in at) codes.push(String(at.code));
  }
  return codes;
}

/** Why the server cannot listen; null when that is not what failed. */
function listenProblem(error: unknown, { port, host }: Settings): string | null {
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : null;
  const [code] = codesOf(error);
  if (syscall === 'getaddrinfo')
    return `HOST=${host} is a name that nobody knows. Set HOST to an address of this machine.`;
  if (syscall !== 'listen') return null;
  if (code === 'EADDRINUSE') {
    const other = port < MOST_PORT ? port + 1 : port - 1;
    return `Port ${port} on ${host} is taken by another program. Set PORT to a free one, as in PORT=${other} npm start; clients then need WINTERDOCK_URL=http://localhost:${other}.`;
  }
  if (code === 'EACCES') return `Port ${port} may not be used by this user. Set PORT to one above 1023.`;
  if (code !== 'EADDRNOTAVAIL') return null;
  return `HOST=${host} is no address of this machine. Set HOST to one that is: 127.0.0.1, or 0.0.0.0 for all.`;
}

function freeBytes(folder: string): number | null {
  try {
    let existing = folder;
    while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing);
    const { bavail, bsize } = statfsSync(existing);
    return bavail * bsize;
  } catch {
    // Unknown free space is not a full disk: the error is reported as it is.
    return null;
  }
}

/** Why the data folder cannot be used; null when that is not what failed. */
function dataFolderProblem(error: unknown, folder: string): string | null {
  const codes = codesOf(error);
  const another = 'or set WB_DATA to another folder.';
  const free = freeBytes(folder);
  if (
    codes.some((code) => ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code)) ||
    (free !== null && free < LEAST_FREE_BYTES)
  ) {
    return `There is no room on the disk of the data folder ${folder}. Make some, ${another}`;
  }
  const [foreign] = codes.includes('EACCES') ? foreignFolders(folder) : [];
  if (foreign !== undefined) return foreign;
  if (codes.some((code) => ['EACCES', 'EPERM', 'EROFS'].includes(code))) {
    return `The data folder ${folder} cannot be written by this user. Make it writable, ${another}`;
  }
  if (codes.some((code) => code === 'EEXIST' || code === 'ENOTDIR')) {
    return `WB_DATA is ${folder}, and that is no folder. Move what is there, ${another}`;
  }
  return null;
}

/** Whether a registry is none, or has damaged pages. */
function isDamaged(error: unknown): boolean {
  return codesOf(error).some((code) => /^SQLITE_(NOTADB|CORRUPT)/.test(code));
}

/** Why the registry cannot be opened or read; null when that is not what failed. */
function registryProblem(error: unknown, path: string): string | null {
  if (codesOf(error).some((code) => /^SQLITE_(READONLY|CANTOPEN|PERM)/.test(code))) {
    return `The registry ${path} cannot be opened and written by this user (${messageOf(error)}). Make it and its folder writable, or set WB_REGISTRY to another file.`;
  }
  if (!isDamaged(error)) return null;
  return `The registry ${path} is damaged (${messageOf(error)}); nothing was changed. Keep it, and put it back from a backup with npm run restore: docs/operations.md says how. The files of the sandboxes are not in it.`;
}

/**
 * Exit code when the registry is none, not that of the data folder or its keys, or no driver knows it: starting again
 * would not help.
 */
const REFUSED_EXIT = 3;

/** The exit code of a failed start: 3 when it is refused for its registry, otherwise 1. */
export function exitCodeFor(error: unknown): number {
  return isStartRefused(error) || isDamaged(error) ? REFUSED_EXIT : 1;
}

/** Why a start failed: one sentence or two, with the setting that avoids it if there is one. */
export function startFailureText(error: unknown, settings: Settings): string {
  // It says itself what is away, and where: the codes of its cause are not those of a disk.
  const isAway = isWinterdockError(error) && error.code === 'registry_unavailable';
  if (isAway || isStartRefused(error)) return messageOf(error);
  return (
    listenProblem(error, settings) ??
    registryProblem(error, registryName(settings.registry)) ??
    dataFolderProblem(error, settings.dataFolder) ??
    messageOf(error)
  );
}

/** Throws an error of the system when the folder cannot be made or its permissions forbid writing. Makes nothing. */
export function requireWritableFolder(folder: string): void {
  let existing = folder;
  while (statSync(existing, { throwIfNoEntry: false }) === undefined) existing = dirname(existing);
  if (!statSync(existing).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
  accessSync(existing, constants.W_OK | constants.X_OK);
}

/** Checks the data folder and the port before a long build: why the start would fail, or null. */
export async function preflight(config: Settings): Promise<string | null> {
  try {
    requireWritableFolder(config.dataFolder);
  } catch (error) {
    return startFailureText(error, config);
  }
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(startFailureText(error, config)));
    probe.listen(config.port, config.host, () => probe.close(() => resolve(null)));
  });
}
