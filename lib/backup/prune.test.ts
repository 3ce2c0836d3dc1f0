import { hash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import { observeEffects } from '../base/effects.ts';
import { openSigner } from '../base/signing.ts';
import { folderPlace, objectPath } from './folder-place.ts';
import { type BackupManifest, backupId, backupManifestText, MANIFEST_KIND } from './manifest.ts';
import { GRACE_MS, prune, prunePlace } from './prune.ts';
import { manifestsIn, openFolderTarget } from './store.ts';

let root: string;
let folder: string;
const clock = new FakeClock(Date.now() + 3_600_000);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-prune-'));
  folder = join(root, 'backups');
});
afterEach(() => {
  observeEffects(null);
  rmSync(root, { recursive: true, force: true });
});

/** A backup whose registry has this text, and that nothing else is in. */
async function make(text: string, ageDays: number): Promise<{ id: string; sha256: string }> {
  const target = await openFolderTarget(folder);
  try {
    const begun = Date.now() - ageDays * 86_400_000;
    const object = { sha256: hash('sha256', text), bytes: text.length };
    if (!(await target.has(object))) {
      const draft = target.draft();
      writeFileSync(draft, text);
      await target.keep(draft, object);
    }
    utimesSync(objectPath(folder, object.sha256), begun / 1000, begun / 1000);
    const manifest: Omit<BackupManifest, 'issuer'> = {
      kind: MANIFEST_KIND,
      id: backupId(begun, 'abcd'),
      begun_ms: begun,
      made_ms: begun,
      version: '1',
      migrations: 1,
      registry: object,
      head: null,
      ledger: { seq: 0, hash: '' },
      rows: [],
      copies: [],
      keys: { files: [], object: null },
    };
    await target.finish(manifest.id, backupManifestText(manifest, openSigner(root)));
    return { id: manifest.id, sha256: object.sha256 };
  } finally {
    await target.close();
  }
}

const isThere = ({ sha256 }: { sha256: string }) => existsSync(objectPath(folder, sha256));
const idsIn = async () => (await manifestsIn(folder)).manifests.map(({ id }) => id);

test('what an unwanted backup alone named stays for a day after that, and goes then', async () => {
  const [old, shared, newest] = [await make('old', 9), await make('same', 8), await make('same', 0)];
  const now = new FakeClock(Date.now());
  expect(await prune(folder, 1, now)).toEqual({ backups: [shared.id, old.id], objects: 0, bytes: 0, ahead: 0 });
  expect([await idsIn(), isThere(old), readdirSync(join(folder, 'retired')).length]).toEqual([[newest.id], true, 2]);
  now.advance(GRACE_MS / 1000 - 60);
  expect(await prune(folder, 1, now)).toMatchObject({ backups: [], objects: 0 });
  now.advance(120);
  expect(await prune(folder, 1, now)).toEqual({ backups: [], objects: 1, bytes: 3, ahead: 0 });
  expect([isThere(old), isThere(shared), readdirSync(join(folder, 'retired'))]).toEqual([false, true, []]);
});

test('what a broken off backup left stays for a day, and nothing goes while a manifest cannot be read', async () => {
  const kept = await make('kept', 0);
  const target = await openFolderTarget(folder);
  for (const [text, age] of [
    ['young', 0.5],
    ['left', 3],
  ] as const) {
    const draft = target.draft();
    writeFileSync(draft, text);
    await target.keep(draft, { sha256: hash('sha256', text), bytes: text.length });
    const at = Date.now() / 1000 - age * 86_400;
    utimesSync(objectPath(folder, hash('sha256', text)), at, at);
  }
  await target.close();
  const broken = join(folder, 'backups', `${backupId(0, 'abcd')}.json`);
  writeFileSync(broken, 'no manifest');
  await expect(prune(folder, 1, clock)).rejects.toMatchObject({ code: 'corrupt' });
  rmSync(broken);
  // One that has the name of another is none either.
  writeFileSync(broken, (await folderPlace(folder).read(`backups/${kept.id}.json`)) ?? '');
  await expect(prune(folder, 1, clock)).rejects.toMatchObject({
    message: expect.stringContaining('that of the backup'),
  });
  rmSync(broken);
  expect(await prune(folder, 1, clock)).toMatchObject({ objects: 1, bytes: 4 });
  expect([isThere(kept), existsSync(objectPath(folder, hash('sha256', 'young')))]).toEqual([true, true]);
});

