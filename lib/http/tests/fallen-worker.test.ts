/** What a worker that was taken over puts into its folder, against every verb. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  type Dirent,
  lstatSync,
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
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { settingsOfTests } from '../../registry/testing/registry-of-tests.ts';
import { partOf } from '../../testing/draw.ts';
import { type FallenWorkers, fallenWorkers } from '../../testing/fallen.ts';
import { type ServerProcess, spawnServer } from '../../testing/process.ts';
import { programOf } from '../../testing/program.ts';

const SECRET = 'only beta may read this';
const MINUTE = 60_000;
const IS_ROOT = process.getuid?.() === 0;
const PLAIN = 61_000;
const PLAIN_USER = ['setpriv', `--reuid=${PLAIN}`, `--regid=${PLAIN}`, '--clear-groups'];

const script = (name: string) => programOf(fileURLToPath(new URL(`../../../scripts/${name}.ts`, import.meta.url)));

let parent: string;
let folder: string;
let outside: string;
let within: readonly string[];
let settings: Record<string, string>;
let server: ServerProcess;
let fallen: FallenWorkers;
/** Texts that must not come back to anybody but their owner. */
let foreign: string[];

const call: ServerProcess['call'] = (...args) => server.call(...args);
const verb = (id: string, name: string, body: object = {}) => call('POST', `/api/instances/${id}/${name}`, body);

