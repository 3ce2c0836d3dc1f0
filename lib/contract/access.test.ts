import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { z } from 'zod';
import type { Caller } from '../auth/caller.ts';
import { ROLES, type Role } from '../auth/roles.ts';
import type { Route } from '../http/route.ts';
import { ROUTES } from '../http/routes.ts';
import type { Operations } from '../operations/operations.ts';
import { invited } from '../testing/people.ts';
import { sampleOf } from '../testing/sample.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import type { Volume } from '../vfs/volumes.ts';
import { OWNED, type Rights, RULES, roleRefusal, volumeRefusal } from './access.ts';

/** Who asks. Those of one tenant come first: what the others may delete is still there then. */
const CALLERS: readonly (Rights & { name: string })[] = [
  ...(['viewer', 'support', 'tenant', 'operator'] as const).map((role) => ({
    name: `${role} of acme`,
    role,
    tenants: ['acme'],
  })),
  ...(['viewer', 'support', 'operator', 'admin'] as const).map((role) => ({ name: role, role, tenants: null })),
];

/** What a request names: its own tenant's things, another's, or what there is not. */
const AIMS = ['own', 'foreign', 'unknown'] as const;
type Aim = (typeof AIMS)[number];
const TENANT: Readonly<Record<Aim, string>> = { own: 'acme', foreign: 'globex', unknown: 'nobody' };

/** Things by what the paths and bodies call them. */
type Names = Record<string, string | string[]>;
const ids: Record<Aim, { instance: string; snapshot: string; job: string; webhook: string; other: string }> = {
  own: { instance: 'mine', snapshot: '', job: '', webhook: '', other: 'acme' },
  foreign: { instance: 'yours', snapshot: '', job: '', webhook: '', other: 'globex' },
  unknown: { instance: 'never', snapshot: '', job: '', webhook: '', other: 'nobody' },
};

/** An address to which nothing is ever sent: this name does not resolve (RFC 2606). */
const RECEIVER = 'https://receiver.invalid/';

let server: TestServer;
const keys = new Map<string, string>();
beforeAll(async () => {
  server = await startServer({ settings: { WB_RATE_WRONG_KEYS: '0', WB_RATE_KEY: '0', WB_RATE_ADDRESS: '0' } });
  for (const { name, role, tenants } of CALLERS) {
    const input = { name, role, ...(tenants === null ? {} : { tenant: tenants[0] }) };
    const made = await server.call<{ key: string }>('POST', '/api/keys', input);
    expect([name, made.status]).toEqual([name, 201]);
    keys.set(name, made.json.key);
  }
  for (const aim of ['own', 'foreign'] as const) {
    const { instance } = ids[aim];
    await server.call('POST', '/api/instances', { id: instance, tenant: TENANT[aim] });
    await server.call('PUT', `/api/instances/${instance}/volumes/workspace/note.txt`, 'hello');
    const taken = await server.call<{ id: string }>('POST', `/api/instances/${instance}/snapshots`, {});
    ids[aim].snapshot = taken.json.id;
    const job = { verb: 'label', filter: { tenant: TENANT[aim] }, labels: { seen: 'yes' } };
    const webhook = { name: 'told', url: RECEIVER, tenant: TENANT[aim] };
    ids[aim].webhook = (await server.call<{ id: string }>('POST', '/api/webhooks', webhook)).json.id;
    ids[aim].job = (await server.call<{ id: string }>('POST', '/api/jobs', job)).json.id;
  }
  ids.unknown.job = 'job-0000000000';
  ids.unknown.webhook = 'hook-0000000000';
  ids.unknown.snapshot = ids.own.snapshot.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
});
afterAll(() => server.stop());

/** The id that a route is about. */
function idOf(route: Route, aim: Aim): string {
  const about = route.operation === null ? 'dock' : RULES[route.operation].about;
  if (about === 'person') return aim === 'own' ? 'me' : 'somebody';
  if (about === 'snapshot') return ids[aim].snapshot;
  if (about === 'job') return ids[aim].job;
  if (about === 'webhook') return ids[aim].webhook;
  return about === 'instance' ? ids[aim].instance : ids[aim].other;
}

function addressOf(route: Route, aim: Aim, volume: Volume): string {
  const path = (PATHS[route.name] ?? route.path)
    .replace(':volume', volume)
    .replace('*', 'note.txt')
    .replace(/:\w+/, idOf(route, aim))
    .replace(/:\w+/g, 'sample');
  return route.root ? path : `/api${path}`;
}

