/** New ids: short, unguessable, without characters that look alike. Knows nothing of what they name. */
import { randomBytes } from 'node:crypto';

/** Crockford's base 32 without look-alikes, lower case. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 10;

/** A new id: the prefix, a dash and 50 random bits. */
export function newId(prefix: 'sb' | 'snap' | 'ship' | 'job'): string {
  let id = `${prefix}-`;
  for (const byte of randomBytes(LENGTH)) id += ALPHABET[byte % ALPHABET.length];
  return id;
}
