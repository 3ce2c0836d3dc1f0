/** Limits and ends of readers where other processes stand between them and the server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test, vi } from 'vitest';
import { processStat, STAT } from '../base/process-stat.ts';
import { closeToRest, openLive } from '../vfs/open.ts';
import { MIB, vfsPath } from '../vfs/testing/tmp-files.ts';
import { ENDLESS_SQL, walledReaders } from './testing/walled-readers.ts';

const SOON = { timeout: 240_000 };
const folder = mkdtempSync(join(tmpdir(), 'winterdock-walled-'));
chmodSync(folder, 0o711);
const data = join(folder, 'data');
mkdirSync(join(data, 'cold'), { recursive: true });
const { readers, missing, stop } = await walledReaders(data);

afterAll(async () => {
  await stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A file of a sandbox of so many mebibytes, at rest. */
function restingFile(name: string, mebibytes = 0): string {
  const file = join(data, 'cold', `${name}.sqlite`);
  const vfs = openLive(file, { maxBytes: 512 * MIB, maxFileBytes: 64 * MIB, mustExist: false });
  vfs.put(vfsPath('/kept'), Buffer.from('kept'));
  for (let n = 0; n < mebibytes; n += 4) vfs.put(vfsPath(`/large-${n}`), Buffer.alloc(4 * MIB, n));
  closeToRest(vfs);
  return file;
}

const kept = restingFile('kept');
const query = (sql: string) => readers.read({ path: kept, mode: 'rest' }, { op: 'query', sql });
const outcome = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

/** The helpers of the data folder, and the wrappers that wait for them. */
const helpers = () =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      if (!words.includes(`WINTERDOCK_DATA=${data}`)) return [];
      const [state = 'X', parent] = processStat(Number(name)) ?? [];
      return state === 'Z' || state === 'X' ? [] : [{ pid: Number(name), state, parent: Number(parent) }];
    } catch {
      return [];
    }
  });
const ticksOf = (pid: number) => Number(processStat(pid)?.[STAT.state + 11] ?? 0);

/** The helper that runs a query, once it has run for a while. */
const busy = () =>
  vi.waitFor(() => {
    const found = helpers().find(({ pid, state }) => state === 'R' && ticksOf(pid) > 60);
    if (found === undefined) throw new Error('None is busy.');
    return found;
  }, SOON);

test.runIf(process.platform === 'linux')(
  'a query over its memory limit is ended, and the next is answered',
  async (context) => {
    if (missing.has('pid')) context.skip(missing.get('pid'));
    const rows =
      "SELECT 1 AS x, printf('%.*c', 9000000, 'a') AS y UNION ALL SELECT x + 1, x || printf('%.*c', 9000000, 'a') FROM n";
    const hoard = `WITH RECURSIVE n(x, y) AS (${rows}) SELECT x FROM n ORDER BY y`;
    expect(await outcome(query(hoard))).toMatchObject({ message: 'The query was ended: it needs too much memory.' });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  },
);

test.runIf(process.platform === 'linux')(
  'a disk that fails under a copy is told from a copy that ends',
  async (context) => {
    if (missing.has('pid')) context.skip(missing.get('pid'));
    const staging = join(data, 'cold', '.staging');
    const target = join(staging, 'copy.sqlite');
    let failed: unknown = null;
    // A copy that is over before the disk fails is made again.
    for (let n = 0; failed === null && n < 20; n += 1) {
      const failing = restingFile(`failing-${n}`, 24);
      let isOver = false;
      const copy = outcome(readers.copy({ path: failing, mode: 'rest' }, target, { volumes: ['workspace'] }));
      void copy.then(() => {
        isOver = true;
      });
      let struck = 0;
      while (struck === 0 && !isOver) {
        await new Promise((resolve) => setImmediate(resolve));
        struck = helpers().find(({ pid }) => mapsOf(pid).includes(failing))?.pid ?? 0;
      }
      if (struck !== 0) process.kill(struck, 'SIGSTOP');
      truncateSync(failing, 8192);
      if (struck !== 0) process.kill(struck, 'SIGCONT');
      failed = await copy;
      if (failed === null) rmSync(target);
    }
    expect(failed).toMatchObject({
      code: 'storage_unavailable',
      cause: { message: expect.stringContaining('SIGBUS') },
    });
    expect(existsSync(target)).toBe(false);
  },
);

function mapsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch {
    return '';
  }
}

test.runIf(process.platform === 'linux')(
  'a helper whose wrapper was killed ends, and another one takes its job',
  async (context) => {
    if (missing.has('pid')) context.skip(missing.get('pid'));
    const endless = outcome(query(ENDLESS_SQL));
    const first = await busy();
    expect(first.parent).not.toBe(process.pid);
    process.kill(first.parent, 'SIGKILL');
    await vi.waitFor(() => expect(helpers().map(({ pid }) => pid)).not.toContain(first.pid), SOON);
    const second = await busy();
    process.kill(second.pid, 'SIGKILL');
    expect(await endless).toMatchObject({ code: 'validation', message: 'The query ended the process that ran it.' });
    expect((await query('SELECT 1')).rows).toEqual([[1]]);
  },
);

test.runIf(process.platform === 'linux')(
  'helpers end with their server, in the middle of an endless query too',
  async (context) => {
    if (missing.size === 7) context.skip('no wall stands');
    await stop();
    await vi.waitFor(() => expect(helpers()).toEqual([]), SOON);
    const program = fileURLToPath(new URL('./testing/walled-readers.ts', import.meta.url));
    const server = spawn(process.execPath, [program, data, kept], { stdio: 'ignore' });
    await busy();
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
    await vi.waitFor(() => expect(helpers()).toEqual([]), SOON);
  },
);
