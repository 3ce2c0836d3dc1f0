import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invitedSchema, meSchema, type Person, personSchema, sessionSchema } from '../../contract/schema/access.ts';
import { cookieOf, firstAdmin, invited, PASSWORD, tokenOf, visitor } from '../../testing/people.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let ada: string;
beforeAll(async () => {
  server = await startServer({ settings: { WB_RATE_WRONG_KEYS: '0' } });
  ada = await firstAdmin(server.host.auth);
  for (const tenant of ['acme', 'globex']) await server.call('POST', '/api/instances', { id: `of-${tenant}`, tenant });
});
afterAll(() => server.stop());

/** A request as a browser sends it. */
const as = <T = { code: string }>(cookie: string, method: string, path: string, body?: unknown) =>
  server.call<T>(method, path, body, { key: null, headers: { cookie, origin: server.url } });

/** Invites somebody by the API and lets them in. */
async function letIn(invitation: { email: string; role: string; tenants?: string[] }) {
  const made = await as<{ link: string; id: string }>(ada, 'POST', '/api/people/invitations', invitation);
  expect(made.status).toBe(201);
  const person = { email: invitation.email, name: invitation.email.split('@')[0] ?? '', password: PASSWORD };
  const entered = await server.host.auth.signIns.join(tokenOf(made.json.link), person, visitor());
  return { cookie: cookieOf(entered), id: entered?.person.id ?? '', link: made.json.link };
}

const signIn = (email: string, password: string, address = '192.0.2.1') =>
  server.host.auth.signIns.signIn({ email, password }, visitor({ address }));

function listen(cookie: string): { text: () => string; ended: Promise<void> } {
  let text = '';
  const ended = new Promise<void>((resolve, reject) => {
    const req = request(`${server.url}/api/events/stream`, { headers: { cookie }, agent: false }, (res) => {
      res.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      res.on('end', resolve);
    });
    req.on('error', reject);
    req.end();
  });
  return { text: () => text, ended };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 10));
}

const typesOf = async (type: string) =>
  (await server.call<{ actor: string; reason: string; address: string }[]>('GET', `/api/events?type=${type}`)).json;

test('an invitation lets one person in, once, with the role and the tenants that it says', async () => {
  const made = await as<{ link: string; id: string }>(ada, 'POST', '/api/people/invitations', {
    email: ' Mara@Example.com ',
    role: 'operator',
    tenants: ['acme'],
  });
  const invitation = invitedSchema.strict().parse(made.json);
  expect(invitation).toMatchObject({ email: 'mara@example.com', role: 'operator', tenants: ['acme'] });
  const open = await as<{ id: string }[]>(ada, 'GET', '/api/people/invitations');
  expect(open.json.map(({ id }) => id)).toEqual([invitation.id]);
  expect(open.text).not.toContain(tokenOf(invitation.link));

  const { signIns } = server.host.auth;
  const token = tokenOf(invitation.link);
  expect(await signIns.offerOf(token)).toEqual({
    first: false,
    email: 'mara@example.com',
    role: 'operator',
    tenants: ['acme'],
  });
  // The address is the invitation's, whatever the form says.
  const person = { email: 'eve@evil.example', name: 'Mara', password: PASSWORD };
  const entered = await signIns.join(token, person, visitor());
  expect(entered?.person).toMatchObject({ email: 'mara@example.com', role: 'operator', tenants: ['acme'] });
  expect(await signIns.join(token, person, visitor())).toBeNull();
  expect((await as<unknown[]>(ada, 'GET', '/api/people/invitations')).json).toEqual([]);

  const cookie = cookieOf(entered);
  const me = meSchema.strict().parse((await as(cookie, 'GET', '/api/me')).json);
  expect(me).toMatchObject({
    role: 'operator',
    tenants: ['acme'],
    person: { email: 'mara@example.com', name: 'Mara' },
  });
  expect(me.may).toContain('exec');
  expect(me.may).not.toContain('people');
  const list = await as<{ id: string }[]>(cookie, 'GET', '/api/instances');
  expect(list.json.map(({ id }) => id)).toEqual(['of-acme']);
  expect((await as(cookie, 'GET', '/api/instances/of-globex')).status).toBe(404);
  for (let n = 0; n < 3; n += 1) expect((await as(cookie, 'GET', '/api/people')).status).toBe(403);
  expect((await typesOf('access.refused')).map(({ reason }) => reason)).toEqual([
    'people: An operator may not do this.',
  ]);
  expect((await typesOf('person.invited'))[0]?.reason).toContain('operator of acme');
  expect((await typesOf('person.joined'))[0]?.reason).toContain('operator of acme');
});

