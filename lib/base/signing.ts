/**
 * The server's signatures: one Ed25519 key per registry. Its name is a `did:key`, which contains the public key, so
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
import { KEY_FILES } from './key-files.ts';
import { readOrMakeSecretFile, readSecretFile } from './secret-file.ts';

export interface Signer {
  /** `did:key:z6Mk…`, the public key's name. */
  readonly issuer: string;
  /** Whose signatures count: its own name, then those of the keys that it replaced. */
  readonly trusted: readonly string[];
  /** The raw public key, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The Ed25519 signature of the bytes, base64url without padding, 86 characters. */
  sign(bytes: Uint8Array): string;
}

const DID_KEY = 'did:key:z';
/** Multicodec `ed25519-pub` (0xed) as a varint: https://w3c-ccg.github.io/did-key-spec/. */
const ED25519 = Uint8Array.of(0xed, 0x01);
const PUBLIC_KEY_BYTES = 32;
/** What precedes the raw key in an Ed25519 SubjectPublicKeyInfo (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
/** 64 bytes; the last character has only its two high bits free, or one signature would have several texts. */
const SIGNATURE = /^[A-Za-z0-9_-]{85}[AQgw]$/;

/** The text of a new key's file: PKCS #8 in PEM. */
export function newSigningKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/**
 * The signer of a folder of key files (absolute). The first call makes its key. Throws when the file is not an Ed25519
 * key.
 */
export function openSigner(keysFolder: string): Signer {
  const path = join(keysFolder, KEY_FILES.signing);
  return signerOf(readOrMakeSecretFile(path, newSigningKey), path);
}

/** The name of a folder's key, or null when it has none yet. Throws when the file is not an Ed25519 key. */
export function issuerOf(keysFolder: string): string | null {
  const path = join(keysFolder, KEY_FILES.signing);
  const pem = readSecretFile(path);
  return pem === null ? null : signerOf(pem, path).issuer;
}

/** The names whose signatures count here: see `Signer.trusted`. None where there is no key yet. */
export function trustedIssuersOf(keysFolder: string): readonly string[] {
  const path = join(keysFolder, KEY_FILES.signing);
  const pem = readSecretFile(path);
  return pem === null ? [] : signerOf(pem, path).trusted;
}

/** What precedes the name of a replaced key in the file of the key that replaced it, below the PEM. */
const PREDECESSOR = 'predecessor: ';

/** The text of a key file with the names of the keys that it replaces, and of those that they replaced. */
export function withPredecessors(pem: string, issuers: readonly string[]): string {
  const own = signerOf(pem, KEY_FILES.signing).issuer;
  const names = new Set([...issuers, ...predecessorsIn(pem)].filter((issuer) => issuer !== own));
  const lines = pem.split('\n').filter((line) => line !== '' && !line.startsWith(PREDECESSOR));
  return `${[...lines, ...[...names].map((name) => PREDECESSOR + name)].join('\n')}\n`;
}

function predecessorsIn(pem: string): string[] {
  return pem
    .split('\n')
    .flatMap((line) => (line.startsWith(PREDECESSOR) ? [line.slice(PREDECESSOR.length).trim()] : []))
    .filter((name) => publicKeyOf(name) !== null);
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

/** The signer of the text of the file `path`. Throws when it is not an Ed25519 key. */
export function signerOf(pem: string, path: string): Signer {
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
  const issuer = `${DID_KEY}${base58.encode(Uint8Array.of(...ED25519, ...publicKey))}`;
  return {
    issuer,
    trusted: [issuer, ...predecessorsIn(pem)],
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
