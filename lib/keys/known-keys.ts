/**
 * The row of the registry that says which keys belong to it: by fingerprints, from which no key can be found. Knows
 * nothing of files.
 */
import { hkdfSync, randomBytes, scryptSync } from 'node:crypto';
import { z } from 'zod';
import { requireSecret } from '../auth/secrets.ts';
import { WinterdockError } from '../base/errors.ts';
import { KEY_FILES, KEY_NAMES, type KeyName } from '../base/key-files.ts';
import { secretsKeyOf } from '../base/sealed-secrets.ts';
import { signerOf } from '../base/signing.ts';

/** The name of the fact. */
export const KEYS_FACT = 'keys';
const VERSION = 1;

const entrySchema = z.strictObject({
  /** The fingerprint of the key in the file, with which everything new is made. */
  makes: z.string().max(200),
  /** While a rotation is under way: of the key before it, which is accepted too. */
  accepts: z.string().max(200).nullable(),
  /** When it began to make, in epoch seconds. */
  since: z.int(),
});
const rowSchema = z.strictObject({
  version: z.literal(VERSION),
  /** Of the fingerprints, hexadecimal. */
  salt: z.string().regex(/^[0-9a-f]{32}$/),
  keys: z.strictObject(
    Object.fromEntries(KEY_NAMES.map((name) => [name, entrySchema.optional()])) as Record<
      KeyName,
      z.ZodOptional<typeof entrySchema>
    >,
  ),
});

export type KeyEntry = z.infer<typeof entrySchema>;
export type KnownKeys = z.infer<typeof rowSchema>;

/** A row that knows no key yet. */
export function noKnownKeys(): KnownKeys {
  return { version: VERSION, salt: randomBytes(16).toString('hex'), keys: {} };
}

/** The stored value; null when there is none. Throws `conflict` for one that this version cannot read. */
export function parseKnownKeys(value: unknown): KnownKeys | null {
  if (value === null || value === undefined) return null;
  const parsed = rowSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const version = typeof value === 'object' && 'version' in value ? Number(value.version) : Number.NaN;
  throw new WinterdockError(
    'conflict',
    version > VERSION
      ? `A newer version of Winterdock has written which keys belong to the registry (form ${version}, this one knows ${VERSION}). Start the newer version.`
      : 'What the registry says of its keys is damaged. Put the registry back from a backup: docs/operations.md says how.',
    { extra: { start_refused: 'keys' } },
  );
}

/** 256 random bits as this server writes them. What a person chose is stretched before it is compared. */
const RANDOM = /^[A-Za-z0-9_-]{43}$/;
const FINGERPRINT_BYTES = 16;
/** The default cost of Node's scrypt: 16 MiB and some 30 ms. */
const SCRYPT = { N: 16_384, r: 8, p: 1 };

/**
 * The fingerprint of a key file's text. That of a signing key is its public name (`did:key:…`); the others are 128 bits
 * of HKDF or scrypt. Throws, naming `path`, when the text is no key of this kind.
 */
export function fingerprintOf(name: KeyName, text: string, { salt, path }: { salt: string; path: string }): string {
  if (name === 'signing') return signerOf(text, path).issuer;
  const secret = name === 'secrets' ? secretsKeyOf(text, path) : Buffer.from(requireSecret(text, path));
  const purpose = `winterdock fingerprint of ${KEY_FILES[name]} ${salt}`;
  if (name === 'secrets' || RANDOM.test(secret.toString())) {
    return `hkdf:${Buffer.from(hkdfSync('sha256', secret, '', purpose, FINGERPRINT_BYTES)).toString('hex')}`;
  }
  return `scrypt:${scryptSync(secret, purpose, FINGERPRINT_BYTES, SCRYPT).toString('hex')}`;
}
