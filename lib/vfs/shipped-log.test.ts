import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, linkSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { openCheckpointer, openLiveFile } from './handles.ts';
import { closeOrLeave, closeToRest, openAtRest, openLive, recoverToRest } from './open.ts';
import { ShippedLog } from './shipped-log.ts';
import { type CommittedFrames, markOf, ReplicaPages, readLog } from './testing/log-frames.ts';
import { holdFile, kill, startProcess } from './testing/processes.ts';
import { bytes, codeOf, MIB, tmpFile, tmpFolder, vfsPath } from './testing/tmp-files.ts';
import { Vfs } from './vfs.ts';

const OPTIONS = { maxBytes: 512 * MIB, maxFileBytes: 64 * MIB, mustExist: false, shipsLog: true };

/** A file at rest with the identity and the tables that a writer finds, so that only its log tells what it commits. */
function restingFile(): string {
  const file = tmpFile();
  const vfs = openLive(file, { ...OPTIONS, shipsLog: false });
  vfs.put(vfsPath('/first'), bytes('first'));
  closeToRest(vfs);
  return file;
}

async function startWriter(file: string, how: 'first' | 'joins'): Promise<ChildProcess> {
  const child = startProcess('shippingWriter', file, how);
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  expect(message).toBe('holding');
  return child;
}

async function ask(child: ChildProcess, message: number | string): Promise<void> {
  const isOver = new AbortController();
  const { signal } = isOver;
  const answered = Promise.race([once(child, 'message', { signal }), once(child, 'exit', { signal })]);
  child.send(message);
  await answered;
  isOver.abort();
}

const logOf = (file: string): CommittedFrames => {
  const log = readLog(`${file}-wal`);
  if (log === null) throw new Error('There is no log.');
  return log;
};
const confirm = (file: string, text: string) => writeFileSync(`${file}-shipped`, text);

test('70. of what two processes commit no frame is written over before all of its log was confirmed', async () => {
  const file = restingFile();
  const replica = new ReplicaPages(readFileSync(file));
  const writers = [await startWriter(file, 'first'), await startWriter(file, 'joins')];
  let confirmed = '';
  let shipped: CommittedFrames | null = null;
  let restarts = 0;
  /** Reads the log as the server would, while the others go on. */
  const ship = () => {
    const found = readLog(`${file}-wal`);
    if (found === null) return;
    if (shipped !== null && found.salts !== shipped.salts) {
      restarts += 1;
      // Else what was committed behind it would be in nobody's hands.
      expect(markOf(shipped)).toBe(confirmed);
    }
    replica.add(found);
    shipped = found;
  };
  const confirmShipped = () => {
    if (shipped === null) return;
    confirmed = markOf(shipped);
    confirm(file, confirmed);
  };
  for (let round = 0; round < 24; round += 1) {
    const working = writers.map((writer) => ask(writer, 1 + randomInt(25)));
    for (let look = randomInt(4); look > 0; look -= 1) {
      await Promise.race(working);
      ship();
      if (randomInt(2) === 0) confirmShipped();
    }
    await Promise.all(working);
    // What is confirmed may be all, or what was all a moment ago.
    if (randomInt(3) === 0) continue;
    ship();
    confirmShipped();
    if (randomInt(3) === 0) await ask(writers[randomInt(2)] as ChildProcess, 1);
  }
  expect(restarts).toBeGreaterThan(0);
  const second = join(dirname(file), 'second');
  linkSync(`${file}-wal`, second);
  ship();
  await kill(writers[1] as ChildProcess);
  await ask(writers[0] as ChildProcess, 'rest');
  const rest = readLog(second);
  if (rest === null) throw new Error('The second name has no log.');
  replica.add(rest);
  expect(replica.differencesTo(readFileSync(file))).toEqual([]);
});

