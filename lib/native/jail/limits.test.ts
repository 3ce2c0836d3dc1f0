import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { ownGroupOfVersion1 } from '../../base/control-group-tree.ts';
import { processStat } from '../../base/process-stat.ts';
import { perl } from './testing/attacks.ts';
import { ENV, jailStage, NO_JAIL, saysWhyNot } from './testing/jail-stage.ts';

saysWhyNot('lib/native/jail/limits.test.ts');
const stage = jailStage();
const MIB = 1024 * 1024;
const WAIT = { timeout: 120_000 };
/** Of /proc/PID/stat, from the state on: ticks of processor time, of which a second has a hundred. */
const [USER_TICKS, SYSTEM_TICKS, TICKS] = [11, 12, 100];

const cpuSeconds = (pids: readonly number[]) =>
  pids
    .map((pid) => processStat(pid))
    .reduce((sum, stat) => sum + (Number(stat?.[USER_TICKS] ?? 0) + Number(stat?.[SYSTEM_TICKS] ?? 0)) / TICKS, 0);

/** What the kernel counts of the processor time of a process's group. */
function cpuStat(pid: number): Record<string, number> {
  const groups = readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  const mounts = readFileSync('/proc/self/mounts', 'utf8');
  const unified = `/sys/fs/cgroup${/^0::(.*)$/m.exec(groups)?.[1] ?? ''}`;
  const folder = ownGroupOfVersion1({ mounts, groups }, 'cpu') ?? unified;
  const lines = readFileSync(join(folder, 'cpu.stat'), 'utf8').trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ')).map(([name = '', value]) => [name, Number(value)]));
}

describe.runIf(NO_JAIL === null)('a jail holds', () => {
  test('a fork bomb within its number of processes: it ends at its time, and the next command runs', async () => {
    const { jail, bash } = await stage.open({ processes: 60 });
    let most = 0;
    const watch = setInterval(() => {
      most = Math.max(most, jail.processes.length);
    }, 20);
    const bomb = bash('bomb() { bomb | bomb & }; bomb; while :; do bomb; done', { timeoutMs: 1500 });
    expect(await bomb).toMatchObject({ ended: 'timed_out', signal: 'SIGKILL' });
    clearInterval(watch);
    expect(most).toBeGreaterThan(40);
    expect(most).toBeLessThanOrEqual(60);
    // What has left its session and its parents is in the background, and goes with the jail.
    for (const name of ['a', 'b']) expect(await bash(`echo ${name}`)).toMatchObject({ stdout: `${name}\n` });
  });

  test('when there are no more processes a command is refused with that reason', async () => {
    const { jail, bash } = await stage.open({ processes: 12 });
    await bash('for i in 1 2 3 4 5 6 7 8 9; do sleep 1000 & done');
    const last = jail.run({ argv: ['sleep', '1000'], cwd: '/', env: ENV });
    last.catch(() => {});
    await vi.waitFor(() => expect(jail.processes.length).toBe(12), WAIT);
    await expect(bash('true')).rejects.toMatchObject({
      code: 'capacity',
      message: expect.stringContaining('EAGAIN'),
    });
  });

  test('a program that takes all memory within its limit, and the others and the next command go on', async () => {
    const { jail, bash } = await stage.open({ memoryBytes: 96 * MIB });
    await bash('sleep 1000 & echo $! >kept');
    expect(jail.outOfMemory).toBe(0);
    const bomb = perl('my @all; push @all, "x" x 1048576 while 1');
    expect(await bash(bomb)).toMatchObject({ exitCode: null, signal: 'SIGKILL', ended: 'by_itself' });
    expect(await bash(`exec 3>&1; (${bomb}) & wait $!; echo $?`)).toMatchObject({ stdout: '137\n' });
    expect(await bash('kill -0 $(cat kept) && echo goes on')).toMatchObject({ stdout: 'goes on\n' });
    expect(jail.outOfMemory).toBe(2);
  });

  test('files in memory count as memory, and the folder for them is full at its size', async () => {
    const { bash } = await stage.open({ memoryBytes: 96 * MIB });
    const ran = await bash(
      'head -c 50000000 /dev/zero >/dev/shm/a; stat -c %s /dev/shm/a; rm /dev/shm/a; (: >/dev/x) || echo read-only',
    );
    expect(ran.stdout).toBe(`${16 * MIB}\nread-only\n`);
    expect(ran.stderr).toContain('No space left');
  });

  test('programs that compute without end share so much of a processor as it has, and no more', async () => {
    const { jail, bash } = await stage.open({ processors: 0.25 });
    const burning = bash('for i in 1 2 3 4; do (while :; do :; done) & done; wait', { timeoutMs: 60_000 });
    burning.catch(() => {});
    const [pid = 0] = jail.processes;
    // The kernel counts its periods of a tenth of a second, and those in which it stopped the group.
    await vi.waitFor(() => expect(cpuStat(pid).nr_throttled ?? 0).toBeGreaterThan(15), WAIT);
    const before = [cpuSeconds(jail.processes), cpuStat(pid).nr_periods ?? 0] as const;
    await vi.waitFor(() => expect(cpuStat(pid).nr_throttled ?? 0).toBeGreaterThan(35), WAIT);
    const used = cpuSeconds(jail.processes) - before[0];
    const periods = (cpuStat(pid).nr_periods ?? 0) - before[1];
    expect(used).toBeGreaterThan(0);
    expect(used / (periods / 10)).toBeLessThan(0.4);
  });

  test('a process has so many open files as it may, and cannot have more', async () => {
    const { bash } = await stage.open();
    const program = `my @all; while (open my $file, "<", "/dev/null") { push @all, $file } print scalar(@all) < 4096 && scalar(@all) > 4000 ? "enough" : @all + 0`;
    expect((await bash(`ulimit -n 8192 2>/dev/null && echo raised; ulimit -c; ${perl(program)}`)).stdout).toBe(
      '0\nenough',
    );
  });

  test('output without end is stopped at its time and takes no memory of the server', async () => {
    const { jail } = await stage.open();
    let bytes = 0;
    const before = process.memoryUsage().rss;
    const result = await jail.run({
      argv: ['yes'],
      cwd: '/',
      env: { PATH: '/usr/bin' },
      timeoutMs: 1000,
      onOutput: (_, piece) => {
        bytes += piece.length;
      },
    });
    expect(result.ended).toBe('timed_out');
    expect(bytes).toBeGreaterThan(MIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  });
});
