/**
 * Plays a worker that was taken over by code outside any interpreter, behind each wall alone and behind all, and prints
 * what it could do, as JSON. A process of its own: it is run as root and as another user. Such code is not held by
 * Node's permissions, so those stand in the first column alone, in front of what Node itself can do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { WALLS, type Wall } from '../../../base/walls.ts';
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
const inherited = join(elsewhere, 'inherited');
const listening = createServer((socket) => socket.end());
let port = 0;

/** Where the server has a file open that it has inherited itself, and that only root may read. */
const INHERITED = 200;
const SHARED_KEY = 0x77_69_6e_74;
/** Of this sandbox. */
const TAKEN_OVER = 'taken-over';
const ownFolder = join(folder, 'live', TAKEN_OVER);
/** By which what it has forked is found. */
const FORKED = String(600_000 + process.pid);
/** The name of an abstract socket, and by it the process that listens on it. */
const ABSTRACT = `winterdock-${process.pid}`;
const MAX_SANDBOX_BYTES = 1024 * 1024 * 1024;

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
    'reads a file that the server has inherited open': `fs.readSync(${INHERITED}, Buffer.alloc(8), 0, 8, 0)`,
  };
}

/** Numbers of system calls: socket, setuid, unshare, ptrace, prlimit64, setpriority. */
const NUMBERS = process.arch === 'arm64' ? [198, 146, 97, 117, 261, 140] : [41, 105, 272, 101, 302, 141];
const BY_A_PIPE = 'signals the server by a pipe of its own';

/**
 * The same with the help of the system, as Perl that is true when it was done; `signalled` is a process of the server's
 * user too.
 */
function nativeAttemptsOn(victim: number, signalled: number): Record<string, string> {
  const [socket, , unshare, ptrace, limit, priority] = NUMBERS;
  const mine = (name: string) => `'${join(ownFolder, name)}'`;
  return {
    // F_SETOWN, F_SETSIG to SIGTERM, and F_SETFL to O_ASYNC.
    [BY_A_PIPE]: `pipe(OWN, INTO) and fcntl(OWN, 8, ${signalled}) and fcntl(OWN, 10, 15) and fcntl(OWN, 4, 020000) and syswrite(INTO, 'x')`,
    'sets limits of the server’s process': `my $limits = pack('QQ', 64, 64); syscall(${limit}, ${victim}, 7, $limits, 0) == 0`,
    'lowers the priority of the server': `syscall(${priority}, 0, ${victim}, 19) == 0`,
    'traces the server': `syscall(${ptrace}, 16, ${victim}, 0, 0) == 0`,
    'reads memory that the server shares by a key': `my $id = shmget(${SHARED_KEY}, 8, 0); defined $id and shmread($id, my $text, 0, 8)`,
    'sends to a queue that the server shares by a key': `my $queue = msgget(${SHARED_KEY}, 0); defined $queue and msgsnd($queue, pack('l! a*', 1, 'x'), 04000)`,
    'connects to an abstract socket of another sandbox': `socket(TO, 1, 1, 0) and connect(TO, pack('Sa*', 1, "\\x00${ABSTRACT}"))`,
    'opens a socket to the machine’s host (vsock)': `syscall(${socket}, 40, 1, 0) >= 0`,
    'opens a socket to the kernel (netlink)': `syscall(${socket}, 16, 3, 0) >= 0`,
    'makes namespaces of its own': `syscall(${unshare}, 0x10000000) == 0`,
    'makes a link in its folder': `symlink('/etc/shadow', ${mine('link')})`,
    'makes a FIFO in its folder': `system('/usr/bin/mkfifo', ${mine('fifo')}) == 0`,
    'makes a file of 20 GiB': `open(FILE, '>', ${mine('sparse')}) and truncate(FILE, 20 * 2 ** 30)`,
    // Its end of the pipe closes when it has become what is looked for.
    'forks what outlives it': `pipe(BEGUN, HELD); my $forked = fork(); defined($forked) and ($forked or exec('/bin/sleep', '${FORKED}')) and close(HELD) and not(defined(scalar(<BEGUN>)))`,
  };
}

/** Listens on an abstract socket, as a worker of another sandbox that was taken over too. */
async function startListener({ command, ownUser }: Tried): Promise<ChildProcess> {
  const script = `${becoming(ownUser?.(OTHER).uid)} $| = 1; $SIG{XFSZ} = 'IGNORE';
    socket(AT, 1, 1, 0) && bind(AT, pack('Sa*', 1, "\\x00${ABSTRACT}")) && listen(AT, 1);
    print "1\\n"; sleep 600`;
  const [file = '', ...args] = [...command, '/usr/bin/perl', '-e', script];
  const listener = spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'inherit'] });
  await Promise.race([once(listener.stdout, 'data'), once(listener, 'exit')]);
  return listener;
}

const becoming = (uid: number | undefined) => (uid === undefined ? '' : `syscall(${NUMBERS[1]}, ${uid}) == 0 or die;`);

