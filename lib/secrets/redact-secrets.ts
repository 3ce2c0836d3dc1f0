/** Masks the values of secrets in what a server answers to a guest. Pure. */
import type { SecretHeader } from './secrets.ts';

/**
 * Redacts values that a server echoes: each byte of one becomes an asterisk. A value that comes back otherwise
 * (base64, in parts) is not recognised.
 */
export function redacted(bytes: Buffer, secrets: readonly SecretHeader[]): Buffer {
  let copy: Buffer | null = null;
  for (const value of echoedForms(secrets)) {
    const sought = Buffer.from(value, 'latin1');
    for (let at = bytes.indexOf(sought); at >= 0; at = bytes.indexOf(sought, at + sought.length)) {
      copy ??= Buffer.from(bytes);
      copy.fill('*', at, at + sought.length);
    }
  }
  return copy ?? bytes;
}

/**
 * The whole value of a header and the secret in it, as they are and as JSON, an address and a page spell them; the
 * longer ones first, because one may be a part of another.
 */
export function echoedForms(secrets: readonly SecretHeader[]): string[] {
  const plain = secrets.flatMap(({ value, secret }) => [value, secret]);
  const forms = plain.flatMap((text) => [text, ...SPELLINGS.map((spell) => spell(text))]);
  return [...new Set(forms)].filter((form) => form.length >= SHORTEST_ECHO).sort((a, b) => b.length - a.length);
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const SPELLINGS: readonly ((text: string) => string)[] = [
  inJson,
  (text) => inJson(text).replaceAll('/', '\\/'),
  encodeURIComponent,
  (text) => encodeURIComponent(text).replaceAll('%20', '+'),
  (text) => text.replace(/[&<>"]/g, (one) => ENTITIES[one] ?? one),
];

/** Shorter ones would be found everywhere. */
const SHORTEST_ECHO = 6;
