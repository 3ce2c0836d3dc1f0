import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ServerProcess, spawnServer } from '../testing/process.ts';

let folder: string;
let server: ServerProcess;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-runner-'));
  server = await spawnServer({ folder });
});
afterEach(async () => {
  await server.end();
  rmSync(folder, { recursive: true, force: true });
});

interface Job {
  state: string;
  chosen: number;
  done: number;
  failed: number;
  skipped: number;
}

test.each(['archive', 'delete'] as const)(
  'a job to %s that is killed again and again ends with each sandbox moved once',
  async (verb) => {
    const ids = Array.from({ length: 60 }, (_, n) => `k${n}`);
    for (const id of ids) {
      expect((await server.call('POST', '/api/instances', { id, tenant: 'acme' })).status).toBe(201);
    }
    const filter = { tenant: 'acme' };
    const filed = await server.call<{ id: string }>('POST', '/api/jobs', {
      verb: 'archive',
      filter: { tenant: 'nobody' },
    });
    expect(filed.status).toBe(202);
    const { id } = (await server.call<{ id: string }>('POST', '/api/jobs', { verb, filter })).json;
    const job = async () => (await server.call<Job>('GET', `/api/jobs/${id}`)).json;
    const settled = async () => {
      const { done, failed, skipped } = await job();
      return done + failed + skipped;
    };
    for (const kill of [1, 2]) {
      const before = await settled();
      await expect
        .poll(async () => ((await job()).state === 'running' ? settled() : 99), { interval: 3 })
        .toBeGreaterThan(before);
      await server.end('SIGKILL');
      server = await spawnServer({ folder });
      expect(await settled(), `after kill ${kill}`).toBeGreaterThanOrEqual(before);
    }
    await expect.poll(async () => (await job()).state).toBe('done');
    expect(await job()).toMatchObject({ chosen: 60, done: 60, failed: 0, skipped: 0 });
    const state = verb === 'archive' ? 'archived' : 'deleted';
    const moved = await server.call('GET', `/api/instances?state=${state}&limit=500`);
    expect(moved.headers['x-total-count']).toBe('60');
    const lines = await server.call<{ instance: string; to: string }[]>('GET', '/api/events?type=transition&limit=500');
    const arrivals = lines.json.filter(({ to }) => to === state).map(({ instance }) => instance);
    expect(arrivals.toSorted()).toEqual(ids.toSorted());
  },
);
