import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JailGroups } from './jail-groups.ts';

const LIMITS = { memoryBytes: 1 << 28, processes: 99, processors: 1.5 };
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-jail-groups-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Opens groups over a recorded tree. */
function opened(sources: { mounts: string; groups: string }): JailGroups {
  const { groups } = JailGroups.open(sources);
  if (groups === null) throw new Error('no groups');
  return groups;
}

// Nobody has run version 2 with these: what is written is what the kernel's manual asks for.
describe('version 2, by what is written', () => {
  const sources = () => ({ mounts: `cgroup2 ${folder} cgroup2 rw 0 0\n`, groups: '0::/own\n' });
  const own = (...path: string[]) => join(folder, 'own', ...path);
  const read = (...path: string[]) => readFileSync(own(...path), 'utf8');
  beforeEach(() => {
    mkdirSync(own());
    writeFileSync(own('cgroup.controllers'), 'cpuset cpu io memory pids\n');
    writeFileSync(own('cgroup.procs'), `${process.pid}\n`);
    writeFileSync(own('cgroup.subtree_control'), '');
  });
  const groupOf = (id: string) => readdirSync(own()).find((name) => name.endsWith(`-${id}`)) ?? '';

  test('a jail has one group with its limits, and the server one of its own beside it', async () => {
    const groups = opened(sources());
    expect([groups.version, read('winterdock-server', 'cgroup.procs')]).toEqual([2, String(process.pid)]);
    const group = groups.make('sb-1', LIMITS);
    const name = groupOf('sb-1');
    expect(group.entries).toEqual([own(name, 'cgroup.procs')]);
    const written = ['memory.max', 'pids.max', 'cpu.max'].map((file) => read(name, file));
    expect(written).toEqual([String(1 << 28), '99', '150000 100000']);
    writeFileSync(own(name, 'memory.events'), 'low 0\nhigh 0\nmax 7\noom 2\noom_kill 1\n');
    expect(group.outOfMemory()).toBe(1);
  });

  test('a group is frozen when the kernel says that it is, and thawed at once', async () => {
    const group = opened(sources()).make('sb-1', LIMITS);
    const name = groupOf('sb-1');
    writeFileSync(own(name, 'cgroup.events'), 'populated 1\nfrozen 0\n');
    let isFrozen = false;
    const freezing = group.freeze().then(() => {
      isFrozen = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect([read(name, 'cgroup.freeze'), isFrozen]).toEqual(['1', false]);
    writeFileSync(own(name, 'cgroup.events'), 'populated 1\nfrozen 1\n');
    await freezing;
    await group.thaw();
    expect(read(name, 'cgroup.freeze')).toBe('0');
  });

  test('a server that is in its own group already goes on with the one above', () => {
    opened(sources());
    writeFileSync(own('winterdock-server', 'cgroup.procs'), `${process.pid}\n`);
    writeFileSync(own('cgroup.procs'), '');
    const { groups } = JailGroups.open({ ...sources(), groups: '0::/own/winterdock-server\n' });
    groups?.make('sb-2', LIMITS);
    expect(groupOf('sb-2')).not.toBe('');
  });

  test.each([
    ['without a controller', () => writeFileSync(own('cgroup.controllers'), 'cpu memory\n')],
    ['with a process of somebody else in the group', () => writeFileSync(own('cgroup.procs'), '1\n')],
    ['without the group', () => rmSync(own(), { recursive: true })],
  ])('there are none %s', (_, change) => {
    change();
    expect(JailGroups.open(sources())).toEqual({
      groups: null,
      missing: 'this process may make no control groups for memory, pids, cpu, freezer',
    });
  });
});

test('what is missing of version 1 is named, and without control groups nothing is asked', () => {
  for (const name of ['memory', 'cpu']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'cgroup.procs'), '');
  }
  const mounts = ['memory', 'cpu'].map((name) => `cgroup ${join(folder, name)} cgroup rw,${name} 0 0\n`).join('');
  const found = JailGroups.open({ mounts, groups: '2:memory:/\n1:cpu,cpuacct:/\n' });
  expect(found).toEqual({ groups: null, missing: 'this process may make no control groups for pids, freezer' });
  expect(JailGroups.open(null)).toEqual({ groups: null, missing: 'this system has no control groups' });
});

test('a jail’s name is no path, and two of one name are not the same', () => {
  for (const name of ['memory', 'cpu', 'pids', 'freezer']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'cgroup.procs'), '');
  }
  const names = ['memory', 'cpu', 'pids', 'freezer'];
  const mounts = names.map((name) => `cgroup ${join(folder, name)} cgroup rw,${name} 0 0\n`).join('');
  const groups = opened({ mounts, groups: names.map((name, at) => `${at}:${name}:/\n`).join('') });
  for (const id of ['', '../x', 'a/b', 'A', '.']) expect(() => groups.make(id, LIMITS)).toThrow('cannot be named');
  const group = groups.make('one', LIMITS);
  expect(group.entries.length).toBe(4);
  expect(() => groups.make('one', LIMITS)).toThrow('already');
  expect(existsSync(group.entries[0]?.replace('cgroup.procs', '') ?? '')).toBe(true);
});
