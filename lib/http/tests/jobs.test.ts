import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { DryRun, Instance, Job, JobResult, Plan } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let folder: string;
let server: TestServer;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-jobs-'));
  server = await startServer({ folder, settings: { WB_POOL: '0' } });
});
afterEach(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function make(id: string, state: 'created' | 'active' | 'suspended' | 'frozen' | 'archived', tenant = 'acme') {
  const made = await server.call('POST', '/api/instances', { id, tenant });
  expect([id, made.status]).toEqual([id, 201]);
  if (state === 'created') return;
  await server.call('PUT', `/api/instances/${id}/volumes/tmp/scratch`, 'to be lost');
  if (state === 'active') return;
  const moved = await server.call('POST', `/api/instances/${id}/plan`, { to: state });
  expect([id, moved.status, moved.text]).toEqual([id, 200, moved.text]);
}

const stateOf = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json.state;
const start = async (body: object) => {
  const answer = await server.call<{ id: string }>('POST', '/api/jobs', body);
  expect([answer.status, answer.status === 202 ? '' : answer.text]).toEqual([202, '']);
  return answer.json.id;
};
const job = async (id: string) => (await server.call<Job>('GET', `/api/jobs/${id}`)).json;
const ended = async (id: string) => {
  await expect.poll(async () => (await job(id)).state).not.toBe('running');
  return job(id);
};

test('a plan shows its hops and what they cost, and runs without a process where it passes through active', async () => {
  await make('a', 'suspended');
  const plan = await server.call<Plan>('GET', '/api/instances/a/plan?to=deleted');
  expect(plan.json).toMatchObject({
    from: 'suspended',
    hops: [
      { from: 'suspended', to: 'active', verb: 'resume', passing: true },
      { from: 'active', to: 'archived', verb: 'archive', passing: false },
      { from: 'archived', to: 'deleted', verb: 'delete', passing: false },
    ],
    losses: [{ loss: 'everything' }],
    refusal: null,
  });
  const freeze = await server.call<Plan>('GET', '/api/instances/a/plan?to=frozen');
  expect(freeze.json).toMatchObject({ losses: [{ loss: 'tmp' }], tmp: { files: 1, bytes: 10 } });
  expect((await server.call<Plan>('GET', '/api/instances/a/plan?to=created')).json).toMatchObject({
    hops: [],
    refusal: 'Nothing goes back to created.',
  });
  const moved = await server.call<Instance>('POST', '/api/instances/a/plan', { to: 'deleted', reason: 'ticket 7' });
  expect([moved.status, moved.json.state]).toEqual([200, 'deleted']);
  const events = await server.call<{ from: string; to: string; trigger: string; reason: string }[]>(
    'GET',
    '/api/events?instance=a&type=transition&limit=3',
  );
  expect(events.json.map(({ from, to, trigger, reason }) => [from, to, trigger, reason])).toEqual([
    ['archived', 'deleted', 'plan', 'ticket 7'],
    ['active', 'archived', 'plan', 'ticket 7'],
    ['suspended', 'active', 'plan', 'ticket 7'],
  ]);
});

test('a clone that was never resumed is archived with what it was made from, and deleted without a process', async () => {
  await make('source', 'active');
  await server.call('PUT', '/api/instances/source/volumes/workspace/note', 'of the source');
  const taken = await server.call<{ id: string }>('POST', '/api/instances/source/snapshots', {});
  const made = await server.call<Instance[]>('POST', `/api/snapshots/${taken.json.id}/restore`, { count: 3 });
  const [one, two, three] = made.json.map(({ id }) => id);
  const running = server.host.pool.active;
  expect((await server.call('POST', `/api/instances/${one}/plan`, { to: 'archived' })).status).toBe(200);
  expect((await server.call('GET', `/api/instances/${one}/volumes/workspace/note`)).text).toBe('of the source');
  expect((await server.call('POST', `/api/instances/${two}/plan`, { to: 'deleted' })).status).toBe(200);
  expect((await server.call('POST', `/api/instances/${three}/plan`, { to: 'suspended' })).status).toBe(200);
  expect((await server.call('GET', `/api/instances/${three}/volumes/workspace/note`)).text).toBe('of the source');
  expect(server.host.pool.active).toBe(running);
  expect((await server.call('DELETE', `/api/snapshots/${taken.json.id}`)).status).toBe(204);
  expect((await server.call('POST', `/api/instances/${one}/revive`, { reason: 'wanted' })).status).toBe(200);
  expect((await server.call('GET', `/api/instances/${one}/volumes/workspace/note`)).text).toBe('of the source');
});

test('a dry run says how many, by which hops, at what cost, and why others are passed over', async () => {
  await make('n', 'created');
  await make('s', 'suspended');
  await make('f', 'frozen');
  await make('r', 'archived');
  await make('other', 'suspended', 'globex');
  const dry = await server.call<DryRun>('POST', '/api/jobs', {
    verb: 'archive',
    filter: { tenant: 'acme' },
    dry_run: true,
  });
  expect(dry.status).toBe(200);
  expect(dry.json).toMatchObject({ matched: 4, will: 3, skip: [{ reason: 'It is archived already.', count: 1 }] });
  expect(dry.json.plans).toEqual(
    expect.arrayContaining([
      { from: 'suspended', hops: ['active', 'archived'], count: 1 },
      { from: 'frozen', hops: ['archived'], count: 1 },
    ]),
  );
  expect(dry.json.losses).toMatchObject([{ loss: 'tmp', count: 2 }]);
  const suspending = await server.call<DryRun>('POST', '/api/jobs', {
    verb: 'suspend',
    ids: ['s', 'f', 'r', 'x'],
    dry_run: true,
  });
  expect(suspending.json).toMatchObject({ matched: 4, will: 0 });
  expect(suspending.json.skip).toContainEqual({ reason: 'There is no such sandbox.', count: 1 });
  expect((await server.call<Job[]>('GET', '/api/jobs')).json).toEqual([]);
  for (const wrong of [
    { verb: 'suspend' },
    { verb: 'label', ids: ['s'] },
    { verb: 'suspend', ids: ['s'], filter: {} },
  ]) {
    expect((await server.call('POST', '/api/jobs', wrong)).status).toBe(422);
  }
});

test('what somebody has a terminal open in is set apart, and moved only when it is included', async () => {
  for (const id of ['seen', 'unseen']) await server.call('POST', '/api/instances', { id, tenant: 'shown' });
  for (const id of ['seen', 'unseen']) await server.call('POST', `/api/instances/${id}/exec`, { command: 'true' });
  await server.call('PUT', '/api/instances/seen/attachments/tab-1');
  const input = { verb: 'suspend', filter: { tenant: 'shown' } };
  const { json: dry } = await server.call<DryRun>('POST', '/api/jobs', { ...input, dry_run: true });
  expect(dry).toMatchObject({
    matched: 2,
    will: 1,
    held: [{ hold: 'attached', words: 'Somebody has a terminal open in it.', count: 1 }],
  });
  const stateOf = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json.state;
  const run = async (more: object) => {
    const { json } = await server.call<{ id: string }>('POST', '/api/jobs', { ...input, ...more });
    await expect
      .poll(async () => (await server.call<Job>('GET', `/api/jobs/${json.id}`)).json.state, { timeout: 240_000 })
      .toBe('done');
    return (await server.call<Job>('GET', `/api/jobs/${json.id}`)).json;
  };
  expect(await run({})).toMatchObject({ done: 1, skipped: 1 });
  expect([await stateOf('seen'), await stateOf('unseen')]).toEqual(['active', 'suspended']);
  expect(await run({ include_held: true })).toMatchObject({ done: 1, failed: 0 });
  expect(await stateOf('seen')).toBe('suspended');
});

test('what is kept hot or held is set apart, and moved only when it is included', async () => {
  for (const id of ['plain', 'hot', 'held', 'was-held']) await make(id, 'active');
  await make('asleep', 'frozen');
  const soon = Math.floor(server.host.clock.now() / 1000) + 3600;
  const keep = (id: string, patch: object) => server.call('PATCH', `/api/instances/${id}`, patch);
  await keep('hot', { keep_hot: true, name: 'the hot one' });
  await keep('held', { hold_until: soon });
  await keep('was-held', { hold_until: 1 });
  await keep('asleep', { keep_hot: true });
  const freeze = { verb: 'freeze', filter: { tenant: 'acme' } };
  const dry = (await server.call<DryRun>('POST', '/api/jobs', { ...freeze, dry_run: true })).json;
  expect(dry).toMatchObject({ matched: 5, will: 2, skip: [{ reason: 'It is frozen already.', count: 1 }] });
  expect(dry.held).toEqual(
    expect.arrayContaining([
      { hold: 'kept_hot', words: 'It is kept hot.', count: 1 },
      { hold: 'held', words: 'It is held.', count: 1 },
    ]),
  );
  expect(dry.rows.map(({ id, outcome }) => `${outcome} ${id}`).sort()).toEqual([
    'held held',
    'held hot',
    'skip asleep',
    'will plain',
    'will was-held',
  ]);
  expect(dry.rows.find(({ id }) => id === 'hot')).toEqual({
    ...{ id: 'hot', tenant: 'acme', name: 'the hot one', state: 'active', outcome: 'held' },
    ...{ hops: ['suspended', 'frozen'], hold: 'kept_hot', reason: 'It is kept hot.' },
  });
  const all = (await server.call<DryRun>('POST', '/api/jobs', { ...freeze, include_held: true, dry_run: true })).json;
  expect(all).toMatchObject({ matched: 5, will: 4, held: [] });
  const waking = { verb: 'resume', ids: ['asleep'], dry_run: true };
  expect((await server.call<DryRun>('POST', '/api/jobs', waking)).json).toMatchObject({ will: 1, held: [] });

  const without = await ended(await start(freeze));
  expect(without).toMatchObject({ done: 2, skipped: 3, include_held: false });
  expect([await stateOf('plain'), await stateOf('hot'), await stateOf('held')]).toEqual(['frozen', 'active', 'active']);
  const skipped = await server.call<JobResult[]>('GET', `/api/jobs/${without.id}/results?outcome=skipped`);
  expect(skipped.json.map(({ instance, reason }) => [instance, reason])).toContainEqual(['hot', 'It is kept hot.']);
  const included = await ended(await start({ ...freeze, include_held: true }));
  expect(included).toMatchObject({ done: 2, include_held: true });
  expect([await stateOf('hot'), await stateOf('held')]).toEqual(['frozen', 'frozen']);
  const [line] = (await server.call<{ request_id: string }[]>('GET', '/api/instances/hot/events?type=transition')).json;
  expect(line?.request_id).toBe(included.id);
});

test('an idle filter chooses by the time at which the job starts', async () => {
  await make('old', 'created');
  await make('new', 'created');
  await server.host.registry.instances.touch([
    { id: 'new', updated: Math.floor(server.host.clock.now() / 1000) + 100 },
  ]);
  const verb = { verb: 'archive', dry_run: true };
  const idle = async (filter: object) => (await server.call<DryRun>('POST', '/api/jobs', { ...verb, filter })).json;
  expect((await idle({ idle_under: 0 })).rows.map(({ id }) => id)).toContain('new');
  expect((await idle({ idle_over: 1_000_000 })).matched).toBe(0);
  expect((await server.call('POST', '/api/jobs', { ...verb, filter: { idle_over: '1h' } })).status).toBe(422);
});

test('a job deletes from every state, tells each result with its reason, and the ledger knows whose it was', async () => {
  await make('n', 'created');
  await make('h', 'active');
  await make('s', 'suspended');
  await make('f', 'frozen');
  await make('r', 'archived');
  const id = await start({ verb: 'delete', ids: ['n', 'h', 's', 'f', 'r', 'none'], reason: 'the end' });
  const done = await ended(id);
  expect(done).toMatchObject({
    state: 'done',
    chosen: 6,
    done: 5,
    failed: 0,
    skipped: 1,
    reason: 'the end',
    filter: null,
  });
  for (const one of ['n', 'h', 's', 'f', 'r'])
    expect((await server.call('GET', `/api/instances/${one}`)).status).toBe(410);
  const results = await server.call<JobResult[]>('GET', `/api/jobs/${id}/results?limit=4`);
  expect(results.json.map(({ instance, outcome }) => [instance, outcome])).toEqual([
    ['n', 'done'],
    ['h', 'done'],
    ['s', 'done'],
    ['f', 'done'],
  ]);
  expect(results.headers.link).toContain('cursor=');
  const skipped = await server.call<JobResult[]>('GET', `/api/jobs/${id}/results?outcome=skipped`);
  expect(skipped.json).toMatchObject([{ instance: null, reason: 'There is no sandbox "none".' }]);
  const lines = await server.call<{ type: string; trigger: string; request_id: string; actor: string; to: string }[]>(
    'GET',
    '/api/events?limit=500',
  );
  const ofJob = lines.json.filter(({ request_id }) => request_id === id);
  expect(
    ofJob
      .filter(({ to }) => to === 'deleted')
      .map(({ trigger }) => trigger)
      .sort(),
  ).toEqual(['operator', 'plan', 'plan', 'plan', 'plan']);
  expect(new Set(ofJob.map(({ actor }) => actor))).toEqual(new Set(['key:admin']));
  expect(ofJob.map(({ type }) => type)).toContain('job.done');
});

test('the line that a job was started is under the id of the request for it, and names the job', async () => {
  await make('one-of-it', 'created');
  const headers = { 'x-request-id': 'for-a-job' };
  const job = { verb: 'archive', ids: ['one-of-it'] };
  const { json, ...answer } = await server.call<{ id: string }>('POST', '/api/jobs', job, { headers });
  expect(answer.headers['x-request-id']).toBe('for-a-job');
  await ended(json.id);
  const { json: lines } = await server.call<{ type: string; request_id: string; reason: string }[]>(
    'GET',
    '/api/events',
  );
  const ofRequest = lines.filter(({ request_id }) => request_id === 'for-a-job');
  expect(ofRequest).toMatchObject([{ type: 'job.started', reason: `archive: 1 chosen, job ${json.id}` }]);
  expect(lines.filter(({ request_id }) => request_id === json.id).map(({ type }) => type)).toContain('job.done');
});

test('a job of a tenant’s key reaches its tenant only, and another’s job is not found by it', async () => {
  await make('mine', 'created');
  await make('yours', 'created', 'globex');
  const keyInput = { name: 'of acme', role: 'tenant', tenant: 'acme' };
  const { key } = (await server.call<{ key: string }>('POST', '/api/keys', keyInput)).json;
  const own = await server.call<{ id: string }>('POST', '/api/jobs', { verb: 'archive', filter: {} }, { key });
  expect(await ended(own.json.id)).toMatchObject({ chosen: 1, done: 1 });
  expect([await stateOf('mine'), await stateOf('yours')]).toEqual(['archived', 'created']);
  const named = await server.call<DryRun>(
    'POST',
    '/api/jobs',
    { verb: 'delete', ids: ['yours', 'none'], dry_run: true },
    { key },
  );
  expect(named.json).toMatchObject({ will: 0, skip: [{ reason: 'There is no such sandbox.', count: 2 }] });
  const foreign = { verb: 'delete', filter: { tenant: 'globex' }, dry_run: true };
  expect((await server.call('POST', '/api/jobs', foreign, { key })).status).toBe(403);

  const everybody = await start({ verb: 'label', filter: {}, labels: { seen: 'yes' } });
  const ofAcme = await start({ verb: 'label', filter: { tenant: 'acme' }, labels: { seen: 'again' } });
  const listed = (await server.call<Job[]>('GET', '/api/jobs', undefined, { key })).json.map(({ id }) => id);
  expect(listed).toEqual([ofAcme, own.json.id]);
  for (const path of [`/api/jobs/${everybody}`, `/api/jobs/${everybody}/results`]) {
    expect((await server.call('GET', path, undefined, { key })).status).toBe(404);
  }
  expect((await server.call('DELETE', `/api/jobs/${everybody}`, undefined, { key })).status).toBe(404);
});

test('labels are set and taken away on everything that matches', async () => {
  for (const id of ['a', 'b'])
    await server.call('POST', '/api/instances', { id, tenant: 'acme', labels: { env: 'old', x: '1' } });
  await make('c', 'created');
  const id = await start({ verb: 'label', filter: { label: 'env:old' }, labels: { env: 'new', x: null } });
  expect(await ended(id)).toMatchObject({ chosen: 2, done: 2, filter: { label: 'env:old' } });
  expect((await server.call<Instance>('GET', '/api/instances/a')).json.labels).toEqual({ env: 'new' });
  const again = await start({ verb: 'label', ids: ['a'], labels: { env: 'new' } });
  expect(await ended(again)).toMatchObject({ done: 0, skipped: 1 });
});

test('a label that is set while a job is about to set another stays', async () => {
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme', labels: { env: 'old' } });
  const { registry } = server.host;
  const { get } = registry.instances;
  let raced = false;
  registry.instances.get = async (id) => {
    const row = await get(id);
    if (!raced && id === 'a') {
      raced = true;
      const patched = await server.call('PATCH', '/api/instances/a', { labels: { env: 'old', mine: 'kept' } });
      expect(patched.status).toBe(200);
    }
    return row;
  };
  expect(await ended(await start({ verb: 'label', ids: ['a'], labels: { env: 'new' } }))).toMatchObject({ done: 1 });
  expect((await server.call<Instance>('GET', '/api/instances/a')).json.labels).toEqual({ env: 'new', mine: 'kept' });
});

test('a job leaves the last places for processes to people', async () => {
  await server.stop();
  server = await startServer({ folder, settings: { WB_MAX_ACTIVE: '3', WB_POOL: '0' } });
  for (const id of ['a', 'b', 'c', 'd']) await make(id, 'created');
  const done = await ended(await start({ verb: 'resume', filter: {} }));
  expect(done).toMatchObject({ done: 2, failed: 2 });
  const failed = await server.call<JobResult[]>('GET', `/api/jobs/${done.id}/results?outcome=failed`);
  expect(failed.json[0]?.reason).toContain('reserved for people');
  expect((await server.call('POST', `/api/instances/${failed.json[0]?.instance}/resume`, {})).status).toBe(200);
});

test('a cancelled job begins no more, and one that has ended stays as it is', async () => {
  const ids = Array.from({ length: 60 }, (_, n) => `c${n}`);
  for (const id of ids) await make(id, 'created');
  const id = await start({ verb: 'archive', ids });
  const cancelled = await server.call<Job>('DELETE', `/api/jobs/${id}`);
  expect([cancelled.status, cancelled.json.state]).toEqual([200, 'cancelled']);
  const after = await job(id);
  expect(after.done).toBeLessThan(60);
  const archived = await server.call('GET', '/api/instances?state=archived&limit=500');
  expect(Number(archived.headers['x-total-count'])).toBe(after.done);
  expect((await server.call<Job>('DELETE', `/api/jobs/${id}`)).json).toEqual(after);
});

test('a job continues where the server stopped, and does nothing twice', async () => {
  const ids = Array.from({ length: 40 }, (_, n) => `j${n}`);
  for (const id of ids) await make(id, 'created');
  const id = await start({ verb: 'archive', ids });
  await expect.poll(async () => (await job(id)).done, { interval: 5 }).toBeGreaterThan(0);
  await server.stop();
  server = await startServer({ folder, settings: { WB_POOL: '0' } });
  const done = await ended(id);
  expect(done).toMatchObject({ state: 'done', chosen: 40, done: 40, failed: 0, skipped: 0 });
  for (const one of ids) expect(await stateOf(one)).toBe('archived');
  const lines = await server.call('GET', '/api/events?type=transition&limit=500');
  expect(lines.json).toHaveLength(80);
});

test('what moved between its choice and its turn is looked at again, never dragged back', async () => {
  await make('a', 'active');
  const { host } = server;
  const runPlan = host.sandboxes.runPlan;
  let raced = false;
  host.sandboxes.runPlan = async (id, to, cause, options) => {
    if (!raced) {
      raced = true;
      await runPlan(id, 'frozen', cause);
    }
    return runPlan(id, to, cause, options);
  };
  const done = await ended(await start({ verb: 'suspend', ids: ['a'] }));
  expect(done).toMatchObject({ done: 0, skipped: 1 });
  expect(await stateOf('a')).toBe('frozen');
});
