import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { processStat, STAT } from '../../base/process-stat.ts';
import { Roots } from './roots.ts';

const WAIT = { timeout: 120_000 };
let folder = '';
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'winterdock-roots-')), 'roots');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

/** A small system. */
const fill = (text: string) => async (at: string) => {
  mkdirSync(join(at, 'usr', 'bin'), { recursive: true });
  writeFileSync(join(at, 'usr', 'bin', 'tool'), text, { mode: 0o755 });
  symlinkSync('usr/bin', join(at, 'bin'));
};

test('a root is named by what it holds: the same contents are one root, others are another', async () => {
  const roots = new Roots(folder);
  const first = await roots.build('base', fill('one'), 1000);
  expect(first).toMatchObject({ name: 'base', bytes: 3, entries: 5, builtAt: 1000, leases: 0 });
  expect(readdirSync(folder)).toEqual([`base@${first.version}`]);
  expect(await roots.build('base', fill('one'), 2000)).toEqual(first);
  const second = await roots.build('base', fill('two'), 3000);
  expect(second.version).not.toBe(first.version);
  expect(roots.list().map(({ id }) => id)).toEqual([second.id, first.id]);
  expect(roots.get('base').id).toBe(second.id);
  expect(() => roots.get('dev')).toThrow('no root dev');
  await expect(roots.build('../x', fill('x'), 1)).rejects.toMatchObject({ code: 'validation' });
});

test('verification names what was changed, added, removed, or given other rights, and a time is none of these', async () => {
  const roots = new Roots(folder);
  const root = await roots.build('base', fill('one'), 1000);
  const at = (...names: string[]) => join(root.folder, ...names);
  utimesSync(at('usr', 'bin', 'tool'), 1, 1);
  expect(await roots.verify('base')).toEqual([]);
  writeFileSync(at('usr', 'added'), '');
  chmodSync(at('usr', 'bin'), 0o777);
  expect((await roots.verify(root.id)).toSorted()).toEqual(['./usr/added', './usr/bin']);
  rmSync(at('usr', 'added'));
  chmodSync(at('usr', 'bin'), 0o755);
  expect(await roots.verify(root.id)).toEqual([]);
  writeFileSync(at('usr', 'bin', 'tool'), 'eno', { mode: 0o755 });
  expect(await roots.verify(root.id)).toEqual(['./usr/bin/tool']);
  rmSync(at('bin'));
  expect((await roots.verify(root.id)).toSorted()).toEqual(['./bin', './usr/bin/tool']);
});

test('a root that is used is not removed, by whoever, and goes when the last one has given it back or has ended', async () => {
  const roots = new Roots(folder);
  const { id } = await roots.build('base', fill('one'), 1000);
  const { release } = roots.lease('base', 'sb-1');
  expect(roots.list()[0]?.leases).toBe(1);
  await expect(new Roots(folder).remove(id)).rejects.toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('sb-1'),
  });
  release();
  release();
  const script = `import { Roots } from ${JSON.stringify(join(import.meta.dirname, 'roots.ts'))};
    new Roots(process.argv[1]).lease('base', 'sb-2'); process.stdout.write('leased'); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(roots.remove(id)).rejects.toMatchObject({ code: 'conflict' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect((await roots.remove(id)).id).toBe(id);
  expect(readdirSync(folder)).toEqual([]);
  expect(() => roots.lease(id, 'sb-3')).toThrow('no root');
  // A name alone removes nothing.
  await roots.build('base', fill('one'), 1000);
  await expect(roots.remove('base')).rejects.toMatchObject({ code: 'not_found' });
});

test('a build that fails, or is killed at any moment, leaves no root, and the next one takes its rest away', async () => {
  const roots = new Roots(folder);
  const failing = async (at: string) => {
    await fill('half')(at);
    throw new Error('no archive');
  };
  await expect(roots.build('base', failing, 1)).rejects.toThrow('no archive');
  expect(readdirSync(folder)).toEqual([]);
  const script = `import { Roots } from ${JSON.stringify(join(import.meta.dirname, 'roots.ts'))};
    import { writeFileSync } from 'node:fs';
    await new Roots(process.argv[1]).build('base', async (at) => { writeFileSync(at + '/half', ''); process.stdout.write('x'); await new Promise((resolve) => setTimeout(resolve, 20)); }, 1);`;
  for (const afterMs of [0, 20, 30, 45]) {
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', script, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    setTimeout(() => child.kill('SIGKILL'), afterMs);
    await once(child, 'exit');
    for (const { id } of roots.list()) expect(await roots.verify(id)).toEqual([]);
  }
  await roots.build('base', fill('one'), 1000);
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
});

test('a removal that was killed in between is finished, or undone for who uses the root', async () => {
  const roots = new Roots(folder);
  const { id } = await roots.build('base', fill('one'), 1000);
  const gone = join(folder, `.removing-${2 ** 22}.7-${id}`);
  renameSync(join(folder, id), gone);
  expect(roots.list()).toEqual([]);
  writeFileSync(join(gone, 'leases', `${process.pid}.${startedAt()}-sb-1`), '');
  await roots.sweep();
  expect(roots.list().map((root) => root.id)).toEqual([id]);
  rmSync(join(folder, id, 'leases', `${process.pid}.${startedAt()}-sb-1`));
  renameSync(join(folder, id), gone);
  await roots.sweep();
  await vi.waitFor(() => expect(existsSync(gone)).toBe(false), WAIT);
});

function startedAt(): string {
  return processStat(process.pid)?.[STAT.startedAt] ?? '0';
}
