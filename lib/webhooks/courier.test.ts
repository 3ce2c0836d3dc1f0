import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../base/clock.ts';
import type { Event, Webhook, WebhookDelivery, WebhookWithSecret } from '../contract/schema.ts';
import { type HttpsReceiver, startHttpsReceiver } from '../outgoing/testing/https-receiver.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { programOf } from '../testing/program.ts';
import { startServer, type TestServer } from '../testing/server.ts';
import { nextAttemptMs } from './retries.ts';

const HOUR = 3600;
let receiver: HttpsReceiver;
let folder: string;
let clock: FakeClock;
let server: TestServer;

beforeAll(async () => {
  receiver = await startHttpsReceiver(['localhost']);
  folder = mkdtempSync(join(tmpdir(), 'winterdock-webhooks-'));
  clock = new FakeClock();
  server = await start();
});
afterAll(async () => {
  await server.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  receiver.received.length = 0;
  receiver.answer = (_request, response) => response.writeHead(204).end();
});
afterEach(async () => {
  for (const { id } of (await server.call<Webhook[]>('GET', '/api/webhooks')).json) {
    await server.call('DELETE', `/api/webhooks/${id}`);
  }
});

const origin = () => `https://localhost:${receiver.port}`;
const start = () => startServer({ folder, clock, settings: { WB_OUTGOING_ALLOWED: origin() } });

async function make(over: object = {}): Promise<WebhookWithSecret> {
  const made = await server.call<WebhookWithSecret>('POST', '/api/webhooks', {
    name: 'pager',
    url: `${origin()}/hook`,
    types: ['note.*'],
    ...over,
  });
  expect(made.status, made.text).toBe(201);
  return made.json;
}

/** Appends lines that nothing else appends. */
async function note(...notes: (Partial<ReturnType<typeof entry>> & object)[]): Promise<void> {
  await server.host.registry.ledger.append(
    notes.map((one) => entry({ type: 'note.made', timeMs: clock.now(), ...one })),
  );
}

/** Lets everything happen that is due now. */
async function settle(): Promise<void> {
  // A round under way may have looked before.
  await server.host.courier.idle();
  await server.host.courier.tick();
  await server.host.courier.idle();
}

const read = async (id: string) => (await server.call<Webhook>('GET', `/api/webhooks/${id}`)).json;
const deliveries = async (id: string) =>
  (await server.call<WebhookDelivery[]>('GET', `/api/webhooks/${id}/deliveries`)).json;
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body) as { type: string; data: Event });

/** As a receiver verifies, written from the specification. */
function isSignedBy(secret: string, request = receiver.received[0]): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = request?.headers ?? {};
  const hmac = createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'));
  const expected = hmac.update(`${id}.${timestamp}.${request?.body}`).digest('base64');
  return String(signatures).split(' ').includes(`v1,${expected}`);
}