/** Paths whose parameters are no ids. */
const PATHS: Readonly<Record<string, string>> = { exportLedgerSegment: '/events/segments/2025-01' };

/** Members that no schema alone tells. */
const BODIES: Readonly<Record<string, object>> = {
  resumeInstance: { from: undefined },
  walkPlan: { to: 'suspended' },
  forgetTenant: { dry_run: true },
  createWebhook: { url: RECEIVER },
  patchWebhook: { url: RECEIVER },
  setTenantSecret: { url: RECEIVER },
  setInstanceSecret: { url: RECEIVER },
  createSchedule: { cron: '0 0 1 1 *', command: 'true' },
  takeBack: { time: 1_765_500_000 },
  instanceFromMoment: { time: 1_765_500_000 },
  sendMcpMessage: { jsonrpc: '2.0', id: 1, method: 'ping' },
};

/** Queries that need a member which their schema lets be left out. */
const QUERIES: Readonly<Record<string, object>> = {
  compare: { since: 1_765_500_000 },
  listInstanceLogs: { reason: 'a test' },
  listTenantLogs: { reason: 'a test' },
};

/** What is in queries and bodies where a schema has a place for it. */
function namesOf(aim: Aim): Names {
  return {
    tenant: TENANT[aim],
    from_instance: ids[aim].instance,
    snapshot: ids[aim].snapshot,
    ids: [ids[aim].instance],
    role: 'operator',
    command: 'true',
    code: '1',
    sql: 'select 1',
    q: 'x',
    reason: 'a test',
    from: '/note.txt',
    to: '/other.txt',
    path: '/folder',
  };
}

function bodyOf(route: Route, aim: Aim): unknown {
  const { body } = route;
  if (body === null) return undefined;
  if (body === 'bytes' || body === 'stream') return Buffer.from('bytes');
  const schema = 'isUpload' in body ? body.json : body;
  return { ...(sampleOf(schema, namesOf(aim)) as object), ...BODIES[route.name] };
}

function queryOf(route: Route, aim: Aim): string {
  if (route.query === null) return '';
  const { tenant, q, path } = namesOf(aim);
  const about = route.operation === null ? 'dock' : RULES[route.operation].about;
  const given = { ...(about === 'list' || about === 'input' ? { tenant } : {}), q, path };
  const sample = sampleOf(route.query as z.ZodType, given) as Record<string, unknown>;
  const query = { ...sample, ...QUERIES[route.name] };
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  return pairs.length === 0 ? '' : `?${new URLSearchParams(pairs.map(([key, value]) => [key, String(value)]))}`;
}

/** What the table says of a request: refused, or as if there were nothing, or let through. */
function expected(caller: Rights, operation: keyof Operations, aim: Aim, volume: Volume, names: boolean): string {
  const rule = RULES[operation];
  if (roleRefusal(caller, operation) !== null) return 'forbidden';
  if (rule.contents === 'named' && volumeRefusal(caller, volume) !== null) return 'forbidden';
  if (rule.about === 'person' && aim !== 'own' && !rule.others?.includes(caller.role)) return 'forbidden';
  if (caller.tenants === null) return 'let through';
  if (names && aim !== 'own') return 'forbidden';
  const isOf = rule.about === 'tenant' || (OWNED as readonly string[]).includes(rule.about);
  if (isOf && aim !== 'own') return 'not_found';
  return rule.names !== undefined && aim !== 'own' ? 'not_found' : 'let through';
}

const CHECKED_ROUTES = ROUTES.filter(({ access }) => access !== 'open');

