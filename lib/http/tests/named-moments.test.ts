/** Moments with a name: kept by themselves until the name is removed, and what an undo of a restore brings back. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { run } from '../../backup/testing/server-content.ts';
import { FakeClock } from '../../base/clock.ts';
import { MOST_AUTOMATIC_MOMENTS, MOST_NAMED_MOMENTS } from '../../base/moment-names.ts';
import type { Event, Instance, Moment, RestoredMoment, Snapshot } from '../../contract/schema.ts';
import { startServer, type TestServer } from '../../testing/server.ts';

const DAY_S = 86_400;

let root: string;
let server: TestServer & { clock: FakeClock };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'winterdock-named-'));
});
afterEach(async () => {
  await server.stop();
  rmSync(root, { recursive: true, force: true });
});

const start = async (settings: Record<string, string> = {}, clock?: FakeClock) => {
  server = await startServer({ folder: join(root, 'data'), settings, ownReaders: true, ...(clock && { clock }) });
};
const startWithReplica = (settings: Record<string, string> = {}, clock?: FakeClock) =>
  start({ WB_REPLICA_URL: `file://${join(root, 'bucket')}`, ...settings }, clock);
const call = <T>(method: string, path: string, body?: object | string, options = {}) =>
  server.call<T>(method, `/api/instances/${path}`, body, options);
const post = <T>(path: string, body: object = {}) => call<T>('POST', path, body);
const name = <T = Moment>(id: string, as: string, body: object = {}) =>
  call<T>('PUT', `${id}/moments/${encodeURIComponent(as)}`, body);
const remove = (id: string, as: string) => call<{ code: string }>('DELETE', `${id}/moments/${encodeURIComponent(as)}`);
const namesOf = async (id: string) =>
  (await call<Moment[]>('GET', `${id}/moments?kind=named`)).json.map(({ name: one }) => one);
const read = async (id: string, query = '') =>
  (await call<string>('GET', `${id}/volumes/workspace/a${query}`)).text.slice(0, 300);
const copies = () => readdirSync(join(root, 'data', 'snapshots')).filter((file) => file.endsWith('.sqlite'));
const make = (id: string, more: object = {}) => server.call('POST', '/api/instances', { id, tenant: 'acme', ...more });
const write = (id: string, text: string) => call('PUT', `${id}/volumes/workspace/a`, text);

/** Waits until the replica has everything of a sandbox; returns the second that the API shows. */
const shipped = (id: string): Promise<number> =>
  vi.waitFor(
    async () => {
      const { recovery_point: point } = (await call<Instance>('GET', id)).json;
      expect(point).toMatchObject({ behind_s: 0 });
      return point.at as number;
    },
    { timeout: 240_000, interval: 100 },
  );

/** Writes and suspends, some seconds later. */
const rest = async (id: string, text: string): Promise<number> => {
  server.clock.advance(5);
  await write(id, text);
  expect((await post(`${id}/suspend`)).status).toBe(200);
  return shipped(id);
};

