/** Secrets: kept in files of mode 0600, compared by digest in constant time. */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readOrMakeSecretFile } from '../base/secret-file.ts';

const SECRET_BYTES = 32;
const LEAST_LENGTH = 16;

/** The text of a new secret's file: 256 random bits, base64url. */
export function newSecret(): string {
  return `${randomBytes(SECRET_BYTES).toString('base64url')}\n`;
}

/** The secret in the text of the file `path`. Throws when there is none. */
export function requireSecret(text: string, path: string): string {
  const secret = text.trim();
  if (secret.length < LEAST_LENGTH) throw new Error(`${path} holds no usable secret.`);
  return secret;
}

/** The secret in `path`, made (mode 0600) when there is none. Throws when the file is empty. */
export function readOrMakeSecret(path: string): string {
  return requireSecret(readOrMakeSecretFile(path, newSecret), path);
}

/** A comparison with each of `expected` in constant time, whatever the length or common prefix. */
export function secretComparison(...expected: readonly string[]): (given: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer');
  const digests = expected.map(digest);
  return (given) => {
    const found = digest(given);
    return digests.map((one) => timingSafeEqual(found, one)).includes(true);
  };
}