describe('every route', () => {
  test('needs an operation of the table, or is open', () => {
    expect(
      CHECKED_ROUTES.filter(({ operation }) => operation === null).map(({ method, path }) => `${method} ${path}`),
    ).toEqual([]);
    for (const { operation } of CHECKED_ROUTES) expect(Object.keys(RULES)).toContain(operation);
  });

  test.each(CHECKED_ROUTES.map((route) => [route.method, route.path, route] as const))(
    '%s %s lets through whom the table lets through',
    async (_method, _path, route) => {
      const operation = route.operation as keyof Operations;
      const volumes: readonly Volume[] = route.path.includes(':volume') ? ['workspace', 'memory'] : ['workspace'];
      for (const caller of CALLERS) {
        for (const volume of volumes) {
          const answers = new Map<Aim, string>();
          for (const aim of AIMS) {
            const body = bodyOf(route, aim);
            const query = queryOf(route, aim);
            const names = query.includes('tenant=') || JSON.stringify(body ?? null).includes('"tenant"');
            // A stream would not end; HEAD says all that is asked here.
            const streams = route.answers[200]?.mediaType === 'text/event-stream';
            const method = streams ? 'HEAD' : route.method;
            const answer = await server.call(method, `${addressOf(route, aim, volume)}${query}`, body, {
              key: keys.get(caller.name) ?? '',
            });
            const outcome = answer.status === 403 || answer.status === 404 ? answer.json.code : 'let through';
            // HEAD has no body that would name the code.
            const byStatus = { 403: 'forbidden', 404: 'not_found' }[answer.status];
            const code = streams && byStatus !== undefined ? byStatus : String(outcome);
            const wanted = expected(caller, operation, aim, volume, names);
            const where = `${caller.name}, ${aim}, ${volume}: ${answer.status} ${answer.text.slice(0, 300)}`;
            // Bytes that are no bundle are looked at behind the guard; any other 422 would hide what it says.
            const wrong = route.body === 'stream' ? [401, 405, 500] : [401, 405, 422, 500];
            expect(wrong, `${where}: no sample of what this route takes?`).not.toContain(answer.status);
            // What is let through may still not be there.
            if (wanted === 'let through') expect(code, where).not.toBe('forbidden');
            else expect(code, where).toBe(wanted);
            if (wanted === 'not_found') answers.set(aim, answer.text);
          }
          const told = (aim: Aim) =>
            answers
              .get(aim)
              ?.replaceAll(/"request_id":"[^"]*"/g, '')
              .replaceAll(idOf(route, aim), 'ID')
              .replaceAll(ids[aim].instance, 'ID');
          expect(told('foreign'), caller.name).toBe(told('unknown'));
        }
      }
    },
  );
});

