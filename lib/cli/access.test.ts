import { afterEach, beforeEach, expect, test } from 'vitest';
import { firstAdmin, invited } from '../testing/people.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let server: TestServer;
let cli: CommandLine;

beforeEach(async () => {
  server = await startServer();
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterEach(async () => {
  cli.remove();
  await server.stop();
});

/** Runs a command line that must succeed. */
const ok = async (...args: string[]) => {
  const ended = await cli.run(args);
  expect(ended.exit, ended.stderr).toBe(0);
  return ended;
};

test('a key is made, shown once and alone, works for its tenant only, and ends when it is revoked', async () => {
  const made = await ok('keys', 'create', 'agents', '--role', 'tenant', '--tenant', 'acme', '--expires-in', '90d');
  const key = made.stdout.trim();
  expect(made.stdout).toMatch(/^\S+\n$/);
  expect(made.stderr).toContain('shown once');
  const listed = await ok('keys', 'list', '--json');
  expect(listed.stdout).not.toContain(key);
  expect(listed.json).toMatchObject([{ name: 'agents', role: 'tenant', tenant: 'acme', expires: expect.any(Number) }]);
  expect((await ok('keys', 'list')).stdout).toMatch(/agents +tenant +acme/);

  const env = { WINTERDOCK_KEY: key };
  expect((await cli.run(['whoami'], { env })).stdout).toMatch(/^role +tenant\ntenants +acme$/m);
  expect((await cli.run(['create', 'a', '--tenant', 'acme'], { env })).exit).toBe(0);
  expect((await cli.run(['create', 'b', '--tenant', 'globex'], { env })).exit).toBe(3);
  expect((await cli.run(['create', 'c', '--json'], { env })).json).toMatchObject({ id: 'c', tenant: 'acme' });
  const whose = await cli.run(['create', 'd']);
  expect([whose.exit, whose.stderr]).toEqual([2, expect.stringContaining('Add --tenant NAME.')]);
  expect((await cli.run(['keys', 'list'], { env })).exit).toBe(3);
  const [{ id }] = listed.json as unknown as [{ id: string }];
  await ok('keys', 'revoke', id);
  expect((await cli.run(['list'], { env })).exit).toBe(3);
  expect((await cli.run(['keys', 'create', 'x', '--role', 'tenant'])).exit).toBe(6);
});

test('people are invited, and the invitation withdrawn', async () => {
  const invited = await ok(
    'people',
    'invite',
    '--role',
    'operator',
    '--email',
    'eve@example.com',
    '--tenants',
    'acme,globex',
  );
  expect(invited.stdout).toMatch(/^https?:\/\/\S+\n$/);
  const open = (await ok('people', 'invitations', '--json')).json as unknown as { id: string }[];
  expect(open).toMatchObject([{ email: 'eve@example.com', role: 'operator', tenants: ['acme', 'globex'] }]);
  expect((await ok('people', 'invitations')).stdout).toContain('eve@example.com');
  await ok('people', 'withdraw', open[0]?.id ?? '');
  expect((await ok('people', 'invitations', '--json')).json).toEqual([]);
  expect((await cli.run(['people', 'invite'])).exit).toBe(2);
});

test('what people made names them, and shows no id of theirs', async () => {
  const cookie = await firstAdmin(server.host.auth);
  const asAda = async (path: string, body: object) =>
    server.call<{ id: string }>('POST', `/api${path}`, body, {
      key: null,
      headers: { cookie, 'sec-fetch-site': 'same-origin' },
    });
  await asAda('/instances', { id: 'hers', tenant: 'acme' });
  await asAda('/keys', { name: 'agents', role: 'viewer' });
  await asAda('/people/invitations', { role: 'viewer' });
  await asAda('/jobs', { verb: 'suspend', ids: ['hers'] });
  const snapshot = await asAda('/instances/hers/snapshots', {});
  await asAda('/instances/hers/ship', {});
  for (const args of [
    ['keys', 'list'],
    ['people', 'invitations'],
    ['jobs', 'list'],
    ['shares'],
    ['snapshots', 'show', snapshot.json.id],
    ['events', '--type', 'instance.created'],
  ]) {
    const { stdout } = await ok(...args);
    expect([args, stdout]).toEqual([args, expect.stringMatching(/\bAda\b/)]);
    expect(stdout).not.toContain('user:');
  }
});

test('a person is listed, changed, signed out everywhere, and disabled', async () => {
  await firstAdmin(server.host.auth);
  const cookie = await invited(server.host.auth, 'support', { email: 'eve@example.com' });
  const people = (await ok('people', 'list', '--json')).json as unknown as { id: string }[];
  expect(people).toMatchObject([
    { email: 'ada@example.com', role: 'admin' },
    { email: 'eve@example.com', role: 'support', sessions: 1 },
  ]);
  const id = people[1]?.id ?? '';
  expect((await ok('people', 'list')).stdout).toMatch(/eve@example\.com .* support +all +open/);
  const changed = await ok('people', 'set', id, '--role', 'viewer', '--tenants', 'acme', '--name', 'Eve', '--json');
  expect(changed.json).toMatchObject({ role: 'viewer', tenants: ['acme'], name: 'Eve' });
  expect((await ok('people', 'sessions', id, '--json')).json).toHaveLength(1);
  const asEve = () => server.call('GET', '/api/me', undefined, { key: null, headers: { cookie } });
  expect((await asEve()).status).toBe(200);
  await ok('people', 'sign-out', id);
  expect((await asEve()).status).toBe(401);
  expect((await ok('people', 'set', id, '--disable', '--json')).json).toMatchObject({ disabled: true });
  expect((await ok('people', 'set', id, '--enable', '--all-tenants', '--json')).json).toMatchObject({
    disabled: false,
    tenants: null,
  });
});
