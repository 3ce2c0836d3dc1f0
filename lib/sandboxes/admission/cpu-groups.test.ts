import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CpuGroups } from '../../workers/cpu-groups.ts';
import { cpuTimeOf } from '../../workers/cpu-use.ts';
import { workerNiceness } from '../../workers/process.ts';
import { observeOpens, REQUEST, startTestEngine } from '../testing/test-engine.ts';

const BURN = 'while true; do :; done';
const GREEDY = 6;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-cpu-groups-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Whether this machine lets the tests make control groups; a container usually does not. */
const groups = CpuGroups.open();
groups?.close();

/** None of a process that has ended, as one does whose call is aborted and that has too little time to say so. */
function groupsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

describe.runIf(groups !== null)('where control groups can be made', () => {
  test('a wake moves no process; those of a tenant that wants most of the processors give way, as long as it does', async () => {
    const cpuGroups = CpuGroups.open();
    const dock = await startTestEngine({ dataFolder: folder, cpuGroups, environment: { WB_MAX_ACTIVE: '50' } });
    try {
      dock.sandboxes.start();
      const processes = new Map<string, { readonly pid: number }>();
      observeOpens(dock.pool, (process, { id }) => processes.set(id, process));
      const pidOf = (id: string) => processes.get(id)?.pid ?? 0;
      const greedy = Array.from({ length: GREEDY }, (_, n) => `greedy-${n}`);
      for (const id of greedy) await dock.create(id, { tenant: 'greedy' });
      await dock.create('modest', { tenant: 'modest' });
      for (const id of [...greedy, 'modest']) await dock.run(id, 'true');
      const givesWay = (id: string) => /winterdock-\d+-\d+\/greedy$/m.test(groupsOf(pidOf(id)));
      const givingWay = () => [...greedy, 'modest'].filter(givesWay);
      expect(givingWay()).toEqual([]);
      const enough = new AbortController();
      const burn = (id: string) =>
        dock.sandboxes.exec(id, { command: BURN, timeoutMs: 60_000 }, REQUEST, { signal: enough.signal });
      const burning = greedy.map(burn);
      await expect.poll(givingWay).toEqual(greedy);
      const modest = burn('modest');
      const ran = () => [pidOf('modest'), ...greedy.map(pidOf)].map((pid) => cpuTimeOf(pid)?.ran ?? 0);
      const begun = ran()[0] ?? 0;
      // Of all that it runs from here on: beside other work on the machine a second alone says little.
      await expect.poll(() => (ran()[0] ?? 0) - begun).toBeGreaterThan(0.1);
      const before = ran();
      const share = () => {
        const [own = 0, ...others] = ran().map((seconds, index) => seconds - (before[index] ?? 0));
        return own < 0.3 ? 0 : own / (others.reduce((sum, one) => sum + one, 0) / GREEDY);
      };
      await expect.poll(share).toBeGreaterThan(1.8);
      expect(greedy.map((id) => getPriority(pidOf(id)))).toEqual(greedy.map(() => workerNiceness()));
      enough.abort();
      await Promise.all([modest, ...burning]);
      await expect.poll(givingWay).toEqual([]);
    } finally {
      await dock.stop();
      cpuGroups?.close();
    }
    const own = `winterdock-${process.pid}-`;
    const left = ['/sys/fs/cgroup', '/sys/fs/cgroup/cpu'].filter(existsSync).flatMap((path) => readdirSync(path));
    expect(left.filter((name) => name.startsWith(own))).toEqual([]);
  });
});

describe('version 2, by what is written', () => {
  const v2 = () => ({ mounts: `cgroup2 ${folder} cgroup2 rw 0 0\n`, groups: '0::/own\n' });
  const write = (name: string, text: string) => writeFileSync(join(folder, 'own', name), text);
  const read = (...path: string[]) => readFileSync(join(folder, 'own', ...path), 'utf8');
  beforeEach(() => {
    mkdirSync(join(folder, 'own'));
    write('cgroup.controllers', 'cpuset cpu memory\n');
    write('cgroup.procs', `${process.pid}\n`);
    write('cgroup.subtree_control', '');
  });

  test('the server moves to a group of its own, and what gives way to one of a low weight', async () => {
    const opened = CpuGroups.open(v2());
    expect(opened?.version).toBe(2);
    expect(read('winterdock-server', 'cgroup.procs')).toBe(String(process.pid));
    expect(read('cgroup.subtree_control')).toBe('+cpu');
    expect(await opened?.enter('acme', 4711)).toBe(true);
    const [low = ''] = readdirSync(join(folder, 'own')).filter((name) => /^winterdock-\d+-\d+$/.test(name));
    expect([read(low, 'cpu.weight'), read(low, 'cgroup.subtree_control')]).toEqual(['1', '+cpu']);
    expect(read(low, 'acme', 'cgroup.procs')).toBe('4711');
    expect(await opened?.leave('acme', 4711)).toBe(true);
    expect(read('winterdock-server', 'cgroup.procs')).toBe('4711');
  });

  test.each([
    ['without the controller', () => write('cgroup.controllers', 'memory\n')],
    ['with a process of somebody else in the group', () => write('cgroup.procs', `${process.pid}\n1\n`)],
    ['without the group', () => rmSync(join(folder, 'own'), { recursive: true })],
  ])('there are none %s', (_, change) => {
    change();
    expect(CpuGroups.open(v2())).toBeNull();
    expect(existsSync(join(folder, 'own', 'winterdock-server'))).toBe(false);
  });
});
