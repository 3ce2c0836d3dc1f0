/** Secrets: kept in files of mode 0600, compared by digest in constant time. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readOrMakeSecretFile } from '../base/secret-file.ts';

const SECRET_BYTES = 32;
const LEAST_LENGTH = 16;

/**
 * The secret in `path`, made (256 random bits, base64url, mode 0600) when there is none. Throws when the file is empty.
 */
export function readOrMakeSecret(path: string): string {
  const secret = readOrMakeSecretFile(path, () => `${randomBytes(SECRET_BYTES).toString('base64url')}\n`).trim();
  if (secret.length < LEAST_LENGTH) throw new Error(`${path} holds no usable secret: delete it and a new one is made.`);
  return secret;
}

/** A comparison with `expected` in constant time, whatever the length or common prefix. */
export function secretComparison(expected: string): (given: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const expectedDigest = digest(expected);
  return (given) => timingSafeEqual(digest(given), expectedDigest);
}
