/**
 * For tests: what `startServer` gives, with the engine in a process of `next start`. The test has no engine and no
 * clock of its own then: a test that reaches for them is skipped when it does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRunner } from 'vitest';
import type { Clock, FakeClock } from '../base/clock.ts';
import { caller } from './call.ts';
import { TEST_KEY } from './key.ts';
import type { PlainHost } from './plain-ids.ts';
import { spawnServer } from './process.ts';
import type { TestServer, TestServerOptions } from './server.ts';

/**
 * The variable with servers that run already, as JSON: one for each of Vitest's workers. A start of Next takes a second
 * of processor time, so files that ask for nothing of their own share one, one after the other.
 */
export const SHARED_SERVERS = 'WB_TEST_SHARED_SERVERS';

interface SharedServer {
  url: string;
  /** Its data folder. */
  folder: string;
}

/** The environment of every server that this starts. */
export const ALONE_SETTINGS = {
  NODE_ENV: 'production',
  WB_POOL: '0',
  WB_TICK_MS: '3600000',
  WB_LOG: 'error',
  WB_DRAIN_MS: '1000',
};

let isShared = false;

/** The shared server of this worker, unless it is in use: then null, as without one. */
function takeShared(): (SharedServer & { stop(): Promise<void> }) | null {
  const servers = JSON.parse(process.env[SHARED_SERVERS] ?? '[]') as SharedServer[];
  const server = servers[Number(process.env.VITEST_POOL_ID) - 1];
  if (server === undefined || isShared) return null;
  isShared = true;
  return {
    ...server,
    async stop() {
      isShared = false;
    },
  };
}

async function startOwn(options: {
  folder?: string;
  settings?: Record<string, string>;
}): Promise<SharedServer & { stop(): Promise<void> }> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'winterdock-alone-'));
  const server = await spawnServer({ alone: true, folder, settings: { ...ALONE_SETTINGS, ...options.settings } });
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await server.end();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return {
    url: server.url,
    folder,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}

/**
 * Stands for parts in the other process: a test that uses them is skipped. Its earlier assertions over HTTP still
 * count, and e2e/alone-api.test.ts limits how many tests are skipped.
 */
function elsewhere<T extends object>(what: string): T {
  return new Proxy({} as T, {
    get() {
      const test = TestRunner.getCurrentTest();
      if (test === undefined) throw new Error(`The ${what} is in another process.`);
      return test.context.skip(`reaches for the ${what}`);
    },
  });
}

/** Starts `next start` on a free port, or takes the shared one where neither settings nor a folder are asked for. */
export async function startAlone<C extends Clock = FakeClock>(
  options: TestServerOptions<C>,
): Promise<TestServer & { clock: C }> {
  const wantsNothing = options.folder === undefined && options.settings === undefined;
  const { url, folder, stop } = (wantsNothing ? takeShared() : null) ?? (await startOwn(options));
  return {
    host: elsewhere<PlainHost>('engine'),
    clock: options.clock ?? elsewhere<C>('clock'),
    url,
    folder,
    call: caller(url, options.settings?.WB_ADMIN_KEY ?? TEST_KEY),
    stop,
  };
}
