import { expect, test, vi } from 'vitest';
import { epochSeconds } from '../../base/clock.ts';
import { entry } from '../../registry/testing/fixtures.ts';
import { stage } from '../testing/stage.ts';
import { REQUEST } from '../testing/test-engine.ts';

/** Three processes fit: one counts between 24 and 35 MiB. */
const THREE = { environment: { WB_MEMORY: String(63 * 1024 * 1024) } };
const at = stage();

const statesOf = async (...ids: string[]) => Promise.all(ids.map((id) => at.stateOf(id)));

/** A call that runs until a file `go` is written from outside. */
function untilTold(id: string) {
  return at.dock.run(id, 'echo begun > begun; until [ -f go ]; do sleep 0.05; done; echo ended > ended; cat ended');
}

/** Runs a command, and waits no longer than a second for its wake. */
const runSoon = (id: string, command: string) => at.dock.sandboxes.exec(id, { command, timeoutMs: 1000 }, REQUEST);

/** Runs a command as soon as there is room: a process that has just begun takes more memory for some seconds. */
const served = (id: string, command: string): Promise<string> =>
  at.dock.run(id, command).catch((error) => {
    expect(error).toMatchObject({ code: 'capacity' });
    return served(id, command);
  });

async function begun(id: string): Promise<void> {
  await vi.waitFor(async () => expect(await at.dock.get(id, '/begun')).toBe('begun\n'), { timeout: 240_000 });
}

test('to make room for one more, the least recently used sandbox is suspended, and the ledger records why', async () => {
  await at.restart(THREE);
  for (const id of ['a', 'b', 'c', 'd']) await at.dock.create(id);
  for (const id of ['a', 'b', 'c']) await at.dock.run(id, `echo of ${id} > note`);
  // In the same second, and yet the latest.
  await at.dock.run('a', 'cat note');
  expect(await at.dock.run('d', 'echo served')).toBe('served\n');
  expect(await statesOf('a', 'b', 'c', 'd')).toEqual(['active', 'suspended', 'active', 'active']);
  expect(await at.transitionsOf('b')).toEqual(['created active request', 'active suspended pressure']);
  const [line] = (await at.dock.registry.ledger.page({ instance: 'b', type: 'transition' }, 1)).rows;
  expect(line).toMatchObject({
    actor: 'system',
    reason: 'used longest ago, and all sandboxes together have 63 MiB of memory (WB_MEMORY)',
  });
  expect(await at.dock.run('b', 'cat note')).toBe('of b\n');
  expect(await statesOf('a', 'b', 'c', 'd')).toEqual(['active', 'active', 'suspended', 'active']);
});

test('a sandbox that is busy, kept hot, held or has a terminal open is never suspended; one more is refused then, and nothing is lost', async () => {
  await at.restart({ environment: { ...THREE.environment, WB_WAKE_WAIT_MS: '240000' } });
  await at.dock.create('busy');
  await at.dock.create('kept', { keepHot: true });
  await at.dock.create('open');
  await at.dock.create('more');
  const hour = epochSeconds(at.dock.clock) + 3600;
  await at.dock.registry.instances.patch(
    'more',
    { holdUntil: hour },
    epochSeconds(at.dock.clock),
    entry({ instance: 'more' }),
  );
  const call = untilTold('busy');
  for (const id of ['kept', 'open']) await served(id, 'echo left > /tmp/left');
  await at.dock.sandboxes.attach('open', 'terminal-1');
  await begun('busy');
  const refused = runSoon('more', 'echo served');
  await expect(refused).rejects.toMatchObject({ code: 'capacity', retryAfterSeconds: 5 });
  await expect(refused).rejects.toThrow(/use \d+ MiB of the 63 MiB .*\(WB_MEMORY\)/);
  expect(await statesOf('busy', 'kept', 'open', 'more')).toEqual(['active', 'active', 'active', 'created']);
  const [line] = (await at.dock.registry.ledger.page({ instance: 'more' }, 1)).rows;
  expect(line).toMatchObject({ type: 'wake.refused', error: expect.stringContaining('WB_MEMORY') });
  expect((await at.dock.registry.instances.get('more'))?.pending).toBeNull();
  // A waiting wake takes the room of the first idle one.
  const next = served('more', 'echo served');
  await at.dock.put('busy', '/go', '');
  expect(await call).toBe('ended\n');
  expect(await next).toBe('served\n');
  expect(await statesOf('busy', 'kept', 'open', 'more')).toEqual(['suspended', 'active', 'active', 'active']);
  for (const id of ['kept', 'open']) expect(await at.dock.run(id, 'cat /tmp/left')).toBe('left\n');
  // Held until later: the others cannot be suspended either.
  await expect(runSoon('busy', 'cat ended')).rejects.toMatchObject({ code: 'capacity' });
  at.dock.sandboxes.detach('open', 'terminal-1');
  expect(await served('busy', 'cat ended')).toBe('ended\n');
  expect(await statesOf('busy', 'kept', 'open', 'more')).toEqual(['active', 'active', 'suspended', 'active']);
});

