/** What the kernel tells of processes: memory, processor time, and which are a server's workers. Linux alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const MB_PER_KIB = 1.024e-3;
const NS_PER_MS = 1e6;

/** Proportional set size in MB (10^6 bytes): its own memory, and its share of what it shares. */
export function pssOf(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]) * MB_PER_KIB;
}

/** Milliseconds on a processor so far, of all threads that there are. */
export function cpuOf(pid: number): number {
  return readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / NS_PER_MS)
    .reduce((total, each) => total + each, 0);
}

/** Processes of workers that a server has started, spare ones too. */
export function workersOf(server: number): number[] {
  return readFileSync(`/proc/${server}/task/${server}/children`, 'utf8')
    .split(' ')
    .filter((pid) => pid !== '' && /\/worker\.(?:ts|cjs)\0/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8')))
    .map(Number);
}

/** The floor of a process: a Node child that says it is ready and waits for messages. */
export async function startBareChild(): Promise<ChildProcess & { pid: number }> {
  const script = "process.on('message', () => {}); process.send('ready');";
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child as ChildProcess & { pid: number };
}

/** Kills a child and waits for its end. */
export async function killChild(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}
