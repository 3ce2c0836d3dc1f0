/**
 * The drill of the replica: a server under load is killed, its data folder removed, and everything is restored from the
 * replica by one command. Says what of the answered writes is there again, and how far behind the replica was.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text as allOf } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type ServerProcess, spawnServer } from './process.ts';
import { programOf } from './program.ts';

const script = (name: string) => programOf(fileURLToPath(new URL(`../../scripts/${name}.ts`, import.meta.url)));
/** Tries to remove a folder in which the last processes of the server are still ending. */
const MOST_TRIES = 50;
/** How often the server is asked how far behind its replica is. */
const ASKING_MS = 100;

export interface DrillOptions {
  /** Absolute, empty; what is made stays there. */
  folder: string;
  /** Of the store of the replica. Default: in `folder`. */
  url?: string;
  seconds: number;
  /** Clients, each with a sandbox of its own that it writes to as fast as it is answered. */
  clients: number;
  settings?: Record<string, string>;
  /** Once the server is killed. */
  killed?: () => void;
  /** Makes more, before the clients begin. */
  populate?: (server: ServerProcess) => Promise<void>;
  /** Looks at the restored server. */
  prove?: (server: ServerProcess) => Promise<void>;
}

export interface DrillReport {
  /** Writes that were answered. */
  answered: number;
  /** Of these, written after the moment that was restored. */
  lost: number;
  /** Age in milliseconds, when the server was killed, of the oldest answered write that was lost; 0: none was. */
  lagMs: number;
  /** The lag that the server had told last, with the age of that when it was killed, in milliseconds. */
  statedMs: number;
  restoreMs: number;
  /** What `doctor` said, and whether it was content. */
  doctor: { isClean: boolean; text: string };
  restored: string;
  /** Sandboxes that did not come back, or with another file than was ever written. */
  wrong: string[];
}

interface Stated {
  replication: { lag: { max_s: number } } | null;
}

interface Written {
  id: string;
  /** When the nth write was answered, in milliseconds of `performance.now()`; the first is 1. */
  answeredAt: number[];
}

/** Runs the drill. Throws when a server or the restore does not start. */
export async function drillReplica(options: DrillOptions): Promise<DrillReport> {
  const data = join(options.folder, 'data');
  const url = options.url ?? pathToFileURL(join(options.folder, 'replica')).href;
  mkdirSync(options.folder, { recursive: true });
  const settings = { WB_REPLICA_URL: url, WB_REPLICATE: '1s', ...options.settings };
  const server = await spawnServer({ folder: data, settings });
  const all: Written[] = Array.from({ length: options.clients }, (_, at) => ({ id: `drill-${at}`, answeredAt: [] }));
  await options.populate?.(server);
  for (const { id } of all) await made(server.call('POST', '/api/instances', { id, tenant: 'drill' }));
  let isOver = false;
  const clients = all.map(async ({ id, answeredAt }) => {
    while (!isOver) {
      const n = answeredAt.length + 1;
      const answer = await server.call('PUT', `/api/instances/${id}/volumes/workspace/n`, String(n)).catch(() => null);
      if (answer !== null && answer.status < 300) answeredAt.push(performance.now());
    }
  });
  let stated = { askedAt: performance.now(), behindMs: 0 };
  const asking = (async () => {
    while (!isOver) {
      const askedAt = performance.now();
      const answer = await server.call<Stated>('GET', '/api/settings/storage').catch(() => null);
      const most = answer?.status === 200 ? (answer.json.replication?.lag.max_s ?? 0) : null;
      if (most !== null) stated = { askedAt, behindMs: most * 1000 };
      await pause(ASKING_MS);
    }
  })();
  await pause(options.seconds * 1000);
  const killedAt = performance.now();
  await server.end('SIGKILL');
  isOver = true;
  options.killed?.();
  await Promise.all([...clients, asking]);
  const statedMs = killedAt - stated.askedAt + stated.behindMs;
  await removed(data);

  // What stands before the store may be in this process: it is not to wait.
  const command = (name: string, args: string[]) =>
    ended(
      spawn(process.execPath, [script(name), ...args], {
        env: { ...process.env, ...settings, WB_DATA: data, INIT_CWD: options.folder },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
  const began = performance.now();
  const restore = await command('restore', ['--from', url]);
  const restoreMs = performance.now() - began;
  if (restore.status !== 0) throw new Error(`The restore failed: ${restore.stdout}${restore.stderr}`);
  const doctor = await command('doctor', []);
  const again = await spawnServer({ folder: data, settings });
  const wrong: string[] = [];
  let [lost, lagMs, answered] = [0, 0, 0];
  for (const { id, answeredAt } of all) {
    answered += answeredAt.length;
    const { status, text } = await again.call('GET', `/api/instances/${id}/volumes/workspace/n`);
    // One that was sent and not answered may be there too.
    const isEmpty = status === 404 && JSON.parse(text).code === 'not_found';
    const isKnown = isEmpty || (status === 200 && Number(text) >= 1 && Number(text) <= answeredAt.length + 1);
    if (!isKnown) wrong.push(`${id}: ${status} ${text.slice(0, 100)}, and ${answeredAt.length} were answered`);
    const held = isKnown && !isEmpty ? Number(text) : 0;
    const oldest = answeredAt[held];
    if (oldest === undefined) continue;
    lost += answeredAt.length - held;
    lagMs = Math.max(lagMs, killedAt - oldest);
  }
  await options.prove?.(again);
  await again.end();
  return {
    ...{ answered, lost, lagMs, statedMs, restoreMs, wrong, restored: restore.stdout },
    doctor: { isClean: doctor.status === 0, text: doctor.stdout + doctor.stderr },
  };
}

/** What a command said, and its exit code, once it has ended. */
async function ended(child: ChildProcessByStdio<null, Readable, Readable>) {
  const closed = once(child, 'close');
  const [stdout, stderr, [status]] = await Promise.all([allOf(child.stdout), allOf(child.stderr), closed]);
  return { status: status as number | null, stdout, stderr };
}

async function made(answer: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(`${status}: ${text}`);
}

async function removed(folder: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch (error) {
      if (tries === MOST_TRIES) throw error;
      await pause(20);
    }
  }
}
