/** Named moments on a server without a replica: a checkpoint before a risky step, looked at, restored and undone. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FakeClock } from '../../base/clock.ts';
import type { Comparison, Event, Instance, Moment, RestoredMoment } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

let server: TestServer & { clock: FakeClock };
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.stop());

interface Refusal {
  code: string;
  detail: string;
  oldest?: number;
}

const call = <T>(method: string, path: string, body?: object | string) =>
  server.call<T>(method, `/api/instances/${path}`, body);
const name = <T = Moment>(as: string, body: object = {}) => call<T>('PUT', `one/moments/${as}`, body);
const names = async () => (await call<Moment[]>('GET', 'one/moments?kind=named')).json.map((moment) => moment.name);
const read = async (query = '') => (await call('GET', `one/volumes/workspace/a${query}`)).text;
const write = async (text: string) => {
  server.clock.advance(5);
  expect((await call('PUT', 'one/volumes/workspace/a', text)).status).toBeLessThan(300);
};

test('what a sandbox is now gets a name, is looked at, restored, undone and started from, and let go', async () => {
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await write('first');
  expect([(await call<Refusal>('GET', 'one/moments')).json.code, await names()]).toEqual(['conflict', []]);
  expect((await name<Refusal>('early', { time: 5 })).json).toMatchObject({
    code: 'conflict',
    detail: 'This server has no replica.',
  });
  const kept = await name('kept');
  expect([kept.status, kept.json]).toEqual([
    200,
    { time_ms: server.clock.now(), kind: 'named', name: 'kept', grain_s: 1 },
  ]);
  expect((await call<Instance>('GET', 'one')).json.state).toBe('active');
  await write('second');
  expect((await name<Refusal>('kept')).json.code).toBe('conflict');
  const at = kept.json.time_ms / 1000 + 1;
  expect([await read(`?at=${at}`), await read()]).toEqual(['first', 'second']);
  expect((await call<Comparison>('GET', `one/compare/workspace?since=${at}`)).json).toMatchObject({ changed: 1 });
  expect((await call<Moment[]>('GET', 'one/moments')).json).toMatchObject([{ name: 'kept' }]);
  expect((await call('POST', 'one/volumes/workspace/take-back', { path: '/a', moment: 'kept' })).status).toBe(200);
  expect(await read()).toBe('first');
  await write('third');

  expect((await call('POST', 'one/suspend', {})).status).toBe(200);
  const back = await call<RestoredMoment>('POST', 'one/restore', { moment: 'kept' });
  expect([back.status, await read()]).toEqual([200, 'first']);
  expect(back.json.undo?.moment).toMatch(/^before-restore-/);
  expect([(await call('POST', 'one/undo', {})).status, await read()]).toEqual([200, 'third']);
  expect((await call('POST', 'one/restore', { time: at })).status).toBe(200);
  expect(await read()).toBe('first');
  const made = await call<Instance>('POST', 'one/from-moment', { moment: 'kept' });
  expect(made.status).toBe(201);
  expect((await call('GET', `${made.json.id}/volumes/workspace/a`)).text).toBe('first');

  // The ledger says what was really used.
  const used = `moment "kept" as of ${new Date(kept.json.time_ms).toISOString()}`;
  const reasonsOf = async (id: string, type: string) =>
    (await call<Event[]>('GET', `${id}/events?type=${type}`)).json.map(({ reason }) => reason);
  expect(await reasonsOf('one', 'file.restored')).toEqual([
    expect.stringContaining(used),
    expect.stringContaining('moment "before-restore-'),
    expect.stringContaining(used),
  ]);
  expect(await reasonsOf(made.json.id, 'replica.placed')).toEqual([`"one", ${used}`]);

  // A time before all of them says which is the oldest.
  const early = at - 3600;
  const oldest = kept.json.time_ms / 1000;
  for (const gone of [
    await call<Refusal>('GET', `one/volumes/workspace/a?at=${early}`),
    await call<Refusal>('GET', `one/compare/workspace?since=${early}`),
    await call<Refusal>('GET', `one/moments?around=${early}`),
    await call<Refusal>('POST', 'one/volumes/workspace/take-back', { path: '/a', time: early }),
    await call<Refusal>('POST', 'one/from-moment', { time: early }),
    await call<Refusal>('PUT', 'one/moments/early', { time: early }),
  ]) {
    expect([gone.status, gone.json]).toMatchObject([
      410,
      { code: 'moment_gone', oldest, detail: expect.stringContaining('the oldest is “kept”') },
    ]);
  }

  expect((await call<Event[]>('GET', 'one/events?type=moment.named')).json.length).toBeGreaterThan(2);
  expect((await call('DELETE', 'one/moments/kept')).status).toBe(204);
  expect(await names()).not.toContain('kept');
  expect((await call<Refusal>('POST', 'one/restore', { moment: 'kept' })).json.code).toBe('not_found');
  // What the server keeps of restores is later.
  expect((await call<Refusal>('GET', `one/volumes/workspace/a?at=${early}`)).json.code).toBe('moment_gone');
});

test('those who name at the same time share no name', async () => {
  await server.call('POST', '/api/instances', { id: 'one', tenant: 'acme' });
  await write('first');
  const three = await Promise.all([1, 2, 3].map(() => name<Moment & Refusal>('same')));
  expect(three.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
  expect(await names()).toEqual(['same']);
  expect((await call<Event[]>('GET', 'one/events?type=moment.named')).json).toHaveLength(1);
});
