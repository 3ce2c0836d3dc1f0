/** Live folders that come back, also after a kill at any step, and what is a sandbox's own in them. */
import { execFileSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { copyFolderNow } from '../../registry/testing/registry-of-tests.ts';
import { namesIn } from '../../testing/files-in.ts';
import { stage } from '../testing/stage.ts';
import { liveFile, REQUEST, startTestEngine } from '../testing/test-engine.ts';

const at = stage();

const isRoot = process.getuid?.() === 0;
const WORKER = 60_600;

/** A new folder (absolute) that is gone after the test. */
function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-landing-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A copy of the data folder as it is now, as a killed server leaves it. */
function cutOff(into = join(emptyFolder(), 'data')): string {
  copyFolderNow(at.folder, into);
  return into;
}

async function awake(id: string): Promise<string> {
  await at.dock.create(id);
  await at.dock.put(id, '/x', 'answered');
  return dirname(liveFile(at.dock, id));
}

/** Makes a folder look as if a worker had it, with a thing beside its file. */
function takenOver(folder: string): void {
  mkdirSync(join(folder, 'deep', 'tree'), { recursive: true });
  symlinkSync('/etc/passwd', join(folder, 'link'));
  if (!isRoot) return;
  for (const name of ['.', ...readdirSync(folder)])
    if (!lstatSync(join(folder, name)).isSymbolicLink()) chownSync(join(folder, name), WORKER, WORKER);
}

test('a server that is killed at any effect of a landing finishes it at the next start, and loses nothing', async () => {
  const folder = await awake('a');
  await at.dock.run('a', 'echo more >> x');
  const image = cutOff();
  const live = join(image, 'live', 'a');
  expect(namesIn(live)).toContain('vfs.sqlite-wal');
  takenOver(live);
  // The start of another server lands the folder: each of its effects until that is done is a place to be killed at.
  const copies: string[] = [];
  const into = emptyFolder();
  observeEffects({
    before({ path, to }) {
      if (![path, to].some((one) => one?.startsWith(`${image}/live`)) || copies.length > 60) return;
      const copy = join(into, String(copies.length));
      copyFolderNow(image, copy);
      copies.push(copy);
    },
  });
  const first = await startTestEngine({ dataFolder: image });
  observeEffects(null);
  await first.stop();
  expect(copies.length).toBeGreaterThan(8);
  for (const dataFolder of [image, ...copies]) {
    const dock = await startTestEngine({ dataFolder });
    try {
      expect(await dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', fault: null, pending: null });
      expect(await dock.get('a', '/x')).toBe('answeredmore\n');
      expect(namesIn(join(dataFolder, 'live', 'a'))).toEqual(['vfs.sqlite']);
      if (isRoot) expect(lstatSync(join(dataFolder, 'live', 'a')).uid).toBe(0);
      await expect.poll(() => namesIn(join(dataFolder, 'live', '.landing'))).toEqual([]);
    } finally {
      await dock.stop();
    }
  }
  expect(existsSync(folder)).toBe(true);
});

test('a folder that was taken away and not brought back is brought back by the start', async () => {
  await awake('a');
  await at.dock.sandboxes.suspend('a', REQUEST);
  const image = cutOff();
  const landing = join(image, 'live', '.landing');
  mkdirSync(landing);
  execFileSync('mv', [join(image, 'live', 'a'), join(landing, 'a.0')]);
  mkdirSync(join(landing, '.removed-1'));
  writeFileSync(join(landing, '.removed-1', 'vfs.sqlite'), 'of nobody');
  const dock = await startTestEngine({ dataFolder: image });
  expect(await dock.get('a', '/x')).toBe('answered');
  await expect.poll(() => namesIn(landing)).toEqual([]);
  expect(namesIn(join(image, 'orphans'))).toEqual([]);
  await dock.stop();
});

const LEFT = {
  'a link': (file: string) => symlinkSync('/etc/passwd', file),
  'a pipe': (file: string) => void execFileSync('mkfifo', [file]),
  'a folder': (file: string) => mkdirSync(join(file, 'deep'), { recursive: true }),
} as const;
test.each(Object.entries(LEFT))(
  '%s in the place of the file of a crashed server is a fault with its reason, and is not read',
  async (_, leave) => {
    await awake('a');
    const image = cutOff();
    const file = join(image, 'live', 'a', 'vfs.sqlite');
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    leave(file);
    const dock = await startTestEngine({ dataFolder: image });
    const row = await dock.registry.instances.get('a');
    expect(row).toMatchObject({ state: 'suspended', fault: 'missing', pending: null });
    expect(row?.faultReason).toMatch(/(link to another file|pipe|folder) was in the place of its file/);
    for (const force of [false, true])
      await expect(dock.sandboxes.resume('a', REQUEST, { force })).rejects.toMatchObject({ code: 'missing_file' });
    expect(namesIn(join(image, 'live', 'a'))).toEqual([]);
    await dock.stop();
  },
);

test('a file that is too large, or has a second name, is kept among the orphans and is not opened', async () => {
  for (const [id, spoil] of [
    ['large', (file: string) => truncateSync(file, 20 * 2 ** 30)],
    ['linked', (file: string) => linkSync(file, join(emptyFolder(), 'second'))],
  ] as const) {
    await awake(id);
    const image = cutOff();
    spoil(join(image, 'live', id, 'vfs.sqlite'));
    const dock = await startTestEngine({ dataFolder: image });
    expect(await dock.registry.instances.get(id)).toMatchObject({ state: 'suspended', fault: 'missing' });
    expect(namesIn(join(image, 'orphans')).filter((name) => name.includes(`-${id}-`)).length).toBeGreaterThan(0);
    await dock.stop();
  }
});

test.runIf(isRoot)('a file of another user in a sandbox’s folder is not the sandbox’s', async () => {
  await awake('a');
  const image = cutOff();
  const folder = join(image, 'live', 'a');
  takenOver(folder);
  chownSync(join(folder, 'vfs.sqlite'), 61_234, 61_234);
  const dock = await startTestEngine({ dataFolder: image });
  const row = await dock.registry.instances.get('a');
  expect(row).toMatchObject({ state: 'suspended', fault: 'missing' });
  expect(row?.faultReason).toContain('a file of another user was in the place of its file');
  expect(readFileSync(join(at.folder, 'live', 'a', 'vfs.sqlite')).length).toBeGreaterThan(0);
  await dock.stop();
});

const MARKS = {
  'the server’s own': (mark: string) => writeFileSync(mark, `${'0'.repeat(16)}00000001`),
  'one with a second name': (mark: string) => linkSync(join(at.folder, 'cold', 'other'), mark),
  'a link': (mark: string) => symlinkSync('/etc/passwd', mark),
  'a folder': (mark: string) => mkdirSync(join(mark, 'deep'), { recursive: true }),
} as const;
test.each(Object.entries(MARKS))(
  'a mark of what was shipped is gone after a filing, and the file is what it was: %s',
  async (_, leave) => {
    const folder = await awake('a');
    writeFileSync(join(at.folder, 'cold', 'other'), 'of somebody else');
    leave(join(folder, 'vfs.sqlite-shipped'));
    await at.dock.sandboxes.suspend('a', REQUEST);
    expect(namesIn(folder)).toEqual(['vfs.sqlite']);
    expect(readFileSync(join(at.folder, 'cold', 'other'), 'utf8')).toBe('of somebody else');
    rmSync(join(at.folder, 'cold', 'other'));
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', fault: null });
    expect(await at.dock.get('a', '/x')).toBe('answered');
    expect(namesIn(join(at.folder, 'orphans'))).toEqual([]);
  },
);
