/**
 * What is measured: the real server on a throwaway data folder, and a bare Node HTTP server that fsyncs once per
 * request.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { spawnServer } from '../../lib/testing/process.ts';
import { TEST_KEY } from '../../lib/testing/server.ts';
import { ROOT } from '../build.ts';

export const KEY = TEST_KEY;

export interface Running {
  url: string;
  pid: number;
  /** Where it keeps its files. */
  folder: string;
  /** `keep` leaves the folder for another start. */
  stop(options?: { keep?: boolean }): Promise<void>;
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
    ...(args === undefined ? {} : { args }),
    settings: { WB_POOL: '2', WB_LOG: 'error', NODE_ENV: 'production', ...settings },
  });
  return {
    url: server.url,
    pid: server.child.pid ?? 0,
    folder,
    async stop({ keep = false } = {}) {
      await server.end();
      if (!keep) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A bare Node HTTP server that reads the body, appends 4 kB to a file, fsyncs it and answers. */
export async function startBare(): Promise<Running> {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-bare-'));
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'bench', 'bare.ts'), join(folder, 'log')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [text] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  return {
    url: text.replace('ready ', ''),
    pid: child.pid ?? 0,
    folder,
    async stop() {
      child.kill();
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
