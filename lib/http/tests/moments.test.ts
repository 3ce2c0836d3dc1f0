/** One sandbox comes back from the replica while the server runs: as itself, and as a new one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Event, Instance, Restored } from '../../contract/schema.ts';
import { filesIn } from '../../testing/files-in.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let root: string;
let server: TestServer & { clock: FakeClock };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-moments-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const start = async (settings: Record<string, string> = {}) => {
  server = await startServer({ folder: join(root, 'data'), settings });
};
const withReplica = () => start({ WB_REPLICA_URL: `file://${join(root, 'bucket')}` });
const of = async (id: string) => (await server.call<Instance>('GET', `/api/instances/${id}`)).json;
const post = <T>(path: string, body: object = {}) => server.call<T>('POST', `/api/instances/${path}`, body);
const read = async (id: string) => (await server.call('GET', `/api/instances/${id}/volumes/workspace/a`)).text;
/** Writes, suspends, and waits until the replica has the file; returns the second that the API shows. */
const rest = async (id: string, text: string): Promise<number> => {
  await server.call('PUT', `/api/instances/${id}/volumes/workspace/a`, text);
  expect((await post(`${id}/suspend`)).status).toBe(200);
  return vi.waitFor(
    async () => {
      const { recovery_point: point } = await of(id);
      expect(point).toMatchObject({ as: 'filed', behind_s: 0 });
      return point.at as number;
    },
    { timeout: 240_000 },
  );
};

/** Two states of one sandbox, five seconds apart. */
const twoStates = async (id: string): Promise<[number, number]> => {
  await server.call('POST', '/api/instances', { id, tenant: 'acme', name: 'first' });
  const first = await rest(id, 'first');
  server.clock.advance(5);
  return [first, await rest(id, 'second')];
};

test('a sandbox is as itself at a moment, and the answer says what brings back what it had', async () => {
  await withReplica();
  const [first] = await twoStates('one');
  const back = await post<Restored>('one/restore', { time: first, reason: 'ticket 7' });
  expect([back.status, back.text]).toEqual([200, expect.any(String)]);
  const restored = back.json as Extract<Restored, { used: number }>;
  expect(restored.instance).toMatchObject({ id: 'one', state: 'suspended', fault: null, name: 'first' });
  expect(Math.floor(restored.used)).toBe(first);
  expect(restored.undo).toEqual({ moment: expect.stringMatching(/^before-restore-/) });
  expect(await read('one')).toBe('first');
  expect(filesIn(join(root, 'data')).some((path) => path.startsWith('orphans/') && path.includes('one'))).toBe(true);
  const [line] = (await server.call<Event[]>('GET', '/api/instances/one/events?type=file.restored')).json;
  expect(line?.reason).toContain(`ticket 7 (replica as of ${new Date(restored.used * 1000).toISOString()}`);

  expect((await post('one/restore', restored.undo ?? {})).status).toBe(200);
  expect(await read('one')).toBe('second');
  // What came before is not taken away by going back, nor by coming back.
  expect((await post('one/restore', { time: first })).status).toBe(200);
  expect(await read('one')).toBe('first');
});

test('a new sandbox is made of a moment, beside the one that is there, of one that is awake, and of a deleted one', async () => {
  await withReplica();
  const [first, second] = await twoStates('one');
  const made = await post<Instance>('one/from-moment', { time: first, name: 'before' });
  expect([made.status, made.headers.location]).toEqual([201, `/api/instances/${made.json.id}`]);
  expect(made.json).toMatchObject({ state: 'created', name: 'before', tenant: 'acme', lineage: { parent: 'one' } });
  expect(await read(made.json.id)).toBe('first');
  expect(await read('one')).toBe('second');

  await post('one/resume');
  const other = await post<Instance>('one/from-moment', { time: second, tenant: 'globex' });
  expect(other.json).toMatchObject({ tenant: 'globex', name: null });
  expect(await read(other.json.id)).toBe('second');
  const awake = await post<{ code: string }>('one/restore', { time: first });
  expect([awake.status, awake.json.code]).toEqual([409, 'conflict']);

  await post('one/archive');
  expect((await server.call('DELETE', '/api/instances/one')).status).toBe(204);
  const after = await post<Instance>('one/from-moment', { time: first });
  expect(await read(after.json.id)).toBe('first');
  expect((await post('one/restore', { time: first })).json).toMatchObject({ code: 'gone' });
});

test('a time before the replica, a server without one, and half a wish are refused, and nothing changes', async () => {
  await withReplica();
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  const at = await rest('one', 'kept');
  const early = await post<{ code: string; oldest: number }>('one/restore', { time: at - 3600 });
  expect([early.status, early.json.code]).toEqual([410, 'moment_gone']);
  expect(early.json.oldest).toBeLessThan(at + 1);
  expect((await post<{ code: string }>('one/from-moment', { time: at - 3600 })).json.code).toBe('moment_gone');
  for (const body of [{}, { time: at, snapshot: 'snap_1' }]) {
    expect((await post<{ code: string }>('one/restore', body)).json.code).toBe('validation');
  }
  expect((await post<{ code: string }>('nobody/from-moment', { time: at })).json.code).toBe('not_found');
  expect(await read('one')).toBe('kept');
  const failed = await server.call<Event[]>('GET', '/api/instances/one/events?type=replica.restore_failed');
  expect(failed.json).toHaveLength(2);
  await server.stop();
  await start();
  const none = await post<{ code: string; detail: string }>('one/restore', { time: at });
  expect([none.json.code, none.text]).toEqual(['conflict', expect.stringContaining('This server has no replica.')]);
});
