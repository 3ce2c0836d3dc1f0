/**
 * The console where Next is started alone: coming in by the printed link, forms, the live stream and files, by
 * clicking.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ServerProcess, spawnServer } from '../lib/testing/process.ts';
import { expect, test } from './visited.ts';

const folder = mkdtempSync(join(tmpdir(), 'winterdock-alone-'));
let server: ServerProcess;

test.beforeAll(async () => {
  server = await spawnServer({ alone: true, folder, settings: { NODE_ENV: 'production', WB_TICK_MS: '200' } });
});
test.afterAll(async () => {
  await server.end('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

test('a person comes in by the printed link, makes a sandbox, runs a command, uploads a file, and sees what others do', async ({
  browser,
}) => {
  const page = await (await browser.newContext({ baseURL: server.url })).newPage();
  await page.goto(/^Sign in: http:\/\/[^/]+(\S+)$/m.exec(server.output())?.[1] ?? '');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel('Name', { exact: true }).fill('Ada');
  await page.getByLabel('Password').fill('a long winter, said the dock');
  await page.getByRole('button', { name: 'Create the admin account' }).click();
  await expect(page.getByRole('banner')).toBeVisible();

  await page.goto('/sandboxes');
  const tenant = page.locator('#create-tenant');
  if (!(await tenant.isVisible())) await page.getByText('New sandbox', { exact: true }).click();
  await tenant.fill('harbour');
  await page.getByLabel('Name', { exact: true }).fill('alone');
  await page.getByRole('button', { name: 'Create sandbox', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1 })).toContainText('alone');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';

  const run = await server.call('POST', `/api/instances/${id}/exec`, { command: 'echo kept > kept' });
  expect(run.status).toBe(200);
  // Told by the stream of events, without a reload.
  await expect(page.getByRole('heading', { level: 1 })).not.toContainText('Registered');

  const upload = await page.request.post(`/sandboxes/${id}/upload`, {
    headers: { origin: server.url },
    multipart: {
      volume: 'workspace',
      folder: '/',
      file: { name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(20_000_000, 7) },
    },
    maxRedirects: 0,
  });
  expect(upload.status()).toBe(303);
  const got = await server.call('GET', `/api/instances/${id}/volumes/workspace/large.bin`);
  expect([got.status, got.bytes.equals(Buffer.alloc(20_000_000, 7))]).toEqual([200, true]);

  // The session may change things from the console itself, and from nowhere else.
  for (const [origin, status] of [
    ['https://evil.example', 403],
    [server.url, 200],
  ] as const) {
    const headers = { origin, 'x-forwarded-host': 'evil.example' };
    const asked = await page.request.post(`/api/instances/${id}/suspend`, { headers });
    expect([origin, asked.status()]).toEqual([origin, status]);
  }
});