test('links and foreign files in the folder are neither followed nor removed', async () => {
  const kept = await make('kept', 0);
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'a'.repeat(64)), 'outside');
  utimesSync(join(outside, 'a'.repeat(64)), 1, 1);
  symlinkSync(outside, join(folder, 'objects', 'aa'));
  symlinkSync(join(outside, 'a'.repeat(64)), join(folder, 'objects', 'a'.repeat(64)));
  writeFileSync(join(folder, 'objects', 'notes.txt'), 'a person’s');
  utimesSync(join(folder, 'objects', 'notes.txt'), 1, 1);
  expect(await prune(folder, 1, clock)).toMatchObject({ objects: 0 });
  expect([isThere(kept), readdirSync(outside), existsSync(join(folder, 'objects', 'notes.txt'))]).toEqual([
    true,
    ['a'.repeat(64)],
    true,
  ]);
  // Nothing is written through one.
  rmSync(join(folder, 'objects'), { recursive: true });
  symlinkSync(outside, join(folder, 'objects'));
  const target = await openFolderTarget(folder);
  const draft = target.draft();
  writeFileSync(draft, 'new');
  await expect(target.keep(draft, { sha256: hash('sha256', 'new'), bytes: 3 })).rejects.toMatchObject({
    code: 'conflict',
  });
  await target.close();
  expect(readdirSync(outside)).toEqual(['a'.repeat(64)]);
});

test('a removal that breaks off at any effect leaves every wanted backup whole, and the next one goes on', async () => {
  const days = Array.from({ length: 4 }, (_, day) => day);
  let effects = Number.POSITIVE_INFINITY;
  for (let nth = 1; nth <= effects; nth += 1) {
    rmSync(folder, { recursive: true, force: true });
    const made = [];
    for (const day of days.toReversed()) made.push(await make(`day ${day}`, day + 2));
    await prune(folder, 3, new FakeClock(Date.now() - 2 * GRACE_MS));
    let seen = 0;
    observeEffects({
      before() {
        seen += 1;
        if (seen >= nth) throw Object.assign(new Error('gone'), { code: 'EIO', syscall: 'write' });
      },
    });
    const outcome = await prune(folder, 1, clock).then(
      () => 'done',
      () => 'broken off',
    );
    observeEffects(null);
    if (outcome === 'done') effects = nth;
    const { manifests, damaged } = await manifestsIn(folder);
    expect([nth, damaged, manifests[0]?.id]).toEqual([nth, [], made.at(-1)?.id]);
    for (const { registry } of manifests) expect([nth, isThere(registry)]).toEqual([nth, true]);
    await prune(folder, 1, clock);
    await prune(folder, 1, new FakeClock(Date.now() + 2 * GRACE_MS));
    expect([nth, await idsIn(), made.filter(isThere).length]).toEqual([nth, [made.at(-1)?.id], 1]);
  }
  expect(effects).toBeGreaterThan(8);
});

test('nothing is removed once another says that it writes to the place', async () => {
  const old = await make('old', 9);
  await make('new', 0);
  await prune(folder, 1, clock);
  const later = new FakeClock(Date.now() + 2 * GRACE_MS);
  const none = () => new Set<string>();
  const sweep = (may: boolean) => prunePlace({ ...folderPlace(folder), isAlone: async () => may }, none, later);
  expect(await sweep(false)).toMatchObject({ objects: 0 });
  expect(isThere(old)).toBe(true);
  expect(await sweep(true)).toMatchObject({ objects: 1 });
});
