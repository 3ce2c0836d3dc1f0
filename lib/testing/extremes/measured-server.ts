/**
 * For tests: a whole server in a process of its own that says what a request cost it. Its parent sends `begin` before
 * the request and `end` after it. Steps are counted by V8 itself, which counts how often each block of code ran: no
 * loop has to take part, those of packages included. Code is counted when it is loaded after counting began, and runs
 * slower, so that its times are upper bounds. Knows nothing of what is asked.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchLoop } from '../loop-watch.ts';

export type Asked = 'begin' | 'end' | 'stop';

export interface Cost {
  /** Processor time of the longest turn of the event loop, in milliseconds. */
  turnMs: number;
  /** How often the block ran that ran most often. */
  steps: number;
  /** Where that block is: path, function and offset. */
  where: string;
  /** Instructions of SQLite, for what was read of the registry. */
  instructions: number;
}

const ROOT = new URL('../../../', import.meta.url).href;
const HERE = new URL('..', import.meta.url).href;

const inspector = new Session();
inspector.connect();
await inspector.post('Profiler.enable');
await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });

const { systemClock } = await import('../../base/clock.ts');
const { startServer } = await import('../server.ts');
const { fillRegistry, fillServer } = await import('./fill-server.ts');
const { copyOf, noteReads } = await import('./sqlite-steps.ts');

const folder = mkdtempSync(join(tmpdir(), 'winterdock-extremes-'));
const registry = join(folder, 'registry.sqlite');
await fillRegistry(registry);
const server = await startServer({
  folder,
  clock: systemClock,
  settings: { WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0', WB_LOG: 'silent', WB_POOL: '1' },
});
const made = await fillServer(server.call);
const instructionsOf = await copyOf(registry);
const takeReads = noteReads();
let endWatch = () => 0;

/** The most often run block since the last look. Each look counts anew. */
async function mostRun(): Promise<Pick<Cost, 'steps' | 'where'>> {
  let [steps, where] = [0, ''];
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  for (const { url, functions } of result) {
    // Each value of a row is decoded: rows are counted where they come from, as SQLite's.
    if (!url.startsWith(ROOT) || url.startsWith(HERE) || url.endsWith('/row-decoder.ts')) continue;
    for (const { ranges, functionName } of functions) {
      for (const { count, startOffset } of ranges) {
        if (count > steps) [steps, where] = [count, `${url.slice(ROOT.length)} ${functionName} ${startOffset}`];
      }
    }
  }
  return { steps, where };
}

const answers: Record<Asked, () => Promise<object>> = {
  async begin() {
    await mostRun();
    takeReads();
    endWatch = watchLoop();
    return {};
  },
  async end() {
    const turnMs = endWatch();
    return { turnMs, ...(await mostRun()), instructions: instructionsOf(takeReads()) } satisfies Cost;
  },
  async stop() {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
    return {};
  },
};

process.on('message', (asked: Asked) => {
  void answers[asked]().then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit());
process.send?.({ url: server.url, made });
