/**
 * For tests: plays workers that were taken over, for fallen.ts. A process of its own, so that it can be of any user.
 * Takes a data folder that a server uses and a folder of caches; reads lines of JSON, each with code to run in the
 * place of a sandbox's worker, and prints one for each that ends or that says that it has begun.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { buildWalls } from '../workers/walls/walls.ts';
import type { Played, ToPlay } from './fallen.ts';

const [dataFolder = '', cacheFolder = ''] = process.argv.slice(2);

/** What the code of a fallen worker may use. */
const PROLOGUE = `const [fs, net, child] = ['fs', 'net', 'child_process'].map((name) => process.getBuiltinModule('node:' + name));
const remove = () => ['', '-wal', '-shm', '-journal'].forEach((suffix) => fs.rmSync('vfs.sqlite' + suffix, { recursive: true, force: true }));
const mkfifo = (name) => child.execFileSync('/usr/bin/mkfifo', [name]);`;

// Those that keep code from starting programs would keep it from making pipes: what is tried here is the folder.
const wanted = ['net', 'uid', 'caps', 'files'] as const;
const walls = await buildWalls({ dataFolder, cacheFolder, maxStartMs: 60_000, wanted });

function start({ id, code }: ToPlay): ChildProcess {
  const user = walls.ownUser?.(id);
  const script = `${user === undefined ? '' : `process.setuid(${user.uid});`}
    process.chdir(${JSON.stringify(join(dataFolder, 'live', id))}); ${PROLOGUE}\n${code}`;
  const [file = '', ...args] = [...walls.command, process.execPath, '--no-warnings', '-e', script];
  return spawn(file, args, { env: { NODE_ENV: 'test' }, stdio: ['ignore', 'pipe', 'pipe'] });
}

async function play(wanted: ToPlay): Promise<void> {
  const { stdout, stderr, pid = 0 } = start(wanted);
  if (stdout === null || stderr === null) return;
  if (wanted.begins) stdout.once('data', () => say({ number: wanted.number, pid, output: '', complaint: '' }));
  const [output, complaint] = await Promise.all([text(stdout), text(stderr)]);
  if (!wanted.begins || output === '') say({ number: wanted.number, pid, output, complaint });
}

const say = (played: Played) => process.stdout.write(`${JSON.stringify(played)}\n`);

createInterface({ input: process.stdin }).on('line', (line) => void play(JSON.parse(line) as ToPlay));
say({ number: 0, pid: process.pid, output: '', complaint: '' });
process.stdin.once('end', () => {
  walls.close();
  process.exit();
});
