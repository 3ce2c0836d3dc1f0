/**
 * Ids: new ones are short, unguessable and without characters that look alike. The id of a sandbox is parsed once,
 * where it comes in; the type proves it below. Pure, and safe for the browser.
 */
import { WinterdockError } from './errors.ts';

declare const brand: unique symbol;

/** The id of a sandbox. Only `parseInstanceId`, `newId` and the contract's schema make one; rows keep it. */
export type InstanceId = string & { readonly [brand]: 'InstanceId' };

/** Lower-case letters, digits, `_` and `-`, 1 to 63 characters, starting with a letter or digit. */
export const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
export const SLUG_RULE = 'must be 1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit';

/** Crockford's base 32 without look-alikes, lower case. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const LENGTH = 10;

/** A new id: the prefix, a dash and 50 random bits. */
export function newId(prefix: 'sb'): InstanceId;
export function newId(prefix: 'snap' | 'wb' | 'ship' | 'job' | 'sched' | 'run' | 'term' | 'hook' | 'ping'): string;
export function newId(prefix: string): string {
  let id = `${prefix}-`;
  for (const byte of crypto.getRandomValues(new Uint8Array(LENGTH))) id += ALPHABET[byte % ALPHABET.length];
  return id;
}

/** Whether a value has the form of a sandbox's id. */
export function isInstanceId(value: unknown): value is InstanceId {
  return typeof value === 'string' && SLUG.test(value);
}

/** The id that the name of a file stands for. A name of another form is of no sandbox: it finds no row. */
export function instanceIdOfFile(name: string): InstanceId {
  return name as InstanceId;
}

/** Parses the id of a sandbox, once, where it comes in. Throws `validation`. */
export function parseInstanceId(text: string): InstanceId {
  if (isInstanceId(text)) return text;
  throw new WinterdockError('validation', `The id of a sandbox ${SLUG_RULE}.`, {
    extra: { errors: [{ path: 'id', message: SLUG_RULE }] },
  });
}
