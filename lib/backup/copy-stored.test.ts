import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { zstdCompressSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cloudAddress, objectNameOf } from '../base/cloud-address.ts';
import { readConfig } from '../base/config.ts';
import type { StoredObject } from '../registry/types.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { openObjectStore } from '../storage/object-store/open-store.ts';
import { FileMoved } from './copy-file.ts';
import { copyStored, type StoredParts } from './copy-stored.ts';
import { folderPlace } from './folder-place.ts';
import type { BackupRow, ObjectRef } from './manifest.ts';
import { type BackupPlace, objectName } from './place.ts';
import { type BackupTarget, openTarget } from './store.ts';
import { storePlace } from './store-place.ts';

const FILE = Buffer.from('the file of a sandbox '.repeat(500));
const FILED = hash('sha256', FILE);
const PACKED = zstdCompressSync(FILE);

let root: string;
let cold: ObjectStore;
let opened: number;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-stored-'));
  mkdirSync(join(root, 'store'));
  cold = await openStore();
  opened = 0;
});
afterEach(async () => {
  await cold.close();
  rmSync(root, { recursive: true, force: true });
});

const openStore = () => {
  const { store } = readConfig({ WB_DATA: join(root, 'data') });
  return openObjectStore(pathToFileURL(join(root, 'store')).href, store.connection);
};

/** An object as a drawer stored it. */
async function drawer(kind: 'cold' | 'archive', token = 't1'): Promise<StoredObject> {
  const bytes = kind === 'archive' ? PACKED : FILE;
  const path = join(root, 'filed');
  writeFileSync(path, bytes);
  const address = cloudAddress({ kind, id: 'a', generation: 7, token });
  await cold.upload(objectNameOf(address), path);
  return { address, generation: 7, sha256: FILED, bytes: bytes.length, at: 0 };
}

async function copyTo(
  place: BackupPlace,
  stored: StoredObject,
  before: Partial<BackupRow> | null = null,
): Promise<{ copied: Awaited<ReturnType<typeof copyStored>>; added: ObjectRef[]; bytes: Buffer | null }> {
  const target: BackupTarget = await openTarget(place);
  const added: ObjectRef[] = [];
  const parts: StoredParts = {
    target,
    cold: async () => {
      opened += 1;
      return cold;
    },
    before: new Map(before === null ? [] : [['a', before as BackupRow]]),
    added: (object) => added.push(object),
  };
  try {
    const copied = await copyStored(parts, 'a', stored);
    const name = copied === null ? null : objectName(copied.object.sha256);
    const path = name === null ? null : await place.fetch(name, join(root, `got-${added.length}-${Math.random()}`));
    return { copied, added, bytes: path === null ? null : readFileSync(path) };
  } finally {
    await target.close();
  }
}

const folder = () => folderPlace(join(root, 'backups'));
const sameStore = async () => storePlace(await openStore(), join(root, 'drafts'));

test.each([
  ['a folder', async () => folder()],
  ['the same store', sameStore],
])('what only the store has is copied to %s, plain and packed, and once', async (_, placeOf) => {
  const plain = await drawer('cold');
  const one = await copyTo(await placeOf(), plain);
  expect(one.copied).toEqual({ object: { sha256: FILED, bytes: FILE.length }, packed: false });
  expect([one.added.length, one.bytes]).toEqual([1, FILE]);
  const packed = await drawer('archive');
  const other = await copyTo(await placeOf(), packed);
  expect(other.copied).toEqual({
    object: { sha256: hash('sha256', PACKED), bytes: PACKED.length },
    packed: true,
  });
  expect([other.added.length, other.bytes]).toEqual([1, PACKED]);

  // The next backup reads neither again: by the hash of a plain one, by the address of a packed one.
  opened = 0;
  expect((await copyTo(await placeOf(), plain)).added).toEqual([]);
  const before = { stored: packed.address, object: other.copied?.object ?? null };
  expect((await copyTo(await placeOf(), packed, before)).added).toEqual([]);
  expect(opened).toBe(0);

  // Nothing in a backup refers to a drawer.
  await cold.purge(objectNameOf(plain.address));
  await cold.purge(objectNameOf(packed.address));
  expect((await copyTo(await placeOf(), plain)).bytes).toEqual(FILE);
});

test('an object that is gone is no copy, one of other bytes is asked for again, and a store that is away ends it', async () => {
  const stored = await drawer('cold');
  expect((await copyTo(folder(), { ...stored, address: stored.address.replace('t1', 't2') })).copied).toBeNull();
  const wrong = { ...stored, sha256: '0'.repeat(64) };
  await expect(copyTo(folder(), wrong)).rejects.toThrow(FileMoved);
  rmSync(join(root, 'store'), { recursive: true });
  await expect(copyTo(folder(), stored)).rejects.toMatchObject({ code: 'storage_unavailable' });
});