async function make(id: string, note = `of ${id}`): Promise<void> {
  expect((await call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
  expect((await call('PUT', `/api/instances/${id}/volumes/workspace/note`, note)).status).toBe(201);
  expect((await verb(id, 'exec', { command: 'true' })).status).toBe(200);
}

/** A server in folders of its user, and another sandbox whose bytes and keys nobody may see. */
async function start(asPlainUser: boolean): Promise<void> {
  parent = mkdtempSync(join(tmpdir(), 'winterdock-fallen-'));
  chmodSync(parent, 0o755);
  [folder, outside] = [join(parent, 'data'), join(parent, 'outside')];
  within = asPlainUser ? PLAIN_USER : [];
  settings = { WB_CACHE: join(parent, 'cache'), WB_MAX_SANDBOX: String(64 * 1024 * 1024), WB_DRAIN_MS: '300' };
  mkdirSync(join(outside, 'kept'), { recursive: true });
  writeFileSync(join(outside, 'kept', 'file'), 'kept');
  for (const path of [folder, settings.WB_CACHE ?? '', outside, join(outside, 'kept'), join(outside, 'kept', 'file')]) {
    mkdirSync(path.endsWith('file') ? outside : path, { recursive: true });
    if (asPlainUser) chownSync(path, PLAIN, PLAIN);
  }
  server = await spawnServer({ folder, settings, within });
  fallen = await fallenWorkers(folder, settings.WB_CACHE ?? '', within);
  for (const id of ['beta', 'gamma']) {
    await make(id, SECRET);
    // What it has is in its file, and not in its log alone.
    expect((await verb(id, 'suspend')).status).toBe(200);
    expect((await verb(id, 'exec', { command: 'true' })).status).toBe(200);
  }
  const keys = readdirSync(folder).filter((name) => name.endsWith('.key'));
  expect(keys.length).toBeGreaterThan(1);
  const shadow = IS_ROOT ? (readFileSync('/etc/shadow', 'utf8').split('\n')[0] ?? '') : '';
  foreign = [SECRET, shadow, ...keys.map((name) => readFileSync(join(folder, name), 'utf8').trim())];
}

async function stop(): Promise<void> {
  await fallen.close();
  await server.end();
  rmSync(parent, { recursive: true, force: true });
}

/** Which of them are in the bytes. */
const leaks = (bytes: Buffer) => foreign.filter((text) => text !== '' && bytes.includes(text));

/** Where workers have one user among them, such code reads the files of other sandboxes itself, without a link. */
const known = (user: string, attack: string) => (user !== 'as root' && attack === HARD_LINK ? [SECRET] : []);

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

/** The server may end the sandbox, and take its folder, in the middle. */
const unlessEnded = (code: string) =>
  `try { ${code} } catch (error) { if (!/^(ENOENT|EACCES|EPERM)$/.test(error.code)) throw error; }`;

const link = (to: string) => `remove(); fs.symlinkSync(${JSON.stringify(to)}, 'vfs.sqlite');`;

const HARD_LINK = 'a hard link to the file of another sandbox, or nothing';
const ATTACKS: Readonly<Record<string, (id: string) => string>> = {
  'a link to the file of another sandbox': () => link('../beta/vfs.sqlite'),
  'a link to the key of secrets': () => link('../../secrets.key'),
  'a link to the registry': () => link('../../registry.sqlite'),
  'a link to /etc/shadow': () => link('/etc/shadow'),
  'a link to itself': () => link('vfs.sqlite'),
  'a link in the place of the log': () =>
    `fs.rmSync('vfs.sqlite-wal', { force: true }); fs.symlinkSync('../beta/vfs.sqlite', 'vfs.sqlite-wal');`,
  [HARD_LINK]: () => `remove(); try { fs.linkSync('../gamma/vfs.sqlite', 'vfs.sqlite'); } catch {}`,
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

const others = (found: readonly string[], allowed: readonly string[]) =>
  found.filter((text) => !allowed.includes(text));

/** Asks for everything that is read of a sandbox; none of it is somebody else's. */
async function readAll(id: string, allowed: readonly string[] = []): Promise<void> {
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
    expect(others(leaks(got.bytes), allowed), `${method} ${path}`).toEqual([]);
    expect(got.status, `${method} ${path} ${got.text.slice(0, 200)}`).not.toBe(500);
  }
}

async function lastHealth(): Promise<void> {
  expect((await call('GET', '/healthz')).status).toBe(200);
}

const LOG = 'a log without an end';
const AMOUNTS = {
  'a folder': `fs.mkdirSync('folder')`,
  'many files': `for (let n = 0; n < 100; n += 1) fs.writeFileSync('file-' + n, '')`,
  'large files': `fs.writeFileSync('large', Buffer.alloc(40 * 2 ** 20, 1))`,
  // Together with its file it is kept, and neither is opened.
  [LOG]: `const at = fs.openSync('vfs.sqlite-journal', 'w'); for (let n = 0; n < 540; n += 1) fs.writeSync(at, Buffer.alloc(2 ** 20, 1))`,
};
/** A round is played as one of them. */
const USERS = IS_ROOT ? partOf(['as root', 'not as root'], 2) : ['not as root'];

describe.each(USERS)('%s', (user) => {
  beforeAll(() => start(IS_ROOT && user !== 'as root'));
  afterAll(stop);

  test.runIf(user === 'as root')('a folder at rest belongs to the server: no worker changes a name in it', async () => {
    await make('resting');
    expect(await fallen.run('resting', `fs.writeFileSync('mine', ''); console.log('made')`)).toBe('made\n');
    expect((await verb('resting', 'suspend')).status).toBe(200);
    for (const code of [`fs.writeFileSync('new', '')`, `fs.rmSync('vfs.sqlite')`, `fs.renameSync('vfs.sqlite', 'x')`])
      await expect(fallen.run('resting', code)).rejects.toThrow(/EACCES|EPERM/);
    expect(readdirSync(join(folder, 'live', 'resting'))).toEqual(['vfs.sqlite']);
    expect((await verb('resting', 'exec', { command: 'cat note' })).json).toMatchObject({ stdout: 'of resting' });
  });

  test('folders that are swapped by links while they are removed lead nowhere', async () => {
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
      process.kill(swapping, 'SIGKILL');
    }
    expect(readFileSync(join(outside, 'kept', 'file'), 'utf8')).toBe('kept');
  });

  test('150 000 files hold up neither the filing nor anybody else, and are gone later', async () => {
    await make('many');
    // Quicker than the look at what is beside a file.
    await fallen.run(
      'many',
      unlessEnded(`fs.mkdirSync('d'); process.chdir('d'); fs.writeFileSync('0', '');
      for (let n = 1; n < 150000; n += 1) try { fs.linkSync(String(n - (n % 60000)), String(n)); } catch { fs.writeFileSync(String(n), ''); }`),
    );
    const left = () => readdirSync(join(folder, 'live', '.landing'));
    await verb('many', 'suspend', { force: true });
    expect(left()).not.toEqual([]);
    // Removed in one piece they would leave time for one answer.
    let answers = 0;
    for (const until = performance.now() + 2 * MINUTE; left().length > 0 && performance.now() < until; answers += 1) {
      expect((await call('GET', '/healthz')).status).toBe(200);
    }
    process.stdout.write(`150 000 files: /healthz answered ${answers} times while they were removed\n`);
    expect(left()).toEqual([]);
    expect(answers).toBeGreaterThan(10);
    expect((await verb('many', 'exec', { command: 'cat note' })).json).toMatchObject({ stdout: 'of many' });
  });

  test.each(Object.entries(AMOUNTS))(
    'a sandbox that puts %s beside its file is ended and says why',
    async (name, code) => {
      const id = `beside-${Object.keys(AMOUNTS).indexOf(name)}`;
      await make(id);
      await fallen.run(id, unlessEnded(code));
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

  test.runIf(user === 'as root')(
    'a sandbox that keeps files among those of spills is ended, and they are removed',
    async () => {
      await make('spilling');
      await fallen.run(
        'spilling',
        unlessEnded(`for (let n = 0; n < 100; n += 1) fs.writeFileSync('../../spill/mine-' + n, '')`),
      );
      const row = async () => (await call('GET', '/api/instances/spilling')).json;
      await expect.poll(row, { timeout: MINUTE }).toMatchObject({ state: 'suspended', fault: 'error' });
      await expect.poll(() => readdirSync(join(folder, 'spill')), { timeout: MINUTE }).toEqual([]);
    },
  );

  test.each(Object.entries(ATTACKS))('what it leaves is followed by nobody, in any verb: %s', async (name, attack) => {
    const at = Object.keys(ATTACKS).indexOf(name);
    const allowed = known(user, name);
    const play = async ([first, ...further]: readonly string[]) => {
      const id = `alpha-${at}-${first}`;
      await make(id);
      await fallen.run(id, unlessEnded(attack(id)));
      await readAll(id, allowed);
      const answer =
        first === 'freeze'
          ? await call('POST', `/api/instances/${id}/plan`, { to: 'frozen', force: true })
          : await verb(id, first ?? '', { force: true });
      expect(others(leaks(answer.bytes), allowed)).toEqual([]);
      expect(answer.status, answer.text).not.toBe(500);
      await readAll(id, allowed);
      for (const next of further) {
        const woke = await verb(id, next, { force: true });
        expect(woke.status, woke.text).not.toBe(500);
        await readAll(id, allowed);
      }
      expect(others(filesOf(id).flatMap(leaks), allowed)).toEqual([]);
      await lastHealth();
    };
    await Promise.all([['suspend'], at % 4 === 0 ? ['freeze', 'resume'] : ['archive', 'resume']].map(play));
    expect(readdirSync(join(outside, 'kept'))).toEqual(['file']);
    expect((await call('GET', '/api/instances/beta/volumes/workspace/note')).text).toBe(SECRET);
  });

  test('a backup, a doctor and the next start after a kill follow nothing of all that', async () => {
    for (const [at, attack] of Object.values(ATTACKS).entries()) {
      await make(`left-${at}`);
      await fallen.run(`left-${at}`, unlessEnded(attack(`left-${at}`)));
    }
    const run = (name: string, ...args: string[]) => {
      const [file = '', ...before] = [...within, process.execPath];
      return spawnSync(file, [...before, script(name), ...args], {
        env: { ...process.env, ...settingsOfTests(folder), ...settings, WB_DATA: folder, TMPDIR: outside },
        encoding: 'utf8',
        timeout: 2 * MINUTE,
      });
    };
    const look = (name: string) => {
      const store = join(outside, name);
      const backup = run('backup', '--json', store);
      // Made, with files that are not sound.
      expect([0, 2], backup.stdout + backup.stderr).toContain(backup.status);
      const names = readdirSync(store, { recursive: true, encoding: 'utf8' });
      const objects = names.map((path) => join(store, path)).filter((path) => lstatSync(path).isFile());
      const sizes = objects.map((path) => lstatSync(path).size);
      expect(Math.max(...sizes)).toBeLessThan(100 * 2 ** 20);
      const bytes = objects.map(startOf);
      // Those of their owners alone.
      expect(new Set(bytes.flatMap(leaks))).toEqual(new Set([SECRET]));
      if (user === 'as root') expect(bytes.flatMap(leaks)).toEqual([SECRET, SECRET]);
      const doctor = run('doctor', '--json', '--full');
      expect([0, 1], doctor.stdout + doctor.stderr).toContain(doctor.status);
      expect(leaks(Buffer.from(doctor.stdout + doctor.stderr))).toEqual([]);
    };
    look('beside-the-server');
    await server.end('SIGKILL');
    look('beside-none');
    server = await spawnServer({ folder, settings, within });
    for (const [at, name] of Object.keys(ATTACKS).entries()) {
      const id = `left-${at}`;
      await readAll(id, known(user, name));
      expect(others(filesOf(id).flatMap(leaks), known(user, name))).toEqual([]);
    }
    expect(readdirSync(join(outside, 'kept'))).toEqual(['file']);
    expect((await call('GET', '/api/instances/beta/volumes/workspace/note')).text).toBe(SECRET);
  });
});

test('the threat model has what was played, and what came of it', () => {
  const head = ['left in its folder', 'as root', 'not as root'];
  const found = Object.keys(ATTACKS).map((name) => [
    name,
    ...head.slice(1).map((user) => (known(user, name).length === 0 ? 'held' : 'done')),
  ]);
  process.stdout.write(`${[head, ...found].map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
  const model = readFileSync(fileURLToPath(new URL('../../../docs/threat-model.md', import.meta.url)), 'utf8');
  const table = model.split('\n\n').find((block) => block.startsWith(`| ${head[0]} |`)) ?? '';
  const rows = table.split('\n').map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  expect([rows[0], ...rows.slice(2)]).toEqual([head, ...found]);
});
