import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { instanceIdOfFile } from '../base/ids.ts';
import { openSigner } from '../base/signing.ts';
import {
  type BackupRow,
  backupId,
  backupManifestText,
  MANIFEST_KIND,
  objectsOf,
  parseBackupManifest,
} from './manifest.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-manifest-'));
const signer = openSigner(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const object = (digit: string, bytes = 1) => ({ sha256: digit.repeat(64), bytes });
const row = (id: string): BackupRow => ({
  id: instanceIdOfFile(id),
  tenant: 'acme',
  state: 'suspended',
  how: 'whole',
  object: object('a', 5),
  packed: false,
  expands: null,
  listing: null,
  stamp: null,
  wrong: null,
});
const manifest = (rows: BackupRow[]) => ({
  kind: MANIFEST_KIND as typeof MANIFEST_KIND,
  id: backupId(0, 'abcd'),
  begun_ms: 0,
  made_ms: 1,
  version: '1',
  migrations: 10,
  registry: object('b'),
  head: null,
  ledger: { seq: 1, hash: 'x' },
  rows,
  copies: [],
  keys: { files: [], object: null },
});

test('a manifest reads back as it was signed, and names each object once with all its owners', () => {
  const read = parseBackupManifest(backupManifestText(manifest([row('one'), row('two')]), signer));
  expect(read).toEqual({ ...manifest([row('one'), row('two')]), issuer: signer.issuer });
  expect([...objectsOf(read)]).toEqual([
    ['b'.repeat(64), { bytes: 1, names: ['the registry'] }],
    ['a'.repeat(64), { bytes: 5, names: ['the sandbox "one"', 'the sandbox "two"'] }],
  ]);
});

test('a changed or unsigned manifest is refused, and one whose sandboxes are named like paths', () => {
  const text = backupManifestText(manifest([row('one')]), signer);
  expect(() => parseBackupManifest(text.replace('"acme"', '"acne"'))).toThrow(/not as it was signed/);
  expect(() => parseBackupManifest(text.split('\n')[0] ?? '')).toThrow(/not one of this version/);
  expect(() => parseBackupManifest(text.replace(signer.issuer, 'did:key:z6Mkqs9mzwRkFjzgRzAn3oj2'))).toThrow(/signed/);
  for (const id of ['../../etc/passwd', '..', 'a/b', '']) {
    expect(() => parseBackupManifest(backupManifestText(manifest([row(id)]), signer))).toThrow(
      /not one of this version/,
    );
  }
});
