import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { answerRead } from './answer.ts';
import { parseFromReader, parseToReader } from './messages.ts';
import { closeToRest, openAtRest, openLive } from './open.ts';
import { createReaders, type ReadersOptions } from './readers.ts';
import { readersOf, stateOf } from './testing/proc.ts';
import { holdFile, kill, startProcess } from './testing/processes.ts';
import { bytes, codeOf, liveVfs, MIB, text, tmpFile, tmpFolder, vfsPath } from './testing/tmp-files.ts';
import type { Readers, ReadRequest } from './types.ts';

const ENDLESS = 'WITH RECURSIVE n(x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n';
const SOON = { timeout: 240_000, interval: 20 };

function pool(options: Partial<ReadersOptions> = {}): Readers {
  const readers = createReaders({ maxFileBytes: MIB, ...options });
  onTestFinished(() => readers.stop());
  return readers;
}

function restingFile(): string {
  const file = tmpFile();
  const vfs = openLive(file, { maxBytes: 512 * MIB, maxFileBytes: 128 * MIB, mustExist: false });
  vfs.put(vfsPath('/a/text'), bytes('some text\nand more'));
  vfs.put(vfsPath('/a/bytes'), new Uint8Array([0, 255, 1]));
  vfs.put(vfsPath('/note'), bytes('kept'), 'memory');
  closeToRest(vfs);
  return file;
}

const query = (readers: Readers, path: string, sql: string) =>
  readers.read({ path, mode: 'rest' }, { op: 'query', sql });
const small = (readers: Readers, path: string) =>
  readers.read({ path, mode: 'rest' }, { op: 'stat', volume: 'workspace', path: vfsPath('/a/text') });
const failure = (run: Promise<unknown>) =>
  run.then(
    () => undefined,
    (error: unknown) => error,
  );
/** The code that a promise is rejected with; undefined when it is not. */
const codeFrom = async (run: Promise<unknown>) => Object(await failure(run)).code;

const REQUESTS: ReadRequest[] = [
  { op: 'volumes' },
  { op: 'list', volume: 'workspace', limit: 1 },
  { op: 'list', volume: 'workspace', limit: 5, prefix: '/a/', after: '/a/bytes' },
  { op: 'stat', volume: 'workspace', path: vfsPath('/a/text') },
  { op: 'stat', volume: 'tmp', path: vfsPath('/a/text') },
  { op: 'get', volume: 'workspace', path: vfsPath('/a/bytes') },
  { op: 'get', volume: 'workspace', path: vfsPath('/nothing') },
  { op: 'search', in: 'content', text: 'MORE', limit: 5 },
  { op: 'search', in: 'name', text: 'note', volume: 'memory', limit: 5 },
  { op: 'query', sql: 'SELECT path FROM vfs WHERE volume = ?', params: ['memory'] },
];

test('38. a reader answers as the VFS does, at rest and beside a live process', async () => {
  const file = restingFile();
  const readers = pool();
  const rest = openAtRest(file);
  const expected = REQUESTS.map((request) => answerRead(rest, request));
  rest.close();
  for (const [index, request] of REQUESTS.entries()) {
    expect(await readers.read({ path: file, mode: 'rest' }, request)).toEqual(expected[index]);
  }
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  liveVfs({ file, mustExist: true });
  for (const [index, request] of REQUESTS.entries()) {
    expect(await readers.read({ path: file, mode: 'live' }, request)).toEqual(expected[index]);
  }
});

test('38. a large file is read as a whole', async () => {
  const file = tmpFile();
  const vfs = liveVfs({ file });
  const content = Buffer.alloc(16 * MIB, 'winterdock');
  vfs.put(vfsPath('/large'), content);
  const { content: got } = await pool({ maxFileBytes: 16 * MIB }).read(
    { path: file, mode: 'live' },
    { op: 'get', volume: 'workspace', path: vfsPath('/large') },
  );
  expect(Buffer.compare(got ?? bytes(''), content)).toBe(0);
});

