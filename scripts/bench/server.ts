/** What is measured, as processes: the real server on a throwaway data folder, the floor beside it, and AgentFS. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawnServer } from '../../lib/testing/process.ts';
import { TEST_KEY } from '../../lib/testing/server.ts';
import { ROOT } from '../build.ts';
import { endsWithUs, WITHIN_US } from './lifetime.ts';

export const KEY = TEST_KEY;

/** The floor's name in every table. */
export const FLOOR = 'bare Node HTTP + one fsync';

/** A server that runs, of any make. */
export interface Running {
  url: string;
  pid: number;
  /** Where it keeps its files. */
  folder: string;
  /** `keep` leaves the folder for another start. `killed`: it gets no time to end by itself. */
  stop(options?: { keep?: boolean; killed?: boolean }): Promise<void>;
}

/**
 * Settings with which a key asks as often as it likes. Its requests are counted all the same: that is part of the cost.
 */
export const UNLIMITED = { WB_RATE_KEY: '10000000', WB_RATE_ADDRESS: '10000000' };

/** Waits for all that start. When one does not, the others are stopped before this throws. */
export async function startAll<const T extends readonly Promise<Running>[]>(
  starting: T,
): Promise<{ -readonly [K in keyof T]: Running }> {
  const settled = await Promise.allSettled(starting);
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed === undefined) return (await Promise.all(starting)) as { -readonly [K in keyof T]: Running };
  await Promise.all(settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value.stop()] : [])));
  throw failed.reason;
}

/**
 * The real server, without its console unless `args` are given, on a new data folder unless one is. The folder goes
 * when it stops.
 */
export async function startWinterdock(
  settings: Record<string, string> = {},
  folder = mkdtempSync(join(tmpdir(), 'winterdock-bench-')),
  args?: string[],
): Promise<Running> {
  const server = await spawnServer({
    folder,
    within: WITHIN_US,
    began: endsWithUs,
    ...(args === undefined ? {} : { args }),
    settings: { WB_POOL: '2', WB_LOG: 'error', NODE_ENV: 'production', ...settings },
  });
  return {
    url: server.url,
    pid: server.child.pid ?? 0,
    folder,
    async stop({ keep = false, killed = false } = {}) {
      await server.end(killed ? 'SIGKILL' : 'SIGTERM');
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts a Node script that prints `ready URL`. It is given a path in a folder of its own, which goes when it stops.
 */
async function startScript(script: string): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-bare-'));
  const [command = '', ...args] = [
    ...WITHIN_US,
    process.execPath,
    join(ROOT, 'scripts', 'bench', script),
    join(folder, 'file'),
  ];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  endsWithUs(child);
  const exited = once(child, 'exit');
  const [text] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exited.then(([code]) => {
      throw new Error(`${script} ended before it was ready: ${code}`);
    }),
  ])) as [string];
  return {
    url: text.replace('ready ', ''),
    pid: child.pid ?? 0,
    folder,
    async stop() {
      child.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The floor: a bare Node HTTP server that reads the body, appends 4 kB to a file, fsyncs it and answers. */
export const startBare = () => startScript('bare.ts');

/** Plain files of a folder behind a bare Node HTTP server, each write synced. */
export const startPlainFiles = () => startScript('plain-files-server.ts');

/** AgentFS behind a bare Node HTTP server. */
export const startAgentFs = () => startScript('agentfs-server.ts');
