/** What a server does to its workers reaches them through their wrapper, as root and as another user. */
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { processStat, STAT } from '../base/process-stat.ts';
import { type ServerProcess, spawnServer } from '../testing/process.ts';
import { treeOf } from '../testing/process-tree.ts';
import { cpuTimeOf } from '../workers/cpu-use.ts';

const IS_ROOT = process.getuid?.() === 0;
const PLAIN = 61_000;
const PLAIN_USER = ['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'];
const USERS = IS_ROOT ? ['as root', 'not as root'] : ['not as root'];
const WAIT = { timeout: 240_000 };

interface Usage {
  points: { memory_bytes: number }[];
  total: { cpu_s: number };
}

let parent: string;
let folder: string;
let server: ServerProcess | null = null;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'winterdock-wrapped-'));
  folder = join(parent, 'data');
});
afterEach(async () => {
  await server?.end('SIGKILL');
  server = null;
  rmSync(parent, { recursive: true, force: true });
});

async function start(user: string, settings: Record<string, string> = {}): Promise<ServerProcess> {
  const asPlainUser = IS_ROOT && user !== 'as root';
  chmodSync(parent, 0o755);
  for (const path of [folder, join(parent, 'cache')]) {
    mkdirSync(path, { recursive: true });
    if (asPlainUser) chownSync(path, PLAIN, PLAIN);
  }
  server = await spawnServer({
    folder,
    settings: { WB_CACHE: join(parent, 'cache'), WB_CPU_GROUPS: '0', ...settings },
    within: asPlainUser ? PLAIN_USER : [],
  });
  return server;
}

const commandOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
};

/** The process of the one sandbox that is awake, and what waits for it; the same where this machine has no wrapper. */
function workerOf({ child }: ServerProcess): { worker: number; wrapper: number } {
  const [worker = 0] = treeOf(child.pid ?? 0).filter(
    (pid) => commandOf(pid)[0] === process.execPath && commandOf(pid).some((one) => /\bworker\.(c?js|ts)$/.test(one)),
  );
  const parentOf = Number(processStat(worker)?.[STAT.parent]);
  return { worker, wrapper: parentOf === child.pid ? worker : parentOf };
}

const stateOf = (pid: number) => processStat(pid)?.[STAT.state];
const exec = (command: string) => server?.call<{ stdout: string }>('POST', '/api/instances/box/exec', { command });

async function withBox(user: string, settings?: Record<string, string>): Promise<ServerProcess> {
  const started = await start(user, settings);
  await started.call('POST', '/api/instances', { id: 'box', tenant: 'acme' });
  expect((await exec('echo kept > kept; cat kept'))?.json).toMatchObject({ stdout: 'kept\n' });
  return started;
}

describe.runIf(process.platform === 'linux').each(USERS)('%s', (user) => {
  test('a stop lets the call under way end, files its sandbox and leaves no process', async () => {
    const { child } = await withBox(user, { WB_DRAIN_MS: '60000' });
    const all = treeOf(child.pid ?? 0);
    const answer = exec('echo begun > begun; sleep 1; echo whole');
    await vi.waitFor(async () => {
      const begun = await server?.call('GET', '/api/instances/box/volumes/workspace/begun');
      expect(begun?.text).toBe('begun\n');
    }, WAIT);
    const ended = server?.end('SIGTERM');
    expect((await answer)?.json).toMatchObject({ stdout: 'whole\n' });
    expect(await ended).toBe(0);
    await vi.waitFor(() => expect(all.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]), WAIT);
    // Nothing is left that has to be recovered.
    expect(existsSync(join(folder, 'live', 'box', 'vfs.sqlite-wal'))).toBe(false);
    await start(user);
    expect((await exec('cat kept begun'))?.json).toMatchObject({ stdout: 'kept\nbegun\n' });
  });

  test('a pause stops the worker and not what waits for it, and a call goes on with it', async () => {
    const started = await withBox(user, { WB_HOT_TO_WARM: '1', WB_TICK_MS: '100' });
    const { worker, wrapper } = workerOf(started);
    expect(worker).toBeGreaterThan(0);
    await vi.waitFor(() => expect(stateOf(worker)).toBe('T'), WAIT);
    if (wrapper !== worker) await vi.waitFor(() => expect(stateOf(wrapper)).toBe('S'), WAIT);
    expect((await exec('cat kept'))?.json).toMatchObject({ stdout: 'kept\n' });
    expect(workerOf(started).worker).toBe(worker);
  });

  test('priority, processor time and memory are the worker’s', async () => {
    const started = await withBox(user, { WB_TICK_MS: '100' });
    const { worker, wrapper } = workerOf(started);
    expect(getPriority(worker)).toBeGreaterThan(getPriority(started.child.pid));
    const ran = (pid: number) => cpuTimeOf(pid)?.ran ?? 0;
    const before = ran(worker);
    const count = 'i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; echo $i';
    for (let calls = 0; calls < 100 && ran(worker) < before + 1; calls += 1)
      expect((await exec(count))?.json).toMatchObject({ stdout: '5000\n' });
    const took = ran(worker) - before;
    expect(took).toBeGreaterThan(wrapper === worker ? 0.1 : 10 * ran(wrapper));
    await vi.waitFor(async () => {
      const { json } = await started.call<Usage>('GET', '/api/instances/box/usage');
      expect(json.total.cpu_s).toBeGreaterThan(0.9 * took);
      // A wrapper has less than one.
      expect(Math.max(...json.points.map((point) => point.memory_bytes))).toBeGreaterThan(4e6);
    }, WAIT);
  });

  test('a server that is killed takes all of its processes along', async () => {
    const started = await withBox(user);
    const running = exec('while true; do :; done');
    running?.catch(() => {});
    const all = treeOf(started.child.pid ?? 0);
    expect(all).toContain(workerOf(started).worker);
    await started.end('SIGKILL');
    await vi.waitFor(() => expect(all.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]), WAIT);
    await running?.catch(() => {});
  });
});
