/**
 * The key files of a server: how they are named, and whether one can be used. What is said of a file never has a part
 * of its content. Knows nothing of what the keys open.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { publicMessage } from './errors.ts';

/** The keys that belong to a registry. `users.key` and `host.key` are none of them: they are the machine's. */
export const KEY_NAMES = ['auth', 'secrets', 'signing', 'admin'] as const;
export type KeyName = (typeof KEY_NAMES)[number];

export const KEY_FILES: Readonly<Record<KeyName, string>> = {
  auth: 'auth.secret',
  secrets: 'secrets.key',
  signing: 'signing.key',
  admin: 'admin.key',
};

/** The file of the key before, while a rotation is under way. */
export function oldKeyFile(name: KeyName): string {
  return `${name}-old.key`;
}

/** The file of the key to come, until it has the name of its kind. */
export function newKeyFile(name: KeyName): string {
  return `${name}-new.key`;
}

/** A longer file is none of ours: a signing key with a hundred predecessors has 8 KiB. */
const MOST_BYTES = 64 * 1024;
/** Rights of others that a key file must not give. */
const OF_OTHERS = 0o077;
/** Rights of others that let them exchange a file of the folder. */
const WRITTEN_BY_OTHERS = 0o022;

/** Why a file or folder cannot be used, for the person who started the server. */
export class KeyFileError extends Error {}

/**
 * The text of a key file in a folder (absolute), or null when there is none. Follows no link. Throws a `KeyFileError`
 * for one that is no plain file of this user, can be read by others, or cannot be read.
 */
export function readKeyFile(folder: string, file: string): string | null {
  const path = join(folder, file);
  const found = lookAt(path);
  if (found === null) return null;
  if (found.isSymbolicLink()) throw new KeyFileError(`${path} is a link. Put the file itself there.`);
  if (found.isDirectory()) throw new KeyFileError(`${path} is a folder and should be a file.`);
  if (!found.isFile()) throw new KeyFileError(`${path} is not a plain file.`);
  requireOwner(path, found, lookAt(`${folder}/.`));
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { mode, size } = fstatSync(descriptor);
    if ((mode & OF_OTHERS) !== 0)
      throw new KeyFileError(`Others may use ${path} (its mode is ${modeText(mode)}). Run chmod 600 ${path}.`);
    if (size > MOST_BYTES) throw new KeyFileError(`${path} has ${size} bytes and holds no key.`);
    const bytes = Buffer.alloc(size);
    const read = readSync(descriptor, bytes, 0, size, 0);
    const text = bytes.toString('utf8', 0, read);
    if (text.trim() === '') throw new KeyFileError(`${path} is empty.`);
    return text;
  } catch (error) {
    if (error instanceof KeyFileError) throw error;
    throw new KeyFileError(`${path} cannot be read by this user (${publicMessage(error)}).`, { cause: error });
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/**
 * Throws a `KeyFileError` when the folder of keys (absolute) cannot be used: it is missing, is a link or no folder, or
 * others may exchange what is in it.
 */
export function requireKeysFolder(folder: string): void {
  const found = lookAt(folder);
  const another = 'or set WB_KEYS to another folder.';
  if (found === null)
    throw new KeyFileError(`There is no folder ${folder}. Make it (mkdir -m 700 ${folder}), ${another}`);
  if (found.isSymbolicLink()) throw new KeyFileError(`${folder} is a link. Set WB_KEYS to the folder itself.`);
  if (!found.isDirectory())
    throw new KeyFileError(`WB_KEYS is ${folder}, and that is no folder. Move what is there, ${another}`);
  requireOwner(folder, found, null);
  if ((found.mode & WRITTEN_BY_OTHERS) !== 0) {
    throw new KeyFileError(
      `Others may write to ${folder} (its mode is ${modeText(found.mode)}). Run chmod 700 ${folder}.`,
    );
  }
}

/** Root, this user and the owner of the folder itself may own a key: whoever owns the folder can exchange its files. */
function requireOwner(path: string, { uid }: Stats, folder: Stats | null): void {
  const own = process.geteuid?.();
  if (own === undefined || uid === 0 || uid === own || uid === folder?.uid) return;
  throw new KeyFileError(
    `${path} belongs to the user ${uid}, and this server runs as ${own}. Run chown ${own} ${path}.`,
  );
}

function lookAt(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    throw new KeyFileError(`${path} cannot be looked at by this user (${publicMessage(error)}).`, { cause: error });
  }
}

function modeText(mode: number): string {
  return (mode & 0o777).toString(8).padStart(4, '0');
}
