import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { issuerOf } from '../../base/signing.ts';
import {
  type Event,
  eventSchema,
  type LedgerSegment,
  ledgerProofSchema,
  ledgerSegmentSchema,
} from '../../contract/schema.ts';
import { ledgerHeadSchema } from '../../ledger/documents.ts';
import { isSigned } from '../../ledger/sign.ts';
import { verifySegmentFile } from '../../ledger/verify-file.ts';
import { entry } from '../../registry/testing/fixtures.ts';
import { sqlOfTests, tamper } from '../../registry/testing/sql-of-tests.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';
import { answerWeb } from '../web-adapter.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await server.call('POST', '/api/instances', { id: 'early', tenant: 'acme' });
  for (let n = 0; n < 5; n += 1) await server.call('POST', '/api/instances', { id: `out-${n}`, tenant: 'out' });
});
afterAll(() => server.stop());

const events = async (query: string) => (await server.call<Event[]>('GET', `/api/events?${query}`)).json;
const reads = async (instance: string) => events(`type=private.read&instance=${instance}`);

test('every line of a request has its actor, interface, request id and address', async () => {
  const headers = { 'x-request-id': 'told-1' };
  await server.call('POST', '/api/instances', { id: 'told', tenant: 'acme' }, { headers });
  await server.call('POST', '/api/instances/told/resume', {}, { headers: { 'x-winterdock-client': 'cli' } });
  await server.call(
    'POST',
    '/api/instances/told/suspend',
    { reason: 'done' },
    { headers: { 'x-winterdock-client': 'x' } },
  );
  const lines = (await events('instance=told')).reverse();
  const common = { actor: 'key:admin', address: '127.0.0.1' };
  expect(lines).toMatchObject([
    { ...common, type: 'instance.created', via: 'api', request_id: 'told-1' },
    { ...common, to: 'active', via: 'cli' },
    { ...common, to: 'suspended', via: 'api', reason: 'done' },
  ]);
  for (const line of lines) expect(line.request_id).not.toBeNull();
});

test('reading private files writes a ledger line, one for each request, without their content', async () => {
  await server.call('POST', '/api/instances', { id: 'reader', tenant: 'acme' });
  await server.call('PUT', '/api/instances/reader/volumes/memory/diary.txt', 'dear diary');
  await server.call('PUT', '/api/instances/reader/volumes/workspace/plain.txt', 'plain');
  const at = '/api/instances/reader';
  const looks: [string, string, unknown?, Record<string, string>?][] = [
    ['GET', `${at}/volumes/memory`],
    ['GET', `${at}/volumes/memory/diary.txt`],
    ['GET', `${at}/volumes/memory/diary.txt`, undefined, { range: 'bytes=0-3' }],
    ['HEAD', `${at}/volumes/memory/diary.txt`],
    ['GET', `${at}/volumes/memory/none.txt`],
    ['GET', `${at}/search?q=diary`],
    ['GET', `${at}/search?q=diary&volume=memory&in=content`],
    ['POST', `${at}/query`, { sql: 'SELECT count(*) FROM vfs' }],
  ];
  for (const [n, [method, path, body, headers]] of looks.entries()) {
    const { status } = await server.call(method, path, body, { headers: { ...headers, 'x-request-id': `look-${n}` } });
    expect([method, path, status < 300 || path.includes('none')]).toEqual([method, path, true]);
    const [line, ...others] = (await reads('reader')).slice(0, 2);
    expect([path, line?.request_id]).toEqual([path, `look-${n}`]);
    expect(others.map((other) => other.request_id)).not.toContain(`look-${n}`);
    expect(line).toMatchObject({ actor: 'key:admin', tenant: 'acme', address: '127.0.0.1' });
    expect(JSON.stringify(line)).not.toContain('diary');
  }
  expect(await reads('reader')).toHaveLength(looks.length);

  for (const path of [`${at}`, `${at}/volumes`, `${at}/volumes/workspace`, `${at}/volumes/workspace/plain.txt`]) {
    expect((await server.call('GET', path)).status).toBe(200);
  }
  expect((await server.call('GET', `${at}/search?q=plain&volume=workspace`)).status).toBe(200);
  await server.call('POST', `${at}/exec`, { command: 'cat /memory/diary.txt' });
  expect(await reads('reader')).toHaveLength(looks.length);
  expect((await server.call('GET', '/api/instances/nobody/volumes/memory')).status).toBe(404);
  expect(await reads('nobody')).toEqual([]);
});

