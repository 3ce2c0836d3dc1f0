/**
 * Says whether a registry's file can be opened, or made, before anything is opened or made for it: where its path
 * leads, what is there, and who may write it. Changes nothing.
 */
import { accessSync, constants, lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import { leadsNowhere } from '../../base/is-there.ts';
import { refuseForeignFile, refuseFormerFile } from './former-history.ts';

const { R_OK, W_OK, X_OK } = constants;

/**
 * Throws `conflict` with `start_refused` when the file at `path` (the real path of `name`) is none of a registry, or
 * this user cannot open or make it.
 */
export function requireUsableFile(path: string, name: string): void {
  const found = statOr(path, name);
  if (found === null) {
    requireMakeable(path, name);
    return;
  }
  if (!found.isFile()) throw refused(`The registry ${name} is ${found.isDirectory() ? 'a folder' : 'no file'}.`);
  if (!may(path, R_OK | W_OK)) throw refused(`The registry ${name} cannot be read and written by this user.`);
  requireWritable(dirname(path), name);
  refuseFormerFile(path, `The registry ${name}`);
  refuseForeignFile(path);
}

function requireMakeable(path: string, name: string): void {
  if (isLink(name)) {
    throw refused(
      `The registry ${name} is a link to ${path}, and nothing is there.`,
      'Mount the disk that it is on, or put it back; to begin a new registry, make an empty file there.',
    );
  }
  let folder = dirname(path);
  while (statOr(folder, name) === null && dirname(folder) !== folder) folder = dirname(folder);
  if (statOr(folder, name)?.isDirectory() !== true) {
    throw refused(`The registry ${name} cannot be made: ${folder} is no folder.`);
  }
  requireWritable(folder, name);
}

/** SQLite keeps its log beside the file. */
function requireWritable(folder: string, name: string): void {
  if (may(folder, W_OK | X_OK)) return;
  throw refused(`The registry ${name} cannot be kept: its folder ${folder} cannot be written by this user.`);
}

const ANOTHER = 'Set WB_REGISTRY to the registry, or to a file that is not there yet.';

function refused(why: string, way = ANOTHER): WinterdockError {
  return new WinterdockError('conflict', `${why} ${way} Nothing was changed.`, {
    extra: { start_refused: 'unusable' },
  });
}

function statOr(path: string, name: string): Stats | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (leadsNowhere(error)) return null;
    throw refused(`The registry ${name} cannot be looked at (${messageOf(error)}).`);
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
