import { availableParallelism } from 'node:os';
import { expect, test, vi } from 'vitest';
import { withTiming } from '../../base/timing.ts';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';
import { WakeAdmission } from './admission.ts';

const at = stage();

/** Creates sandboxes of a tenant and returns their ids. */
async function create(tenant: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${tenant}-${index}`);
  for (const id of ids) await at.dock.create(id, { tenant });
  return ids;
}

test('ten times as many sandboxes as places are all served, four at a time, and there are never more', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '2', WB_WAKE_WAIT_MS: '600000' } });
  const ids = await create('acme', 20);
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, at.dock.pool.active);
  }, 2);
  const waiting = [...ids, ...ids];
  const client = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await at.dock.run(id, `echo ${id} >> log`);
  };
  await Promise.all(Array.from({ length: 4 }, client));
  clearInterval(looking);
  expect(most).toBe(2);
  for (const id of ids) expect(await at.dock.get(id, '/log')).toBe(`${id}\n${id}\n`);
});

test('tenants take turns: one sandbox of the second is woken before the twelve of the first', async () => {
  const many = await create('many', 12);
  const [one = ''] = await create('one', 1);
  const served: string[] = [];
  const wake = (id: string) => at.dock.sandboxes.resume(id, REQUEST).then(() => served.push(id));
  await Promise.all([...many, one].map(wake));
  expect(served.indexOf(one)).toBeLessThan(6);
  // Within a tenant, in the order in which they came, one more at a time than there are processors.
  expect(served.filter((id) => id !== one).slice(0, availableParallelism() + 1)).toContain(many[0]);
});

test('a wake that would wait longer than its caller is refused, with when to try again, and leaves no trace', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '1' } });
  await create('acme', 2);
  const busy = new AbortController();
  const call = at.dock.sandboxes.exec('acme-0', { command: 'sleep 60' }, REQUEST, { signal: busy.signal });
  await vi.waitFor(() => expect(at.dock.pool.active).toBe(1), { timeout: 240_000 });
  const refused = at.dock.sandboxes.exec('acme-1', { command: 'true', timeoutMs: 200 }, REQUEST);
  await expect(refused).rejects.toMatchObject({ code: 'capacity', retryAfterSeconds: expect.any(Number) });
  expect(await at.dock.registry.instances.get('acme-1')).toMatchObject({ state: 'created', pending: null });
  busy.abort();
  await call;
});

test('a caller who goes away while it waits gives up its turn', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '1' } });
  await create('acme', 3);
  const busy = new AbortController();
  const call = at.dock.sandboxes.exec('acme-0', { command: 'sleep 60' }, REQUEST, { signal: busy.signal });
  await vi.waitFor(() => expect(at.dock.pool.active).toBe(1), { timeout: 240_000 });
  const left = new AbortController();
  const gone = at.dock.sandboxes.exec('acme-1', { command: 'echo ran > ran' }, REQUEST, { signal: left.signal });
  const next = at.dock.run('acme-2', 'echo served');
  left.abort();
  await expect(gone).rejects.toMatchObject({ code: 'conflict', extra: { cause: 'aborted' } });
  busy.abort();
  expect(await next).toBe('served\n');
  await call;
  expect(await at.stateOf('acme-1')).toBe('created');
});

test('the parts of a wake are noted for the answer, and a hot call has its run alone', async () => {
  await create('acme', 1);
  const partsOf = () =>
    withTiming(async (parts) => {
      await at.dock.run('acme-0', 'true');
      return [...parts];
    });
  const woken = await partsOf();
  expect(woken.map(([name]) => name)).toEqual(['wait', 'start', 'open', 'commit', 'run']);
  for (const [, milliseconds] of woken) expect(milliseconds).toBeGreaterThanOrEqual(0);
  expect((await partsOf()).map(([name]) => name)).toEqual(['run']);
});

test('a script that may take little time waits for its sandbox to wake all the same', async () => {
  await create('acme', 1);
  const answer = await at.dock.sandboxes.exec('acme-0', { command: 'true', timeoutMs: 20 }, REQUEST);
  expect(answer.woke).toBe('cold');
});

test('a call that nobody waits for is woken behind everybody who came after it', async () => {
  const processors = availableParallelism();
  const behind = await create('many', 6 * processors);
  const [one = ''] = await create('one', 1);
  const served: string[] = [];
  const wakeBehind = (id: string) =>
    at.dock.sandboxes.exec(id, { command: 'true' }, REQUEST, { makesRoom: false }).then(() => served.push(id));
  const all = behind.map(wakeBehind);
  all.push(at.dock.sandboxes.exec(one, { command: 'true' }, REQUEST).then(() => served.push(one)));
  await Promise.all(all);
  // It has a place at once. Its worker may start later than others' on a busy machine, but nowhere near the last.
  expect(served.indexOf(one)).toBeLessThan(3 * processors);
});

test('a call that nobody waits for suspends nobody: without room it is refused', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '1' } });
  await create('acme', 2);
  await at.dock.run('acme-0', 'true');
  const refused = at.dock.sandboxes.exec('acme-1', { command: 'true' }, REQUEST, { makesRoom: false });
  await expect(refused).rejects.toMatchObject({ code: 'capacity' });
  expect(await at.stateOf('acme-0')).toBe('active');
});

test('a wake that no place is found for waits as long as it may, and no shorter on a busy server', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '1', WB_WAKE_WAIT_MS: '600000' } });
  const [kept = '', refused = ''] = await create('acme', 2);
  const waits: [number, boolean][] = [];
  const busy = new AbortController();
  const begun = Promise.withResolvers<void>();
  const running = at.dock.sandboxes.exec(kept, { command: 'sleep 600' }, REQUEST, {
    signal: busy.signal,
    onStarted: begun.resolve,
  });
  await begun.promise;
  at.dock.sandboxes.onWakeWaited((waitMs, isAdmitted) => waits.push([waitMs, isAdmitted]));
  const { claim } = WakeAdmission.prototype;
  // What else the server does in the same turn of the event loop, before the wake is queued.
  vi.spyOn(WakeAdmission.prototype, 'claim').mockImplementationOnce(function (this: WakeAdmission, ...given) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    return claim.apply(this, given);
  });
  await expect(at.dock.sandboxes.exec(refused, { command: 'true', timeoutMs: 1000 }, REQUEST)).rejects.toMatchObject({
    code: 'capacity',
  });
  vi.restoreAllMocks();
  expect(waits).toEqual([[expect.any(Number), false]]);
  expect(waits[0]?.[0]).toBeGreaterThanOrEqual(1000);
  // Nobody waits for it, also while the server has not noticed yet that it need not look for room any more.
  expect(at.dock.sandboxes.wakesWaiting).toBe(0);
  busy.abort();
  await running;
});

test('how many wakes wait is told, and of each how long it waited and whether in vain', async () => {
  await at.restart({ environment: { WB_MAX_ACTIVE: '1', WB_WAKE_WAIT_MS: '600000' } });
  const [kept = '', refused = ''] = await create('acme', 2);
  const waits: [number, boolean][] = [];
  at.dock.sandboxes.onWakeWaited((waitMs, isAdmitted) => waits.push([waitMs, isAdmitted]));
  await at.dock.run(kept, 'true');
  expect(waits).toEqual([[expect.any(Number), true]]);
  expect(at.dock.sandboxes.wakesWaiting).toBe(0);
  const busy = new AbortController();
  const begun = Promise.withResolvers<void>();
  const running = at.dock.sandboxes.exec(kept, { command: 'sleep 60' }, REQUEST, {
    signal: busy.signal,
    onStarted: begun.resolve,
  });
  await begun.promise;
  // Alone it is given six seconds: beside others the first process takes longer than that to start.
  const wake = at.dock.sandboxes.exec(refused, { command: 'true', timeoutMs: 6000 }, REQUEST);
  wake.catch(() => {});
  await vi.waitFor(() => expect(at.dock.sandboxes.wakesWaiting).toBe(1), { interval: 5, timeout: 240_000 });
  await expect(wake).rejects.toMatchObject({ code: 'capacity' });
  expect(waits).toHaveLength(2);
  const [waitMs, isAdmitted] = waits[1] ?? [];
  expect(isAdmitted).toBe(false);
  expect(waitMs).toBeGreaterThanOrEqual(6000);
  busy.abort();
  await running;
  expect(at.dock.sandboxes.wakesWaiting).toBe(0);
});