/** What succeeded of the attempts of native code. */
async function tryNative(walls: Tried, victim: number): Promise<Record<string, boolean>> {
  const listener = await startListener(walls);
  const signalled = startVictim();
  await once(signalled, 'spawn');
  const signalledPid = signalled.pid ?? 0;
  // What it is sent stays with it, to be seen.
  signalled.kill('SIGSTOP');
  const attempts = Object.entries(nativeAttemptsOn(victim, signalledPid));
  const script = `${becoming(walls.ownUser?.(TAKEN_OVER).uid)} $| = 1; $SIG{XFSZ} = 'IGNORE';
    ${attempts.map(([, code], at) => `print "${at} ", ((eval { ${code} }) ? 1 : 0), "\\n";`).join('\n')}`;
  const [file = '', ...args] = [...walls.command, '/usr/bin/perl', '-e', script];
  const child = spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  // What it has forked may hold its output.
  const closed = once(child, 'close');
  await once(child, 'exit');
  const outliving = processesWith(FORKED);
  for (const pid of outliving) process.kill(pid, 'SIGKILL');
  await closed;
  await end(listener);
  const hasTerm = isEnding(signalledPid);
  signalled.kill('SIGKILL');
  const done = new Map(output.split('\n').map((line) => [line.split(' ')[0], line.endsWith(' 1')]));
  const entries = attempts.map(([name], at): [string, boolean] => [name, done.get(String(at)) ?? false]);
  return { ...Object.fromEntries(entries), [BY_A_PIPE]: hasTerm, 'forks what outlives it': outliving.length > 0 };
}

/** Whether a process that was stopped has been sent SIGTERM: it waits for it, or took it before it stopped. */
function isEnding(pid: number): boolean {
  const path = `/proc/${pid}/status`;
  const [, state = 'Z', pending = '0'] = existsSync(path)
    ? (/^State:\s*(\w)[\s\S]*^ShdPnd:\s*([0-9a-f]+)$/m.exec(readFileSync(path, 'utf8')) ?? [])
    : [];
  return state === 'Z' || (BigInt(`0x${pending}`) & (1n << 14n)) !== 0n;
}

/** By its own id: a wrapper does not take along what has changed its user. */
async function end(child: ChildProcess): Promise<void> {
  const closed = child.exitCode === null && child.signalCode === null ? once(child, 'close') : null;
  for (const pid of processesWith(ABSTRACT)) process.kill(pid, 'SIGKILL');
  await closed;
}

function processesWith(text: string): number[] {
  const holds = (pid: number) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  };
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && pid !== process.pid && holds(pid));
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
  const own = walls.ownUser?.(TAKEN_OVER);
  const tries = Object.entries(attempts).map(
    ([name, code]) =>
      `try { ${code}; done[${JSON.stringify(name)}] = true } catch { done[${JSON.stringify(name)}] = false }`,
  );
  const probe = `const [fs, net, sqlite] = ['fs', 'net', 'sqlite'].map((name) => process.getBuiltinModule('node:' + name));
    const done = {};
    ${own === undefined ? '' : `process.setuid(${own.uid});`}
    (async () => { ${tries.join('\n')}; console.log(JSON.stringify(done)); process.exit(0); })()`;
  const native = await tryNative(walls, victim);
  const opens = ['/bin/bash', '-c', `exec ${INHERITED}<"$0"; exec "$@"`, inherited];
  const [file = '', ...args] = [...opens, ...walls.command, process.execPath, '--no-warnings', ...flags, '-e', probe];
  const child = spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await once(child, 'close');
  for (const one of victims) one.kill('SIGKILL');
  return { ...(JSON.parse(output) as Record<string, boolean>), ...native };
}

/** The file of another sandbox, as the server makes it. */
function makeOther(): void {
  rmSync(dirname(ofOther), { recursive: true, force: true });
  mkdirSync(dirname(ofOther), { recursive: true });
  writeFileSync(ofOther, 'of another tenant');
}

/** The folder of this one, with its file. */
function makeOwn(): void {
  rmSync(ownFolder, { recursive: true, force: true });
  mkdirSync(ownFolder, { recursive: true });
  writeFileSync(join(ownFolder, 'vfs.sqlite'), '');
}

async function behind(wanted: readonly Wall[]): Promise<Record<string, boolean> | null> {
  const limits = { maxStartMs: 30_000, maxSandboxBytes: MAX_SANDBOX_BYTES };
  const walls = await buildWalls({ dataFolder: folder, cacheFolder, ...limits, wanted });
  makeOther();
  makeOwn();
  giveSandbox({ id: OTHER, file: ofOther }, walls);
  giveSandbox({ id: TAKEN_OVER, file: join(ownFolder, 'vfs.sqlite') }, walls);
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
makeOwn();
writeFileSync(inherited, 'of the server', { mode: 0o600 });
const sharer = spawn(
  '/usr/bin/perl',
  [
    '-e',
    `defined(my $id = shmget(${SHARED_KEY}, 8, 01666)) or die; defined(my $queue = msgget(${SHARED_KEY}, 01666)) or die;
     $SIG{TERM} = sub { shmctl($id, 0, 0); msgctl($queue, 0, 0); exit }; print 1; close STDOUT; sleep 600`,
  ],
  { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'inherit'] },
);
await once(sharer.stdout, 'data');
const made = new DatabaseSync(registry);
made.exec('CREATE TABLE t AS SELECT 1 AS one');
made.close();
writeFileSync(ofAnother, 'secret', { mode: 0o600 });
if (isRoot) chownSync(ofAnother, ANOTHER_USER, ANOTHER_USER);

const columns: Record<string, Record<string, boolean> | null> = {};
columns.permissions = await tryAll({ command: [], user: null, ownUser: null }, [
  '--permission',
  `--allow-fs-read=${join(folder, 'live')}`,
  '--allow-worker',
]);
// Only root can give its workers other users.
const givable = WALLS.filter((wall) => isRoot || wall !== 'uid');
for (const wall of givable) columns[wall] = await behind([wall]);
columns.all = await behind(givable);
process.stdout.write(JSON.stringify(columns));
listening.close();
sharer.kill('SIGTERM');
rmSync(folder, { recursive: true, force: true });
rmSync(elsewhere, { recursive: true, force: true });