test('a withdrawn invitation cannot be used, and an invitation of an existing person is refused', async () => {
  const made = await as<{ link: string; id: string }>(ada, 'POST', '/api/people/invitations', { role: 'viewer' });
  expect((await as(ada, 'DELETE', `/api/people/invitations/${made.json.id}`)).status).toBe(204);
  expect((await as(ada, 'DELETE', `/api/people/invitations/${made.json.id}`)).status).toBe(404);
  const person = { email: 'late@example.com', name: 'Late', password: PASSWORD };
  expect(await server.host.auth.signIns.join(tokenOf(made.json.link), person, visitor())).toBeNull();
  const again = await as(ada, 'POST', '/api/people/invitations', { email: 'ADA@example.com', role: 'viewer' });
  expect([again.status, again.json.code]).toEqual([409, 'conflict']);
  const odd = await as(ada, 'POST', '/api/people/invitations', { role: 'tenant' });
  expect(odd.status).toBe(422);
});

test('a changed role applies at once: to the next request, and an open stream is reopened', async () => {
  const { cookie, id } = await letIn({ email: 'omar@example.com', role: 'operator' });
  const stream = listen(cookie);
  await until(() => stream.text() !== '');
  expect((await as(cookie, 'PATCH', '/api/instances/of-acme', { labels: { by: 'omar' } })).status).toBe(200);
  const patched = await as(ada, 'PATCH', `/api/people/${id}`, { role: 'viewer', tenants: ['globex'] });
  expect(personSchema.strict().parse(patched.json)).toMatchObject({ role: 'viewer', tenants: ['globex'], sessions: 1 });
  await stream.ended;
  expect((await as(cookie, 'PATCH', '/api/instances/of-globex', { labels: {} })).status).toBe(403);
  expect((await as(cookie, 'GET', '/api/instances/of-acme')).status).toBe(404);
  expect((await as(cookie, 'GET', '/api/instances/of-globex')).status).toBe(200);
  expect((await typesOf('person.changed'))[0]).toMatchObject({
    actor: expect.stringMatching(/^user:/),
    reason: `user:${id}: operator of all tenants → viewer of globex`,
  });
});

test('who is disabled is out at once and cannot come in again, until enabled', async () => {
  const { cookie, id } = await letIn({ email: 'dana@example.com', role: 'support' });
  const stream = listen(cookie);
  await until(() => stream.text() !== '');
  expect((await as(ada, 'PATCH', `/api/people/${id}`, { disabled: true })).json).toMatchObject({
    disabled: true,
    sessions: 0,
  });
  await stream.ended;
  expect((await as(cookie, 'GET', '/api/me')).status).toBe(401);
  expect(await signIn('dana@example.com', PASSWORD)).toBeNull();
  await as(ada, 'PATCH', `/api/people/${id}`, { disabled: false });
  expect(await signIn('dana@example.com', PASSWORD)).not.toBeNull();
  expect((await as(cookie, 'GET', '/api/me')).status).toBe(401);
  expect(await typesOf('person.disabled')).toHaveLength(1);
  expect(await typesOf('person.enabled')).toHaveLength(1);
});

test('where only the admin key has let people in, their rights change freely', async () => {
  const bare = await startServer();
  try {
    const cookie = await invited(bare.host.auth, 'operator');
    const [one] = (await bare.call<Person[]>('GET', '/api/people')).json;
    expect((await bare.call('PATCH', `/api/people/${one?.id}`, { role: 'viewer' })).status).toBe(200);
    const me = await bare.call('GET', '/api/me', undefined, { key: null, headers: { cookie } });
    expect(me.json).toMatchObject({ role: 'viewer' });
  } finally {
    await bare.stop();
  }
});