test('a moment is named, of now or of then, and is listed, read, restored and made a sandbox of by its name', async () => {
  await startWithReplica();
  await make('one');
  await write('one', 'first');
  const awake = await name('one', 'while awake');
  expect([awake.status, awake.json]).toEqual([
    200,
    { time_ms: expect.any(Number), kind: 'named', name: 'while awake', grain_s: 1 },
  ]);
  expect((await call<Instance>('GET', 'one')).json.state).toBe('active');
  const second = await rest('one', 'second');
  expect((await name('one', 'at rest')).status).toBe(200);
  await rest('one', 'third');
  expect((await name('one', 'of then', { time: second, reason: 'ticket 7' })).status).toBe(200);
  // The same once more is the same; another moment has another name.
  expect((await name('one', 'of then', { time: second })).status).toBe(200);
  for (const other of [{}, { time: awake.json.time_ms / 1000 + 0.0001 }]) {
    expect((await name<{ code: string }>('one', 'of then', other)).json.code).toBe('conflict');
  }
  expect((await namesOf('one')).sort()).toEqual(['at rest', 'of then', 'while awake']);
  const all = (await call<Moment[]>('GET', 'one/moments')).json;
  expect(all.map(({ time_ms }) => time_ms)).toEqual(all.map(({ time_ms }) => time_ms).sort((a, b) => b - a));
  expect(all.filter(({ kind }) => kind === 'named')).toHaveLength(3);
  // The two of one moment share a file.
  expect(copies().length).toBeLessThanOrEqual(3);
  expect((await server.call<Snapshot[]>('GET', '/api/snapshots')).json).toEqual([]);
  for (const { time_ms, name: of } of all.filter(({ kind }) => kind === 'named')) {
    const at = time_ms / 1000 + 0.0001;
    expect([of, await read('one', `?at=${at}`)]).toEqual([of, of === 'while awake' ? 'first' : 'second']);
  }
  const made = await post<Instance>('one/from-moment', { moment: 'while awake' });
  expect([made.status, await read(made.json.id)]).toEqual([201, 'first']);
  const back = await post<RestoredMoment>('one/restore', { moment: 'at rest' });
  expect([back.status, await read('one')]).toEqual([200, 'second']);
  const lines = (await call<Event[]>('GET', 'one/events?type=moment.named')).json.map(({ reason }) => reason);
  expect(lines.at(-1)).toMatch(/^"while awake", as of 20.*Z, sha256:[0-9a-f]{64}, \d+ bytes$/);
  expect(lines.some((line) => line?.startsWith('ticket 7 ("of then", as of '))).toBe(true);

  expect((await remove('one', 'while awake')).status).toBe(204);
  expect((await remove('one', 'while awake')).json.code).toBe('not_found');
  expect((await post<{ code: string }>('one/restore', { moment: 'while awake' })).json.code).toBe('not_found');
  expect((await call<Event[]>('GET', 'one/events?type=moment.removed')).json).toHaveLength(1);
  expect(await read('one', `?at=${awake.json.time_ms / 1000 + 0.0001}`)).toBe('first');
});

test('a named moment outlives what the replica keeps, and goes with its sandbox', async () => {
  await startWithReplica();
  await make('one');
  const first = await rest('one', 'first');
  await name('one', 'kept');
  await rest('one', 'second');
  const { clock } = server;
  await server.stop();
  clock.advance(400 * DAY_S);
  await startWithReplica({}, clock);
  await rest('one', 'third');
  await server.host.replica?.retention.run();
  const gone = await call<{ code: string }>('GET', `one/volumes/workspace/a?at=${first - 60}`);
  expect(gone.json.code).toBe('moment_gone');
  // The replica may have a later state of that series, and has nothing of this second.
  expect(await read('one', `?at=${first}`)).toBe('first');
  const [kept] = (await call<Moment[]>('GET', `one/moments?around=${first}`)).json.filter(({ name: of }) => of);
  expect(kept).toMatchObject({ name: 'kept', kind: 'named' });
  expect((await post('one/restore', { time: first })).status).toBe(200);
  expect(await read('one')).toBe('first');

  const files = copies();
  expect(files.length).toBeGreaterThan(0);
  for (const verb of ['freeze', 'archive']) expect((await post(`one/${verb}`)).status).toBe(200);
  expect((await call('DELETE', 'one')).status).toBe(204);
  await vi.waitFor(() => expect(copies()).toEqual([]), { timeout: 60_000 });
  expect((await name<{ code: string }>('one', 'late')).json.code).toBe('gone');
  expect((await post<{ code: string }>('one/from-moment', { moment: 'kept' })).json.code).toBe('not_found');
});

test('a named moment comes back with everything else from the replica of a lost machine', async () => {
  const keys = { WB_KEYS: join(root, 'keys') };
  mkdirSync(keys.WB_KEYS);
  // Files have the machine's time.
  await startWithReplica(keys, new FakeClock(Date.now()));
  await make('one');
  await rest('one', 'first');
  await name('one', 'kept');
  const [copy = ''] = copies();
  await rest('one', 'second');
  const shippedCopy = join(root, 'bucket', 'replica', '_copies', 'snapshot', copy.replace('.sqlite', ''));
  await vi.waitFor(() => expect(existsSync(shippedCopy)).toBe(true), { timeout: 240_000, interval: 100 });
  const { clock } = server;
  await server.stop();
  rmSync(join(root, 'data'), { recursive: true });
  const done = run('restore', join(root, 'data'), ['--from', `file://${join(root, 'bucket')}`], keys);
  expect([done.status, done.stderr]).toEqual([0, '']);
  await startWithReplica(keys, clock);
  expect(await namesOf('one')).toEqual(['kept']);
  expect((await post('one/restore', { moment: 'kept' })).status).toBe(200);
  expect(await read('one')).toBe('first');
});

