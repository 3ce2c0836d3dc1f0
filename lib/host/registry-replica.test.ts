import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause, setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { REGISTRY_ID } from '../replication/names/replica-names.ts';
import {
  openStage,
  type RegistryStage,
  rebuilt,
  registryIn,
  segmentsIn,
  wholeNow,
  writeRow,
} from './testing/shipped-registries.ts';

const VICTIM = fileURLToPath(new URL('./testing/shipped-registries.ts', import.meta.url));
const MIB = 1024 * 1024;
const SOON = { timeout: 240_000, interval: 20 };

let folder: string;
let stage: RegistryStage | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-registry-replica-'));
  stage = null;
});
afterEach(async () => {
  await stage?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const allSeries = () => [...new Set(segmentsIn(folder).map(({ series }) => series.token))];
/** They change when the log is begun anew. */
const saltsOf = () => readFileSync(`${registryIn(folder)}-wal`).toString('hex', 16, 24);
const logBytes = () => statSync(`${registryIn(folder)}-wal`).size;

/** Names of the rows in the bytes of a registry. */
function rowsIn(bytes: Buffer): Set<string> {
  const path = join(folder, 'looked-at.sqlite');
  writeFileSync(path, bytes);
  const client = new DatabaseSync(path);
  try {
    expect(client.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
    return new Set(
      client
        .prepare('SELECT id FROM instances')
        .all()
        .map(({ id }) => String(id)),
    );
  } finally {
    client.close();
    for (const part of ['', '-wal', '-shm']) rmSync(path + part, { force: true });
  }
}

/** Writes rows, and lets everything else run now and then. */
async function writeRows(count: number, name: string): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    await writeRow((stage as RegistryStage).registry, `${name}-${n}`);
    await setImmediate();
  }
}

test('under a load of writes each moment of the replica has the bytes of the registry, in one series and many logs', async () => {
  stage = await openStage(folder);
  const { keeper, registry } = stage;
  const moments: { txid: number; bytes: Buffer }[] = [];
  const logs = new Set<string>();
  for (let round = 0; round < 5; round += 1) {
    await writeRows(100, `r-${round}`);
    logs.add(saltsOf());
    await keeper.flush();
    // Not all at once: it goes when it was shipped.
    await registry.storage.checkpoint();
    await writeRow(registry, `after-${round}`);
    await keeper.flush();
    moments.push({ txid: keeper.file?.point?.txid ?? 0, bytes: wholeNow(folder) });
  }
  expect(logs.size).toBeGreaterThan(2);
  expect(allSeries()).toHaveLength(1);
  for (const { txid, bytes } of moments) expect((await rebuilt(folder, txid)).equals(bytes)).toBe(true);
});

test('nothing of the registry opens a file by itself but its head, and what nobody has open; its replica opens its log', () => {
  const root = join(import.meta.dirname, '..');
  const opens = /import \{[^}]*\b(?:open|openSync|readFile|readFileSync|createReadStream)\b[^}]*\} from 'node:fs/;
  const opening = readdirSync(join(root, 'registry'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/\.test\.ts$|testing\//.test(name))
    .filter((name) => opens.test(readFileSync(join(root, 'registry', name), 'utf8')));
  // That of Postgres reads the certificates of its connection.
  expect(opening.sort()).toEqual(['postgres/dial.ts', 'sqlite/driver.ts', 'sqlite/former-history.ts']);
  const shipped = readFileSync(join(root, 'replication/shipped-registry.ts'), 'utf8');
  expect(opens.test(shipped)).toBe(false);
  // What cuts its log in this process knows the file by its size.
  expect(shipped).toContain('main: { bytes: bytesAtNow(file) }');
  expect([...shipped.matchAll(/LogReader\.open\((.*?)\)/g)].map(([, path]) => path?.slice(-6))).toEqual(['}-wal`']);
});

/** The locks that this process has on a file, as the kernel lists them. */
function locksOn(path: string): string[] {
  const { ino } = statSync(path);
  return readFileSync('/proc/locks', 'utf8')
    .split('\n')
    .filter((line) => line.includes('POSIX') && line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
}

test.runIf(existsSync('/proc/locks'))('SQLite keeps its locks on the file and its index, whatever is cut', async () => {
  stage = await openStage(folder);
  const { keeper, registry } = stage;
  const path = registryIn(folder);
  await writeRow(registry, 'a');
  expect(locksOn(path).length).toBeGreaterThan(0);
  const [ofFile, ofIndex] = [path, `${path}-shm`].map(locksOn);
  await keeper.flush();
  await writeRows(100, 'b');
  await registry.storage.checkpoint();
  await keeper.flush();
  expect(segmentsIn(folder).length).toBeGreaterThan(1);
  expect([path, `${path}-shm`].map((one) => locksOn(one).length)).toEqual([ofFile?.length, ofIndex?.length]);
});

test('a clean close and a start go on with the series, and the file has the bytes of its end', async () => {
  stage = await openStage(folder);
  await writeRows(20, 'a');
  await stage.keeper.flush();
  await writeRow(stage.registry, 'last');
  await stage.stop();
  expect((await readFileSync(registryIn(folder))).length).toBeGreaterThan(0);
  stage = await openStage(folder);
  await stage.keeper.flush();
  await writeRow(stage.registry, 'next');
  await stage.keeper.flush();
  expect(allSeries()).toHaveLength(1);
  expect((await rebuilt(folder)).equals(wholeNow(folder))).toBe(true);
  expect(rowsIn(await rebuilt(folder))).toContain('last');
});

test('a start that is slow goes on with the series of which the last segment was left in the spool', async () => {
  stage = await openStage(folder);
  await writeRow(stage.registry, 'a');
  await stage.keeper.flush();
  await stage.keeper.stop();
  await stage.uploads.stop();
  // The close cuts it, and the store does not get it.
  await writeRow(stage.registry, 'last');
  await stage.stop();
  let left = 0;
  stage = await openStage(folder, {
    async prepared(uploads) {
      await pause(1000);
      left = uploads.waiting(REGISTRY_ID).length;
    },
  });
  expect(left).toBe(1);
  await writeRow(stage.registry, 'next');
  await stage.keeper.flush();
  expect(allSeries()).toHaveLength(1);
  expect((await rebuilt(folder)).equals(wholeNow(folder))).toBe(true);
});

test('a file that somebody else wrote to between begins a new series', async () => {
  stage = await openStage(folder);
  await writeRow(stage.registry, 'a');
  await stage.keeper.flush();
  await stage.stop();
  const other = new Database(registryIn(folder));
  other.exec("UPDATE instances SET name = 'changed'");
  other.close();
  stage = await openStage(folder);
  await stage.keeper.flush();
  expect(allSeries()).toHaveLength(2);
  expect((await rebuilt(folder)).equals(wholeNow(folder))).toBe(true);
});

test('after a SIGKILL the store has what was acknowledged a little earlier, and after the next start all of it', async () => {
  const child = spawn(process.execPath, ['--no-warnings', VICTIM, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const acknowledged: { n: number; atMs: number }[] = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => acknowledged.push(JSON.parse(line)));
  await vi.waitFor(() => expect(segmentsIn(folder).filter(({ level }) => level === 0).length).toBeGreaterThan(3), SOON);
  child.kill('SIGKILL');
  await once(child, 'close');
  const killedMs = acknowledged.at(-1)?.atMs ?? 0;
  const rows = rowsIn(await rebuilt(folder));
  const oldestLost = acknowledged.find(({ n }) => !rows.has(`r-${n}`));
  // A second, and what a busy machine takes beside it.
  expect(killedMs - (oldestLost?.atMs ?? killedMs)).toBeLessThan(60_000);
  stage = await openStage(folder);
  await stage.keeper.flush();
  const whole = await rebuilt(folder);
  const after = rowsIn(whole);
  expect(acknowledged.filter(({ n }) => !after.has(`r-${n}`))).toEqual([]);
  expect(whole.equals(wholeNow(folder))).toBe(true);
});

test('forgetting empties the log and begins a series; what was before is nowhere in the replica', async () => {
  const marker = 'marker-of-the-forgotten';
  const holding = (at: string) =>
    readdirSync(at, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((path) => readFileSync(path).includes(marker));
  stage = await openStage(folder);
  const { registry, keeper } = stage;
  await writeRow(registry, 'a');
  await registry.facts.write('marker', marker, 1);
  await keeper.flush();
  expect(holding(join(folder, 'bucket'))).not.toEqual([]);
  await registry.facts.write('marker', 'nothing', 2);
  await registry.storage.compact();
  expect(await registry.storage.emptyLog()).toBe(true);
  expect(logBytes()).toBe(0);
  await keeper.rebase(() => false);
  await writeRow(registry, 'b');
  await keeper.flush();
  expect(allSeries()).toHaveLength(1);
  for (const at of ['bucket', 'data/replica']) expect(holding(join(folder, at))).toEqual([]);
  expect((await rebuilt(folder)).equals(wholeNow(folder))).toBe(true);
});

test('while the store is away and the spool is full the registry goes on, and its log too; then a base follows', async () => {
  stage = await openStage(folder, { spoolBytes: 16 * MIB });
  const { keeper } = stage;
  await writeRow(stage.registry, 'a');
  await keeper.flush();
  renameSync(join(folder, 'bucket'), join(folder, 'away'));
  writeFileSync(join(folder, 'bucket'), 'no folder');
  const logs = new Set<string>();
  const first = keeper.file?.point?.series.token;
  for (let n = 0; logs.size < 3 || keeper.file?.point?.series.token === first; n += 1) {
    await writeRows(10, `r-${n}`);
    logs.add(saltsOf());
  }
  rmSync(join(folder, 'bucket'));
  renameSync(join(folder, 'away'), join(folder, 'bucket'));
  await keeper.flush();
  expect((await rebuilt(folder)).equals(wholeNow(folder))).toBe(true);
  expect(allSeries().length).toBeGreaterThan(1);
});
