import { hash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSigner } from '../base/signing.ts';
import { CONTENT, everyFileIn, FORMER, layLastState, makeOlder } from '../registry/testing/last-state.ts';
import type { ServerProcess } from '../testing/process.ts';
import { objectPath } from './folder-place.ts';
import { backupManifestText, parseBackupManifest } from './manifest.ts';
import { expectWhole, run, spawnServer } from './testing/server-content.ts';

let root: string;
let folder: string;
let backup: string;
const started: ServerProcess[] = [];

/** The folder of the last state, and a backup of it: a backup never migrates, so it is as that version made it. */
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-last-state-'));
  folder = join(root, 'data');
  backup = join(root, 'backup');
  layLastState(folder);
  const made = run('backup', folder, [backup]);
  expect([made.status, made.stderr]).toEqual([0, expect.stringContaining('It is of another version of Winterdock.')]);
});
afterAll(async () => {
  for (const one of started) if (one.child.exitCode === null) await one.end('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

const manifestPath = () => join(backup, 'backups', readdirSync(join(backup, 'backups'))[0] ?? '');

test('a backup of the last state is restored, carried over, and has everything', async () => {
  expect(parseBackupManifest(readFileSync(manifestPath(), 'utf8')).migrations).toBe(FORMER);
  const restored = join(root, 'restored');
  const done = run('restore', restored, ['--from', backup]);
  expect([done.status, done.stderr]).toEqual([0, '']);
  // The registry from before is in the backup.
  expect(readdirSync(restored).filter((name) => /before|restoring/.test(name))).toEqual([]);
  const server = await spawnServer({ folder: restored });
  started.push(server);
  expect(server.output()).not.toContain('migrations');
  await expectWhole(server, CONTENT);
  await server.end();
});

test('one sandbox of a backup of the last state is restored into a folder of this version', async () => {
  const into = join(root, 'into');
  const server = await spawnServer({ folder: into });
  started.push(server);
  await server.end();
  const done = run('restore', into, ['--from', backup, '--instance', 'frozen']);
  expect([done.status, done.stderr]).toEqual([0, '']);
  const again = await spawnServer({ folder: into });
  started.push(again);
  expect((await again.call('GET', '/api/instances/frozen/volumes/workspace/what')).text).toBe('frozen');
  await again.end();
});

test('a backup of an older version is refused by its name, whole or one sandbox of it, and nothing is changed', () => {
  const { issuer: _, ...manifest } = parseBackupManifest(readFileSync(manifestPath(), 'utf8'));
  const draft = join(root, 'older.sqlite');
  copyFileSync(objectPath(backup, manifest.registry.sha256), draft);
  chmodSync(draft, 0o600);
  makeOlder(draft);
  const registry = { sha256: hash('sha256', readFileSync(draft)), bytes: statSync(draft).size };
  const older = join(root, 'older');
  mkdirSync(join(older, 'backups'), { recursive: true });
  for (const { parentPath, name } of readdirSync(join(backup, 'objects'), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile())) {
    const to = objectPath(older, name);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(join(parentPath, name), to);
  }
  mkdirSync(dirname(objectPath(older, registry.sha256)), { recursive: true });
  renameSync(draft, objectPath(older, registry.sha256));
  const text = backupManifestText({ ...manifest, registry, migrations: FORMER - 1 }, openSigner(folder));
  writeFileSync(join(older, 'backups', `${manifest.id}.json`), text);
  const [living, files, empty] = [everyFileIn(folder), everyFileIn(older), join(root, 'empty')];
  mkdirSync(empty);
  for (const [at, args] of [
    [folder, ['--force']],
    [empty, []],
    [empty, ['--instance', 'frozen', '--to', join(empty, 'frozen.sqlite')]],
  ] as const) {
    const refused = run('restore', at, ['--from', older, ...args]);
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(
        `The backup ${manifest.id} is of an older version of Winterdock: its ${FORMER - 1} migrations`,
      ),
    ]);
    expect(refused.stderr).toContain('49ff4dee');
  }
  expect([everyFileIn(folder), everyFileIn(older), everyFileIn(empty)]).toEqual([living, files, {}]);
  makeOlder(join(folder, 'registry.sqlite'));
  const refused = run('backup', folder, [join(root, 'of-older')]);
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining('is of an older version of Winterdock'),
  ]);
});