test('an export holds what the list holds, in either form, and is itself a line', async () => {
  const listed = await events('tenant=out');
  const lines = await server.call('GET', '/api/events/export?format=jsonl&tenant=out&type=instance.created');
  expect(lines.headers).toMatchObject({
    'content-type': 'application/jsonl',
    'content-disposition': 'attachment; filename="winterdock-ledger.jsonl"',
  });
  const parsed = lines.text
    .trimEnd()
    .split('\n')
    .map((text) => eventSchema.strict().parse(JSON.parse(text)));
  expect(parsed).toEqual(listed);
  const [exported] = await events('type=ledger.exported');
  expect(exported).toMatchObject({
    actor: 'key:admin',
    tenant: 'out',
    reason: 'jsonl: tenant=out type=instance.created',
  });

  const csv = await server.call('GET', '/api/events/export?format=csv&tenant=out&type=instance.created');
  expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
  const rows = csv.text.split('\r\n');
  expect(rows[0]).toBe(`${Object.keys(eventSchema.shape).join(',')},time_iso`);
  const times = rows.slice(1, -1).map((row) => row.split(',').at(-1));
  expect(times).toEqual(listed.map(({ time_ms }) => new Date(time_ms).toISOString()));
  expect(rows.slice(1, -1).map((row) => row.split(',')[0])).toEqual(listed.map(({ seq }) => String(seq)));
  expect(rows.at(-1)).toBe('');

  expect((await server.call('GET', '/api/events/export')).status).toBe(422);
  expect((await server.call('GET', '/api/events/export?format=xml')).status).toBe(422);
  expect((await server.call('GET', '/api/events/export?format=csv&limit=5')).status).toBe(422);
  expect((await server.call('GET', '/api/events/export?format=csv', undefined, { key: null })).status).toBe(401);
  const before = (await events('type=ledger.exported')).length;
  expect((await server.call('HEAD', '/api/events/export?format=csv')).status).toBe(200);
  expect(await events('type=ledger.exported')).toHaveLength(before);
});

