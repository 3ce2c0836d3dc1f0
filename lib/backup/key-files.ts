/**
 * The key files of a server, and their encryption with a passphrase (age, scrypt) for a backup. Describes what
 * each key is for in words only.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Decrypter, Encrypter } from 'age-encryption';
import { z } from 'zod';
import type { Config } from '../base/config.ts';
import { WinterdockError } from '../base/errors.ts';
import { readSecretFile } from '../base/secret-file.ts';

/** As servers name them. */
const KEY_FILE = /^(?:auth\.secret|[a-z][a-z-]*\.key)$/;
const LEAST_PASSPHRASE = 12;

const keysSchema = z.record(z.string().regex(KEY_FILE), z.string());

/** What a folder without this very file loses, by its name. */
const WITHOUT: Readonly<Record<string, string>> = {
  'signing.key':
    'what the old one signed (heads and sealed months of the ledger, bundles) verifies only with its name, which the manifest has',
  'secrets.key': 'no secret opens: those of webhooks have to be rotated, those of sandboxes and tenants set again',
  'auth.secret': 'everybody has to sign in again',
  'admin.key': 'the admin key is another one',
  'users.key': 'sandboxes of a server that is root get other users of the system, and lose nothing by it',
};

/** The machine's own key, which stays in the data folder. */
const OF_MACHINE = 'users.key';
/** The key of one host, which is in no backup: another one with it would be taken for that host. */
const OF_HOST = 'host.key';

type KeyFolders = Pick<Config, 'dataFolder' | 'keysFolder'>;

/** Where a server has the key file of this name: an absolute path. */
export function keyPath({ dataFolder, keysFolder }: KeyFolders, name: string): string {
  return join(name === OF_MACHINE ? dataFolder : keysFolder, name);
}

/** Names of the key files of a server, in order. */
export function keyFilesOf({ dataFolder, keysFolder }: KeyFolders): string[] {
  const names = (folder: string) => readdirSync(folder).filter((name) => KEY_FILE.test(name) && name !== OF_HOST);
  const machine = names(dataFolder).filter((name) => name === OF_MACHINE);
  return [...names(keysFolder).filter((name) => name !== OF_MACHINE), ...machine].sort();
}

/** What is lost without the key files of these names, a sentence each. */
export function lossesWithout(files: readonly string[]): string[] {
  return files.map((name) => `${name}: ${WITHOUT[name] ?? 'what it opens stays closed'}.`);
}

/** Their texts, by name. */
export function readKeys(folders: KeyFolders, files: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    files.flatMap((name) => {
      const text = readSecretFile(keyPath(folders, name));
      return text === null ? [] : [[name, text]];
    }),
  );
}

/** Throws `validation` for a passphrase that is too short to protect anything. */
export function requirePassphrase(passphrase: string): string {
  if (passphrase.length >= LEAST_PASSPHRASE) return passphrase;
  throw new WinterdockError('validation', `The passphrase must have at least ${LEAST_PASSPHRASE} characters.`);
}

/** An age file of them, which `age --decrypt` opens as well. */
export function encryptKeys(keys: Record<string, string>, passphrase: string): Promise<Uint8Array> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(requirePassphrase(passphrase));
  return encrypter.encrypt(JSON.stringify(keys));
}

/** The texts of an age file made by encryptKeys, by name. Throws `validation` for another passphrase. */
export async function decryptKeys(file: Uint8Array, passphrase: string): Promise<Record<string, string>> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return keysSchema.parse(JSON.parse(await decrypter.decrypt(file, 'text')));
  } catch (error) {
    throw new WinterdockError('validation', 'The key files in the backup do not open with this passphrase.', {
      cause: error,
    });
  }
}
