import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type {
  Event,
  ForgettingStarted,
  Job,
  JobResult,
  LedgerProof,
  Person,
  Tenant,
  TenantForgetPlan,
} from '../../contract/schema.ts';
import { examine } from '../../doctor/examine.ts';
import {
  filesWith,
  leaveFiles,
  makePeople,
  makeTenant,
  thingsOf,
  WORD,
  wordsIndexed,
} from '../../jobs/testing/tenant.ts';
import { driverOfTests, onPostgres } from '../../registry/testing/registry-of-tests.ts';
import { createDiskDrawers } from '../../storage/disk.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let folder: string;
let server: TestServer & { clock: FakeClock };
const NOTHING_STORED = { objects: 0, remain_until: null };
const settings = { WB_SESSION_API: 'on', WB_POOL: '1', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0' };
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-forget-'));
  server = await startServer({ folder, settings });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const forget = (tenant: string, body: object) =>
  server.call<ForgettingStarted>('DELETE', `/api/tenants/${tenant}`, body);
const plan = async (tenant: string) =>
  (await server.call<TenantForgetPlan>('DELETE', `/api/tenants/${tenant}`, { dry_run: true })).json;
const job = async (id: string) => (await server.call<Job>('GET', `/api/jobs/${id}`)).json;
const ended = async (id: string) => {
  await expect.poll(async () => (await job(id)).state).toBe('done');
  return job(id);
};
const proof = async () => (await server.call<LedgerProof>('GET', '/api/events/verify')).json;

test('a tenant is forgotten: no file holds its word, others have what they had, and the ledger is proved', async () => {
  const { key } = await makeTenant(server.call, 'acme', WORD);
  const files = [{ path: `${WORD}.md`, content: Buffer.from(WORD).toString('base64') }];
  const agent = { name: WORD, description: WORD, model: WORD, env: { IT: WORD }, files };
  expect((await server.call('POST', '/api/agents', agent, { key })).status).toBe(201);
  await makeTenant(server.call, 'globex', 'granite');
  const cookie = await makePeople(server.host.auth, server.call, 'acme', WORD);
  const mixed = { verb: 'label', reason: 'of both', ids: ['acme-frozen', 'globex-frozen'], labels: { both: 'yes' } };
  await ended((await server.call<{ id: string }>('POST', '/api/jobs', mixed)).json.id);
  // A month of it is sealed and was exported, another is not.
  server.clock.advance(40 * 86_400);
  expect((await server.host.ledger.tick()).sealed).not.toEqual([]);
  const month = (await server.call<{ id: string }[]>('GET', '/api/events/segments')).json[0]?.id;
  expect((await server.call('GET', `/api/events/segments/${month}`)).text).toContain(WORD);
  await server.call('POST', '/api/instances/acme-suspended/plan', { to: 'frozen', reason: `${WORD} again` });
  leaveFiles(folder, 'acme', WORD);
  // What is damaged or lost goes as well.
  for (const id of ['acme-lost', 'acme-rotten']) {
    await server.call('POST', '/api/instances', { id, tenant: 'acme', name: `${WORD} ${id}` });
    await server.call('PUT', `/api/instances/${id}/volumes/workspace/a.txt`, WORD);
    await server.call('POST', `/api/instances/${id}/plan`, { to: 'frozen' });
  }
  rmSync(join(folder, 'cold', 'acme-lost.sqlite'));
  writeFileSync(join(folder, 'cold', 'acme-rotten.sqlite'), `not a database, but ${WORD}`);
  for (const id of ['acme-lost', 'acme-rotten']) await server.call('POST', `/api/instances/${id}/resume`, {});
  expect((await server.call('GET', '/api/instances/acme-rotten')).json.fault).toBe('corrupt');
  const head = (await server.call('GET', '/api/events/head')).json;
  const before = await thingsOf(folder, 'globex');
  expect(filesWith(folder, WORD).length).toBeGreaterThan(15);
  expect(await wordsIndexed(folder, WORD)).not.toEqual([]);

  const dry = await plan('acme');
  expect(dry).toMatchObject({
    sandboxes: { created: 2, active: 1, suspended: 0, frozen: 4, archived: 1, deleted: 0 },
    kept: [{ id: 'acme-active', state: 'active', why: 'keep_hot' }],
    kept_count: 1,
    snapshots: 3,
    blueprints: [`${WORD}-base`],
    shares: 1,
    keys: 1,
    people: 1,
    sessions: 1,
    limited: 1,
    invitations: 2,
    jobs: 2,
    orphans: 6,
    doubtful: [],
    registry_copies: onPostgres() ? [] : ['registry.sqlite.before-9'],
    backups: [],
  });
  expect(dry.lines).toBeGreaterThan(20);
  expect((await forget('acme', {})).status).toBe(422);
  expect((await forget('acme', { confirm: 'globex' })).json).toMatchObject({ code: 'validation' });
  expect((await forget('nobody', { dry_run: true })).status).toBe(404);
  expect(await thingsOf(folder, 'globex')).toEqual(before);

  const started = await forget('acme', { confirm: 'acme' });
  expect([started.status, started.headers.location]).toEqual([202, `/api/jobs/${started.json.id}`]);
  const done = await ended(started.json.id);
  expect(done).toMatchObject({ verb: 'forget', filter: { tenant: 'acme' }, failed: 0, skipped: 0, chosen: done.done });

  expect(filesWith(folder, WORD)).toEqual([]);
  expect(await wordsIndexed(folder, WORD)).toEqual([]);
  // Its key, its people and its sessions are nobody's.
  expect((await server.call('GET', '/api/me', undefined, { key })).status).toBe(401);
  expect((await server.call('GET', '/api/me', undefined, { key: null, headers: { cookie } })).status).toBe(401);
  const people = (await server.call<Person[]>('GET', '/api/people')).json;
  expect(people.map(({ email, tenants }) => [email, tenants])).toEqual([['both-acme@example.com', ['globex']]]);
  // What is another tenant's is as it was, byte for byte.
  expect(await thingsOf(folder, 'globex')).toEqual(before);
  expect((await server.call('GET', '/api/instances/globex-archived/volumes/workspace/granite.txt')).status).toBe(200);
  // The ledger keeps the ids, goes through the head that was kept elsewhere, and says what went.
  expect(await proof()).toMatchObject({ ok: true, flaw: null });
  const lines = (await server.call<Event[]>('GET', '/api/events?tenant=acme&limit=500')).json;
  expect(lines.filter(({ instance }) => instance === 'acme-frozen').length).toBeGreaterThan(3);
  expect(lines.find(({ type }) => type === 'tenant.forgotten')?.reason).toMatch(
    /sandboxes 8,.* \d+ lines of the ledger blanked/,
  );
  const chain = await server.host.registry.ledger.chain(Number(head.seq) - 1, 1);
  expect(chain[0]?.hash).toBe(head.hash);
  const { text } = await server.call('GET', `/api/events/segments/${month}`);
  expect([text.includes(WORD), text.includes('"blanked":{')]).toEqual([false, true]);
  const results = (await server.call<JobResult[]>('GET', `/api/jobs/${done.id}/results?limit=500`)).json;
  expect(results.filter(({ instance }) => instance === null).map(({ reason }) => reason)).toHaveLength(8);
  expect((await server.call<Tenant>('GET', '/api/tenants/acme')).json).toMatchObject({
    counts: { created: 0, active: 0, deleted: 10 },
    quotas: { max_sandboxes: { limit: null } },
    forgetting: { job: done.id },
  });
  if (!onPostgres()) expect(statSync(join(folder, 'registry.sqlite-wal')).size).toBeLessThan(200_000);

  const listed = async () => (await server.call<Tenant[]>('GET', '/api/tenants')).json.map(({ tenant }) => tenant);
  expect(await listed()).toEqual(['globex']);
  expect(await proof()).toMatchObject({ blanked: expect.any(Number) });

  // The name is free again, the ids are not, and it may be forgotten again.
  expect((await server.call('POST', '/api/instances', { id: 'acme-frozen', tenant: 'acme' })).status).toBe(409);
  await makeTenant(server.call, 'acme2', `${WORD}z`);
  await ended((await forget('acme2', { confirm: 'acme2' })).json.id);
  await ended((await forget('acme', { confirm: 'acme' })).json.id);
  expect(filesWith(folder, WORD)).toEqual([]);
  expect(await proof()).toMatchObject({ ok: true, flaw: null });

  await server.stop();
  const { findings } = await examine({
    location: {
      dataFolder: folder,
      driver: driverOfTests(folder),
      keysFolder: folder,
      drawers: createDiskDrawers(folder),
    },
    readers: null,
  });
  expect(findings.filter(({ weight }) => weight === 'wrong')).toEqual([]);
  expect(filesWith(folder, WORD)).toEqual([]);
  expect(existsSync(join(folder, 'registry.sqlite.before-9'))).toBe(false);
});

test('what still holds a tenant is said before and when it begins: backups since it had something, folders of a restore', async () => {
  const made = (reason: string) =>
    server.host.registry.ledger.append([
      {
        timeMs: server.clock.now(),
        instance: null,
        tenant: null,
        type: 'backup.made',
        from: null,
        to: null,
        trigger: 'operator',
        actor: 'system',
        via: 'cli',
        source: null,
        tookMs: null,
        reason,
        error: null,
        requestId: null,
        address: null,
      },
    ]);
  await made('backup-of-before: 0 sandboxes');
  server.clock.advance(3600);
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  server.clock.advance(3600);
  await made('backup-with-it: 1 sandboxes');
  const time = Math.floor(server.clock.now() / 1000);
  const last = { time, sandboxes: 1, bytes: 1, keys: false, wrong: 0, to: 'elsewhere' };
  await server.host.registry.facts.write('backup', last, time);
  const aside = join(folder, 'replaced-2026-01-01T000000.000Z');
  mkdirSync(aside);
  const holds = {
    backups: [{ id: 'backup-with-it', time, to: 'elsewhere', gone_by: null }],
    set_aside: [aside],
    store: NOTHING_STORED,
    registry_moments_end: false,
  };
  expect(await plan('acme')).toMatchObject(holds);
  const started = await forget('acme', { confirm: 'acme' });
  expect(started.json).toEqual({ id: started.json.id, ...holds });
  await ended(started.json.id);
  expect(existsSync(aside)).toBe(true);
});
