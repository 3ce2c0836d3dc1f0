/** What is promised of deliveries, whatever interrupts them: each line at least once, and no wait for another clock. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Webhook, WebhookWithSecret } from '../contract/schema.ts';
import { type HttpsReceiver, startHttpsReceiver } from '../outgoing/testing/https-receiver.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer } from '../testing/server.ts';

const YEAR = 365 * 86_400;
const KILLS = 10;

let receiver: HttpsReceiver;
let folder: string;
let clock: FakeClock;
let server: TestServer;

beforeEach(async () => {
  receiver = await startHttpsReceiver(['localhost']);
  folder = mkdtempSync(join(tmpdir(), 'winterdock-delivery-'));
  clock = new FakeClock(Date.now());
  server = await start();
});
afterEach(async () => {
  await server.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});

const origin = () => `https://localhost:${receiver.port}`;
const start = () => startServer({ folder, clock, settings: { WB_OUTGOING_ALLOWED: origin() } });
const read = async (id: string) => (await server.call<Webhook>('GET', `/api/webhooks/${id}`)).json;

async function make(types: string[]): Promise<string> {
  const url = `${origin()}/hook`;
  const made = await server.call<WebhookWithSecret>('POST', '/api/webhooks', { name: 'pager', url, types });
  expect(made.status, made.text).toBe(201);
  return made.json.id;
}

/** Appends a line that nothing else appends, and returns what it says. */
async function note(reason: string): Promise<string> {
  await server.host.registry.ledger.append([entry({ type: 'note.made', timeMs: clock.now(), reason })]);
  return reason;
}

/** Lets everything happen that is due now: a round that is under way may have begun before it was. */
async function settle(): Promise<void> {
  await server.host.courier.tick();
  await server.host.courier.tick();
  await server.host.courier.idle();
}

/** What the receiver was told, each once. */
function told(): string[] {
  const reasons = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { reason: string } }).data.reason);
  return [...new Set(reasons)];
}

test('what failed before the clock was set back waits for no time that lies years ahead', async () => {
  const id = await make(['note.*']);
  receiver.answer = (_request, response) => response.writeHead(503).end();
  for (const reason of ['one', 'two', 'three']) await note(reason);
  await settle();
  clock.advance(60);
  await settle();
  expect((await read(id)).failures).toBeGreaterThanOrEqual(3);

  clock.advance(-3 * YEAR);
  receiver.answer = (_request, response) => response.writeHead(204).end();
  await settle();
  await settle();
  expect(told().toSorted()).toEqual(['one', 'three', 'two']);
  expect(await read(id)).toMatchObject({ pending: 0, failures: 0, failing_since_ms: null });
});

test('what was never tried, and what is sent again, is due after the clock was set back as well', async () => {
  const id = await make(['note.*']);
  await note('sent again');
  await settle();
  const [{ id: delivery = '' } = {}] = (await server.call<{ id: string }[]>('GET', `/api/webhooks/${id}/deliveries`))
    .json;
  await server.stop();
  receiver.received.length = 0;
  // Stopped before it could be tried.
  server = await startServer({ folder, clock, settings: { WB_OUTGOING_ALLOWED: 'https://localhost:1' } });
  await note('never tried');
  await server.host.registry.webhooks.resend(delivery, clock.now(), entry());
  await server.stop();
  clock.advance(-YEAR);
  server = await start();
  await settle();
  expect(told().toSorted()).toEqual(['never tried', 'sent again']);
});

test('a webhook that fails since a time ahead is given up after the same time as any other', async () => {
  const id = await make(['note.*']);
  receiver.answer = (_request, response) => response.writeHead(503).end();
  await note('one');
  await settle();
  clock.advance(-YEAR);
  await settle();
  expect((await read(id)).failing_since_ms).toBeLessThanOrEqual(clock.now());
});

test('no line is left out when its webhook is turned off and on while the line is looked at', async () => {
  const id = await make(['note.*']);
  await settle();
  const { webhooks } = server.host.registry;
  const expected: string[] = [];
  // The look is some steps long: the change comes between any two of them.
  for (let steps = 0; steps < 24; steps += 1) {
    expected.push(await note(`line ${steps}`));
    const round = server.host.courier.tick();
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    await webhooks.change(id, { enabled: false }, clock.now(), entry());
    await webhooks.change(id, { enabled: true }, clock.now(), entry());
    await round;
    await settle();
  }
  expect(told()).toEqual(expected);
});

test('each of thousands of lines is told at least once, however often the server is killed', async () => {
  const id = await make(['note.*']);
  await server.stop();
  // Some answers come late, some not at all, and some are refusals.
  let asked = 0;
  receiver.answer = (_request, response) => {
    asked += 1;
    if (asked % 17 === 0) response.writeHead(503).end();
    else if (asked % 23 === 0) response.destroy();
    else setTimeout(() => response.writeHead(204).end(), asked % 5);
  };
  const script = programOf(fileURLToPath(new URL('./testing/appender.ts', import.meta.url)));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const victim = spawn(process.execPath, [script, folder, origin(), `life ${kill}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_EXTRA_CA_CERTS: receiver.caFile },
    });
    let appended = 0;
    victim.stdout.on('data', (dots: Buffer) => {
      appended += dots.length;
      if (appended > 90 + 13 * kill) victim.kill('SIGKILL');
    });
    expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
  }
  receiver.answer = (_request, response) => response.writeHead(204).end();
  clock = new FakeClock(Date.now());
  server = await start();
  for (let round = 0; round < 200 && (await isBehind(id)); round += 1) {
    clock.advance(86_400 / 4);
    await settle();
  }
  const lines: string[] = [];
  for (let seq = 0; ; ) {
    const some = await server.host.registry.ledger.after(seq, 500);
    lines.push(...some.filter(({ type }) => type === 'note.made').map(({ reason }) => String(reason)));
    const last = some.at(-1)?.seq;
    if (last === undefined) break;
    seq = last;
  }
  const received = new Set(told());
  expect(lines.filter((line) => !received.has(line))).toEqual([]);
  expect(lines.length).toBeGreaterThan(1500);
  process.stdout.write(`webhooks: ${lines.length} lines, ${KILLS} kills, ${receiver.received.length} requests\n`);
});

async function isBehind(id: string): Promise<boolean> {
  const { registry } = server.host;
  const row = await registry.webhooks.get(id);
  return (row?.cursor ?? 0) < (await lastNote()) || (await registry.webhooks.pending(id, 1)) > 0;
}

async function lastNote(): Promise<number> {
  const { rows } = await server.host.registry.ledger.page({ type: 'note.made' }, 1);
  return rows[0]?.seq ?? 0;
}
