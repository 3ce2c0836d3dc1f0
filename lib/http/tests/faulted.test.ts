import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Instance, Plan, SalvageAnswer } from '../../contract/schema.ts';
import { plan } from '../../lifecycle/plan.ts';
import { HOPS, STATES, type State, VERBS } from '../../lifecycle/state-map.ts';
import { type BlockingFault, WAYS_OF, WAYS_OUT, type WayOut, waysOut } from '../../lifecycle/ways-out.ts';
import { AT_REST, type Planted, plant } from '../../testing/faulted.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const FAULTS = Object.keys(WAYS_OF) as BlockingFault[];
const CODE_OF: Readonly<Record<BlockingFault, string>> = {
  unknown: 'unknown_state',
  corrupt: 'corrupt',
  missing: 'missing_file',
};

let server: TestServer;
let whole: string;
let snapshot: string;
let made = 0;
beforeAll(async () => {
  server = await startServer({ settings: { WB_POOL: '0' } });
  await server.call('POST', '/api/instances', { id: 'model', tenant: 'acme' });
  await server.call('PUT', '/api/instances/model/volumes/workspace/kept', 'the work');
  await server.call('PUT', '/api/instances/model/volumes/memory/kept', 'the memory');
  snapshot = (await server.call<{ id: string }>('POST', '/api/instances/model/snapshots', {})).json.id;
  await server.call('POST', '/api/instances/model/suspend');
  whole = join(server.folder, 'whole.sqlite');
  copyFileSync(join(server.folder, 'live/model/vfs.sqlite'), whole);
});
afterAll(() => server.stop());

type AtRest = (typeof AT_REST)[number];

function planted(state: AtRest, fault: BlockingFault | null): Promise<Planted> {
  made += 1;
  return plant(server.host, whole, { id: `${fault}-${state}-${made}`, state, fault });
}

/** What an answer comes to: the state that the sandbox is in, or the code of the refusal. */
const came = async (id: string, { status, json }: { status: number; json: unknown }): Promise<string> => {
  if (status >= 300) return String((json as { code: string }).code);
  const now = await server.call<Instance>('GET', `/api/instances/${id}`);
  return now.status === 410 ? 'deleted' : now.json.state;
};

/** The verb of a hop as a request: nothing but DELETE takes what was asked for in another way. */
async function byVerb(id: string, from: State, to: State, force: boolean): Promise<string | null> {
  const verb = HOPS.find((hop) => hop.from === from && hop.to === to)?.verb;
  if (verb === undefined) return null;
  if (verb === 'delete') return came(id, await server.call('DELETE', `/api/instances/${id}`));
  return came(id, await server.call('POST', `/api/instances/${id}/${verb}`, { force }));
}

const byPlan = async (id: string, to: State, force: boolean) =>
  came(id, await server.call('POST', `/api/instances/${id}/plan`, { to, force }));

const CASES = AT_REST.flatMap((state) =>
  [null, ...FAULTS].flatMap((fault) => STATES.map((to) => [fault, state, to] as const)),
);

test.each(CASES)(
  '%s: a sandbox that is %s goes to %s by its verb as by a plan, as the preview says',
  async (fault, state, to) => {
    for (const force of [false, true]) {
      const one = await planted(state, fault);
      const other = await planted(state, fault);
      const preview = (await server.call<Plan>('GET', `/api/instances/${one.id}/plan?to=${to}`)).json;
      const planned = await byPlan(one.id, to, force);
      const moved = await byVerb(other.id, state, to, force);
      if (moved !== null) expect([force, moved]).toEqual([force, planned]);
      // `force` is about faults: what the map has no way to stays refused, and a state that it is in already changes
      // nothing.
      if (!force && state !== to) expect([preview.refusal === null, planned]).toEqual([planned === to, planned]);
      if (!force && preview.refusal !== null && plan(state, to) !== null && state !== to) {
        expect(preview.refusal).toContain(waysOut(fault ?? 'unknown'));
        expect(planned).toBe(CODE_OF[fault ?? 'unknown']);
      }
    }
  },
);

test('a verb that the map has no hop for names the plan that there is', async () => {
  const { id } = await planted('suspended', 'corrupt');
  const refused = await server.call('DELETE', `/api/instances/${id}`);
  expect([refused.status, refused.json.code]).toEqual([409, 'invalid_transition']);
  expect(refused.json.hint).toMatch(/A plan gets there in steps/);
  expect(await byPlan(id, 'deleted', false)).toBe('deleted');
});

test('by force a damaged file is filed byte for byte, as deep as one likes, and keeps its fault', async () => {
  const { id, path } = await planted('suspended', 'corrupt');
  const bytes = readFileSync(path);
  expect(await byPlan(id, 'archived', true)).toBe('archived');
  expect((await server.call<Instance>('GET', `/api/instances/${id}`)).json.fault).toBe('corrupt');
  expect(await byPlan(id, 'frozen', true)).toBe('frozen');
  expect(readFileSync(join(server.folder, `cold/${id}.sqlite`))).toEqual(bytes);
});

/**
 * Each way out, taken as its words say. Exhaustive: a way without a test does not compile. That out of the store is in
 * store.test.ts.
 */
