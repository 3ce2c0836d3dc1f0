/** What the kernel tells of processes: memory, processor time, and which are a server's workers. Linux alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';

const MB_PER_KIB = 1.024e-3;
const NS_PER_MS = 1e6;
/** Linux counts the time of ended processes in hundredths of a second. */
const MS_PER_TICK = 10;

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

/** Milliseconds on a processor so far, of a process and of all that descend from it, ended ones too. */
export function cpuOfTree(pid: number): number {
  const stats = new Map<number, { parent: number; ms: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      // The name of the program, in brackets, may hold anything.
      const fields = stat
        .slice(stat.lastIndexOf(')') + 2)
        .split(' ')
        .map(Number);
      const ticks = fields.slice(11, 15).reduce((sum, each) => sum + each, 0);
      stats.set(Number(name), { parent: fields[1] ?? 0, ms: ticks * MS_PER_TICK });
    } catch {
      // It ended meanwhile: its parent has its time.
    }
  }
  const isOfTree = (one: number): boolean => one === pid || (one > 1 && isOfTree(stats.get(one)?.parent ?? 0));
  return [...stats].reduce((sum, [one, { ms }]) => (isOfTree(one) ? sum + ms : sum), 0);
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