test('the last admin stays one', async () => {
  const people = (await as<Person[]>(ada, 'GET', '/api/people')).json;
  const own = people.find(({ email }) => email === 'ada@example.com')?.id ?? '';
  for (const patch of [{ role: 'viewer' }, { disabled: true }]) {
    const refused = await as(ada, 'PATCH', `/api/people/${own}`, patch);
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict']);
  }
  expect((await as(ada, 'PATCH', `/api/people/${own}`, { tenants: ['acme'] })).status).toBe(422);
  const other = await letIn({ email: 'second@example.com', role: 'admin' });
  const both = await Promise.all([
    as(ada, 'PATCH', `/api/people/${own}`, { role: 'operator' }),
    as(other.cookie, 'PATCH', `/api/people/${other.id}`, { role: 'operator' }),
  ]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  const left = both[0]?.status === 200 ? other.cookie : ada;
  await as(left, 'PATCH', `/api/people/${own}`, { role: 'admin' });
  await as(left, 'PATCH', `/api/people/${other.id}`, { role: 'viewer' });
  expect((await as(ada, 'GET', '/api/people')).status).toBe(200);
});

test('when only the admin key is left as admin, people can still be changed', async () => {
  const bare = await startServer();
  try {
    const { json } = await bare.call<{ link: string }>('POST', '/api/people/invitations', { role: 'operator' });
    const person = { email: 'solo@example.com', name: 'Solo', password: PASSWORD };
    const entered = await bare.host.auth.signIns.join(tokenOf(json.link), person, visitor());
    const address = `/api/people/${entered?.person.id}`;
    expect((await bare.call<Person>('PATCH', address, { role: 'viewer', tenants: ['acme'] })).json.role).toBe('viewer');
    expect((await bare.call<Person>('PATCH', address, { disabled: true })).json.disabled).toBe(true);
  } finally {
    await bare.stop();
  }
});

test('everyone sees and ends the own sessions, only an admin those of others', async () => {
  const before = (await typesOf('session.ended')).length;
  const { cookie, id } = await letIn({ email: 'vera@example.com', role: 'viewer' });
  const laptop = cookieOf(await signIn('vera@example.com', PASSWORD, '198.51.100.9'));
  const seen = await as<{ id: string; current: boolean; address: string }[]>(laptop, 'GET', '/api/people/me/sessions');
  const sessions = sessionSchema.strict().array().parse(seen.json);
  expect(sessions.map(({ current, address, agent }) => [current, address, agent])).toEqual([
    [true, '198.51.100.9', 'a test'],
    [false, '192.0.2.1', 'a test'],
  ]);
  expect(seen.text).not.toContain(laptop.split('=')[1]?.slice(0, 20));
  const first = sessions.find(({ current }) => !current)?.id ?? '';
  expect((await as(laptop, 'DELETE', `/api/people/${id}/sessions?session=${first}`)).status).toBe(204);
  expect((await as(cookie, 'GET', '/api/me')).status).toBe(401);
  expect((await as(laptop, 'GET', '/api/me')).status).toBe(200);
  expect((await as(laptop, 'DELETE', `/api/people/${id}/sessions?session=${first}`)).status).toBe(404);

  const admin = (await as<Person[]>(ada, 'GET', '/api/people')).json[0]?.id ?? '';
  for (const other of [admin, 'nobody']) {
    expect((await as(laptop, 'GET', `/api/people/${other}/sessions`)).status).toBe(403);
    expect((await as(laptop, 'DELETE', `/api/people/${other}/sessions`)).status).toBe(403);
  }
  expect((await as(ada, 'DELETE', `/api/people/${id}/sessions`)).status).toBe(204);
  expect((await as(laptop, 'GET', '/api/me')).status).toBe(401);
  expect(await typesOf('session.ended')).toHaveLength(before + 2);
});

test('who holds the admin key sees and ends the sessions that were opened with it', async () => {
  const enter = async () => cookieOf(await server.host.auth.signIns.signIn({ key: TEST_KEY }, visitor()));
  const [one, other] = [await enter(), await enter()];
  const seen = await as<{ id: string; current: boolean }[]>(one, 'GET', '/api/people/me/sessions');
  expect(seen.json).toHaveLength(2);
  const second = seen.json.find(({ current }) => !current)?.id;
  expect((await as(one, 'DELETE', `/api/people/me/sessions?session=${second}`)).status).toBe(204);
  expect((await as(other, 'GET', '/api/me')).status).toBe(401);
  expect((await as<{ actor: string }>(one, 'GET', '/api/me')).json.actor).toBe('key:admin');
  expect((await server.call('GET', '/api/people/me/sessions')).status).toBe(404);
});

test('a password is changed by who knows the old one, and ends the other sessions', async () => {
  const { cookie } = await letIn({ email: 'paul@example.com', role: 'viewer' });
  const other = cookieOf(await signIn('paul@example.com', PASSWORD));
  const change = (current: string, next: string) => as(cookie, 'PUT', '/api/me/password', { current, next });
  expect((await change('a guess of a password', 'quite another password')).status).toBe(403);
  expect((await change(PASSWORD, 'too short')).status).toBe(422);
  expect((await change(PASSWORD, 'quite another password')).status).toBe(204);
  expect((await as(other, 'GET', '/api/me')).status).toBe(401);
  expect((await as(cookie, 'GET', '/api/me')).status).toBe(200);
  expect(await signIn('paul@example.com', PASSWORD)).toBeNull();
  expect(await signIn('paul@example.com', 'quite another password')).not.toBeNull();
  expect((await server.call('PUT', '/api/me/password', { current: 'x', next: 'quite another password' })).status).toBe(
    404,
  );
});

test('guessing a password is slowed down where the guesses come from, and nowhere else', async () => {
  const { cookie } = await letIn({ email: 'gita@example.com', role: 'viewer' });
  const guess = (address: string, password = 'a guess of a password') =>
    signIn('gita@example.com', password, address).then(
      (entered) => (entered === null ? 'wrong' : 'in'),
      (error: { code: string; retryAfterSeconds: number }) => error.code,
    );
  const stranger = [];
  for (let n = 0; n < 7; n += 1) stranger.push(await guess('203.0.113.5'));
  expect(stranger).toEqual(['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'rate_limited', 'rate_limited']);
  // Not even the right one is heard there any more; at home it is, and the session goes on.
  expect(await guess('203.0.113.5', PASSWORD)).toBe('rate_limited');
  expect(await guess('192.0.2.1', PASSWORD)).toBe('in');
  expect((await as(cookie, 'GET', '/api/me')).status).toBe(200);
  await server.host.registry.ledger.appendRepeatCounts(server.host.clock.now(), { all: true });
  const lines = await typesOf('signin.failed');
  const ofStranger = lines.filter(({ address }) => address === '203.0.113.5');
  expect(ofStranger).toHaveLength(2);
  expect(ofStranger.map(({ reason }) => reason).join()).toContain('; 4 more times since');
  expect(JSON.stringify(lines)).not.toContain('gita@');
});

test('an address that has no account takes as long as a wrong password', async () => {
  await letIn({ email: 'tom@example.com', role: 'viewer' });
  const times: Record<string, number[]> = { known: [], unknown: [] };
  for (let n = 0; n < 4; n += 1) {
    for (const [kind, email] of [
      ['known', 'tom@example.com'],
      ['unknown', 'nobody@example.com'],
    ] as const) {
      const before = process.cpuUsage();
      await signIn(email, `a guess of a password ${n}`, `10.9.0.${n}`);
      const { user, system } = process.cpuUsage(before);
      times[kind]?.push(user + system);
    }
  }
  const best = (kind: string) => Math.min(...(times[kind] ?? []));
  expect(best('unknown') / best('known')).toBeGreaterThan(0.5);
  expect(best('unknown') / best('known')).toBeLessThan(2);
});

test('a stream says at its end whether its reader is let in again, and what it says holds already', async () => {
  const rights = { role: 'viewer', tenants: ['acme'] };
  const { cookie, id } = await letIn({ ...rights, email: 'lena@example.com' });
  const another = async () => cookieOf(await signIn('lena@example.com', PASSWORD));
  const session = async (of: string) => {
    const all = await as<{ id: string; current: boolean }[]>(of, 'GET', '/api/people/me/sessions');
    return all.json.find(({ current }) => current)?.id;
  };
  const change = (patch: object) => as(ada, 'PATCH', `/api/people/${id}`, patch);
  const ended = await session(cookie);
  const ways: [string, string, () => Promise<unknown>][] = [
    [cookie, 'unauthorized', () => as(ada, 'DELETE', `/api/people/${id}/sessions?session=${ended}`)],
    [await another(), 'forbidden', () => change({ role: 'support', tenants: ['acme'] })],
    [await another(), 'forbidden', () => change({ tenants: ['globex'] })],
    [await another(), 'unauthorized', () => change({ disabled: true })],
  ];
  for (const [who, code, end] of ways) {
    const stream = listen(who);
    await until(() => stream.text() !== '');
    const after = stream.ended.then(() => as(who, 'GET', '/api/me'));
    await end();
    expect((await after).status).toBe(code === 'unauthorized' ? 401 : 200);
    expect([...stream.text().matchAll(/^event: error\ndata: .*"code":"(\w+)"/gm)].map(([, said]) => said)).toEqual([
      code,
    ]);
  }
  await change({ disabled: false });
  const leaving = await another();
  const streams = [listen(leaving), listen(leaving)];
  await until(() => streams.every(({ text }) => text() !== ''));
  await server.host.auth.signOut({ cookie: leaving });
  for (const { text, ended: over } of streams) {
    await over;
    expect(text()).toContain('"code":"unauthorized"');
  }
});

test('whoever sees an act is told by name who did it, and nobody is told of others', async () => {
  const nora = await letIn({ email: 'nora@example.com', role: 'operator' });
  const vern = await letIn({ email: 'vern@example.com', role: 'viewer', tenants: ['acme'] });
  const gail = await letIn({ email: 'gail@example.com', role: 'viewer', tenants: ['globex'] });
  const key = await as<{ key: string; id: string }>(ada, 'POST', '/api/keys', {
    name: 'night shift',
    role: 'tenant',
    tenant: 'acme',
  });
  await server.call('PATCH', '/api/instances/of-acme', { labels: { by: 'key' } }, { key: key.json.key });
  expect((await as(nora.cookie, 'PATCH', '/api/instances/of-acme', { labels: { by: 'nora' } })).status).toBe(200);
  const path = '/api/events?type=instance.changed&limit=2';
  type Line = { actor: string; actor_name: string | null };
  const seen = async (cookie: string) =>
    (await as<Line[]>(cookie, 'GET', path)).json.map(({ actor, actor_name }) => [actor, actor_name]);
  const expected = [
    [`user:${nora.id}`, 'nora'],
    [`key:${key.json.id}`, 'night shift'],
  ];
  for (const cookie of [ada, nora.cookie, vern.cookie]) expect(await seen(cookie)).toEqual(expected);
  expect(await seen(gail.cookie)).toEqual([]);

  expect((await as(ada, 'PATCH', `/api/people/${nora.id}`, { name: 'Nora North' })).status).toBe(200);
  expect((await seen(vern.cookie))[0]).toEqual([`user:${nora.id}`, 'Nora North']);
  const { text } = await as(vern.cookie, 'GET', '/api/events/export?format=csv&type=instance.changed');
  expect(text).toContain('Nora North');

  const stream = listen(vern.cookie);
  await until(() => stream.text().includes('retry'));
  await as(nora.cookie, 'PATCH', '/api/instances/of-acme', { labels: { by: 'nora again' } });
  await until(() => stream.text().includes('"actor_name":"Nora North"'));
  await as(ada, 'DELETE', `/api/keys/${key.json.id}`);
  expect((await seen(vern.cookie)).length).toBe(2);
});
