import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Job } from '../../contract/schema/jobs.ts';
import { filesWith, WORD } from '../../jobs/testing/tenant.ts';
import type { State } from '../../lifecycle/state-map.ts';
import type { BlockingFault } from '../../lifecycle/ways-out.ts';
import { plant } from '../../testing/faulted.ts';
import { invited, PASSWORD, visitor } from '../../testing/people.ts';
import { startServer, type TestServer } from '../../testing/server.ts';
import { ROUTES } from '../routes.ts';

const TIMES = 25;

let server: TestServer;
let whole: string;
beforeAll(async () => {
  server = await startServer({ settings: { WB_POOL: '0', WB_MAX_ACTIVE: '1' } });
  await server.call('POST', '/api/instances', { id: 'model', tenant: 'acme' });
  await server.call('PUT', '/api/instances/model/volumes/workspace/kept', 'the work');
  await server.call('POST', '/api/instances/model/suspend');
  whole = join(server.folder, 'whole.sqlite');
  copyFileSync(join(server.folder, 'live/model/vfs.sqlite'), whole);
});
afterAll(() => server.stop());

type Line = { type: string; actor: string; reason: string | null; error: string | null; instance: string | null };
const linesAfter = async (seq: number) => (await server.host.registry.ledger.after(seq, 1000)) as Line[];
const lastSeq = async () => server.host.registry.ledger.lastSeq();
const sumUp = () => server.host.registry.ledger.appendRepeatCounts(server.host.clock.now(), { all: true });
const planted = (id: string, state: 'suspended' | 'frozen' | 'archived', fault: BlockingFault | null) =>
  plant(server.host, whole, { id, state, fault });

/** Asks for the same so often. Gives the lines that it left, before and after what repeats was summed up. */
async function again(ask: () => Promise<{ status: number }>): Promise<{ lines: Line[]; statuses: Set<number> }> {
  const before = await lastSeq();
  const statuses = new Set<number>();
  for (let n = 0; n < TIMES; n += 1) statuses.add((await ask()).status);
  const [first, ...more] = await linesAfter(before);
  expect(more.map(({ type }) => type)).toEqual([]);
  await sumUp();
  return { lines: first === undefined ? [] : await linesAfter(before), statuses };
}

const REFUSED: [
  string,
  'suspended' | 'frozen' | 'archived',
  BlockingFault | null,
  (at: string) => Parameters<TestServer['call']>,
][] = [
  ['exec of a corrupt one', 'suspended', 'corrupt', (at) => ['POST', `${at}/exec`, { command: 'true' }]],
  ['exec of a missing one', 'frozen', 'missing', (at) => ['POST', `${at}/exec`, { command: 'true' }]],
  ['a write to one of unknown state', 'frozen', 'unknown', (at) => ['PUT', `${at}/volumes/workspace/a`, 'text']],
  ['exec of an archived one', 'archived', null, (at) => ['POST', `${at}/exec`, { command: 'true' }]],
  ['resume of a missing one', 'archived', 'missing', (at) => ['POST', `${at}/revive`, {}]],
  ['resume of a corrupt one', 'suspended', 'corrupt', (at) => ['POST', `${at}/resume`, {}]],
  ['a verb that its state has no way for', 'suspended', null, (at) => ['POST', `${at}/archive`, {}]],
  ['a verb while it is corrupt', 'suspended', 'corrupt', (at) => ['POST', `${at}/freeze`, {}]],
  ['a plan that no way leads to', 'suspended', null, (at) => ['POST', `${at}/plan`, { to: 'created' }]],
  ['a plan through a fault', 'frozen', 'corrupt', (at) => ['POST', `${at}/plan`, { to: 'active' }]],
];

