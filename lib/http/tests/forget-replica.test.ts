/** A forgotten tenant is in nothing that this server has, and in its backups until the day that the dry run named. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeClock } from '../../base/clock.ts';
import type { ForgettingStarted, Instance, Job, TenantForgetPlan } from '../../client/types.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer } from '../../testing/server.ts';

/** In a file, in the ledger, and in a name. */
const WORD = 'quartzite-and-nothing-else';
const SOON = { timeout: 240_000 };

test('a marker of a forgotten tenant is found nowhere, and in no backup once its day has come', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'winterdock-forget-replica-'));
  const [data, bucket, place] = [join(folder, 'data'), join(folder, 'bucket'), join(folder, 'place')];
  mkdirSync(place);
  const server = await startServer({
    folder: data,
    // Files have the machine's time.
    clock: new FakeClock(Date.now()),
    settings: { WB_REPLICA_URL: `file://${bucket}` },
  });
  onTestFinished(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const ok = async <T>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await server.call<T>(method, `/api${path}`, body as object);
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300);
    return answer.json;
  };
  const found = (root: string) => filesIn(root).filter((name) => readFileSync(join(root, name)).includes(WORD));
  const backUp = async () => {
    const { id } = await ok<{ id: string }>('POST', '/backups', {});
    await server.host.backups.runner.tick();
    expect(await ok<object>('GET', `/backups/${id}`)).toMatchObject({ state: 'made' });
  };

  for (const [id, tenant] of [
    ['mine', 'acme'],
    ['theirs', 'globex'],
  ]) {
    await ok('POST', '/instances', { id, tenant, name: tenant === 'acme' ? WORD : 'other' });
    await ok('PUT', `/instances/${id}/volumes/workspace/what`, tenant === 'acme' ? WORD : 'other');
  }
  await ok('POST', '/instances/mine/snapshots', { tag: WORD });
  for (const id of ['mine', 'theirs']) await ok('POST', `/instances/${id}/suspend`, { reason: WORD.slice(0, 3) });
  await vi.waitFor(async () => {
    expect((await ok<Instance>('GET', '/instances/mine')).recovery_point).toMatchObject({ as: 'filed', behind_s: 0 });
  }, SOON);
  await ok('PUT', `/instances/mine/moments/${WORD}`, { reason: WORD });
  await ok('PUT', '/instances/theirs/moments/kept', {});
  await vi.waitFor(() => {
    const kinds = new Set(found(bucket).map((name) => name.split('/')[1]));
    expect([...kinds].sort()).toEqual(['_copies', '_registry', 'mine']);
  }, SOON);
  const keep = { hourly: 2, daily: 0, weekly: 0, monthly: 0 };
  await ok('PUT', '/settings/backups', { target: place, cron: '0 * * * *', keep, enabled: true });
  await backUp();
  expect(found(place).length).toBeGreaterThan(0);

  const plan = await ok<TenantForgetPlan>('DELETE', '/tenants/acme', { dry_run: true });
  const by = plan.backups[0]?.gone_by ?? 0;
  expect(by).toBeGreaterThan(server.clock.now() / 1000);
  const { id: job } = await ok<ForgettingStarted>('DELETE', '/tenants/acme', { confirm: 'acme' });
  await vi.waitFor(async () => expect((await ok<Job>('GET', `/jobs/${job}`)).state).toBe('done'), SOON);
  expect(found(bucket)).toEqual([]);
  expect(found(data)).toEqual([]);
  expect(filesIn(bucket).some((name) => name.startsWith('replica/theirs/'))).toBe(true);
  expect(await ok<object[]>('GET', '/instances/theirs/moments?kind=named')).toMatchObject([{ name: 'kept' }]);

  // Backups go on. The day that was named leaves one for each: what takes its place, and what removes it a day later.
  for (const left of [27, 26, 25, 0]) {
    server.clock.advance(by - left * 3600 - server.clock.now() / 1000);
    await server.host.backups.runner.tick();
  }
  expect(found(place)).toEqual([]);
});
