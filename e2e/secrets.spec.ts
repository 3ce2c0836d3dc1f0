/** Canaries: secrets that are looked for wherever a page, an answer, a log or the shipped code could let them out. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { ROOT } from '../scripts/build.ts';
import { expect, test } from './visited.ts';

// Both tests visit one server.
test.describe.configure({ mode: 'default' });

const GUEST_SECRET = 'canary-of-a-secret-of-sandboxes-0123';
const ADMIN_KEY = 'canary-of-the-admin-key-0123456789';
let folder: string;
let server: ServerProcess;

test.beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-canary-'));
  server = await spawnServer({
    folder,
    args: [],
    settings: { NODE_ENV: 'production', WB_ADMIN_KEY: ADMIN_KEY, WB_LOG: 'trace' },
  });
});
test.afterAll(async () => {
  await server.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

/** The texts of every file below `path` whose name fits. */
function texts(path: string, fits: RegExp): [name: string, text: string][] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && fits.test(entry.name))
    .map((entry) => {
      const file = join(entry.parentPath, entry.name);
      return [file, readFileSync(file, 'utf8')];
    });
}

test('no secret is in a page, an answer, the log or the code that browsers get', async ({
  page,
  context,
  complaints,
}) => {
  // Some of the pages are not there; what the console says of it is read below, for secrets.
  complaints.expected.push(/./);
  const received: [where: string, text: string][] = [];
  page.on('response', async (response) => {
    const text = await response.text().catch(() => '');
    received.push([`${response.status()} ${response.url()}`, text]);
  });
  page.on('console', (message) => received.push(['console', message.text()]));
  const { call, url } = server;
  await call('POST', '/api/instances', { id: 'canary', tenant: 'acme', labels: { a: 'b' } });
  await call('PUT', '/api/instances/canary/volumes/workspace/a.txt', 'hello');

  const secret = { value: GUEST_SECRET, url: 'https://api.example.com/' };
  for (const path of ['instances/canary/secrets/OWN', 'tenants/acme/secrets/SHARED'])
    expect((await call('PUT', `/api/${path}`, secret)).status).toBe(200);
  const refused = await call('PUT', '/api/instances/canary/secrets/OWN', { ...secret, header: 'host' });
  received.push(['a refused secret', refused.text]);

  // Shown once, in these two answers: from here on they are secrets.
  const { key } = (await call<{ key: string }>('POST', '/api/keys', { name: 'canary', role: 'viewer' })).json;
  const { link } = (await call<{ link: string }>('POST', '/api/people/invitations', { role: 'viewer' })).json;
  expect((await call('GET', '/api/me', undefined, { key })).status).toBe(200);

  await page.goto(`${url}/signin`);
  await page.getByLabel('Admin key').fill(`${ADMIN_KEY}x`);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await expect(page.getByRole('alert').getByText('That is not the admin key.')).toBeVisible();
  await page.getByLabel('Admin key').fill(ADMIN_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await expect(page.getByRole('button', { name: 'Sign out' })).toBeVisible();
  const session = (await context.cookies()).find(({ name }) => name.endsWith('session_token'))?.value ?? '';
  const token = decodeURIComponent(session).split('.', 1)[0] ?? '';

  for (const path of [
    '/',
    '/sandboxes',
    '/sandboxes/canary?volume=workspace&path=/a.txt',
    '/sandboxes/canary?tab=environment',
    '/tenants/acme',
    '/api/instances/canary/secrets',
    '/sandboxes/nobody',
    '/sandboxes?state=nonsense',
    '/nowhere',
    '/archive',
    '/snapshots',
    '/blueprints',
    '/shares',
    '/tenants',
    '/audit',
    '/explorer',
    '/settings',
    '/settings/people',
    '/settings/keys',
    '/settings/webhooks',
    '/settings/ledger',
    '/api/me',
    '/api/keys',
    '/api/people',
    '/api/people/invitations',
    '/api/auth/sign-in/email',
    '/api/instances/canary',
    '/api/instances/%',
    '/api/events',
    '/api/settings',
    '/openapi.json',
    '/metrics',
  ]) {
    await page.goto(`${url}${path}`);
    received.push([path, await page.content()]);
  }
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ');
  const visitors: Record<string, string>[] = [
    { cookie },
    { authorization: `Bearer ${ADMIN_KEY}x` },
    { authorization: `Bearer ${ADMIN_KEY}` },
  ];
  for (const headers of visitors) {
    for (const [method, path, body] of [
      ['POST', '/api/instances', '{'],
      ['POST', '/api/instances/canary/exec', { command: 'env; cat /proc/self/environ; ls /' }],
      ['POST', '/api/instances/canary/eval', { language: 'js', code: 'JSON.stringify(globalThis.process)' }],
      ['POST', '/api/instances/canary/query', { sql: 'SELECT * FROM session' }],
      ['POST', '/', 'x'],
    ] as const) {
      const answer = await call(method, path, body, { key: null, headers: { ...headers, origin: url } });
      received.push([`${method} ${path}`, answer.text]);
    }
  }
  received.push(['the log', server.output()]);
  const shipped = texts(join(ROOT, '.next', 'static'), /\.(js|css|map|json)$/);
  const secrets = {
    'the admin key': ADMIN_KEY,
    'a secret of a sandbox': GUEST_SECRET,
    'the secret that signs sessions': readFileSync(join(folder, 'auth.secret'), 'utf8').trim(),
    'the token of the session': token,
    'the signed session': session,
    'a key': key,
    'the token of an invitation': new URL(link).searchParams.get('token') ?? '',
  };
  expect(Object.values(secrets).every((secret) => secret.length >= 16)).toBe(true);
  for (const [what, secret] of Object.entries(secrets)) {
    const leaks = [...received, ...shipped].filter(([, text]) => text.includes(secret)).map(([where]) => where);
    expect([what, leaks]).toEqual([what, []]);
  }

  // What the machine is called and where things lie is nobody's business either.
  const places = [folder, ROOT, 'better-sqlite3'];
  const answers = received.filter(([where]) => where !== 'the log');
  for (const place of places)
    expect([place, answers.filter(([, text]) => text.includes(place)).map(([where]) => where)]).toEqual([place, []]);
  expect(shipped.filter(([name]) => name.endsWith('.map'))).toEqual([]);
  expect(
    shipped
      .filter(([, text]) => /WB_ADMIN_KEY|better-sqlite3|createHost|auth\.secret/.test(text))
      .map(([name]) => name),
  ).toEqual([]);
});

test('the log of a server on a free port is silent about the redirects of its own actions', async ({ page }) => {
  await page.goto(`${server.url}/signin`);
  await page.getByLabel('Admin key').fill(ADMIN_KEY);
  await page.getByRole('button', { name: 'Sign in with the key' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Sign in');
  expect(server.output()).not.toMatch(/redirect|fetch failed|ECONNREFUSED/i);
});