test.each(REFUSED)(
  '%s, refused again and again, leaves its first line and one sum',
  async (what, state, fault, ask) => {
    const id = what.replace(/\W+/g, '-');
    await planted(id, state as Exclude<State, 'created'> & typeof state, fault);
    const { lines, statuses } = await again(() => server.call(...ask(`/api/instances/${id}`)));
    expect([...statuses].every((status) => status >= 400 && status < 500)).toBe(true);
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({ actor: 'key:admin', instance: id, reason: null, error: expect.any(String) });
    expect(lines[1]).toMatchObject({ type: lines[0]?.type, actor: 'key:admin', instance: id, error: lines[0]?.error });
    expect(lines[1]?.reason).toMatch(new RegExp(`^${TIMES - 1} more times since .*, the last at .*Z$`));
    // Where people look for it: on the page of the sandbox and in the ledger, by the same filters as the first.
    const seen = await server.call<Line[]>('GET', `/api/instances/${id}/events?type=${lines[0]?.type}`);
    expect(seen.json[0]?.reason).toBe(lines[1]?.reason);
  },
);

test('a wake that finds no place or no quota is refused in few lines', async () => {
  await planted('waits', 'suspended', null);
  await server.call('PATCH', '/api/instances/model', { keep_hot: true });
  await server.call('POST', '/api/instances/model/resume', {});
  const full = await again(() => server.call('POST', '/api/instances/waits/exec', { command: 'true' }));
  expect([[...full.statuses], full.lines.length]).toEqual([[503], 2]);
  await server.call('POST', '/api/instances/model/suspend', {});
  await server.call('PATCH', '/api/tenants/acme', { max_active: 0 });
  const over = await again(() => server.call('POST', '/api/instances/waits/resume', {}));
  expect([[...over.statuses], over.lines.length]).toEqual([[429], 2]);
  await server.call('PATCH', '/api/tenants/acme', { max_active: null, max_sandboxes: 0 });
  const made = await again(() => server.call('POST', '/api/instances', { tenant: 'acme' }));
  expect([[...made.statuses], made.lines.length]).toEqual([[429], 2]);
  await server.call('PATCH', '/api/tenants/acme', { max_sandboxes: null });
});

test('a file that turns out to be damaged raises its fault once, and force that fails adds no line each time', async () => {
  const { path } = await planted('rots', 'frozen', null);
  copyFileSync(import.meta.filename, path);
  const before = await lastSeq();
  for (let n = 0; n < TIMES; n += 1) await server.call('POST', '/api/instances/rots/resume', { force: true });
  const types = (await linesAfter(before)).map(({ type }) => type);
  expect(types.filter((type) => type === 'fault.raised')).toHaveLength(1);
  expect(types.length).toBeLessThan(6);
});

test('refused steps of jobs are reported by the job, and write no line for each attempt', async () => {
  for (const id of ['job-1', 'job-2']) await planted(id, 'frozen', 'corrupt');
  await sumUp();
  const before = await lastSeq();
  for (let n = 0; n < 8; n += 1) {
    const input = { verb: 'resume', ids: ['job-1', 'job-2'], reason: 'again' };
    const made = await server.call<{ id: string }>('POST', '/api/jobs', input);
    expect(made.status).toBe(202);
    const job = async () => (await server.call<Job>('GET', `/api/jobs/${made.json.id}`)).json;
    await expect.poll(async () => (await job()).state).not.toBe('running');
    expect((await job()).done).toBe(0);
  }
  await sumUp();
  const lines = await linesAfter(before);
  expect(lines.filter(({ type }) => !type.startsWith('job.')).length).toBeLessThanOrEqual(4);
});

