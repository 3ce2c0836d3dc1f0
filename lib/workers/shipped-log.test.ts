/** Processes of a sandbox whose log is shipped: they read the server's mark as their user, and leave the log. */
import { existsSync, linkSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ShippedMark } from '../storage/shipped-mark.ts';
import { openAtRest, recoverToRest } from '../vfs/open.ts';
import { parseVfsPath } from '../vfs/paths.ts';
import { readLog } from '../vfs/testing/log-frames.ts';
import type { InstanceProcess } from './protocol/instance.ts';
import { stage } from './testing/stage.ts';

const at = stage({ size: 2 });
const MIB = 1024 * 1024;
const logOf = (id: string) => `${at.file(id)}-wal`;

function openShipped(id: string): { box: InstanceProcess; mark: ShippedMark } {
  mkdirSync(dirname(at.file(id)), { recursive: true });
  const mark = new ShippedMark(at.file(id));
  onTestFinished(() => mark.close());
  return { box: at.open(id, { shipsLog: true }), mark };
}

const put = (box: InstanceProcess, name: string, bytes: number) =>
  box.write({ op: 'put', volume: 'workspace', path: parseVfsPath(`/${name}`), content: new Uint8Array(bytes).fill(1) });

/** Confirms all of a log that nobody writes to now. Returns its salts. */
function confirmAll(id: string, mark: ShippedMark): string {
  const log = readLog(logOf(id));
  if (log === null) throw new Error('There is no log.');
  mark.confirm(log);
  return log.salts;
}

test('a process writes over its log once the server has confirmed it, and not before', async () => {
  const { box, mark } = openShipped('first');
  await put(box, 'a', 6 * MIB);
  await put(box, 'b', 6 * MIB);
  const before = readLog(logOf('first'));
  await put(box, 'c', 10);
  expect(readLog(logOf('first'))?.salts).toBe(before?.salts);
  const salts = confirmAll('first', mark);
  await put(box, 'd', 10);
  expect(readLog(logOf('first'))?.salts).not.toBe(salts);
  expect(statSync(at.file('first')).size).toBeGreaterThan(12 * MIB);
  await box.close({ drainMs: 1000, force: false });
  expect(readLog(logOf('first'))?.frames).toBeGreaterThan(0);
});

test('so does one that joins it', async () => {
  const { box, mark } = openShipped('joined');
  await put(box, 'a', 6 * MIB);
  const salts = confirmAll('joined', mark);
  // It takes the first process for as long as it is read from.
  const running = box.exec({ command: 'sleep 600' });
  running.catch(() => {});
  const python = await box.eval({ language: 'python', code: 'open("/workspace/p", "w").write("p" * 6_000_000)' });
  expect(python).toMatchObject({ ok: true });
  expect(box.members.length).toBe(2);
  // Its own log was short until then.
  expect(confirmAll('joined', mark)).toBe(salts);
  await box.eval({ language: 'python', code: 'open("/workspace/q", "w").write("q")' });
  expect(readLog(logOf('joined'))?.salts).not.toBe(salts);
  await box.close({ drainMs: 0, force: true, keepLog: () => true });
  expect(existsSync(logOf('joined'))).toBe(false);
});

test('a close leaves one clean file, and every frame in another name of the log', async () => {
  const { box } = openShipped('closed');
  await at.say(box, 'echo w > w');
  const { frames } = readLog(logOf('closed')) ?? { frames: 0 };
  const second = join(at.folder, 'second');
  const keepLog = () => {
    linkSync(logOf('closed'), second);
    return true;
  };
  expect(await box.close({ drainMs: 1000, force: false, keepLog })).toBe(true);
  expect(existsSync(logOf('closed'))).toBe(false);
  expect(readLog(second)?.frames).toBe(frames);
  const resting = openAtRest(at.file('closed'));
  expect(Buffer.from(resting.get(parseVfsPath('/w')) ?? []).toString()).toBe('w\n');
  resting.close();
});

test.each(['end', 'SIGTERM', 'SIGKILL'] as const)('any other end leaves the log as it is: %s', async (how) => {
  const { box } = openShipped(how);
  await at.say(box, 'echo w > w');
  const before = [at.file(how), logOf(how)].map((path) => readFileSync(path));
  if (how === 'end') await box.end();
  else process.kill(box.pid, how);
  await box.ended;
  expect([at.file(how), logOf(how)].map((path, index) => readFileSync(path).equals(before[index] as Buffer))).toEqual([
    true,
    true,
  ]);
  recoverToRest(at.file(how));
  const resting = openAtRest(at.file(how));
  expect(Buffer.from(resting.get(parseVfsPath('/w')) ?? []).toString()).toBe('w\n');
  resting.close();
});
