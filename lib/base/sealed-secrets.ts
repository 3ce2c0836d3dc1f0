/**
 * Secrets that must be used again and so cannot be kept as digests: encrypted with a key of the data folder (AES-256
 * with GCM), each bound to what it belongs to. The key is never in the registry. Knows nothing of what the secrets are.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { KEY_FILES, oldKeyFile } from './key-files.ts';
import { readOrMakeSecretFile } from './secret-file.ts';

export interface SecretSealer {
  /** The secret, encrypted; it opens only for the same `owner`. */
  seal(secret: string, owner: string): string;
  /** Null when it was sealed with another key, for another owner, or was changed. */
  open(sealed: string, owner: string): string | null;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Says how the rest was made, should it ever be made otherwise. */
const FORM = 'v1.';

/** The text of a new key's file: 256 random bits in base64url. */
export function newSecretsKey(): string {
  return `${randomBytes(KEY_BYTES).toString('base64url')}\n`;
}

/** The key in the text of the file `path`. Throws when it holds none. */
export function secretsKeyOf(text: string, path: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64url');
  if (key.length !== KEY_BYTES) throw new Error(`${path} holds no key of ${KEY_BYTES} bytes.`);
  return key;
}

/**
 * The sealer of a folder of key files (absolute). The first call makes its key. With a `purpose` it has a key of its
 * own, derived from that one (HKDF with SHA-256). `before` is the text of the key that is being replaced: what it
 * sealed opens too. Throws when the file holds none.
 */
export function openSecretSealer(keysFolder: string, purpose?: string, before?: string): SecretSealer {
  const path = join(keysFolder, KEY_FILES.secrets);
  const sealer = sealerOf(secretsKeyOf(readOrMakeSecretFile(path, newSecretsKey), path), purpose);
  if (before === undefined) return sealer;
  const former = sealerOf(secretsKeyOf(before, oldKeyFile('secrets')), purpose);
  return {
    seal: sealer.seal,
    open: (sealed, owner) => sealer.open(sealed, owner) ?? former.open(sealed, owner),
  };
}

/** The sealer of a key of 32 bytes, for a `purpose` or, without one, for what has none. */
export function sealerOf(root: Buffer, purpose?: string): SecretSealer {
  const key = purpose === undefined ? root : Buffer.from(hkdfSync('sha256', root, '', purpose, KEY_BYTES));
  return {
    seal(secret, owner) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(owner));
      const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return FORM + sealed.toString('base64url');
    },
    open(sealed, owner) {
      const bytes = Buffer.from(sealed.slice(FORM.length), 'base64url');
      if (!sealed.startsWith(FORM) || bytes.length < NONCE_BYTES + TAG_BYTES) return null;
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(owner))
        .setAuthTag(bytes.subarray(end));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8');
      } catch {
        // The tag does not fit: another key or owner, or changed bytes.
        return null;
      }
    },
  };
}