test('requests without a key or with a low role write no more lines the more often they repeat', async () => {
  const viewer = await invited(server.host.auth, 'viewer', { email: 'vi@example.com' });
  const fetchPath = (path: string, init: RequestInit = {}) => fetch(`${server.url}${path}`, init);
  const as = (path: string, init: RequestInit = {}) =>
    fetchPath(path, { ...init, headers: { cookie: viewer, 'sec-fetch-site': 'same-origin', ...init.headers } });
  const { signIns } = server.host.auth;
  const quietly = async (work: Promise<unknown>) => {
    await work.catch(() => null);
    return { status: 400 };
  };
  const ways: Record<string, () => Promise<{ status: number }>> = {
    'no key': () => fetchPath('/api/instances'),
    'a wrong key': () => fetchPath('/api/instances', { headers: { authorization: 'Bearer made-up' } }),
    'an address that is not there': () => fetchPath('/api/nothing'),
    'a body that is none': () => as('/api/instances', { method: 'POST', body: '{' }),
    'another role’s operation': () => as('/api/people'),
    'a sandbox that is not there': () => as('/api/instances/nobody'),
    'a role that may not read': () => as('/api/instances/model/volumes/memory/kept'),
    'an export of the ledger': () => as('/api/events/export?format=jsonl'),
    'an export of what one caller did': () => as('/api/events/export?format=csv&actor=key:admin'),
    'a made-up link': () => quietly(signIns.signIn({ token: 'made-up' }, visitor())),
    'a made-up invitation': () =>
      quietly(signIns.join('made-up', { email: 'e@example.com', name: 'Eve', password: PASSWORD }, visitor())),
    'a wrong admin key': () => quietly(signIns.signIn({ key: 'made-up' }, visitor())),
    'an account that is not there': () =>
      quietly(signIns.signIn({ email: 'no@example.com', password: PASSWORD }, visitor())),
  };
  for (const [what, ask] of Object.entries(ways)) {
    const before = await lastSeq();
    for (let n = 0; n < TIMES; n += 1) await ask();
    await sumUp();
    const left = await linesAfter(before);
    expect(left.length, what).toBeLessThanOrEqual(2);
    if (what.startsWith('an export')) expect(left.map(({ type }) => type)).toEqual(Array(2).fill('ledger.exported'));
  }
});

test('a reader adds nothing to the ledger but refusals and exports, and an anonymous caller nothing', async () => {
  const viewer = await invited(server.host.auth, 'viewer', { email: 'vera@example.com' });
  const looks = ROUTES.filter(({ method, path }) => method === 'GET' && !/stream|follow|changes/.test(path));
  const before = await lastSeq();
  for (const { path, root } of looks) {
    const filled = path.replace(/:\w+/g, 'model').replace('*', 'kept');
    const target = `${server.url}${root ? '' : '/api'}${filled}`;
    for (const headers of [{}, { authorization: 'Bearer made-up' }] as Record<string, string>[]) {
      await (await fetch(target, { headers, signal: AbortSignal.timeout(120_000) })).body?.cancel();
    }
    if (path.endsWith('/events')) continue;
    await (await fetch(target, { headers: { cookie: viewer }, signal: AbortSignal.timeout(120_000) })).body?.cancel();
  }
  expect(looks.length).toBeGreaterThan(30);
  const types = new Set((await linesAfter(before)).map(({ type }) => type));
  expect([...types].filter((type) => type !== 'access.refused' && type !== 'ledger.exported')).toEqual([]);
  const nobody = (await linesAfter(before)).filter(({ actor }) => actor === 'nobody');
  expect(nobody).toEqual([]);
});

test('a stop writes the counts, and the next start counts from zero', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-refusals-'));
  const first = await startServer({ folder, settings: { WB_POOL: '0' } });
  const ask = (at: TestServer) => at.call('POST', '/api/instances/a/suspend', {});
  await first.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  for (let n = 0; n < 5; n += 1) await ask(first);
  await first.stop();
  const second = await startServer({ folder, settings: { WB_POOL: '0' } });
  await ask(second);
  const refusals = await second.call<Line[]>('GET', '/api/instances/a/events?type=suspend.refused');
  expect(refusals.json.map(({ reason }) => reason?.split(' since')[0] ?? null)).toEqual([null, '4 more times', null]);
  await second.stop();
  rmSync(folder, { recursive: true });
});

test('what was counted of a tenant is forgotten with it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-refusals-'));
  const own = await startServer({ folder, settings: { WB_POOL: '0' } });
  await own.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  for (let n = 0; n < 5; n += 1) await own.call('POST', '/api/instances/a/suspend', { reason: WORD });
  const { id } = (await own.call<{ id: string }>('DELETE', '/api/tenants/acme', { confirm: 'acme' })).json;
  const state = async () => (await own.call<Job>('GET', `/api/jobs/${id}`)).json.state;
  await expect.poll(state).toBe('done');
  await own.stop();
  expect(filesWith(folder, WORD)).toEqual([]);
  rmSync(folder, { recursive: true });
});
