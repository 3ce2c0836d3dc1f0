/** How processes end: told to put their file to rest (SIGTERM), or killed at once. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openAtRest, openBeside } from '../vfs/open.ts';
import { vfsPath } from '../vfs/testing/tmp-files.ts';
import type { ProcessGroup } from './process-group.ts';
import type { OpenSpec } from './protocol/instance.ts';
import { hangingInstance, makeHang } from './testing/hanging-instance.ts';
import { stage } from './testing/stage.ts';

const at = stage({ size: 1 });
const MIB = 1024 * 1024;
const hanging: ProcessGroup[] = [];

afterEach(async () => {
  await Promise.all(hanging.splice(0).map((process) => process.kill('killed')));
});

function hang(id: string, termMs: number): ProcessGroup {
  mkdirSync(join(at.folder, 'live', id), { recursive: true });
  const spec: OpenSpec = {
    id,
    file: at.file(id),
    policy: 'posix',
    maxBytes: 64 * MIB,
    maxFileBytes: MIB,
    mustExist: false,
  };
  const instance = hangingInstance(spec, { hangsOn: 'signal', termMs });
  hanging.push(instance);
  return instance;
}

function hasLog(id: string): boolean {
  return existsSync(`${at.file(id)}-wal`);
}

function textAtRest(id: string, path: string): string {
  const resting = openAtRest(at.file(id));
  try {
    return Buffer.from(resting.get(vfsPath(path)) ?? []).toString();
  } finally {
    resting.close();
  }
}

/** What is committed while a process has the file open. */
function textBeside(id: string, path: string): string {
  const beside = openBeside(at.file(id));
  try {
    return Buffer.from(beside.get(vfsPath(path)) ?? []).toString();
  } finally {
    beside.close();
  }
}

test('a process that is told to end leaves one clean file and no log', async () => {
  const a = at.open('told');
  await at.say(a, 'echo w > w');
  expect(hasLog('told')).toBe(true);
  const death = await a.end();
  expect(death).toMatchObject({ cause: 'killed' });
  expect(hasLog('told')).toBe(false);
  expect(textAtRest('told', '/w')).toBe('w\n');
  expect(await a.end()).toEqual(death);
});

test('a process that is killed leaves its log, with every commit', async () => {
  const a = at.open('killed');
  await at.say(a, 'echo w > w');
  await a.kill('killed');
  expect(hasLog('killed')).toBe(true);
  expect(await at.say(at.open('killed', { mustExist: true }), 'cat w')).toBe('w\n');
});

test('a paused process runs again to put its file to rest', async () => {
  const a = at.open('paused');
  await at.say(a, 'echo w > w');
  await expect.poll(() => a.pause()).not.toBeNull();
  await a.end();
  expect(hasLog('paused')).toBe(false);
  expect(textAtRest('paused', '/w')).toBe('w\n');
});

test('the call that runs in a process told to end is cut off, and nothing of it is kept', async () => {
  const a = at.open('call');
  await at.say(a, 'echo w > w');
  const running = a.exec({ command: 'echo half > half; { echo more > more; sleep 30; }' });
  running.catch(() => {});
  await expect.poll(() => textBeside('call', '/half')).toBe('half\n');
  await Promise.all([a.end(), expect(running).rejects.toMatchObject({ extra: { started: true } })]);
  expect(await at.say(at.open('call', { mustExist: true }), 'ls')).toBe('half\nw\n');
});

test('a process that does not end when it is told to is killed after the time between, and its commits are kept', async () => {
  const a = hang('hangs', 400);
  await at.say(a, 'echo w > w');
  await makeHang(a.pid);
  const began = performance.now();
  await a.end();
  const tookMs = performance.now() - began;
  expect(tookMs).toBeGreaterThan(390);
  expect(tookMs).toBeLessThan(60_000);
  expect(hasLog('hangs')).toBe(true);
  expect(await at.say(at.open('hangs', { mustExist: true }), 'cat w')).toBe('w\n');
});

test('Ctrl-C, which reaches the whole group, ends neither a process nor its call: the server decides', async () => {
  const a = at.open('interrupted');
  await a.opened;
  const running = a.exec({ command: 'sleep 0.5; echo done' });
  await new Promise((resolve) => setTimeout(resolve, 100));
  process.kill(a.pid, 'SIGINT');
  expect(await running).toMatchObject({ stdout: 'done\n', exitCode: 0 });
});