test('a wake beyond its tenant’s quota suspends no other sandbox', async () => {
  await at.restart(THREE);
  for (const id of ['a', 'b', 'c']) {
    await at.dock.create(id, { tenant: 'other' });
    await at.dock.run(id, 'true');
  }
  await at.dock.create('d', { tenant: 'acme' });
  await at.dock.registry.quotas.set('acme', { maxActive: 0 }, entry({ type: 'tenant.changed' }));
  await expect(at.dock.run('d', 'true')).rejects.toMatchObject({ code: 'quota_exceeded' });
  expect(await statesOf('a', 'b', 'c')).toEqual(['active', 'active', 'active']);
});

test('fifty concurrent wakes where three fit are served or refused for now, and every answered write is kept', async () => {
  await at.restart(THREE);
  const ids = Array.from({ length: 50 }, (_, index) => `s${index}`);
  for (const id of ids) await at.dock.create(id);
  let most = 0;
  const looking = setInterval(() => {
    most = Math.max(most, at.dock.pool.active);
  }, 5);
  const served = new Set<string>();
  try {
    for (let wanted = ids; wanted.length > 0; wanted = wanted.filter((id) => !served.has(id))) {
      const outcomes = await Promise.allSettled(
        wanted.map(async (id) => {
          expect(await at.dock.run(id, `echo of ${id} >> note; cat note`)).toBe(`of ${id}\n`);
          served.add(id);
        }),
      );
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'capacity' });
    }
  } finally {
    clearInterval(looking);
  }
  expect(most).toBeLessThanOrEqual(3);
  for (const id of ids) expect(await at.dock.get(id, '/note')).toBe(`of ${id}\n`);
  for (const id of ids) expect((await at.dock.registry.instances.get(id))?.fault).toBeNull();
});

test('the memory of calls counts: idle sandboxes are suspended while the processes exceed the limit, and the call goes on', async () => {
  await at.restart({ environment: { WB_MEMORY: String(200 * 1024 * 1024) } });
  for (const id of ['a', 'b', 'c']) {
    await at.dock.create(id);
    await at.dock.run(id, 'echo kept > kept');
  }
  const code = 'import time\nkept = bytearray(b"x" * 220_000_000)\ntime.sleep(60)';
  const call = at.dock.sandboxes.eval('a', { language: 'python', code, timeoutMs: 15_000 }, REQUEST);
  const { pool, sandboxes } = at.dock;
  await vi.waitFor(() => expect(pool.memory.servingBytes).toBeGreaterThan(260 * 1024 * 1024), { timeout: 240_000 });
  await sandboxes.tick();
  expect(await statesOf('a', 'b', 'c')).toEqual(['active', 'suspended', 'suspended']);
  expect(await call).toMatchObject({ timedOut: true });
  expect(await at.stateOf('a')).toBe('active');
  // Its memory is returned, and there is room again.
  await vi.waitFor(() => expect(pool.memory.servingBytes).toBeLessThan(60 * 1024 * 1024), { timeout: 240_000 });
  for (const id of ['b', 'c']) expect(await at.dock.run(id, 'cat kept')).toBe('kept\n');
  expect(await at.stateOf('a')).toBe('active');
});
