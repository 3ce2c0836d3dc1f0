import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { processStat, STAT } from '../../base/process-stat.ts';
import { Jail } from './jail.ts';
import { JAIL_USER, jailStage, LIMITS, NO_JAIL, saysWhyNot } from './testing/jail-stage.ts';

saysWhyNot('lib/native/jail/jail-end.test.ts');
const stage = jailStage();
const WAIT = { timeout: 120_000 };
const KILLS = 8;
/** A file of the server that a guest must not see. */
const SECRET_DESCRIPTOR = 200;

/** Groups of jails whose server is this process. */
const groupsOf = (pid: number | undefined) =>
  stage
    .groups()
    .names()
    .filter((name) => name.startsWith(`winterdock-jail-${pid}.`));

const runs = (pid: number) => !['Z', 'X', undefined].includes(processStat(pid)?.[STAT.state]);
/** Mounts of jails that this process sees: of their folders, or at where bubblewrap builds a root. */
const mounts = () =>
  readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => /winterdock-jail-|\/(?:new|old)root/.test(line));

/** Processes whose user is the guests’. */
function ofGuests(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/status`, 'utf8').includes(`Uid:\t${JAIL_USER?.uid}\t`) && runs(pid);
      } catch {
        return false;
      }
    });
}

describe.runIf(NO_JAIL === null)('the end of a jail', () => {
  test('closed, it leaves no process, no group and no mount, whatever ran in it, and closes a second time', async () => {
    const { jail, bash } = await stage.open();
    await bash('for i in 1 2 3 4 5; do setsid sleep 1000 & done; (while :; do :; done) & true');
    const pids = jail.processes;
    expect(pids.length).toBe(8);
    const running = bash('sleep 1000');
    running.catch(() => {});
    await Promise.all([jail.close(), jail.close()]);
    await expect(running).rejects.toMatchObject({ code: 'conflict' });
    expect([pids.filter(runs), groupsOf(process.pid), mounts()]).toEqual([[], [], []]);
    await expect(bash('true')).rejects.toMatchObject({ code: 'conflict' });
    await jail.close();
  });

  test('one whose first process ends, or whose wrapper is killed, ends whole and says so', async () => {
    for (const which of [0, 1]) {
      const { jail, bash } = await stage.open();
      await bash('setsid sleep 1000 & true');
      const pids = jail.processes;
      process.kill(pids[which] ?? 0, 'SIGKILL');
      expect((await jail.ended).cause).toBe('exited');
      expect([pids.filter(runs), groupsOf(process.pid)]).toEqual([[], []]);
    }
  });

  test('one that cannot be built says why, and leaves nothing', async () => {
    const folders = { workspace: '/none', memory: '/none', tmp: '/none' };
    const spec = { id: 'none', root: '/', folders, user: JAIL_USER, sharedMemoryBytes: 1 << 20 };
    await expect(Jail.open(spec, stage.groups(), LIMITS)).rejects.toMatchObject({
      code: 'capacity',
      message: expect.stringContaining('/none'),
    });
    await expect(Jail.open({ ...spec, root: '/none' }, stage.groups(), LIMITS)).rejects.toMatchObject({
      code: 'capacity',
    });
    expect([groupsOf(process.pid), mounts()]).toEqual([[], []]);
  });

  test('of a server that is killed at any moment nothing runs on, and the next one removes what is left, also what was frozen', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-jail-victim-'));
    chmodSync(folder, 0o711);
    const victim = join(import.meta.dirname, 'testing', 'jail-victim.ts');
    try {
      for (let kill = 0; kill < KILLS; kill += 1) {
        // What was inherited above a gap Node hands on to its own children.
        const open = `exec ${SECRET_DESCRIPTOR}<"$0"; exec "$@"`;
        const victimOf = [process.execPath, '--no-warnings', victim, folder, String(JAIL_USER?.uid ?? -1)];
        const child = spawn('/bin/bash', ['-c', open, import.meta.filename, ...victimOf], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let printed = '';
        child.stdout?.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
        await vi.waitFor(() => expect(groupsOf(child.pid)).not.toEqual([]), WAIT);
        // One of them lists what a command has open.
        if (kill === 0) await vi.waitFor(() => expect(printed).toContain('\n3\n'), WAIT);
        // From its first process on, through two rounds.
        await pause(Math.random() * 600);
        child.kill('SIGKILL');
        await once(child, 'exit');
        // What is frozen cannot end by itself.
        await stage.groups().sweep();
        expect(groupsOf(child.pid)).toEqual([]);
        if (JAIL_USER !== null) await vi.waitFor(() => expect(ofGuests()).toEqual([]), WAIT);
        expect(printed.split('\n').filter((line) => Number(line) > 3)).toEqual([]);
      }
      expect(mounts()).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('what runs in a jail of a killed server ends by itself, before any other server begins', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'winterdock-jail-victim-'));
    chmodSync(folder, 0o711);
    const script = `import { Jail } from ${JSON.stringify(join(import.meta.dirname, 'jail.ts'))};
      import { JailGroups } from ${JSON.stringify(join(import.meta.dirname, 'jail-groups.ts'))};
      const folders = { workspace: process.argv[1], memory: process.argv[1], tmp: process.argv[1] };
      const spec = { id: 'alone', root: '/', folders, user: JSON.parse(process.argv[2]), sharedMemoryBytes: 1048576 };
      const jail = await Jail.open(spec, JailGroups.open().groups, { memoryBytes: 2 ** 28, processes: 50, processors: 2 });
      await jail.run({ argv: ['/bin/bash', '-c', 'setsid sleep 1000 & (while :; do :; done) & true'], cwd: '/', env: { PATH: '/usr/bin' } });
      process.stdout.write(jail.processes.join(' ') + '\\n');
      setInterval(() => {}, 1000);`;
    if (JAIL_USER !== null) chownSync(folder, JAIL_USER.uid, JAIL_USER.gid);
    const child = spawn(
      process.execPath,
      ['--no-warnings', '--input-type=module', '-e', script, folder, JSON.stringify(JAIL_USER)],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const pids = line.toString().trim().split(' ').map(Number);
    expect(pids.length).toBe(4);
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    await vi.waitFor(() => expect(pids.filter(runs)).toEqual([]), WAIT);
    expect(await stage.groups().sweep()).toBe(1);
    expect(groupsOf(child.pid)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  test('a sweep spares the jails of servers that run', async () => {
    const { bash } = await stage.open();
    expect(await stage.groups().sweep()).toBe(0);
    expect(await bash('echo lives')).toMatchObject({ stdout: 'lives\n' });
  });
});