test('restores are undone one by one, each undo can be undone, and what the server names stays bounded', async () => {
  await startWithReplica();
  await make('one');
  const seconds = [];
  for (const text of ['first', 'second', 'third']) seconds.push(await rest('one', text));
  const undone = async (): Promise<[number, string]> => {
    await shipped('one');
    const { status } = await post('one/undo');
    return [status, await read('one')];
  };
  expect((await post<{ code: string }>('one/undo')).json.code).toBe('conflict');
  for (const [to, text] of [
    [0, 'first'],
    [1, 'second'],
    [0, 'first'],
  ] as const) {
    server.clock.advance(5);
    const back = await post<RestoredMoment>('one/restore', { time: seconds[to] });
    expect([back.status, back.json.undo?.moment]).toEqual([200, expect.stringMatching(/^before-restore-\d{8}T\d{6}Z/)]);
    expect(await read('one')).toBe(text);
  }
  expect([await undone(), await undone(), await undone()]).toEqual([
    [200, 'second'],
    [200, 'first'],
    [200, 'third'],
  ]);
  expect((await post<{ code: string }>('one/undo')).json.code).toBe('conflict');
  const names = await namesOf('one');
  expect([names.length, names.every((one) => one?.startsWith('before-undo-'))]).toEqual([3, true]);
  // What the last undo replaced is the first text, and comes back by its name.
  const again = await post<RestoredMoment>('one/restore', { moment: names[0] });
  expect([again.status, await read('one')]).toEqual([200, 'first']);
  for (let n = 0; n < MOST_AUTOMATIC_MOMENTS; n += 1) {
    server.clock.advance(5);
    expect((await post('one/restore', { time: seconds[n % 3] })).status).toBe(200);
  }
  expect(await namesOf('one')).toHaveLength(MOST_AUTOMATIC_MOMENTS);
  // Equal contents are one file.
  expect(copies().length).toBeLessThanOrEqual(4);
});

test('what the replica lacks of a sandbox is not given up for a restore, and a damaged file is', async () => {
  await startWithReplica();
  await make('one');
  await rest('one', 'first');
  await name('one', 'kept');
  await write('one', 'second');
  renameSync(join(root, 'bucket'), join(root, 'away'));
  await post('one/suspend');
  const refused = await post<{ code: string; detail: string }>('one/restore', { moment: 'kept' });
  expect([refused.status, refused.json.code]).toEqual([503, 'not_replicated']);
  expect(refused.text).toContain('Nothing was done.');
  expect([await read('one'), await namesOf('one')]).toEqual(['second', ['kept']]);
  renameSync(join(root, 'away'), join(root, 'bucket'));
  await shipped('one');

  await make('filed', { replicate: 'filed' });
  await write('filed', 'x');
  await post('filed/suspend');
  await shipped('filed');
  expect((await name('filed', 'now')).status).toBe(200);

  rmSync(join(root, 'data', 'live', 'one', 'vfs.sqlite'));
  expect((await post<{ code: string }>('one/resume')).json.code).toBe('missing_file');
  const back = await post<RestoredMoment>('one/restore', { moment: 'kept' });
  expect([back.status, back.json.undo, await read('one')]).toEqual([200, null, 'first']);
});

test('what is not shipped as it is now has named moments too, which are kept here', async () => {
  await startWithReplica();
  for (const replicate of ['off', 'filed']) {
    const id = `is-${replicate}`;
    await make(id, { replicate });
    await write(id, 'first');
    const awake = await name(id, 'awake');
    expect([awake.status, awake.json.name]).toEqual([200, 'awake']);
    server.clock.advance(5);
    await write(id, 'second');
    expect((await call<Instance>('GET', id)).json.state).toBe('active');
    const at = awake.json.time_ms / 1000 + 0.0001;
    expect([await read(id, `?at=${at}`), await read(id)]).toEqual(['first', 'second']);
    await post(`${id}/suspend`);
    if (replicate === 'off') expect((await name(id, 'at rest')).status).toBe(200);
    const back = await post<RestoredMoment>(`${id}/restore`, { moment: 'awake' });
    expect([back.status, await read(id)]).toEqual([200, 'first']);
    expect([(await post(`${id}/undo`)).status, await read(id)]).toEqual([200, 'second']);
  }
});