test('39. a range is inclusive at both ends', async () => {
  const file = restingFile();
  const readers = pool();
  const range = async (start: number, end: number) => {
    const request: ReadRequest = { op: 'get', volume: 'workspace', path: vfsPath('/a/text'), range: { start, end } };
    const answer = await readers.read({ path: file, mode: 'rest' }, request);
    expect(answer.stat?.size).toBe(18);
    return text(answer.content);
  };
  expect(await range(0, 0)).toBe('s');
  expect(await range(5, 8)).toBe('text');
  expect(await range(14, 1000)).toBe('more');
  expect(await range(18, 20)).toBe('');
  expect(await codeFrom(range(5, 4))).toBe('validation');
  expect(await codeFrom(range(-1, 4))).toBe('validation');
});

test('40. a query over its time limit is ended, and other reads continue meanwhile and afterwards', async () => {
  const file = restingFile();
  const readers = pool({ queryTimeoutMs: 4000 });
  await readers.start();
  let ended = 0;
  const endless = [1, 2].map(() => failure(query(readers, file, ENDLESS)).finally(() => (ended += 1)));
  for (let index = 0; index < 5; index += 1) expect((await small(readers, file)).stat?.size).toBe(18);
  expect(ended).toBe(0);
  for (const error of await Promise.all(endless)) {
    expect(error).toMatchObject({ code: 'validation', message: 'The query was ended after 4000 ms.' });
  }
  expect((await query(readers, file, 'SELECT count(*) FROM vfs')).rows).toEqual([[3]]);
  await vi.waitFor(() => expect(readersOf(process.pid)).toHaveLength(2), SOON);
});

test('41. a query over its memory limit is ended', async () => {
  const file = restingFile();
  const readers = pool({ queryTimeoutMs: 60_000 });
  const rows =
    "SELECT 1 AS x, printf('%.*c', 9000000, 'a') AS y UNION ALL SELECT x + 1, x || printf('%.*c', 9000000, 'a') FROM n";
  const hoard = `WITH RECURSIVE n(x, y) AS (${rows}) SELECT x FROM n ORDER BY y`;
  expect(await failure(query(readers, file, hoard))).toMatchObject({
    code: 'validation',
    message: expect.stringContaining('memory'),
  });
  expect((await small(readers, file)).stat?.size).toBe(18);
});

test('42. a read whose process dies is tried once more, and the process is replaced', async () => {
  const file = restingFile();
  const readers = pool({ processes: 1, queryTimeoutMs: 120_000 });
  await readers.start();
  const [first] = readersOf(process.pid);
  const counted = query(readers, file, ENDLESS.replace('FROM n)', 'FROM n WHERE x < 5000000)'));
  await vi.waitFor(() => expect(stateOf(Number(first))?.state).toBe('R'), SOON);
  process.kill(Number(first), 'SIGKILL');
  expect((await counted).rows).toEqual([[5_000_000]]);
  const [second] = readersOf(process.pid);
  expect(second).not.toBe(first);
});

test('42. a read that ends its process twice is given up', async () => {
  const file = restingFile();
  const readers = pool({ processes: 1, queryTimeoutMs: 120_000 });
  await readers.start();
  const endless = failure(query(readers, file, ENDLESS));
  let last = 0;
  for (let round = 0; round < 2; round += 1) {
    await vi.waitFor(() => {
      const [pid] = readersOf(process.pid);
      expect(pid).not.toBe(last);
      expect(stateOf(Number(pid))?.state).toBe('R');
      last = Number(pid);
    }, SOON);
    await vi.waitFor(() => expect(cpuTicks(last)).toBeGreaterThan(80), SOON);
    process.kill(last, 'SIGKILL');
  }
  expect(await endless).toMatchObject({ code: 'validation' });
  expect((await small(readers, file)).stat?.size).toBe(18);
});

test('43. a missing file is missing_file, a damaged one corrupt, and readers keep nothing open', async () => {
  const file = restingFile();
  const readers = pool();
  await small(readers, file);
  await readers.read({ path: file, mode: 'live' }, { op: 'volumes' });
  for (const pid of readersOf(process.pid))
    expect(openFiles(pid).filter((name) => name.includes('vfs.sqlite'))).toEqual([]);
  writeFileSync(file, 'no database'.repeat(1000));
  for (const mode of ['rest', 'live'] as const) {
    expect(await codeFrom(readers.read({ path: file, mode }, { op: 'volumes' }))).toBe('corrupt');
  }
  rmSync(file);
  for (const mode of ['rest', 'live'] as const) {
    expect(await codeFrom(readers.read({ path: file, mode }, { op: 'volumes' }))).toBe('missing_file');
  }
  expect(
    await codeFrom(
      readers.read({ path: file, mode: 'rest' }, { op: 'stat', volume: 'workspace', path: vfsPath('/x') }),
    ),
  ).toBe('missing_file');
  expect(readdirSync(dirname(file))).toEqual([]);
});

