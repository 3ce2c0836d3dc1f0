import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ForgettingStarted, Job, TenantForgetPlan } from '../../client/types.ts';
import { parseSegmentName, REGISTRY_ID } from '../../replication/names/replica-names.ts';
import { startServer } from '../../testing/server.ts';

const WORD = 'quartzite-and-nothing-else';

test('a server ships its registry; what a tenant had is in no moment of it after it was forgotten', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-shipped-'));
  const bucket = join(folder, 'bucket');
  const settings = { WB_REPLICA_URL: `file://${bucket}`, WB_POOL: '1' };
  const server = await startServer({ folder: join(folder, 'data'), settings });
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const segments = () =>
    readdirSync(bucket, { recursive: true, encoding: 'utf8' })
      .map((name) => ({ name, place: parseSegmentName(name) }))
      .filter(({ place }) => place?.id === REGISTRY_ID);
  const withWord = () => segments().filter(({ name }) => readFileSync(join(bucket, name)).includes(WORD));
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme', name: WORD });
  await expect.poll(() => withWord().length).toBeGreaterThan(0);
  const series = segments()[0]?.place?.series.token;

  const forget = (body: object) => server.call<ForgettingStarted>('DELETE', '/api/tenants/acme', body);
  const plan = (await server.call<TenantForgetPlan>('DELETE', '/api/tenants/acme', { dry_run: true })).json;
  expect(plan.registry_moments_end).toBe(true);
  const { id } = (await forget({ confirm: 'acme' })).json;
  await expect.poll(async () => (await server.call<Job>('GET', `/api/jobs/${id}`)).json.state).toBe('done');
  expect(withWord()).toEqual([]);
  expect(segments().length).toBeGreaterThan(0);
  expect(segments().filter(({ place }) => place?.series.token === series)).toEqual([]);
});