test('no cell of an export is a formula, and every text comes back from it', async () => {
  const texts = [
    '=1+1',
    '+1',
    '-1',
    '@SUM(A1)',
    '\t=1',
    ' =1',
    '\r=1',
    '＝1',
    'a,b',
    'say "so"',
    'two\nlines',
    '',
    'plain',
    '1-1',
  ];
  await server.host.registry.ledger.append(
    texts.map((reason) => entry({ type: 'test.cell', reason, timeMs: server.host.clock.now() })),
  );
  const { text } = await server.call('GET', '/api/events/export?format=csv&type=test.cell');
  const at = Object.keys(eventSchema.shape).indexOf('reason');
  const cells = parseCsv(text)
    .slice(1)
    .map((row) => row[at] ?? '')
    .reverse();
  expect(cells).toHaveLength(texts.length);
  for (const [n, cell] of cells.entries()) {
    expect(cell).not.toMatch(/^\s*[=+\-@＝]/);
    expect(cell.replace(/^'/, '')).toBe(texts[n]);
  }
  expect(cells.filter((cell) => cell.startsWith("'"))).toHaveLength(8);
});

/** RFC 4180 by its grammar. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [];
  for (const row of text.matchAll(/(?:"(?:[^"]|"")*"|[^",\r\n]*)(?:,(?:"(?:[^"]|"")*"|[^",\r\n]*))*\r\n/g)) {
    const cells = row[0].slice(0, -2).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g);
    rows.push([...cells].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? ''));
  }
  expect(rows.map((row) => row.length)).toEqual(rows.map(() => Object.keys(eventSchema.shape).length + 1));
  return rows;
}

test('who is limited to some tenants exports only their lines, and proves or takes nothing of all', async () => {
  await server.call('POST', '/api/instances', { id: 'theirs', tenant: 'globex' });
  const { operations } = server.host;
  const limited = (tenants: string[], role: 'tenant' | 'operator' | 'viewer' = 'operator') => ({
    actor: 'key:limited',
    via: 'api' as const,
    requestId: 'limited',
    role,
    tenants,
    address: '192.0.2.9',
    session: null,
  });
  const tenantsIn = async (pages: AsyncIterable<Event[]>) => {
    const found = new Set<string | null>();
    for await (const page of pages) for (const { tenant } of page) found.add(tenant);
    return [...found].sort();
  };
  expect(await tenantsIn(await operations.exportEvents(limited(['acme'], 'tenant'), { format: 'csv' }))).toEqual([
    'acme',
  ]);
  expect(await tenantsIn(await operations.exportEvents(limited(['acme', 'out']), { format: 'csv' }))).toEqual([
    'acme',
    'out',
  ]);
  expect((await events('type=ledger.exported&limit=2')).map(({ actor, address }) => [actor, address])).toEqual([
    ['key:limited', '192.0.2.9'],
    ['key:limited', '192.0.2.9'],
  ]);
  const foreign = operations.exportEvents(limited(['acme']), { format: 'csv', tenant: 'globex' });
  await expect(foreign).rejects.toMatchObject({ code: 'forbidden' });
  const everyone = limited(['acme']);
  for (const input of [
    () => operations.verifyLedger(everyone),
    () => operations.ledgerHead(everyone),
    () => operations.ledgerSegments(everyone),
    () => operations.exportSegment(everyone, '2025-12'),
    () => operations.exportSegment({ ...everyone, role: 'viewer', tenants: null }, '2025-12'),
  ]) {
    await expect(input()).rejects.toMatchObject({ code: 'forbidden' });
  }
  expect((await operations.verifyLedger({ ...everyone, role: 'viewer', tenants: null })).ok).toBe(true);
});

test('the console’s own route streams an export as the other does', async () => {
  const url = `${server.url}/api/events/export?format=csv&tenant=out&type=instance.created`;
  const headers = { authorization: `Bearer ${TEST_KEY}` };
  const answer = await answerWeb(server.host.dispatcher, new Request(url, { headers }));
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect((await answer.text()).split('\r\n')).toHaveLength(7);
});

test('the head is signed and follows the ledger; the verification reports its end', async () => {
  const { json } = await server.call('GET', '/api/events/head');
  const head = ledgerHeadSchema.parse(json);
  const issuer = issuerOf(server.folder) ?? '';
  expect(isSigned(head, [issuer])).toBe(true);
  expect(head.seq).toBe((await events('limit=1'))[0]?.seq);
  const proof = ledgerProofSchema.parse((await server.call('GET', '/api/events/verify')).json);
  expect(proof).toMatchObject({ ok: true, flaw: null, lines: head.seq, last_seq: head.seq, last_hash: head.hash });
});

test('a registry in memory has a chain and a head as well', async () => {
  const other = await startServer({ settings: { WB_REGISTRY: ':memory:' } });
  try {
    await other.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
    expect((await other.call('GET', '/api/events/head')).json).toMatchObject({ seq: 1 });
    expect((await other.call('GET', '/api/events/verify')).json).toMatchObject({ ok: true, lines: 1 });
  } finally {
    await other.stop();
  }
});

test('a line changed behind the server is found by the button', async () => {
  const change = (actor: string) =>
    tamper(server.folder, 'events', `UPDATE events SET actor = '${actor}' WHERE seq = 2`);
  const sql = await sqlOfTests(server.folder);
  const [before] = await sql.ask('SELECT actor FROM events WHERE seq = 2');
  await sql.close();
  await change('user:innocent');
  const { status, json } = await server.call('GET', '/api/events/verify');
  expect(status).toBe(200);
  expect(json).toMatchObject({ ok: false, flaw: { seq: 2 } });
  await change(String(before?.actor));
  expect((await server.call('GET', '/api/events/verify')).json.ok).toBe(true);
});

test('a month is sealed, taken as a file that proves itself, and dropped only after that and its time', async () => {
  // Its clock goes months ahead, which would drop the lines of the other tests.
  const later = await startServer({ settings: { WB_LEDGER_KEEP_DAYS: '30' } });
  onTestFinished(() => later.stop());
  await later.call('POST', '/api/instances', { id: 'told', tenant: 'acme' });
  const events = async (query: string) => (await later.call<Event[]>('GET', `/api/events?${query}`)).json;
  const segments = async () => (await later.call<LedgerSegment[]>('GET', '/api/events/segments')).json;
  expect(await segments()).toEqual([]);
  expect((await later.call('GET', '/api/events/segments/2025-12')).status).toBe(404);
  expect((await later.call('GET', '/api/events/segments/december')).status).toBe(422);
  later.clock.advance(40 * 86_400);
  await later.host.ledger.tick();
  const [sealed] = await segments();
  expect(ledgerSegmentSchema.strict().parse(sealed)).toMatchObject({ id: '2025-12', exported: null, dropped: null });

  later.clock.advance(60 * 86_400);
  await later.host.ledger.tick();
  expect((await segments()).map(({ id, dropped }) => [id, dropped])).toEqual([
    ['2025-12', null],
    ['2026-01', null],
  ]);
  expect((await later.call('HEAD', '/api/events/segments/2025-12')).status).toBe(200);
  expect((await segments())[0]?.exported).toBeNull();
  const file = await later.call('GET', '/api/events/segments/2025-12');
  expect(file.headers['content-disposition']).toBe('attachment; filename="winterdock-ledger-2025-12.jsonl"');
  const texts = file.text.split('\n');
  async function* lines() {
    yield* texts;
  }
  expect(await verifySegmentFile(lines(), [issuerOf(later.folder) ?? ''])).toMatchObject({
    flaw: null,
    lines: sealed?.lines,
    head: sealed?.head,
  });
  expect((await segments())[0]?.exported).toBe(Math.floor(later.host.clock.now() / 1000));
  expect((await events('type=ledger.exported'))[0]).toMatchObject({
    reason: 'the segment 2025-12',
    actor: 'key:admin',
  });

  await later.host.ledger.tick();
  const [dropped, kept] = await segments();
  expect(dropped?.dropped).not.toBeNull();
  expect(kept?.dropped).toBeNull();
  expect((await later.call('GET', '/api/events/segments/2025-12')).status).toBe(410);
  expect(await events('instance=told')).toEqual([]);
  const proof = ledgerProofSchema.parse((await later.call('GET', '/api/events/verify')).json);
  expect(proof).toMatchObject({ ok: true, dropped: sealed?.lines, segments: 2 });
});