test('what belongs to another sandbox answers like what there is not: in status, headers and body', async () => {
  const key = keys.get('tenant of acme') ?? '';
  const made: Record<string, Record<'sibling' | 'foreign', string>> = {};
  await server.call('POST', '/api/instances', { id: 'sibling', tenant: 'acme' });
  for (const [whose, id] of [
    ['sibling', 'sibling'],
    ['foreign', 'yours'],
  ] as const) {
    const make = async (kind: string, body: object) => {
      const answer = await server.call<{ id: string }>('POST', `/api/instances/${id}/${kind}s`, body);
      expect([kind, answer.status], answer.text).toEqual([kind, expect.toBeOneOf([201, 202])]);
      made[kind] = { ...(made[kind] ?? { sibling: '', foreign: '' }), [whose]: answer.json.id };
    };
    await make('run', { command: 'true' });
    await make('terminal', {});
    await make('schedule', { cron: '0 0 1 1 *', command: 'true' });
  }
  // A component, an attachment and a secret have names that whoever asks gives; a volume is one of three.
  const named = CHECKED_ROUTES.filter(({ path }) =>
    /^\/instances\/:id\/(?!.*:(?:volume|component|attachment|name)).*:/.test(path),
  );
  expect(named.length).toBeGreaterThan(12);
  for (const route of named) {
    const kind = /:(?!id\b)(\w+)/.exec(route.path)?.[1] ?? '';
    const { sibling, foreign } = made[kind] ?? expect.fail(`nothing is made for ${route.path}`);
    const answerOf = async (id: string) => {
      const path = route.path.replace(':id', 'mine').replace(`:${kind}`, id);
      const answer = await server.call(route.method, `/api${path}`, bodyOf(route, 'own'), { key });
      const headers = Object.entries(answer.headers).filter(([name]) => !/^(?:date|x-request-id|ratelimit)/.test(name));
      const body = answer.text.replaceAll(/"request_id":"[^"]*"/g, '').replaceAll(id, 'ID');
      return { path: route.path, status: answer.status, headers, body };
    };
    const none = await answerOf(sibling.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    expect(none.status, route.path).toBe(404);
    expect(await answerOf(sibling)).toEqual(none);
    expect(await answerOf(foreign)).toEqual(none);
  }
});

describe('every operation', () => {
  /** Those that no route names: the console's own, the session API's, and what a route does beside what it names. */
  const UNNAMED: readonly (keyof Operations)[] = [
    ...(['diskRoom', 'failingSchedules', 'nearQuotas', 'ownZone', 'setOwnZone'] as const),
    ...(['agentFile', 'agentFiles', 'deleteAgent', 'deployAgent', 'getAgent', 'listAgents', 'seedFromAgent'] as const),
    ...(['blueprintFile', 'blueprintFiles', 'uploadBlueprint'] as const),
    ...(['counts', 'due', 'dueCounts', 'eventsAfter', 'fileStat', 'serverHealth', 'replicaLateness'] as const),
    'pause',
    'relabelInstance',
  ];

  test('has a line in the table, and a route or a test here', () => {
    expect(Object.keys(server.host.operations).toSorted()).toEqual(Object.keys(RULES).toSorted());
    const checked = new Set<string>([...CHECKED_ROUTES.map(({ operation }) => String(operation)), ...UNNAMED]);
    expect(Object.keys(RULES).filter((name) => !checked.has(name))).toEqual([]);
  });

  test.each(UNNAMED)('%s refuses whom the table refuses', async (operation) => {
    const call = server.host.operations[operation] as (caller: Caller, ...args: unknown[]) => Promise<unknown>;
    let refused = 0;
    for (const { role, tenants } of CALLERS) {
      for (const aim of AIMS) {
        const wanted = expected({ role, tenants }, operation, aim, 'memory', false);
        if (wanted === 'let through') continue;
        refused += 1;
        const caller = { actor: 'key:test', via: 'api', requestId: 'r', role, tenants, address: null, session: null };
        const told = call(caller as Caller, ids[aim].instance, 'memory', '/note.txt').then(
          () => 'let through',
          (error: { code: string }) => error.code,
        );
        expect(await told, `${role}, ${aim}`).toBe(wanted);
      }
    }
    // What everyone may ask is narrowed instead, which is proved below and in lib/operations/attention.test.ts.
    const asked = [
      'counts',
      'due',
      'dueCounts',
      'eventsAfter',
      'failingSchedules',
      'listAgents',
      'nearQuotas',
      'ownZone',
    ];
    expect(refused > 0).toBe(!asked.includes(operation));
  });
});

test('a role has what it is for, and no more', () => {
  const may = (role: Role) =>
    (Object.keys(RULES) as (keyof Operations)[]).filter(
      (operation) => roleRefusal({ role, tenants: role === 'tenant' ? ['acme'] : null }, operation) === null,
    );
  const all = Object.keys(RULES);
  expect(may('admin')).toEqual(all);
  for (const role of ROLES.filter((one) => one !== 'admin')) {
    for (const only of ['people', 'invite', 'patchPerson', 'listKeys', 'createKey', 'revokeKey', 'patchSettings'])
      expect(may(role)).not.toContain(only);
  }
  const changing = ['exec', 'eval', 'query', 'putFile', 'deleteFile', 'moveFile', 'deleteInstance', 'takeSnapshot'];
  const carrying = ['restoreSnapshot', 'createInstance', 'suspend', 'freeze', 'archive', 'resume', 'patchInstance'];
  for (const operation of [...changing, ...carrying]) {
    expect([operation, may('support').includes(operation as keyof Operations)]).toEqual([operation, false]);
    expect([operation, may('viewer').includes(operation as keyof Operations)]).toEqual([operation, false]);
    expect([operation, may('operator').includes(operation as keyof Operations)]).toEqual([operation, true]);
    expect([operation, may('tenant').includes(operation as keyof Operations)]).toEqual([operation, true]);
  }
  expect(may('support')).toEqual(expect.arrayContaining(['revive', 'file', 'files', 'search', 'events']));
  for (const inside of ['volumes', 'files', 'file', 'search', 'revive'])
    expect([inside, may('viewer').includes(inside as keyof Operations)]).toEqual([inside, false]);
});

test('pages and actions reach the engine by its operations and its adapter only', () => {
  const app = join(import.meta.dirname, '../../app');
  const allowed = ['operations', 'auth', 'config', 'clock', 'log', 'dispatcher', 'openapi', 'examples'];
  const members = readdirSync(app, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .flatMap((name) => {
      const text = readFileSync(join(app, name), 'utf8');
      const dotted = [...text.matchAll(/getHost\(\)\s*\.(\w+)/g)].map((match) => match[1] ?? '');
      const taken = [...text.matchAll(/const \{([^{}]*)\}\s*=\s*getHost\(\)[;,]/g)].flatMap((match) =>
        (match[1] ?? '').split(',').map((member) => member.split(':')[0]?.trim() ?? ''),
      );
      return [...dotted, ...taken].filter((member) => member !== '').map((member) => `${name}: ${member}`);
    });
  expect(members.length).toBeGreaterThan(10);
  expect(members.filter((member) => !allowed.includes(member.split(': ')[1] ?? ''))).toEqual([]);
});

test('nothing that is listed for a person of two tenants tells of a third', async () => {
  await server.call('POST', '/api/instances', { id: 'third', tenant: 'initech' });
  const cookie = await invited(server.host.auth, 'operator', { tenants: ['acme', 'initech'] });
  const lists = CHECKED_ROUTES.filter(({ method, path, answers }) => {
    const streams = answers[200]?.mediaType === 'text/event-stream';
    return method === 'GET' && !path.includes(':') && !streams;
  });
  expect(lists.length).toBeGreaterThan(8);
  for (const route of lists) {
    const query =
      route.query === null ? {} : (sampleOf(route.query as z.ZodType, { q: 'x' }) as Record<string, unknown>);
    const search = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
    const path = `${route.root ? '' : '/api'}${route.path}${search.size === 0 ? '' : `?${search}`}`;
    const answer = await server.call('GET', path, undefined, { key: null, headers: { cookie } });
    expect([path, [200, 403].includes(answer.status)]).toEqual([path, true]);
    const leak = /.{0,200}\b(?:globex|yours)\b.{0,100}/.exec(answer.text)?.[0] ?? null;
    if (route.name !== 'openapi') expect([path, leak]).toEqual([path, null]);
  }
  const both = await server.call<{ tenant: string }[]>('GET', '/api/instances', undefined, {
    key: null,
    headers: { cookie },
  });
  expect(new Set(both.json.map(({ tenant }) => tenant))).toEqual(new Set(['acme', 'initech']));
});

test('lists, counts, the ledger and due rows contain the caller’s tenants only', async () => {
  const key = keys.get('tenant of acme') ?? '';
  const admin = (path: string) => server.call<{ tenant: string | null }[]>('GET', path, undefined, { key: TEST_KEY });
  const theirs = (path: string) => server.call<{ tenant: string | null }[]>('GET', path, undefined, { key });
  for (const path of ['/api/instances', '/api/events?limit=500', '/api/snapshots']) {
    const all = new Set((await admin(path)).json.map(({ tenant }) => tenant));
    expect([path, all.size > 1]).toEqual([path, true]);
    const seen = new Set((await theirs(path)).json.map(({ tenant }) => tenant));
    expect([path, [...seen]]).toEqual([path, ['acme']]);
  }
  const listed = await theirs('/api/instances');
  expect(listed.headers['x-total-count']).toBe(String(listed.json.length));
  const { operations, auth } = server.host;
  const caller = await auth.callerFromHeaders({ authorization: `Bearer ${key}` });
  if (caller === null) throw new Error('The key is not good.');
  const { states } = await operations.counts(caller);
  expect(Object.values(states).reduce((sum, n) => sum + n, 0)).toBe(listed.json.length);
  for (const { tenant } of await operations.due(caller, 10 ** 8, 100)) expect(tenant).toBe('acme');
  const dueOf = async (who: Caller) =>
    (await operations.dueCounts(who, { seconds: 10 ** 8, slots: 1 }))[0]?.to.suspended ??
    expect.fail('nothing counted');
  expect((await server.call('POST', '/api/instances/third/resume', {})).status).toBe(200);
  expect(await dueOf({ ...caller, tenants: null })).toBeGreaterThan(await dueOf(caller));
  for (const { tenant } of await operations.eventsAfter(caller, 0, 50)) expect(tenant).toBe('acme');
  expect((await operations.eventsAfter(caller, 0, 50)).length).toBeGreaterThan(0);
  expect((await theirs('/api/events?instance=yours')).json).toEqual([]);
  expect((await theirs('/api/events?tenant=globex')).status).toBe(403);
});
