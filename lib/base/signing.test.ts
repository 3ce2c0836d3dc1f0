import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { base58 } from '@scure/base';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { issuerOf, openSigner, verify } from './signing.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-signing-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const BYTES = Buffer.from('what was said');

test('the first start makes a key that only its owner can read, and later ones keep it', () => {
  expect(issuerOf(folder)).toBeNull();
  const signer = openSigner(folder);
  const path = join(folder, 'signing.key');
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readFileSync(path, 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  const again = openSigner(folder);
  expect(again.issuer).toBe(signer.issuer);
  expect(issuerOf(folder)).toBe(signer.issuer);
  expect(again.sign(BYTES)).toBe(signer.sign(BYTES));
});

test('the issuer names the public key, and a verification needs nothing else', () => {
  const { issuer, publicKey, sign } = openSigner(folder);
  expect(issuer).toMatch(/^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/);
  expect(base58.decode(issuer.slice('did:key:z'.length))).toEqual(Uint8Array.of(0xed, 1, ...publicKey));
  expect(verify(issuer, BYTES, sign(BYTES))).toBe(true);
});

test('a known key and message give the known signature', () => {
  // RFC 8032, 7.1, test 2: the seed, the message 72, its signature.
  const seed = '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb';
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex').toString('base64');
  writeFileSync(join(folder, 'signing.key'), `-----BEGIN PRIVATE KEY-----\n${der}\n-----END PRIVATE KEY-----\n`);
  const signer = openSigner(folder);
  expect(Buffer.from(signer.publicKey).toString('hex')).toBe(
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
  );
  expect(Buffer.from(signer.sign(Uint8Array.of(0x72)), 'base64url').toString('hex')).toBe(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  );
});

test('another message, signature or issuer is not verified, nor anything malformed', () => {
  const signer = openSigner(folder);
  const other = openSigner(join(folder, 'other'));
  const signature = signer.sign(BYTES);
  expect(verify(signer.issuer, Buffer.from('what was never said'), signature)).toBe(false);
  expect(verify(other.issuer, BYTES, signature)).toBe(false);
  expect(verify(signer.issuer, BYTES, other.sign(BYTES))).toBe(false);
  const flipped = Buffer.from(signature, 'base64url');
  flipped[10] = (flipped[10] ?? 0) ^ 1;
  expect(verify(signer.issuer, BYTES, flipped.toString('base64url'))).toBe(false);
  for (const broken of ['', 'A', `${signature}A`, signature.slice(1), `${signature}=`, `${signature.slice(0, 85)}B`]) {
    expect(verify(signer.issuer, BYTES, broken), broken).toBe(false);
  }
  const x25519 = base58.encode(Uint8Array.of(0xec, 1, ...signer.publicKey));
  for (const broken of ['', 'did:key:z', 'did:web:example.org', `did:key:z${x25519}`, signer.issuer.slice(0, -1)]) {
    expect(verify(broken, BYTES, signature), broken).toBe(false);
  }
});

test('a file with other contents is refused and left unchanged', () => {
  const path = join(folder, 'signing.key');
  const empty = join(folder, 'empty');
  for (const text of ['', 'no key', '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n']) {
    writeFileSync(path, text);
    chmodSync(path, 0o600);
    expect(() => openSigner(folder)).toThrow(/holds no/);
    expect(readFileSync(path, 'utf8')).toBe(text);
  }
  expect(issuerOf(empty)).toBeNull();
});
