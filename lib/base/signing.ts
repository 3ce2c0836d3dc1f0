/**
 * The server's signatures: one Ed25519 key per data folder. Its name is a `did:key`, which contains the public key, so
 * anybody with the name can verify a signature. Knows nothing of the documents: the first member of each says its kind.
 */
import {
  createPrivateKey,
  createPublicKey,
  sign as edSign,
  verify as edVerify,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { readOrMakeSecretFile, readSecretFile } from './secret-file.ts';

export interface Signer {
  /** `did:key:z6Mk…`, the public key's name. */
  readonly issuer: string;
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The Ed25519 signature of the bytes, base64url without padding, 86 characters. */
  sign(bytes: Uint8Array): string;
}

/** The key's file in the data folder: PKCS #8 in PEM, mode 0600. */
const KEY_FILE = 'signing.key';
const DID_KEY = 'did:key:z';
/** Multicodec `ed25519-pub` (0xed) as a varint: https://w3c-ccg.github.io/did-key-spec/. */
const ED25519 = Uint8Array.of(0xed, 0x01);
const PUBLIC_KEY_BYTES = 32;
/** What precedes the raw key in an Ed25519 SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
/** 64 bytes; the last character has only its two high bits free, or one signature would have several texts. */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/**
 * The signer of a data folder (absolute). The first call makes its key. Throws when the file is not an Ed25519 key.
 */
export function openSigner(dataFolder: string): Signer {
  const path = join(dataFolder, KEY_FILE);
  const pem = readOrMakeSecretFile(path, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  return signerOf(pem, path);
}

/** The name of a data folder's key, or null when it has none yet. Throws when the file is not an Ed25519 key. */
export function issuerOf(dataFolder: string): string | null {
  const path = join(dataFolder, KEY_FILE);
  const pem = readSecretFile(path);
  return pem === null ? null : signerOf(pem, path).issuer;
}

/**
 * Whether `signature` (base64url) is the signature of `issuer` (`did:key:z6Mk…`) over the bytes. False when malformed.
 */
export function verify(issuer: string, bytes: Uint8Array, signature: string): boolean {
  if (!SIGNATURE.test(signature)) return false;
  try {
    const key = keyOf(issuer);
    if (key === null) return false;
    return edVerify(null, bytes, key, Buffer.from(signature, 'base64url'));
  } catch {
    // 32 bytes that are not a point of the curve.
    return false;
  }
}

function signerOf(pem: string, path: string): Signer {
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new Error(`${path} holds no private key.`, { cause: error });
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`${path} holds no Ed25519 key.`);
  const publicKey = new Uint8Array(
    createPublicKey(key).export({ type: 'spki', format: 'der' }).subarray(SPKI_PREFIX.length),
  );
  return {
    issuer: `${DID_KEY}${base58.encode(Uint8Array.of(...ED25519, ...publicKey))}`,
    publicKey,
    sign: (bytes) => edSign(null, bytes, key).toString('base64url'),
  };
}

/** The last key used: thousands of signatures in a row have the same issuer. */
let last: { issuer: string; key: KeyObject } | null = null;

/** The key of an issuer, or null. Throws for 32 bytes that are not a point of the curve. */
function keyOf(issuer: string): KeyObject | null {
  if (last?.issuer === issuer) return last.key;
  const raw = publicKeyOf(issuer);
  if (raw === null) return null;
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' });
  last = { issuer, key };
  return key;
}

/** The raw key in a `did:key`, or null when it names no Ed25519 key. */
function publicKeyOf(issuer: string): Uint8Array | null {
  if (!issuer.startsWith(DID_KEY) || issuer.length > 100) return null;
  try {
    const bytes = base58.decode(issuer.slice(DID_KEY.length));
    const isKey = bytes.length === ED25519.length + PUBLIC_KEY_BYTES && ED25519.every((byte, at) => bytes[at] === byte);
    return isKey ? bytes.slice(ED25519.length) : null;
  } catch {
    // Not base58, so not a key.
    return null;
  }
}
