/**
 * Plays a worker that was taken over by code outside any interpreter, behind each wall alone and behind all, and prints
 * what it could do, as JSON. A process of its own: it is run as root and as another user. Such code is not held by
 * Node's permissions, so those stand in the first column alone, in front of what Node itself can do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { WALLS, type Wall } from '../../../../base/walls.ts';
import { giveSandbox, type User } from '../user.ts';
import { buildWalls, type Walls } from '../walls.ts';

const ANOTHER_USER = 61_001;
const isRoot = process.getuid?.() === 0;
const folder = mkdtempSync(join(tmpdir(), 'winterdock-escape-'));
const cacheFolder = process.env.WB_CACHE ?? join(folder, 'cache');
const registry = join(folder, 'registry.sqlite');
const elsewhere = mkdtempSync(join(tmpdir(), 'winterdock-elsewhere-'));
const OTHER = 'other';
const ofOther = join(folder, 'live', OTHER, 'vfs.sqlite');
const ofAnother = join(elsewhere, 'of-another');
const listening = createServer((socket) => socket.end());
let port = 0;

type Tried = Pick<Walls, 'command' | 'user' | 'ownUser'>;

/** A process of the server's user, with a secret in its environment. */
function startVictim(): ChildProcess {
  return spawn('/bin/sleep', ['600'], { env: { NODE_ENV: 'test', SECRET: 'secret' }, stdio: 'ignore' });
}

/** A process of another sandbox: of its user. */
function startNeighbour(user: User | null): ChildProcess {
  const change = user === null ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'];
  const [file = '', ...args] = [...change, '/bin/sleep', '600'];
  return spawn(file, args, { env: { NODE_ENV: 'test', PATH: process.env.PATH }, stdio: 'ignore' });
}

/**
 * What it tries, as JavaScript that throws when it is held; `victim` is a process of the server's user, `neighbour` one
 * of another sandbox.
 */
function attemptsOn(victim: number, neighbour: number): Record<string, string> {
  return {
    'opens the registry with SQLite': `new sqlite.DatabaseSync(${JSON.stringify(registry)}).prepare('SELECT * FROM t').all()`,
    'writes a file elsewhere with SQLite': `new sqlite.DatabaseSync(${JSON.stringify(join(elsewhere, 'made.sqlite'))}).exec('CREATE TABLE IF NOT EXISTS t (a)')`,
    'reads a file of another user': `fs.readFileSync(${JSON.stringify(ofAnother)})`,
    'reads the file of another sandbox': `fs.readFileSync(${JSON.stringify(ofOther)})`,
    'connects to a server on 127.0.0.1': `await new Promise((resolve, reject) => net.connect(${port}, '127.0.0.1').once('connect', resolve).once('error', reject))`,
    'reads the environment of the server': `if (!fs.readFileSync('/proc/${victim}/environ', 'utf8').includes('secret')) throw new Error('nothing')`,
    'opens the memory of the server': `fs.closeSync(fs.openSync('/proc/${victim}/mem', 'r'))`,
    'opens the memory of another sandbox’s process': `fs.closeSync(fs.openSync('/proc/${neighbour}/mem', 'r'))`,
    'signals another sandbox’s process': `process.kill(${neighbour}, 'SIGTERM')`,
    'signals the server': `process.kill(${victim}, 'SIGTERM')`,
  };
}

/** What succeeded of the attempts, by name. */
async function tryAll(walls: Tried, flags: readonly string[]): Promise<Record<string, boolean>> {
  rmSync(join(elsewhere, 'made.sqlite'), { force: true });
  const victims = [startVictim(), startNeighbour(walls.ownUser?.(OTHER) ?? walls.user)];
  await Promise.all(victims.map((victim) => once(victim, 'spawn')));
  const [victim = 0, neighbour = 0] = victims.map(({ pid }) => pid);
  // Until then it is root's.
  while (!readFileSync(`/proc/${neighbour}/cmdline`, 'utf8').startsWith('/bin/sleep')) await pause(5);
  const attempts = attemptsOn(victim, neighbour);
  const own = walls.ownUser?.('taken-over');
  const tries = Object.entries(attempts).map(
    ([name, code]) =>
      `try { ${code}; done[${JSON.stringify(name)}] = true } catch { done[${JSON.stringify(name)}] = false }`,
  );
  const probe = `const [fs, net, sqlite] = ['fs', 'net', 'sqlite'].map((name) => process.getBuiltinModule('node:' + name));
    const done = {};
    ${own === undefined ? '' : `process.setuid(${own.uid});`}
    (async () => { ${tries.join('\n')}; console.log(JSON.stringify(done)); process.exit(0); })()`;
  const [file = '', ...args] = [...walls.command, process.execPath, '--no-warnings', ...flags, '-e', probe];
  const child = spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  for (const one of victims) one.kill('SIGKILL');
  return JSON.parse(output) as Record<string, boolean>;
}

/** The file of another sandbox, as the server makes it. */
function makeOther(): void {
  rmSync(dirname(ofOther), { recursive: true, force: true });
  mkdirSync(dirname(ofOther), { recursive: true });
  writeFileSync(ofOther, 'of another tenant');
}

async function behind(wanted: readonly Wall[]): Promise<Record<string, boolean> | null> {
  const walls = await buildWalls({ dataFolder: folder, cacheFolder, maxStartMs: 30_000, wanted });
  makeOther();
  giveSandbox({ id: OTHER, file: ofOther }, walls);
  try {
    return wanted.every((wall) => walls.states[wall]) ? await tryAll(walls, []) : null;
  } finally {
    walls.close();
  }
}

// As the server does.
process.umask(0o077);
listening.listen(0, '127.0.0.1');
await once(listening, 'listening');
port = (listening.address() as AddressInfo).port;
makeOther();
const made = new DatabaseSync(registry);
made.exec('CREATE TABLE t AS SELECT 1 AS one');
made.close();
writeFileSync(ofAnother, 'secret', { mode: 0o600 });
if (isRoot) chownSync(ofAnother, ANOTHER_USER, ANOTHER_USER);

const columns: Record<string, Record<string, boolean> | null> = {};
if (isRoot) {
  columns.permissions = await tryAll({ command: [], user: null, ownUser: null }, [
    '--permission',
    `--allow-fs-read=${join(folder, 'live')}`,
    '--allow-worker',
  ]);
  for (const wall of WALLS) columns[wall] = await behind([wall]);
}
columns.all = await behind(isRoot ? WALLS : WALLS.filter((wall) => wall !== 'uid'));
process.stdout.write(JSON.stringify(columns));
listening.close();
rmSync(folder, { recursive: true, force: true });
rmSync(elsewhere, { recursive: true, force: true });