test('44. check gives the hash and ok, finds damaged contents by the hash, damaged structure by SQLite', async () => {
  const file = restingFile();
  const readers = pool();
  const good = readFileSync(file);
  const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
  expect(await readers.check(file)).toMatchObject({ sha256: sha256(good), quickCheck: 'ok' });
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  const rotten = Buffer.from(good);
  rotten[rotten.indexOf('some text')] = 0x53;
  writeFileSync(file, rotten);
  expect(await readers.check(file, { urgent: true })).toMatchObject({ sha256: sha256(rotten), quickCheck: 'ok' });
  writeFileSync(file, Buffer.from(good).fill(0xff, 4096, 4200));
  expect((await readers.check(file)).quickCheck).not.toBe('ok');
  writeFileSync(file, 'no database');
  expect((await readers.check(file)).quickCheck).toContain('not a database');
  rmSync(file);
  expect(await codeFrom(readers.check(file))).toBe('missing_file');
});

test('44. a check runs at the lowest priority, apart from reads', async () => {
  const file = restingFile();
  const readers = pool({ processes: 1 });
  await readers.start();
  const [reader] = readersOf(process.pid);
  const first = readers.check(file);
  const checker = await vi.waitFor(() => {
    const pid = readersOf(process.pid).find((other) => other !== reader);
    expect(pid !== undefined && getPriority(pid)).toBe(19);
    return Number(pid);
  }, SOON);
  expect(getPriority(Number(reader))).toBe(getPriority());
  await first;
  process.kill(checker, 'SIGSTOP');
  const stuck = readers.check(file);
  expect((await small(readers, file)).stat?.size).toBe(18);
  expect((await readers.check(file, { urgent: true })).quickCheck).toBe('ok');
  process.kill(checker, 'SIGCONT');
  expect((await stuck).quickCheck).toBe('ok');
});

test('45. readers end with their server, in the middle of an endless query too', async () => {
  const file = restingFile();
  const server = startProcess('server', file);
  const [pids] = (await once(server, 'message')) as [number[]];
  expect(pids).toHaveLength(2);
  await vi.waitFor(() => expect(pids.some((pid) => cpuTicks(pid) > 80)).toBe(true), SOON);
  await kill(server);
  await vi.waitFor(() => expect(pids.map(stateOf)).toEqual([null, null]), SOON);
});

test('46. a reader’s environment has nothing of the server’s', async () => {
  vi.stubEnv('WB_ADMIN_KEY', 'a-very-secret-key');
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  await pool().start();
  const pids = readersOf(process.pid);
  expect(pids).toHaveLength(2);
  for (const pid of pids) expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('secret');
});

test('a tenant that reads without pause takes neither every place nor every turn', async () => {
  const file = restingFile();
  const readers = pool({ processes: 1, queryTimeoutMs: 300 });
  await readers.start();
  const target = { path: file, mode: 'rest' } as const;
  const order: string[] = [];
  const ask = (tenant: string) => {
    const answer = readers.read(target, { op: 'query', sql: ENDLESS }, tenant);
    return codeFrom(answer).then((code) => {
      order.push(tenant);
      return code;
    });
  };
  const flood = Array.from({ length: 66 }, () => ask('flood'));
  const quiet = readers
    .read(target, { op: 'stat', volume: 'workspace', path: vfsPath('/a/text') }, 'quiet')
    .then(() => {
      order.push('quiet');
    });
  expect(await flood.at(-1)).toBe('rate_limited');
  await quiet;
  // One of them has already run, one was refused at once.
  expect(order.filter((tenant) => tenant === 'flood')).toHaveLength(2);
  await readers.stop();
  await Promise.all(flood);
});