test('70. without a confirmation, or with one of less, of another log or of anything else, the file does not change', () => {
  const file = restingFile();
  const vfs = openLive(file, { ...OPTIONS, mustExist: true });
  vfs.put(vfsPath('/a'), new Uint8Array(6 * MIB));
  const before = readFileSync(file);
  const { salts, frames } = logOf(file);
  const less = markOf({ ...logOf(file), frames: frames - 1 });
  for (const mark of ['', less, `${'0'.repeat(16)}${less.slice(16)}`, 'x'.repeat(24), salts]) {
    confirm(file, mark);
    vfs.put(vfsPath('/b'), bytes(mark));
  }
  expect(logOf(file).salts).toBe(salts);
  expect(readFileSync(file).equals(before)).toBe(true);
  confirm(file, markOf(logOf(file)));
  vfs.put(vfsPath('/b'), bytes('restarts the log'));
  expect(logOf(file).salts).not.toBe(salts);
  // Its length stays, up to a limit: making it longer again would cost each commit.
  expect(statSync(`${file}-wal`).size).toBeGreaterThan(6 * MIB);
  expect(readFileSync(file).length).toBeGreaterThan(6 * MIB);
  for (const name of ['/c', '/d', '/e', '/f', '/g']) vfs.put(vfsPath(name), new Uint8Array(6 * MIB));
  confirm(file, markOf(logOf(file)));
  vfs.put(vfsPath('/b'), bytes('restarts the log once more'));
  expect(statSync(`${file}-wal`).size).toBe(24 * MIB);
  closeToRest(vfs);
});

test('70. a reader beside it holds the checkpoint back, and no commit', async () => {
  const file = restingFile();
  const vfs = openLive(file, { ...OPTIONS, mustExist: true });
  vfs.put(vfsPath('/a'), new Uint8Array(6 * MIB));
  const reader = await holdFile(file, 'reading');
  vfs.put(vfsPath('/b'), bytes('b'));
  const { salts } = logOf(file);
  confirm(file, markOf(logOf(file)));
  vfs.put(vfsPath('/c'), bytes('c'));
  expect(logOf(file).salts).toBe(salts);
  await kill(reader);
  confirm(file, markOf(logOf(file)));
  vfs.put(vfsPath('/d'), bytes('d'));
  expect(logOf(file).salts).not.toBe(salts);
  closeToRest(vfs);
});

/** The same with a log that is long early. */
function impatientVfs(file: string, limits: { waitedForBytes: number; mostWaitMs: number }): Vfs {
  const { db, schema, enterWal } = openLiveFile(file, { ...OPTIONS, mustExist: true });
  const shippedLog = new ShippedLog(db, file, () => openCheckpointer(file), limits);
  return new Vfs(db, { ...OPTIONS, shippedLog }, schema, enterWal);
}

test('71. a commit to a very long log waits until it is confirmed', async () => {
  const file = restingFile();
  const writer = await startWriter(file, 'first');
  let isDone = false;
  const writing = ask(writer, 1500).then(() => {
    isDone = true;
  });
  let longest = 0;
  let confirmations = 0;
  let last = '';
  while (!isDone) {
    await Promise.race([writing, new Promise((resolve) => setImmediate(resolve))]);
    const size = existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0;
    longest = Math.max(longest, size);
    if (size <= 64 * MIB) continue;
    const mark = markOf(logOf(file));
    if (mark === last) continue;
    confirmations += 1;
    last = mark;
    confirm(file, mark);
  }
  expect(confirmations).toBeGreaterThan(0);
  expect(longest).toBeGreaterThan(64 * MIB);
  expect(longest).toBeLessThan(72 * MIB);
});

test('71. a server that confirms nothing holds commits up once, and not for ever', () => {
  const file = restingFile();
  const vfs = impatientVfs(file, { waitedForBytes: 5 * MIB, mostWaitMs: 100 });
  const tookMs = (put: () => void) => {
    const started = performance.now();
    put();
    return performance.now() - started;
  };
  const first = tookMs(() => vfs.put(vfsPath('/a'), new Uint8Array(6 * MIB)));
  expect(first).toBeGreaterThanOrEqual(100);
  const { salts } = logOf(file);
  for (let n = 0; n < 4; n += 1) vfs.put(vfsPath('/a'), new Uint8Array(6 * MIB));
  expect(logOf(file).salts).toBe(salts);
  confirm(file, markOf(logOf(file)));
  vfs.put(vfsPath('/b'), bytes('b'));
  expect(logOf(file).salts).not.toBe(salts);
  closeToRest(vfs);
});

