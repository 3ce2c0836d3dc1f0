/**
 * For tests: the whole engine behind a real HTTP listener, inside the test's process, in a folder of its own. With
 * `WB_TEST_TARGET=next` it is behind `next start` instead, as the process that people start, for what is asked over
 * HTTP alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, FakeClock } from '../base/clock.ts';
import { readConfig } from '../base/config.ts';
import { createLogger } from '../base/log.ts';
import { listen } from '../front/listener.ts';
import { createHost } from '../host/compose.ts';
import type { HostOptions } from '../host/host.ts';
import { registryOfTests } from '../registry/testing/registry-of-tests.ts';
import { type Call, caller } from './call.ts';
import { TEST_KEY } from './key.ts';
import { type PlainHost, plainHost } from './plain-ids.ts';
import { sharedReaders } from './shared-readers.ts';

export { TEST_KEY };

export interface TestServer {
  host: PlainHost;
  /** Origin, without a trailing slash. */
  url: string;
  folder: string;
  call: Call;
  /** Stops the listener and the engine; removes the folder unless it was given. Idempotent. */
  stop(): Promise<void>;
}

export interface TestServerOptions<C extends Clock> {
  /** Environment settings; they win over the tests' own (no pooled worker, ticks only when asked for). */
  settings?: Record<string, string>;
  /** Default: a clock that moves only when told to. */
  clock?: C;
  /** A data folder to come back to; kept at the stop. */
  folder?: string;
  failpoint?: HostOptions['failpoint'];
  /** How names become addresses for requests of sandboxes. */
  resolve?: HostOptions['resolve'];
  /** Reader processes of its own, behind their walls, as a server has them. Default: shared ones without. */
  ownReaders?: boolean;
  /** Default: those on disk. */
  drawers?: HostOptions['drawers'];
}

/** Starts a server on a free port. The ladder moves when the test calls `host.sessions.tick()`. */
export async function startServer<C extends Clock = FakeClock>(
  options: TestServerOptions<C> = {},
): Promise<TestServer & { clock: C }> {
  if (process.env.WB_TEST_TARGET === 'next') {
    // Loads Vitest, which a process that a test starts does without.
    const { startAlone } = await import('./alone-server.ts');
    return startAlone(options);
  }
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'winterdock-'));
  const clock = options.clock ?? (new FakeClock() as Clock as C);
  const config = readConfig({
    WB_DATA: folder,
    WB_CACHE: process.env.WB_CACHE,
    WB_ADMIN_KEY: TEST_KEY,
    WB_POOL: '0',
    WB_CPU_GROUPS: '0',
    WB_TICK_MS: '3600000',
    WB_LOG: 'error',
    PORT: '0',
    ...(await registryOfTests(folder, options.settings?.WB_REGISTRY)),
    ...options.settings,
  });
  const host = await createHost({
    config,
    clock,
    log: createLogger(config.logLevel),
    ...(options.ownReaders === true ? {} : { readers: sharedReaders(config) }),
    failpoint: options.failpoint,
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    ...(options.drawers === undefined ? {} : { drawers: options.drawers }),
  });
  await host.start();
  const listener = await listen(host, { port: config.port, address: config.host });
  const url = `http://127.0.0.1:${listener.port}`;
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    host.events.close();
    const closed = listener.close(1000);
    await host.stop();
    await closed;
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  return {
    host: plainHost(host),
    clock,
    url,
    folder,
    call: caller(url, config.adminKey ?? TEST_KEY),
    stop() {
      stopped ??= stop();
      return stopped;
    },
  };
}
