/**
 * For tests: what `startServer` gives, with the engine in a process of `next start`. The test has no engine and no
 * clock of its own then: a test that reaches for them is skipped when it does.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TestRunner } from 'vitest';
import type { Clock, FakeClock } from '../base/clock.ts';
import type { PlainHost } from './plain-ids.ts';
import { spawnServer } from './process.ts';
import type { TestServer, TestServerOptions } from './server.ts';

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

/** Starts `next start` on a free port. */
export async function startAlone<C extends Clock = FakeClock>(
  options: TestServerOptions<C>,
): Promise<TestServer & { clock: C }> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'winterdock-alone-'));
  const settings = {
    NODE_ENV: 'production',
    WB_POOL: '0',
    WB_TICK_MS: '3600000',
    WB_LOG: 'error',
    WB_DRAIN_MS: '1000',
    ...options.settings,
  };
  const server = await spawnServer({ alone: true, folder, settings });
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await server.end();
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return {
    host: elsewhere<PlainHost>('engine'),
    clock: options.clock ?? elsewhere<C>('clock'),
    url: server.url,
    folder,
    call: server.call,
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