const TAKEN: Readonly<Record<Exclude<WayOut, 'stored'>, (one: Planted, state: AtRest) => Promise<void>>> = {
  async retry({ id }) {
    expect(await came(id, await server.call('POST', `/api/instances/${id}/resume`, { force: true }))).toBe('active');
    await hasTheWork(id);
  },
  async accept({ id, path }, state) {
    const { force } = { force: true };
    const refused = await server.call('POST', `/api/instances/${id}/resume`, { force });
    expect([refused.status, refused.json.code]).toEqual([409, 'corrupt']);
    // Sound again, though not byte for byte what was filed.
    const sound = await planted(state, null);
    copyFileSync(sound.path, path);
    expect(await came(id, await server.call('POST', `/api/instances/${id}/resume`, { force }))).toBe('active');
    await hasTheWork(id);
  },
  async return({ id, path, elsewhere }) {
    copyFileSync(elsewhere, path);
    expect(await came(id, await server.call('POST', `/api/instances/${id}/resume`, { force: true }))).toBe('active');
    await hasTheWork(id);
  },
  async raw({ id, path }) {
    expect((await server.call('GET', `/api/instances/${id}/raw`)).bytes.equals(readFileSync(path))).toBe(true);
  },
  async salvage({ id, path }) {
    const before = readFileSync(path);
    const salvaged = await server.call<SalvageAnswer>('POST', `/api/instances/${id}/salvage`, {});
    expect([salvaged.status, salvaged.json.instance.state]).toEqual([201, 'created']);
    // Of so small a file nothing is whole once its first pages are ruined; names in later pages are.
    const { recovered, lost, instance } = salvaged.json;
    if (recovered === 2) await hasTheWork(instance.id);
    else expect(lost.length).toBeGreaterThan(0);
    expect(readFileSync(path).equals(before)).toBe(true);
  },
  async restore({ id, path }) {
    const before = existsSync(path) ? readFileSync(path) : null;
    const restored = await server.call<Instance>('POST', `/api/instances/${id}/restore`, { snapshot });
    expect([restored.status, restored.json.fault]).toEqual([200, null]);
    await hasTheWork(id);
    const orphans = readdirSync(join(server.folder, 'orphans')).filter((name) => name.includes(`-${id}-`));
    expect(orphans.map((name) => readFileSync(join(server.folder, 'orphans', name)))).toEqual(before ? [before] : []);
  },
  async delete({ id }) {
    expect(await byPlan(id, 'deleted', false)).toBe('deleted');
  },
};

async function hasTheWork(id: string): Promise<void> {
  expect((await server.call<Instance>('GET', `/api/instances/${id}`)).json.fault).toBeNull();
  expect((await server.call('GET', `/api/instances/${id}/volumes/workspace/kept`)).text).toBe('the work');
  expect((await server.call('GET', `/api/instances/${id}/volumes/memory/kept`)).text).toBe('the memory');
  await server.call('POST', `/api/instances/${id}/suspend`);
}

const WAYS = FAULTS.flatMap((fault) =>
  WAYS_OF[fault].flatMap((way) => AT_REST.map((state) => [way, fault, state] as const)),
);

test.each(WAYS)('the way "%s" out of %s leads where the hint says, from %s', async (way, fault, state) => {
  const one = await planted(state, fault);
  await TAKEN[way](one, state);
});

test.each(FAULTS)('a refusal for being %s names all ways out, in every verb and call', async (fault) => {
  const { id } = await planted('suspended', fault);
  const calls: [string, string, unknown][] = [
    ...VERBS.filter((verb) => verb === 'resume' || verb === 'freeze').map((verb): [string, string, unknown] => [
      'POST',
      verb,
      {},
    ]),
    ['POST', 'prefetch', undefined],
    ['POST', 'exec', { command: 'true' }],
    ['POST', 'eval', { language: 'js', code: '1' }],
    ['PUT', 'volumes/workspace/new', 'x'],
    ['POST', 'plan', { to: 'frozen' }],
  ];
  for (const [method, path, body] of calls) {
    const refused = await server.call(method, `/api/instances/${id}/${path}`, body);
    expect([path, refused.status, refused.json.code, refused.json.hint]).toEqual([
      path,
      409,
      CODE_OF[fault],
      waysOut(fault),
    ]);
  }
  for (const way of WAYS_OF[fault]) expect(waysOut(fault).toLowerCase()).toContain(WAYS_OUT[way]);
});

test('a snapshot of another tenant is not restored in place, and an unknown one is not found', async () => {
  const { id } = await planted('frozen', 'corrupt');
  await server.call('POST', '/api/instances', { id: 'foreign', tenant: 'other' });
  await server.call('PUT', '/api/instances/foreign/volumes/workspace/x', 'theirs');
  const theirs = await server.call<{ id: string }>('POST', '/api/instances/foreign/snapshots', {});
  const restore = (snapshot: string, key?: string) =>
    server.call('POST', `/api/instances/${id}/restore`, { snapshot }, key === undefined ? {} : { key });
  expect((await restore(theirs.json.id)).json).toMatchObject({ status: 409, code: 'conflict' });
  expect((await restore('snap_nobody')).status).toBe(404);
  const { json: own } = await server.call<{ key: string }>('POST', '/api/keys', {
    name: 'acme',
    role: 'tenant',
    tenant: 'acme',
  });
  expect((await restore(theirs.json.id, own.key)).status).toBe(404);
  expect((await restore(snapshot, own.key)).status).toBe(200);
  await hasTheWork(id);
});