test('a ledger line is told, signed and without the address that it was asked from', async () => {
  const { id, secret } = await make();
  await note({ tenant: 'acme', reason: 'because', address: '192.0.2.9' });
  await settle();
  expect(bodies()).toMatchObject([{ type: 'note.made', data: { tenant: 'acme', reason: 'because' } }]);
  expect(receiver.received[0]?.body).not.toContain('192.0.2.9');
  expect(receiver.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
  expect(isSignedBy(secret)).toBe(true);
  expect(isSignedBy(`whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(false);
  const seq = bodies()[0]?.data.seq;
  expect(await deliveries(id)).toMatchObject([
    { id: `${id}.${seq}`, seq, state: 'delivered', attempts: 1, status: 204, error: null, took_ms: expect.any(Number) },
  ]);
});

test('a secret is shown once, and is in no file of the server as it is', async () => {
  const { id, secret, ...made } = await make();
  expect(await read(id)).toEqual({ id, ...made });
  await server.host.registry.storage.checkpoint();
  const bare = secret.replace('whsec_', '');
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const holding = files.filter((one) => readFileSync(join(one.parentPath, one.name)).includes(bare));
  expect(holding.map(({ name }) => name)).toEqual([]);
  const events = await server.call('GET', '/api/events?limit=500');
  expect(events.text).not.toContain(bare);
  // The rest of an address may be a secret as well.
  expect(events.text).not.toContain('/hook"');
});

test('a fault or a refusal reaches somebody, and nothing of another tenant does', async () => {
  await make({ tenant: 'acme', types: ['problems'] });
  await server.call('POST', '/api/instances', { id: 'ours', tenant: 'acme' });
  await server.call('POST', '/api/instances', { id: 'theirs', tenant: 'globex' });
  for (const id of ['ours', 'theirs']) await server.call('POST', `/api/instances/${id}/freeze`, {});
  await note({ tenant: 'globex', error: 'theirs' }, { tenant: null, error: 'nobody’s' }, { tenant: 'acme' });
  await settle();
  expect(bodies().map(({ data }) => [data.tenant, data.instance, data.type])).toEqual([
    ['acme', 'ours', 'freeze.refused'],
  ]);
});

test('what was not taken is tried again with the same id and text, later each time', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(500).end('no');
  await note({});
  await settle();
  clock.advance(3);
  await settle();
  expect(receiver.received).toHaveLength(1);
  expect(await deliveries(id)).toMatchObject([
    { state: 'pending', attempts: 1, status: 500, error: 'It answers 500.', next_ms: expect.any(Number) },
  ]);
  clock.advance(4);
  await settle();
  expect(receiver.received).toHaveLength(2);
  receiver.answer = (_request, response) => response.writeHead(200).end();
  clock.advance(60);
  await settle();
  expect(receiver.received).toHaveLength(3);
  expect(new Set(receiver.received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1);
  expect(await deliveries(id)).toMatchObject([{ state: 'delivered', attempts: 3, status: 200 }]);
  expect(await read(id)).toMatchObject({ failures: 0, failing_since_ms: null, pending: 0 });
});

test('the metrics count attempts by their outcome', async () => {
  const counts = async () => {
    const { text } = await server.call('GET', '/metrics');
    const count = (outcome: string) =>
      Number(
        new RegExp(`^winterdock_webhook_attempts_total\\{outcome="${outcome}"\\} (\\d+)$`, 'm').exec(text)?.[1] ?? 0,
      );
    return { delivered: count('delivered'), retried: count('retried'), failed: count('failed') };
  };
  const { id } = await make();
  const before = await counts();
  receiver.answer = (_request, response) => response.writeHead(500).end('no');
  await note({});
  await settle();
  expect(await counts()).toEqual({ ...before, retried: before.retried + 1 });
  await server.call('POST', `/api/webhooks/${id}/test`);
  expect(await counts()).toEqual({ ...before, retried: before.retried + 1, failed: before.failed + 1 });
  receiver.answer = (_request, response) => response.writeHead(204).end();
  clock.advance(60);
  await settle();
  expect(await counts()).toEqual({
    delivered: before.delivered + 1,
    retried: before.retried + 1,
    failed: before.failed + 1,
  });
});

test('a redirect is a failure, and is not followed', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(302, { location: `${origin()}/other` }).end();
  await note({});
  await settle();
  expect(receiver.received).toHaveLength(1);
  expect(await deliveries(id)).toMatchObject([
    { state: 'pending', status: 302, error: expect.stringContaining('redirect') },
  ]);
});

test('a delivery is sent again on request, with the id that it had', async () => {
  const { id } = await make();
  await note({});
  await settle();
  const [first] = await deliveries(id);
  const again = await server.call('POST', `/api/webhooks/${id}/deliveries/${first?.id}/resend`);
  expect(again.status).toBe(202);
  await settle();
  expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual([first?.id, first?.id]);
  expect((await server.call('POST', `/api/webhooks/${id}/deliveries/no-such/resend`)).status).toBe(404);
});

test('a delivery is tried for longer than 24 hours, however its pauses fall out', () => {
  const failure = { status: 503, error: 'no', retryAfterMs: null };
  for (const random of [0, 0.5, 1]) {
    let at: number | null = 0;
    let last = 0;
    for (let attempts = 1; at !== null; attempts++) {
      last = at;
      at = nextAttemptMs(attempts, failure, at, random);
    }
    expect(last).toBeGreaterThan(24 * HOUR * 1000);
    expect(last).toBeLessThan(48 * HOUR * 1000);
  }
});

test('after 24 hours without a success it is off, with a line; turned on, it goes on where it stopped', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(503).end();
  await note({ reason: 'first' });
  await settle();
  for (let hour = 0; hour < 48 && (await read(id)).enabled; hour += 1) {
    clock.advance(HOUR);
    await settle();
  }
  expect(await read(id)).toMatchObject({ enabled: false, off_reason: expect.stringContaining('24 hours') });
  const events = await server.call<Event[]>('GET', '/api/events?type=webhook.turned_off');
  expect(events.json[0]).toMatchObject({ reason: id, error: expect.stringContaining('24 hours') });
  const attempts = receiver.received.length;
  expect(attempts).toBeLessThan(20);
  await note({ reason: 'second' });
  clock.advance(HOUR);
  await settle();
  expect(receiver.received).toHaveLength(attempts);
  receiver.answer = (_request, response) => response.writeHead(204).end();
  await server.call('PATCH', `/api/webhooks/${id}`, { enabled: true });
  await settle();
  expect(new Set(bodies().map(({ data }) => data.reason))).toEqual(new Set(['first', 'second']));

  await server.call('PATCH', `/api/webhooks/${id}`, { enabled: false });
  await note({ reason: 'not of interest' });
  await server.call('PATCH', `/api/webhooks/${id}`, { enabled: true, resume_from: 'now' });
  await note({ reason: 'third' });
  await settle();
  expect(bodies().at(-1)?.data.reason).toBe('third');
  expect(bodies().map(({ data }) => data.reason)).not.toContain('not of interest');
});

test('one that answers 410 is off at once', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(410).end();
  await note({});
  await settle();
  expect(await read(id)).toMatchObject({ enabled: false, off_reason: expect.stringContaining('410') });
});

test('a slow receiver holds up neither other webhooks nor the server, and no more than four at once', async () => {
  await make({ name: 'slow', url: `${origin()}/slow` });
  await make({ name: 'quick', url: `${origin()}/quick` });
  const held: (() => void)[] = [];
  receiver.answer = (request, response) => {
    const end = () => response.writeHead(204).end();
    if (request.url === '/slow') held.push(end);
    else end();
  };
  await note(...Array.from({ length: 10 }, (_, n) => ({ reason: String(n) })));
  await server.host.courier.tick();
  await receiver.until(14);
  const paths = receiver.received.map(({ path }) => path);
  expect([paths.filter((path) => path === '/quick').length, held.length]).toEqual([10, 4]);
  expect((await server.call('POST', '/api/instances', { id: 'meanwhile', tenant: 'acme' })).status).toBe(201);
  while (held.length > 0) {
    held.pop()?.();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await settle();
  expect(receiver.received.filter(({ path }) => path === '/slow')).toHaveLength(10);
});

test('what waits is bounded: the rest stays in the ledger, and none of it is lost', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(500).end();
  for (let n = 0; n < 4; n += 1) await note(...Array.from({ length: 500 }, () => ({})));
  for (let round = 0; round < 6; round += 1) await settle();
  const waiting = await server.host.registry.webhooks.pending(id, 10_000);
  expect(waiting).toBeGreaterThanOrEqual(1000);
  expect(waiting).toBeLessThanOrEqual(1500);
  const row = await server.host.registry.webhooks.get(id);
  expect((await server.host.registry.ledger.lastSeq()) - (row?.cursor ?? 0)).toBeGreaterThanOrEqual(500);
});

test('a new secret signs beside the old one for a day', async () => {
  const { id, secret } = await make();
  const rotated = await server.call<WebhookWithSecret>('POST', `/api/webhooks/${id}/rotate`);
  expect(rotated.json.secret).not.toBe(secret);
  await note({});
  await settle();
  expect([isSignedBy(secret), isSignedBy(rotated.json.secret)]).toEqual([true, true]);
  clock.advance(24 * HOUR);
  await note({});
  await settle();
  const last = receiver.received.at(-1);
  expect([isSignedBy(secret, last), isSignedBy(rotated.json.secret, last)]).toEqual([false, true]);
});

test('a test is sent at once, also to one that is off, and says how it went', async () => {
  const { id, secret } = await make();
  await server.call('PATCH', `/api/webhooks/${id}`, { enabled: false });
  const good = await server.call<WebhookDelivery>('POST', `/api/webhooks/${id}/test`);
  expect(good.json).toMatchObject({ type: 'webhook.ping', state: 'delivered', status: 204 });
  expect(isSignedBy(secret)).toBe(true);
  receiver.answer = (_request, response) => response.writeHead(404).end();
  const bad = await server.call<WebhookDelivery>('POST', `/api/webhooks/${id}/test`);
  expect(bad.json).toMatchObject({ state: 'failed', status: 404, error: 'It answers 404.' });
  expect((await deliveries(id)).map(({ state }) => state)).toEqual(['failed', 'delivered']);
});

test('addresses inside are refused: as they are typed, and as their names resolve', async () => {
  for (const url of ['http://example.com/', 'https://10.0.0.1/', 'https://2130706433/', 'https://u:p@example.com/']) {
    const refused = await server.call('POST', '/api/webhooks', { name: 'x', url });
    expect([url, refused.status, refused.json.code]).toEqual([url, 422, 'validation']);
  }
  // The same host on a port that the settings do not name.
  const { id } = await make({ url: 'https://localhost:1/' });
  const sent = await server.call<WebhookDelivery>('POST', `/api/webhooks/${id}/test`);
  expect(sent.json).toMatchObject({ state: 'failed', status: null, error: expect.stringContaining('not public') });
  expect(receiver.received).toEqual([]);
});

test('who may act for one tenant sets up webhooks of that one, and sees no other', async () => {
  const { id } = await make();
  const { key } = (
    await server.call<{ key: string }>('POST', '/api/keys', { name: 'k', role: 'operator', tenant: 'acme' })
  ).json;
  const url = `${origin()}/hook`;
  const input = { name: 'ours', url };
  expect((await server.call('POST', '/api/webhooks', input, { key })).status).toBe(422);
  const ours = await server.call<Webhook>('POST', '/api/webhooks', { ...input, tenant: 'acme' }, { key });
  expect(ours.status).toBe(201);
  expect((await server.call('POST', '/api/webhooks', { ...input, tenant: 'globex' }, { key })).status).toBe(403);
  const listed = await server.call<Webhook[]>('GET', '/api/webhooks', undefined, { key });
  expect(listed.json.map((one) => one.id)).toEqual([ours.json.id]);
  expect((await server.call('GET', `/api/webhooks/${id}`, undefined, { key })).status).toBe(404);
});

test('what waits at a stop is delivered after the next start', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(500).end();
  await note({ reason: 'before' });
  await settle();
  await server.stop();
  receiver.answer = (_request, response) => response.writeHead(204).end();
  clock.advance(HOUR);
  server = await start();
  await settle();
  expect(await deliveries(id)).toMatchObject([{ state: 'delivered', attempts: 2 }]);
});

test('killed in the middle of a delivery, the server delivers it again after the start, with the same id', async () => {
  const { id } = await make();
  receiver.answer = (_request, response) => response.writeHead(500).end();
  await note({ reason: 'once more' });
  await settle();
  await server.stop();
  clock.advance(HOUR);
  receiver.received.length = 0;
  // The receiver has it, and the sender dies before it hears so.
  let victim: ChildProcess | null = null;
  receiver.answer = () => victim?.kill('SIGKILL');
  const script = programOf(fileURLToPath(new URL('./testing/victim.ts', import.meta.url)));
  victim = spawn(process.execPath, [script, folder, String(clock.now()), origin()], {
    stdio: 'inherit',
    env: { ...process.env, NODE_EXTRA_CA_CERTS: receiver.caFile },
  });
  expect(await once(victim, 'exit')).toEqual([null, 'SIGKILL']);
  expect(receiver.received).toHaveLength(1);
  receiver.answer = (_request, response) => response.writeHead(204).end();
  server = await start();
  await settle();
  expect(receiver.received).toHaveLength(2);
  const [before, after] = receiver.received;
  expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
  expect(after?.body).toBe(before?.body);
  expect(await deliveries(id)).toMatchObject([{ state: 'delivered' }]);
});

test('a forgotten tenant has no webhooks any more', async () => {
  const { id } = await make({ tenant: 'initech' });
  await server.call('POST', '/api/instances', { id: 'soon-gone', tenant: 'initech' });
  const begun = await server.call('DELETE', '/api/tenants/initech', { confirm: 'initech' });
  expect(begun.status, begun.text).toBe(202);
  await expect.poll(async () => (await server.call('GET', `/api/webhooks/${id}`)).status).toBe(404);
});
