/**
 * Why a start cannot be, for who started it: what is in the way, where, and which setting leads past it. Knows what
 * systems and databases call their failures; looks at nothing but the room on the disk.
 */

import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import type { Config } from '../base/config.ts';
import { makeFolderNow } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import { isStartRefused } from '../ledger/start-check.ts';

/**
 * With less than this free, a start that fails does so for want of room: the registry, its journal and a key need about
 * half.
 */
const LEAST_ROOM_BYTES = 1024 * 1024;

type Settings = Pick<Config, 'port' | 'host' | 'dataFolder' | 'registryPath'>;

/** The code of an error or of what caused it. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error; at instanceof Error && codes.length < 10; at = at.cause) {
    if ('code' in at) codes.push(String(at.code));
  }
  return codes;
}

/** Why the server does not listen; null when that is not what failed. */
function whyNotListening(error: unknown, { port, host }: Settings): string | null {
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : null;
  const [code] = codesOf(error);
  if (syscall === 'getaddrinfo')
    return `HOST=${host} is a name that nobody knows. Set HOST to an address of this machine.`;
  if (syscall !== 'listen') return null;
  if (code === 'EADDRINUSE') return `Port ${port} on ${host} is taken by another program. Set PORT to a free one.`;
  if (code === 'EACCES') return `Port ${port} may not be used by this user. Set PORT to one above 1023.`;
  if (code !== 'EADDRNOTAVAIL') return null;
  return `HOST=${host} is no address of this machine. Set HOST to one that is: 127.0.0.1, or 0.0.0.0 for all.`;
}

function roomFor(folder: string): number | null {
  try {
    let place = folder;
    while (!existsSync(place) && place !== dirname(place)) place = dirname(place);
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  } catch {
    // A disk that does not say is taken to have room: the failure is then told as it came.
    return null;
  }
}

/** Why the data folder cannot be used; null when that is not what failed. */
function whyNoData(error: unknown, folder: string): string | null {
  const codes = codesOf(error);
  const another = 'or set WB_DATA to another folder.';
  const room = roomFor(folder);
  if (
    codes.some((code) => ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code)) ||
    (room !== null && room < LEAST_ROOM_BYTES)
  ) {
    return `There is no room on the disk of the data folder ${folder}. Make some, ${another}`;
  }
  if (codes.some((code) => ['EACCES', 'EPERM', 'EROFS', 'SQLITE_READONLY', 'SQLITE_CANTOPEN'].includes(code))) {
    return `The data folder ${folder} cannot be written by this user. Make it writable, ${another}`;
  }
  if (codes.some((code) => code === 'EEXIST' || code === 'ENOTDIR')) {
    return `WB_DATA is ${folder}, and that is no folder. Move what is there, ${another}`;
  }
  return null;
}

/** Why the registry cannot be read; null when that is not what failed. */
function whyNoRegistry(error: unknown, path: string): string | null {
  if (!codesOf(error).some((code) => /^SQLITE_(NOTADB|CORRUPT)/.test(code))) return null;
  return `The registry ${path} is damaged (${messageOf(error)}); nothing was changed. Keep it, and put it back from a backup with npm run restore: docs/operations.md says how. The files of the sandboxes are not in it.`;
}

/**
 * Exit code of a start that was refused because the registry is not the one of its data folder: nothing that trying
 * again would change.
 */
const REFUSED_EXIT = 3;

/** What a start that failed ends with: 3 when the registry and the files disagree, otherwise 1. */
export function exitCodeFor(error: unknown): number {
  return isStartRefused(error) ? REFUSED_EXIT : 1;
}

/** Why a start failed: one sentence or two, with the setting that leads past it where there is one. */
export function whyNotStarted(error: unknown, settings: Settings): string {
  if (isStartRefused(error)) return messageOf(error);
  return (
    whyNotListening(error, settings) ??
    whyNoRegistry(error, settings.registryPath) ??
    whyNoData(error, settings.dataFolder) ??
    messageOf(error)
  );
}

/** Whether the folder could be made and written, as far as asking tells. Throws when not. */
function tryFolder(folder: string): void {
  makeFolderNow(folder);
  if (!statSync(folder).isDirectory()) throw Object.assign(new Error('no folder'), { code: 'ENOTDIR' });
  accessSync(folder, constants.W_OK | constants.X_OK);
}

/** Why a start with these settings would fail, before anything long is done for it; null when nothing is in the way. */
export async function foreseen(config: Settings): Promise<string | null> {
  try {
    tryFolder(config.dataFolder);
  } catch (error) {
    return whyNotStarted(error, config);
  }
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(whyNotStarted(error, config)));
    probe.listen(config.port, config.host, () => probe.close(() => resolve(null)));
  });
}
