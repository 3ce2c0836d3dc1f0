import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { forkedOf, processStat, STAT } from '../../base/process-stat.ts';
import { WALLS } from '../../base/walls.ts';
import { endLeftoverWorkers } from '../leftover-workers.ts';
import { startWorker, startWorkerProcess } from '../process.ts';
import { isRunning } from '../testing/stage.ts';
import { buildWalls } from './walls.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-wrapper-'));
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true }));

function givesNamespaces(): boolean {
  const user = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return spawnSync('unshare', [...user, '--pid', '--fork', 'true']).status === 0;
}

test('a wrapper’s pid never takes the place of the worker’s: such a worker does not start', async () => {
  const options = {
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: process.env.WB_CACHE ?? join(folder, 'cache'),
    maxStartMs: 240_000,
    // It forks and waits: its own memory never grows.
    walls: { command: ['/bin/sh', '-c', '"$@"; exit $?', 'sh'], user: null },
  };
  const worker = startWorker(options);
  await expect(worker.ready).rejects.toThrow(/its process is not the one that was started/);
  expect(await worker.exited).toBe('SIGKILL');
});

test('a wrapper that has begun something else does not pass for its worker', async () => {
  const options = {
    dataFolder: folder,
    spillFolder: join(folder, 'spill'),
    cacheFolder: process.env.WB_CACHE ?? join(folder, 'cache'),
    maxStartMs: 240_000,
    // The worker is its grandchild, and has the id that it says.
    walls: { command: ['/bin/sh', '-c', '(("$@"); true); true', 'sh'], isWrapped: true, user: null },
  };
  const worker = startWorker(options);
  await expect(worker.ready).rejects.toThrow(/its process is not the one that was started/);
  await worker.exited;
});

/** Native code in place of a worker: it forks twice, so that nothing waits for what it leaves. */
const FORKS = `$0 = 'x'; for (1..3) { next if fork(); fork() and exit; exec('/bin/sleep', $ARGV[0]) }
  syswrite(STDERR, 'forked'); while (1) { select(undef, undef, undef, 0.05) }`;

test.runIf(givesNamespaces())(
  'what a process has forked ends with it, and none is left when its end is known',
  async () => {
    // With the filter it could not fork.
    const wanted = WALLS.filter((wall) => wall !== 'seccomp');
    const walls = await buildWalls({
      dataFolder: folder,
      cacheFolder: join(folder, 'cache'),
      maxStartMs: 240_000,
      wanted,
    });
    expect(walls.isWrapped).toBe(true);
    const marker = String(700_000 + process.pid);
    const forked = () =>
      readdirSync('/proc').filter((name) => /^\d+$/.test(name) && cmdlineOf(name).startsWith(`/bin/sleep\0${marker}`));
    for (const end of ['the worker', 'the wrapper'] as const) {
      const command = [...walls.command, '/usr/bin/perl', '-e', FORKS, marker];
      const worker = startWorkerProcess(command, { NODE_ENV: 'test' }, true);
      const pid = await worker.known;
      await expect.poll(() => worker.stderr() + forked().length).toBe('forked3');
      expect(pid).not.toBe(worker.child.pid);
      worker.signal('SIGSTOP');
      await expect.poll(() => processStat(pid)?.[STAT.state]).toBe('T');
      expect(processStat(worker.child.pid ?? 0)?.[STAT.state]).not.toBe('T');
      worker.signal('SIGCONT');
      await expect.poll(() => processStat(pid)?.[STAT.state]).toBe('S');
      // What ends with a server that is killed is another test's.
      if (end === 'the worker') worker.signal('SIGKILL');
      else worker.child.kill('SIGKILL');
      expect(await worker.exited).toBe('SIGKILL');
      expect([forked(), isRunning(pid)]).toEqual([[], false]);
    }
    walls.close();
  },
);

const IS_ROOT = process.getuid?.() === 0;
const PLAIN = 61_000;
const GUARD_TOO = 'as root, its guard too';
const USERS = IS_ROOT ? ['as root', GUARD_TOO, 'not as root'] : ['not as root'];

test.runIf(givesNamespaces()).each(USERS)(
  'a worker that hides its arguments, and what it has forked, end with a server that is killed (%s)',
  async (user) => {
    const home = mkdtempSync(join(tmpdir(), 'winterdock-hiding-'));
    const dataFolder = join(home, 'data');
    mkdirSync(dataFolder);
    const asPlain = IS_ROOT && user === 'not as root';
    if (asPlain) for (const path of [home, dataFolder]) chownSync(path, PLAIN, PLAIN);
    chmodSync(home, 0o755);
    const marker = String(800_000 + process.pid);
    const forked = () =>
      readdirSync('/proc').filter((name) => /^\d+$/.test(name) && cmdlineOf(name).startsWith(`/bin/sleep\0${marker}`));
    const modules = ['walls.ts', '../process.ts', '../../base/walls.ts'].map((name) => join(import.meta.dirname, name));
    const script = join(home, 'server.mjs');
    writeFileSync(
      script,
      `const [{ buildWalls }, { startWorkerProcess, FOLDER_MARK, SERVER_MARK, serverMark }, { WALLS }] =
         await Promise.all(${JSON.stringify(modules)}.map((path) => import(path)));
       const dataFolder = ${JSON.stringify(dataFolder)};
       const wanted = WALLS.filter((wall) => wall !== 'seccomp');
       const walls = await buildWalls({ dataFolder, cacheFolder: dataFolder + '/cache', maxStartMs: 60_000, wanted });
       const uid = walls.ownUser?.('hiding').uid;
       const become = uid === undefined ? '' : \`$( = $) = '\${uid} \${uid}'; $< = $> = \${uid}; $< == \${uid} or die;\`;
       const command = [...walls.command, '/usr/bin/perl', '-e', become + ${JSON.stringify(FORKS)}, ${JSON.stringify(marker)}];
       const marks = [FOLDER_MARK + '=' + dataFolder, SERVER_MARK + '=' + serverMark(process.pid)];
       const worker = startWorkerProcess([...command, ...marks], { NODE_ENV: 'test' }, walls.isWrapped);
       const pid = await worker.known;
       while (!worker.stderr().includes('forked')) await new Promise((resolve) => setTimeout(resolve, 5));
       console.log(pid);
       setInterval(() => {}, 1000);`,
    );
    const within = asPlain ? ['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'] : [];
    const [file = '', ...args] = [...within, process.execPath, '--no-warnings', script];
    const server = spawn(file, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = (await once(server.stdout, 'data')) as [Buffer];
    const pid = Number(said);
    await expect.poll(() => forked().length).toBe(3);
    expect(cmdlineOf(String(pid))).not.toContain(dataFolder);
    const killed = performance.now();
    const guards = forkedOf(server.pid ?? 0).filter((one) => cmdlineOf(String(one)).startsWith('/bin/sh\0-c\0trap'));
    if (user === GUARD_TOO) for (const guard of guards) process.kill(guard, 'SIGKILL');
    server.kill('SIGKILL');
    if (user === GUARD_TOO) {
      await once(server, 'exit');
      expect(forked().length).toBe(3);
      // The next start finds it by its wrapper.
      expect(await endLeftoverWorkers(dataFolder)).toBe(1);
    }
    await expect.poll(() => [forked(), isRunning(pid)]).toEqual([[], false]);
    process.stdout.write(`${user}: nothing is left after ${(performance.now() - killed).toFixed(0)} ms\n`);
    rmSync(home, { recursive: true });
  },
);

const cmdlineOf = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // Gone.
    return '';
  }
};
