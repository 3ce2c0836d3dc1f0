import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openAtRest, recoverToRest } from '../vfs/open.ts';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import { endLeftoverWorkers } from './leftover-workers.ts';
import { FOLDER_MARK, SERVER_MARK } from './process.ts';
import type { ProcessGroup } from './process-group.ts';
import type { OpenSpec } from './protocol/instance.ts';
import { hangingInstance, makeHang } from './testing/hanging-instance.ts';
import { isRunning, stage } from './testing/stage.ts';

const at = stage({ size: 1 });
const MIB = 1024 * 1024;
const hanging: ProcessGroup[] = [];

afterEach(async () => {
  await Promise.all(hanging.splice(0).map((process) => process.kill('killed')));
});

/** `T`: stopped. */
function stateOf(pid: number): string {
  return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '';
}

/** Locks for writing that a process holds on any file. */
function writeLocks(pid: number): string[] {
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes(' WRITE ') && line.includes(` ${pid} `));
}

function specOf(id: string): OpenSpec {
  mkdirSync(join(at.folder, 'live', id), { recursive: true });
  return { id, file: at.file(id), policy: 'posix', maxBytes: 64 * MIB, maxFileBytes: MIB, mustExist: false };
}

function hang(id: string, options: Parameters<typeof hangingInstance>[1]): ProcessGroup {
  const instance = hangingInstance(specOf(id), options);
  hanging.push(instance);
  return instance;
}

test('a paused process is stopped by the kernel, holds no lock for writing, and its file is read beside it', async () => {
  const a = at.open('stopped');
  await at.say(a, 'echo w > w; cat w');
  await expect.poll(() => a.pause()).not.toBeNull();
  await expect.poll(() => stateOf(a.pid)).toBe('T');
  expect(writeLocks(a.pid)).toEqual([]);
  expect(await at.say(a, 'cat w')).toBe('w\n');
  expect(stateOf(a.pid)).not.toBe('T');
});

test('an interpreter that holds no state is dropped before the pause, and works again after it', async () => {
  const a = at.open('dropped');
  const run = () => a.eval({ language: 'js', code: '[...Array(1e6).keys()].length' });
  /** Private bytes of the paused process. It is not paused while it holds anything, nor when it answers late. */
  const pausedBytes = async (work: () => Promise<unknown>) => {
    for (;;) {
      await work();
      const report = await a.pause();
      if (report !== null) return report.afterBytes;
    }
  };
  const before = await pausedBytes(() => at.say(a, 'true'));
  expect(before).toBeGreaterThan(4 * MIB);
  // Not against what it held before the pause: it may have given that back by itself, after the call.
  const after = await pausedBytes(async () => expect(await run()).toMatchObject({ ok: true, value: 1e6 }));
  expect(after - before).toBeLessThan(4 * MIB);
  expect(await run()).toMatchObject({ ok: true, value: 1e6 });
});

test('a process that ran Python is paused once its thread has ended', async () => {
  const a = at.open('python');
  expect(await at.say(a, 'python3 -c "print(6 * 7)"')).toBe('42\n');
  await expect.poll(() => a.pause()).not.toBeNull();
  expect(await at.say(a, 'python3 -c "print(6 * 7)"')).toBe('42\n');
});

test('a process that hangs while it gives memory back is not paused; the next call finds out and is not begun', async () => {
  const a = hang('hangs-on-trim', { hangsOn: 'trim', giveUpAfterMs: 1000 });
  await at.say(a, 'echo w > w');
  expect(await a.pause()).toBeNull();
  expect(a.thermal).toBe('hot');
  await expect(a.exec({ command: 'echo never > w' })).rejects.toMatchObject({ extra: { started: false } });
  expect(await a.ended).toMatchObject({ cause: 'silent' });
  expect(await at.say(at.open('hangs-on-trim', { mustExist: true }), 'cat w')).toBe('w\n');
});

test('a call that comes while a process hangs giving memory back is neither lost nor left waiting', async () => {
  const a = hang('hangs-with-call', { hangsOn: 'trim', giveUpAfterMs: 1000 });
  await at.say(a, 'echo w > w');
  const pausing = a.pause();
  await expect(a.exec({ command: 'echo never > w' })).rejects.toMatchObject({ extra: { started: false } });
  expect(await pausing).toBeNull();
});

test('ten unanswered checks pause a process that burns its processor; in vain continued, it is killed', async () => {
  const a = hang('hangs', { hangsOn: 'signal', readyMs: 300 });
  await at.say(a, 'echo w > w');
  const silences: boolean[] = [];
  a.watch({ onSilent: ({ paused }) => silences.push(paused), onThawed: () => {} });
  await makeHang(a.pid);
  for (let check = 0; check < 20; check += 1) a.check();
  expect([silences, a.thermal]).toEqual([[true], 'warm']);
  await expect.poll(() => stateOf(a.pid)).toBe('T');
  await expect(a.exec({ command: 'echo never > w' })).rejects.toMatchObject({ extra: { started: false } });
  expect(await a.ended).toMatchObject({ cause: 'silent' });
  expect(await at.say(at.open('hangs', { mustExist: true }), 'cat w')).toBe('w\n');
});

function recovery(file: string): unknown {
  try {
    recoverToRest(file);
    return 'done';
  } catch (error) {
    return error;
  }
}

test('a paused process goes with a server that is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-server-'));
  const script = join(folder, 'server.mjs');
  const file = join(folder, 'live', 'a', 'vfs.sqlite');
  writeFileSync(
    script,
    `import { mkdirSync } from 'node:fs';
     import { createPool } from ${JSON.stringify(join(import.meta.dirname, 'pool.ts'))};
     const pool = createPool({ size: 0, maxActive: 5, dataFolder: ${JSON.stringify(folder)} });
     mkdirSync(${JSON.stringify(join(folder, 'live', 'a'))}, { recursive: true });
     const a = pool.open({ id: 'a', file: ${JSON.stringify(file)}, policy: 'posix', maxBytes: 1e8, maxFileBytes: 1e7, mustExist: false });
     await a.exec({ command: 'echo w > w' });
     while ((await a.pause()) === null);
     process.send({ pid: a.pid });`,
  );
  const server = fork(script, [], { execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const { pid } = (await new Promise((resolve) => server.once('message', resolve))) as { pid: number };
  await expect.poll(() => stateOf(pid)).toBe('T');
  server.kill('SIGKILL');
  await expect.poll(() => isRunning(pid)).toBe(false);
  // Its last thread may end, and let go of the file, a moment after its first.
  await expect.poll(() => recovery(file)).toBe('done');
  const resting = openAtRest(file);
  expect(Buffer.from(resting.get(vfsPath('/w')) ?? []).toString()).toBe('w\n');
  resting.close();
  rmSync(folder, { recursive: true, force: true });
});

test('where the kernel does not end it, the next server does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-leftover-'));
  const marks = [`${FOLDER_MARK}=${folder}`, `${SERVER_MARK}=1:0`];
  const idle = ['-e', 'setInterval(() => {}, 1000)', ...marks];
  const left: ChildProcess = spawn(process.execPath, idle, { stdio: 'ignore' });
  const exited = new Promise((resolve) => left.once('exit', (_, signal) => resolve(signal)));
  const pid = left.pid ?? 0;
  await expect.poll(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')).toContain(folder);
  left.kill('SIGSTOP');
  await expect.poll(() => stateOf(pid)).toBe('T');
  expect(await endLeftoverWorkers(folder)).toBe(1);
  expect(await exited).toBe('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});
