/** Secrets on disk and in comparison: files of mode 0600, keys compared by digest in constant time. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const SECRET_BYTES = 32;

/** The secret in `path`, made (256 random bits, base64url, mode 0600) when there is none. Throws when the file is empty. */
export function readOrMakeSecret(path: string): string {
  const kept = read(path);
  if (kept !== null) return kept;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, `${randomBytes(SECRET_BYTES).toString('base64url')}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    linkSync(draft, path);
  } catch (error) {
    // Someone else was first: theirs is the secret.
    if (!isExists(error)) throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  const made = read(path);
  if (made === null) throw new Error(`${path} could not be written.`);
  return made;
}

function read(path: string): string | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
  if (text.length < 16) throw new Error(`${path} holds no usable secret: delete it and a new one is made.`);
  return text;
}

function isExists(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** Makes a check that takes the same time for every wrong key, whatever its length or common prefix. */
export function keyChecker(expected: string): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(expected);
  return (given) => timingSafeEqual(digest(given), wanted);
}
