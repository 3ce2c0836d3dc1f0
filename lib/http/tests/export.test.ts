import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Event, LedgerSegment } from '../../contract/schema.ts';
import { entry, START } from '../../registry/testing/fixtures.ts';
import { openRegistryOfTests } from '../../registry/testing/registry-of-tests.ts';
import { type ServerProcess, spawnServer } from '../../testing/process.ts';
import { TEST_KEY } from '../../testing/server.ts';

const LINES = 200_000;
/** Half of what the smaller export has: 81 MB. */
const GROWTH_MB = 40;
/**
 * A heap that leaves no room for garbage which nobody has asked for yet: without it, that is most of what is measured.
 */
const SMALL_HEAP = '--max-old-space-size=80 --max-semi-space-size=2';

let folder: string;
let server: ServerProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-export-'));
  const registry = await openRegistryOfTests(folder);
  const line = { type: 'transition', instance: 'sb-many', tenant: 'acme', reason: 'because '.repeat(40) };
  for (let n = 0; n < LINES; n += 10_000) {
    await registry.ledger.append(
      Array.from({ length: 10_000 }, (_, at) => entry({ ...line, timeMs: START * 1000 + n + at })),
    );
  }
  await registry.close();
  server = await spawnServer({ folder, settings: { WB_TICK_MS: '200', NODE_OPTIONS: SMALL_HEAP } });
});
afterAll(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Megabytes that the server holds itself; pages of files that the kernel maps for it are not counted. */
function heldMb(): number {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

async function open(path: string): Promise<IncomingMessage> {
  const req = request(`${server.url}${path}`, { agent: false, headers: { authorization: `Bearer ${TEST_KEY}` } });
  req.on('error', () => undefined);
  req.end();
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return res;
}

/** Reads a download to its end, taking nothing for a while first: what the server makes meanwhile it has to keep. */
async function take(path: string): Promise<{ lines: number; bytes: number; grownMb: number; sha256: string }> {
  const before = heldMb();
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, heldMb());
  }, 20);
  const res = await open(path);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  const hash = createHash('sha256');
  let lines = 0;
  let bytes = 0;
  for await (const chunk of res as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.byteLength;
    for (const byte of chunk) if (byte === 10) lines += 1;
  }
  clearInterval(sampling);
  return { lines, bytes, grownMb: most - before, sha256: hash.digest('hex') };
}

const segments = async () => (await server.call<LedgerSegment[]>('GET', '/api/events/segments')).json;

test('an export of 200 000 lines is whole and takes no more memory than a small one', async () => {
  await server.call('GET', '/api/events/export?format=jsonl&type=warming.up');
  for (const format of ['jsonl', 'csv']) {
    const { lines, bytes, grownMb } = await take(`/api/events/export?format=${format}&instance=sb-many`);
    process.stdout.write(`${format}: ${(bytes / 1e6).toFixed(0)} MB exported, ${grownMb.toFixed(1)} MB grown\n`);
    expect(lines).toBe(format === 'csv' ? LINES + 1 : LINES);
    expect(grownMb).toBeLessThan(GROWTH_MB);
  }
});

test('a sealed month counts as exported only once it was taken whole', async () => {
  await vi.waitFor(async () => expect(await segments()).toHaveLength(1), { timeout: 240_000, interval: 200 });
  const [{ id } = { id: '' }] = await segments();
  const broken = await open(`/api/events/segments/${id}`);
  await once(broken, 'data');
  broken.destroy();
  await once(broken, 'close');
  await server.call('GET', '/api/events/export?format=csv&type=ledger.sealed');
  expect((await segments())[0]?.exported).toBeNull();
  const whole = await take(`/api/events/segments/${id}`);
  expect(whole.grownMb).toBeLessThan(GROWTH_MB);
  const [segment] = await segments();
  expect(whole.lines).toBe((segment?.lines ?? 0) + 1);
  expect(segment?.exported).not.toBeNull();
  // The same by the same caller within a minute is counted with the first, and told as one sum later.
  const started = (await server.call<Event[]>('GET', '/api/events?type=ledger.exported&limit=2')).json;
  expect(started.map(({ reason }) => reason)).toEqual(['csv: type=ledger.sealed', `the segment ${id}`]);
});