test('47. more than 1024 waiting reads are refused, and so are waiting reads when the readers stop', async () => {
  const file = restingFile();
  const readers = pool({ processes: 1, queryTimeoutMs: 1500 });
  await readers.start();
  const endless = failure(query(readers, file, ENDLESS));
  const waiting = Array.from({ length: 1100 }, () => codeFrom(small(readers, file)));
  const refused = waiting.slice(1024);
  expect(new Set(await Promise.all(refused))).toEqual(new Set(['rate_limited']));
  await Promise.all([readers.stop(), readers.stop()]);
  expect(await endless).toMatchObject({ code: 'validation' });
  expect(new Set(await Promise.all(waiting.slice(0, 1024)))).toEqual(new Set(['storage_unavailable']));
  expect(readersOf(process.pid)).toEqual([]);
  expect(await codeFrom(small(readers, file))).toBe('storage_unavailable');
  expect(await codeFrom(readers.check(file))).toBe('storage_unavailable');
});

test('47. stopping aborts a check', async () => {
  const file = restingFile();
  const readers = pool();
  const check = codeFrom(readers.check(file));
  await readers.stop();
  expect([undefined, 'storage_unavailable']).toContain(await check);
  expect(readersOf(process.pid)).toEqual([]);
});

test('48. malformed messages are refused at both ends', async () => {
  const target = { path: '/x', mode: 'rest' };
  const bad: unknown[] = [
    null,
    'read',
    { id: 1 },
    { id: '1', job: { kind: 'check', path: '/x' } },
    { id: 1, job: { kind: 'check' } },
    { id: 1, user: null, job: { kind: 'erase', path: '/x' } },
    { id: 1, user: null, job: { kind: 'read', target: { path: '/x', mode: 'write' }, request: { op: 'volumes' } } },
    { id: 1, user: null, job: { kind: 'read', target, request: { op: 'put' } } },
    { id: 1, user: null, job: { kind: 'read', target, request: { op: 'get', volume: 'tmp', path: 5 } } },
    { id: 1, user: null, job: { kind: 'read', target, request: { op: 'query', sql: 'SELECT 1', params: [{}] } } },
  ];
  for (const message of bad)
    expect(
      codeOf(() => parseToReader(message)),
      JSON.stringify(message),
    ).toBe('validation');
  for (const request of REQUESTS)
    expect(parseToReader({ id: 1, user: null, job: { kind: 'read', target, request } }).id).toBe(1);
  for (const reply of [
    null,
    {},
    { id: 1 },
    { id: 1, answer: { op: 'get', content: 'text' } },
    { id: 1, failure: { code: 'x' } },
  ]) {
    expect(
      codeOf(() => parseFromReader(reply)),
      JSON.stringify(reply),
    ).toBe('validation');
  }
  const request = JSON.parse('{"op": "drop"}') as ReadRequest;
  expect(await codeFrom(pool().read({ path: '/x', mode: 'rest' }, request))).toBe('validation');
});

test('72. settle leaves every frame in another name of the log, when it is told so', async () => {
  const file = tmpFile();
  await kill(await holdFile(file, 'live'));
  const second = join(tmpFolder(), 'second');
  linkSync(`${file}-wal`, second);
  const log = readFileSync(second);
  await pool().settle(file, { keepsFrames: true });
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  expect(readFileSync(second).equals(log)).toBe(true);
});

test('49. settle makes one clean file of a killed process’s files', async () => {
  const file = tmpFile();
  await kill(await holdFile(file, 'live'));
  const readers = pool();
  await readers.settle(file);
  expect(readdirSync(dirname(file))).toEqual(['vfs.sqlite']);
  const { content } = await readers.read(
    { path: file, mode: 'rest' },
    { op: 'get', volume: 'workspace', path: vfsPath('/committed') },
  );
  expect(text(content)).toBe('committed');
  await readers.settle(file);
  writeFileSync(file, 'no database'.repeat(500));
  expect(await codeFrom(readers.settle(file))).toBe('corrupt');
  rmSync(file);
  expect(await codeFrom(readers.settle(file))).toBe('missing_file');
});

/** Processor time that a process has taken, in hundredths of a second. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      return [];
    }
  });
}
