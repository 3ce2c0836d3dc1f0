/** What a worker that was taken over puts into its folder, against every verb. */
import {
  closeSync,
  type Dirent,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FallenWorkers, fallenWorkers } from '../../testing/fallen.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const SECRET = 'only beta may read this';
const MINUTE = 60_000;

let folder: string;
let outside: string;
let server: TestServer;
let fallen: FallenWorkers;
/** Texts that must not come back to anybody but their owner. */
let foreign: string[];

const call: TestServer['call'] = (...args) => server.call(...args);
const verb = (id: string, name: string, body: object = {}) => call('POST', `/api/instances/${id}/${name}`, body);

async function make(id: string, note = `of ${id}`): Promise<void> {
  expect((await call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  expect((await call('PUT', `/api/instances/${id}/volumes/workspace/note`, note)).status).toBe(201);
  expect((await verb(id, 'exec', { command: 'true' })).status).toBe(200);
}

async function start(): Promise<void> {
  server = await startServer({
    folder,
    settings: {
      WB_REGISTRY: join(folder, 'registry.sqlite'),
      WB_MAX_SANDBOX: String(64 * 1024 * 1024),
      WB_DRAIN_MS: '300',
      WB_LOG: 'silent',
    },
  });
  fallen = await fallenWorkers(folder);
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-fallen-'));
  outside = mkdtempSync(join(tmpdir(), 'winterdock-outside-'));
  mkdirSync(join(outside, 'kept'));
  writeFileSync(join(outside, 'kept', 'file'), 'kept');
  await start();
  await make('beta', SECRET);
  const keys = readdirSync(folder).filter((name) => name.endsWith('.key'));
  expect(keys.length).toBeGreaterThan(1);
  const shadow = readFileSync('/etc/shadow', 'utf8').split('\n')[0] ?? '';
  foreign = [SECRET, shadow, ...keys.map((name) => readFileSync(join(folder, name), 'utf8').trim())];
}, MINUTE);

afterAll(async () => {
  fallen.close();
  await server.stop();
  for (const path of [folder, outside]) rmSync(path, { recursive: true, force: true });
}, MINUTE);

/** Whether any of the bytes are somebody else's. */
const leaks = (bytes: Buffer) => foreign.filter((text) => text !== '' && bytes.includes(text));

/** A leak is at the start of a file: those of sandboxes here have some tens of kilobytes. */
const READ_BYTES = 4 * 1024 * 1024;

/** The start of every file that belongs to a sandbox now, wherever: neither links nor what lies behind them. */
function filesOf(id: string): Buffer[] {
  const below = (path: string, isOwn: boolean): Buffer[] =>
    entriesOf(path).flatMap((entry) => {
      const [at, own] = [join(path, entry.name), isOwn || entry.name.includes(id)];
      if (entry.isDirectory()) return below(at, own);
      return own && entry.isFile() ? [startOf(at)] : [];
    });
  return ['live', 'cold', 'archive', 'snapshots', 'orphans', 'expanded'].flatMap((place) =>
    below(join(folder, place), false),
  );
}

/** None of a folder that is being removed, or is closed to this user. */
function entriesOf(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function startOf(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  const bytes = Buffer.alloc(READ_BYTES);
  const read = readSync(descriptor, bytes, 0, READ_BYTES, 0);
  closeSync(descriptor);
  return bytes.subarray(0, read);
}

const link = (to: string) => `remove(); fs.symlinkSync(${JSON.stringify(to)}, 'vfs.sqlite');`;

const ATTACKS: Readonly<Record<string, () => string>> = {
  'a link to the file of another sandbox': () => link('../beta/vfs.sqlite'),
  'a link to the key of secrets': () => link('../../secrets.key'),
  'a link to the registry': () => link('../../registry.sqlite'),
  'a link to /etc/shadow': () => link('/etc/shadow'),
  'a link to itself': () => link('vfs.sqlite'),
  'a link in the place of the log': () =>
    `fs.rmSync('vfs.sqlite-wal', { force: true }); fs.symlinkSync('../beta/vfs.sqlite', 'vfs.sqlite-wal');`,
  'a hard link to the file of another sandbox, or nothing': () =>
    `remove(); try { fs.linkSync('../beta/vfs.sqlite', 'vfs.sqlite'); } catch {}`,
  'a file with a second name': () => `fs.linkSync('vfs.sqlite', 'second');`,
  'a pipe': () => `remove(); mkfifo('vfs.sqlite');`,
  'pipes in the place of the logs': () =>
    `['-wal', '-shm', '-journal'].forEach((suffix) => { fs.rmSync('vfs.sqlite' + suffix, { force: true }); mkfifo('vfs.sqlite' + suffix); });`,
  'a socket': () => `remove(); net.createServer().listen('vfs.sqlite', () => process.kill(process.pid, 'SIGKILL'));`,
  'a folder': () =>
    `remove(); fs.mkdirSync('vfs.sqlite/deep', { recursive: true }); fs.writeFileSync('vfs.sqlite/deep/file', '');`,
  'folders and links beside the file': () =>
    `fs.mkdirSync('a/b/c', { recursive: true }); fs.symlinkSync(${JSON.stringify(outside)}, 'a/out'); fs.symlinkSync('/', 'root'); fs.chmodSync('a/b', 0);`,
  'a sparse file of 20 GiB': () =>
    `remove(); fs.writeFileSync('vfs.sqlite', ''); fs.truncateSync('vfs.sqlite', 20 * 2 ** 30);`,
  'a deep tree': () => `let at = '.'; for (let n = 0; n < 1500; n += 1) { fs.mkdirSync('d'); process.chdir('d'); }`,
};

/** Asks for everything that is read of a sandbox; none of it is somebody else's. */
async function readAll(id: string): Promise<void> {
  for (const [method, path, body] of [
    ['GET', 'volumes/workspace/note'],
    ['GET', 'volumes'],
    ['GET', 'checkout'],
    ['GET', 'raw'],
    ['POST', 'query', { sql: 'SELECT * FROM vfs' }],
    ['POST', 'snapshots', {}],
    ['POST', 'ship', {}],
    ['GET', 'folders/workspace'],
  ] as const) {
    const got = await call(method, `/api/instances/${id}/${path}`, body);
    expect(leaks(got.bytes), `${method} ${path}`).toEqual([]);
    expect(got.status, `${method} ${path} ${got.text.slice(0, 200)}`).not.toBe(500);
  }
}

async function lastHealth(): Promise<void> {
  const asked = performance.now();
  expect((await call('GET', '/healthz')).status).toBe(200);
  expect(performance.now() - asked).toBeLessThan(5000);
}

const isRoot = process.getuid?.() === 0;

test.runIf(isRoot)(
  'a folder at rest belongs to the server: no worker changes a name in it',
  { timeout: MINUTE },
  async () => {
    await make('resting');
    expect(await fallen.run('resting', `fs.writeFileSync('mine', ''); console.log('made')`)).toBe('made\n');
    expect((await verb('resting', 'suspend')).status).toBe(200);
    for (const code of [`fs.writeFileSync('new', '')`, `fs.rmSync('vfs.sqlite')`, `fs.renameSync('vfs.sqlite', 'x')`])
      await expect(fallen.run('resting', code)).rejects.toThrow(/EACCES|EPERM/);
    expect(readdirSync(join(folder, 'live', 'resting'))).toEqual(['vfs.sqlite']);
    expect((await verb('resting', 'exec', { command: 'cat note' })).json).toMatchObject({ stdout: 'of resting' });
  },
);

test('folders that are swapped by links while they are removed lead nowhere', { timeout: 2 * MINUTE }, async () => {
  const at = `const out = ${JSON.stringify(outside)};
    const ways = Array.from({ length: 40 }, (_, n) => 'swap-' + n);
    for (const way of ways) { fs.mkdirSync(way + '/kept', { recursive: true }); fs.writeFileSync(way + '/kept/file', ''); }
    console.log('ready');
    for (;;) for (const way of ways) try {
      fs.renameSync(way, way + '-real'); fs.symlinkSync(out, way);
      fs.unlinkSync(way); fs.renameSync(way + '-real', way);
    } catch {}`;
  for (const [n, name] of ['archive', 'suspend', 'archive'].entries()) {
    const id = `swapped-${n}`;
    await make(id);
    const swapping = await fallen.begin(id, at);
    expect((await verb(id, name, { force: true })).status).not.toBe(500);
    if (name === 'archive') expect((await call('DELETE', `/api/instances/${id}`)).status).toBeLessThan(500);
    swapping.kill('SIGKILL');
  }
  expect(readFileSync(join(outside, 'kept', 'file'), 'utf8')).toBe('kept');
});

test('150 000 files hold up neither the filing nor anybody else, and are gone later', {
  timeout: 3 * MINUTE,
}, async () => {
  await make('many');
  // Quicker than the look at what is beside a file.
  await fallen.run(
    'many',
    `fs.mkdirSync('d'); process.chdir('d'); fs.writeFileSync('0', '');
    for (let n = 1; n < 150000; n += 1) try { fs.linkSync(String(n - (n % 60000)), String(n)); } catch { fs.writeFileSync(String(n), ''); }`,
  );
  let [longest, isOver] = [0, false];
  const asking = (async () => {
    while (!isOver) {
      const asked = performance.now();
      expect((await call('GET', '/healthz')).status).toBe(200);
      longest = Math.max(longest, performance.now() - asked);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  })();
  const filed = performance.now();
  await verb('many', 'suspend', { force: true });
  const tookMs = performance.now() - filed;
  const left = async () => {
    // The ladder tries again what could not be removed while a process went on making things in it.
    await server.host.sessions.tick();
    return readdirSync(join(folder, 'live', '.landing'));
  };
  await expect.poll(left, { timeout: 2 * MINUTE }).toEqual([]);
  isOver = true;
  await asking;
  process.stdout.write(`150 000 files: filed in ${tookMs.toFixed(0)} ms, /healthz at most ${longest.toFixed(0)} ms\n`);
  expect(tookMs).toBeLessThan(5000);
  expect(longest).toBeLessThan(1000);
  expect((await verb('many', 'exec', { command: 'cat note' })).json).toMatchObject({ stdout: 'of many' });
});

const LOG = 'a log without an end';
const AMOUNTS = {
  'a folder': `fs.mkdirSync('folder')`,
  'many files': `for (let n = 0; n < 100; n += 1) fs.writeFileSync('file-' + n, '')`,
  'large files': `fs.writeFileSync('large', Buffer.alloc(40 * 2 ** 20, 1))`,
  // Together with its file it is kept, and neither is opened.
  [LOG]: `const at = fs.openSync('vfs.sqlite-journal', 'w'); for (let n = 0; n < 540; n += 1) fs.writeSync(at, Buffer.alloc(2 ** 20, 1))`,
};
test.each(Object.entries(AMOUNTS))(
  'a sandbox that puts %s beside its file is ended and says why',
  { timeout: 2 * MINUTE },
  async (name, code) => {
    const id = `beside-${Object.keys(AMOUNTS).indexOf(name)}`;
    await make(id);
    await fallen.run(id, code);
    const row = async () =>
      (await call('GET', `/api/instances/${id}`)).json as unknown as {
        state: string;
        fault: string;
        fault_reason: string;
      };
    await expect
      .poll(row, { timeout: MINUTE })
      .toMatchObject({ state: 'suspended', fault: name === LOG ? 'missing' : 'error' });
    expect((await row()).fault_reason).toMatch(/beside its|more than a sandbox can have/);
    if (name === LOG) return;
    expect((await verb(id, 'exec', { command: 'cat note' })).json).toMatchObject({ stdout: `of ${id}` });
  },
);

test.runIf(isRoot)(
  'a sandbox that keeps files among those of spills is ended, and they are removed',
  { timeout: 2 * MINUTE },
  async () => {
    await make('spilling');
    await fallen.run('spilling', `for (let n = 0; n < 100; n += 1) fs.writeFileSync('../../spill/mine-' + n, '')`);
    const row = async () => (await call('GET', '/api/instances/spilling')).json;
    await expect.poll(row, { timeout: MINUTE }).toMatchObject({ state: 'suspended', fault: 'error' });
    await expect.poll(() => readdirSync(join(folder, 'spill')), { timeout: MINUTE }).toEqual([]);
  },
);

test.each(Object.entries(ATTACKS))(
  'what it leaves is followed by nobody, in any verb: %s',
  { timeout: 3 * MINUTE },
  async (name, attack) => {
    const at = Object.keys(ATTACKS).indexOf(name);
    const play = async ([first, ...further]: readonly string[]) => {
      const id = `alpha-${at}-${first}`;
      await make(id);
      await fallen.run(id, attack());
      await readAll(id);
      const answer =
        first === 'freeze'
          ? await call('POST', `/api/instances/${id}/plan`, { to: 'frozen', force: true })
          : await verb(id, first ?? '', { force: true });
      expect(leaks(answer.bytes)).toEqual([]);
      expect(answer.status, answer.text).not.toBe(500);
      await readAll(id);
      for (const next of further) {
        const woke = await verb(id, next, { force: true });
        expect(woke.status, woke.text).not.toBe(500);
        await readAll(id);
      }
      expect(filesOf(id).flatMap(leaks)).toEqual([]);
      await lastHealth();
    };
    await Promise.all([['suspend'], at % 4 === 0 ? ['freeze', 'resume'] : ['archive', 'resume']].map(play));
    expect(readdirSync(join(outside, 'kept'))).toEqual(['file']);
    expect((await call('GET', '/api/instances/beta/volumes/workspace/note')).text).toBe(SECRET);
  },
);