test('who asks for the same at the same time gets the same, or is told what is under way', async () => {
  await startWithReplica();
  await make('one');
  const first = await rest('one', 'first');
  const five = [1, 2, 3, 4, 5];
  // The two spellings of one word are one name.
  const both = ['caf\u00e9', 'cafe\u0301'];
  const named = await Promise.all(five.map((n) => name('one', both[n % 2] ?? '', { time: first })));
  expect(named.map(({ status, json }) => [status, json.name])).toEqual(five.map(() => [200, both[0]]));
  expect(await namesOf('one')).toEqual([both[0]]);
  expect((await remove('one', both[1] ?? '')).status).toBe(204);
  await rest('one', 'second');
  expect((await post('one/restore', { time: first })).status).toBe(200);
  await shipped('one');
  const undone = await Promise.all([1, 2, 3].map(() => post<{ code?: string; detail?: string }>('one/undo')));
  expect(undone.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
  for (const { status, json } of undone) {
    if (status !== 200)
      expect([status, json.code, json.detail]).toEqual([409, 'conflict', expect.not.stringMatching(/named/)]);
  }
  expect(await read('one')).toBe('second');
});

test('names and moments of nobody, of others and of the server are refused, and there are not endlessly many', async () => {
  await startWithReplica();
  await make('one');
  await rest('one', 'x');
  const wrong = ['.', '..', ' ', 'a\u0000b', 'line\nbreak', 'x'.repeat(201), 'before-restore-x', 'before-undo-1'];
  for (const bad of wrong) {
    const { status } = await name('one', bad);
    expect([bad, status < 500 && status >= 400]).toEqual([bad, true]);
  }
  for (const body of [{ time: -1 }, { time: 'now' }, { time: 1e15 }, { at: 1 }, [], 'x']) {
    expect([body, (await name<{ code: string }>('one', 'good', body as object)).json.code]).toEqual([
      body,
      expect.stringMatching(/^(validation|bad_json)$/),
    ]);
  }
  for (const body of [
    {},
    { time: 1, moment: 'a' },
    { snapshot: 's', moment: 'a' },
    { moment: '' },
    { moment: '\ud800' },
    { moment: 'x'.repeat(201) },
  ]) {
    expect([body, (await post<{ code: string }>('one/restore', body)).json.code]).toEqual([body, 'validation']);
  }
  expect((await name<{ code: string }>('one', 'early', { time: 5 })).json.code).toBe('moment_gone');
  expect((await name<{ code: string }>('none', 'a')).json.code).toBe('not_found');
  for (const odd of ['ünï / ☃', 'a?b=c&d#e', '%2F', "'; DROP TABLE snapshots; --", '__proto__']) {
    expect([odd, (await name('one', odd)).json.name]).toEqual([odd, odd]);
    expect([odd, (await remove('one', odd)).status]).toEqual([odd, 204]);
  }
  const keyOf = async (role: string, tenant?: string) =>
    (await server.call<{ key: string }>('POST', '/api/keys', { name: role, role, tenant })).json.key;
  for (const [key, code] of [
    [await keyOf('tenant', 'globex'), 'not_found'],
    [await keyOf('viewer'), 'forbidden'],
    [await keyOf('support'), 'forbidden'],
  ] as const) {
    for (const [method, path, body] of [
      ['PUT', 'one/moments/a', {}],
      ['DELETE', 'one/moments/a', undefined],
      ['POST', 'one/undo', {}],
      ['POST', 'one/restore', { moment: 'a' }],
      ['POST', 'one/from-moment', { moment: 'a' }],
    ] as const) {
      expect([code, path, (await call<{ code: string }>(method, path, body, { key })).json.code]).toEqual([
        code,
        path,
        code,
      ]);
    }
  }
  for (let n = 0; n < MOST_NAMED_MOMENTS; n += 1) expect((await name('one', `n ${n}`)).status).toBe(200);
  const full = await name<{ code: string; limit: number }>('one', 'one too many');
  expect([full.status, full.json]).toEqual([
    409,
    expect.objectContaining({ code: 'conflict', limit: MOST_NAMED_MOMENTS }),
  ]);
  expect(copies()).toHaveLength(1);
  expect(existsSync(join(root, 'data', 'snapshots', copies()[0] ?? ''))).toBe(true);
});