test('72. coming to rest leaves every frame in another name of the log', () => {
  const file = restingFile();
  const before = readFileSync(file);
  const vfs = openLive(file, { ...OPTIONS, mustExist: true });
  for (let n = 0; n < 20; n += 1) vfs.put(vfsPath(`/${n}`), new Uint8Array(5000).fill(n));
  const { frames } = logOf(file);
  const second = join(tmpFolder(), 'second');
  linkSync(`${file}-wal`, second);
  closeToRest(vfs);
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  expect(readFileSync(file)[18]).toBe(1);
  const log = readLog(second);
  expect(log?.frames).toBe(frames);
  const replica = new ReplicaPages(before);
  if (log !== null) replica.add(log);
  expect(replica.differencesTo(readFileSync(file))).toEqual([]);
});

test('72. coming to rest is refused while others have the file open, and nothing is lost', async () => {
  const file = restingFile();
  const vfs = openLive(file, { ...OPTIONS, mustExist: true });
  vfs.put(vfsPath('/a'), bytes('a'));
  for (const how of ['reading', 'beside'] as const) {
    const other = await holdFile(file, how);
    vfs.put(vfsPath(`/${how}`), bytes(how));
    expect(codeOf(() => closeToRest(vfs))).toBe('conflict');
    await kill(other);
  }
  closeToRest(vfs);
  const rest = openAtRest(file);
  expect(['/a', '/reading', '/beside'].map((path) => rest.get(vfsPath(path)) !== null)).toEqual([true, true, true]);
  rest.close();
});

test('72. a log without another name is left beside its file when anything was committed to it', () => {
  const file = restingFile();
  const before = readFileSync(file);
  // An identity is a commit too, of a file that has none.
  for (const write of [false, true]) {
    const vfs = openLive(file, { ...OPTIONS, mustExist: true, walLater: true });
    if (write) vfs.put(vfsPath('/a'), bytes('a'));
    expect(closeOrLeave(vfs)).toEqual(expect.any(String));
    expect(existsSync(`${file}-wal`)).toBe(write);
    if (!write) expect(readFileSync(file).equals(before)).toBe(true);
  }
  expect(readLog(`${file}-wal`)?.frames).toBeGreaterThan(0);
});

test('72. recovering the file of a killed process does too, when it is told so', async () => {
  const file = restingFile();
  const writer = await startWriter(file, 'first');
  await ask(writer, 10);
  await kill(writer);
  const { frames } = logOf(file);
  const second = join(tmpFolder(), 'second');
  linkSync(`${file}-wal`, second);
  recoverToRest(file, { keepsFrames: true });
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  expect(readLog(second)?.frames).toBe(frames);
});

test('73. an opening that fails removes no log', async () => {
  const file = restingFile();
  const writer = await startWriter(file, 'first');
  await ask(writer, 10);
  await ask(writer, 'spoil');
  await kill(writer);
  const before = readFileSync(`${file}-wal`);
  const another = startProcess('shippingWriter', file, 'joins');
  await once(another, 'exit');
  expect(another.exitCode).toBe(1);
  expect(readFileSync(`${file}-wal`).equals(before)).toBe(true);
});

test.each(['close', 'exit', 'throw', 'SIGTERM', 'SIGKILL'] as const)(
  '73. a last process that ends without coming to rest leaves its log: %s',
  async (how) => {
    const file = restingFile();
    const writer = await startWriter(file, 'first');
    await ask(writer, 10);
    const before = { log: readFileSync(`${file}-wal`), main: readFileSync(file) };
    if (how.startsWith('SIG')) writer.kill(how as NodeJS.Signals);
    else await ask(writer, how);
    if (how === 'close') await ask(writer, 'exit');
    if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit');
    expect(readFileSync(`${file}-wal`).equals(before.log)).toBe(true);
    expect(readFileSync(file).equals(before.main)).toBe(true);
    const copy = join(tmpFolder(), 'vfs.sqlite');
    for (const part of ['', '-wal']) copyFileSync(file + part, copy + part);
    recoverToRest(copy);
  },
);
