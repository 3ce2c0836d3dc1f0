import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ProcessGroup } from '../../workers/process-group.ts';
import { hangingInstance, makeHang } from '../../workers/testing/hanging-instance.ts';
import { stage } from '../testing/stage.ts';
import { observeOpens, REQUEST } from '../testing/test-engine.ts';

const at = stage();
const stopped: number[] = [];

beforeEach(async () => {
  await at.restart({ healthCheckTimes: { checkEveryMs: 120, giveUpAfterMs: 3000 } });
});
afterEach(() => {
  for (const pid of stopped.splice(0)) {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has ended by now, as it should.
    }
  }
});

/** Wakes a sandbox, gives it a file and a file in tmp, and lets it idle. Returns its process's id. */
async function idle(id: string): Promise<number> {
  await at.dock.create(id);
  await at.dock.put(id, '/kept', 'kept');
  let pidOf = () => 0;
  observeOpens(at.dock.pool, (opening, spec) => {
    if (spec.id === id) pidOf = () => opening.pid;
  });
  await at.dock.sandboxes.suspend(id, REQUEST);
  await at.dock.run(id, 'echo scratch > /tmp/t');
  return pidOf();
}

/**
 * Wakes a sandbox on a process of its own, outside the pool, that burns its processor and is checked as by the pool.
 */
async function burning(id: string): Promise<{ instance: ProcessGroup; stop: () => void }> {
  await at.dock.create(id);
  const claim = at.dock.pool.claim.bind(at.dock.pool);
  const opened: ProcessGroup[] = [];
  at.dock.pool.claim = () => {
    at.dock.pool.claim = claim;
    return {
      started: Promise.resolve(),
      release: () => {},
      open(spec) {
        const instance = hangingInstance(spec, { hangsOn: 'signal', readyMs: 300 });
        opened.push(instance);
        return instance;
      },
    };
  };
  await at.dock.put(id, '/kept', 'kept');
  const [instance] = opened;
  if (instance === undefined) throw new Error('It got a process of the pool.');
  await makeHang(instance.pid);
  const timer = setInterval(() => instance.check(), 20);
  return { instance, stop: () => clearInterval(timer) };
}

function freeze(pid: number): void {
  stopped.push(pid);
  process.kill(pid, 'SIGSTOP');
}

const typesOf = async (id: string) =>
  (await at.dock.registry.ledger.page({ instance: id }, 500)).rows
    .reverse()
    .map(({ type, from, to, trigger }) => (type === 'transition' ? `${from} ${to} ${trigger}` : type));
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const isThere = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test('ten unanswered checks of an idle process pause it, and the next request continues it with its tmp', async () => {
  const pid = await idle('a');
  freeze(pid);
  await expect.poll(() => typesOf('a')).toContain('thermal.force_pause');
  expect(await at.stateOf('a')).toBe('active');
  expect(await at.thermalOf('a')).toBe('warm');
  expect(await at.dock.run('a', 'echo once >> kept; cat kept /tmp/t')).toBe('keptonce\nscratch\n');
  expect(isThere(pid)).toBe(true);
  await expect.poll(async () => (await typesOf('a')).slice(-2)).toEqual(['thermal.force_pause', 'thermal.wake']);
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null });
});

test('the ledger says how many checks were left unanswered, which a setting decides', async () => {
  await at.restart({ healthCheckTimes: { checkEveryMs: 120, giveUpAfterMs: 3000, silentAfterChecks: 4 } });
  freeze(await idle('a'));
  await expect.poll(() => typesOf('a')).toContain('thermal.force_pause');
  const { rows } = await at.dock.registry.ledger.page({ type: 'thermal.force_pause' }, 1);
  expect(rows[0]?.reason).toBe('its process left 4 checks in a row unanswered while no call ran');
});

test('one that burns its processor is paused too, and the next request gets another process', async () => {
  const { instance, stop } = await burning('a');
  await expect.poll(() => typesOf('a')).toContain('thermal.force_pause');
  const started = performance.now();
  expect(await at.dock.run('a', 'echo once >> kept; cat kept')).toBe('keptonce\n');
  expect(performance.now() - started).toBeGreaterThan(300);
  stop();
  expect(isThere(instance.pid)).toBe(false);
  expect((await typesOf('a')).slice(-3)).toEqual([
    'thermal.force_pause',
    'active suspended crash',
    'suspended active request',
  ]);
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null });
});

test('a sandbox gets the fault error only when another process fails as well', async () => {
  const { stop } = await burning('a');
  await expect.poll(() => typesOf('a')).toContain('thermal.force_pause');
  const claim = at.dock.pool.claim.bind(at.dock.pool);
  at.dock.pool.claim = () => {
    const claimed = claim();
    return {
      started: claimed.started,
      release: () => claimed.release(),
      open: (spec) => claimed.open({ ...spec, file: `${spec.file}/of-nothing` }),
    };
  };
  await expect(at.dock.run('a', 'true')).rejects.toMatchObject({});
  stop();
  expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'suspended' });
  const faults = ['error', 'missing', 'corrupt'];
  expect(faults).toContain((await at.dock.registry.instances.get('a'))?.fault);
  at.dock.pool.claim = claim;
  await at.dock.sandboxes.resume('a', REQUEST, { force: true });
  expect(await at.dock.get('a', '/kept')).toBe('kept');
});

test('a call and a write that reach a stuck process before the tenth check are done once, by another', async () => {
  await at.restart({ healthCheckTimes: { checkEveryMs: 60_000, giveUpAfterMs: 3000 } });
  const pid = await idle('a');
  await pause(50);
  freeze(pid);
  const call = at.dock.run('a', 'echo once >> log; cat log');
  const write = at.dock.put('a', '/written', 'written');
  expect(await call).toBe('once\n');
  await write;
  expect(await at.dock.get('a', '/written')).toBe('written');
  expect(await typesOf('a')).not.toContain('thermal.force_pause');
  expect(isThere(pid)).toBe(false);
});

test('a process that runs a call is not checked, although it blocks', async () => {
  await idle('a');
  const command = 'printf %060dz 0 | grep -E "^(0+)+$"';
  const call = at.dock.sandboxes.exec('a', { command, timeoutMs: 2000 }, REQUEST);
  await pause(1500);
  expect(await typesOf('a')).not.toContain('thermal.force_pause');
  expect(await call).toMatchObject({ timedOut: true });
  expect(await typesOf('a')).not.toContain('thermal.force_pause');
});

test.each([false, true])(
  'a stuck process is suspended from its file (force: %s), and so is one at a stop',
  async (force) => {
    freeze(await idle('a'));
    await at.dock.sandboxes.suspend('a', REQUEST, { force });
    expect(await at.stateOf('a')).toBe('suspended');
    expect(await at.dock.get('a', '/kept')).toBe('kept');
    await at.dock.run('a', 'true');
    expect(await at.dock.registry.instances.get('a')).toMatchObject({ state: 'active', fault: null });
    freeze(await idle('b'));
    await at.restart();
    expect([await at.stateOf('a'), await at.stateOf('b')]).toEqual(['suspended', 'suspended']);
    expect(await at.dock.registry.instances.get('b')).toMatchObject({ fault: null });
    expect(await at.dock.get('b', '/kept')).toBe('kept');
  },
);
