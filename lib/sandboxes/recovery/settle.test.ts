/** An operation whose failure could not even be recorded: it blocks its sandbox until it is settled. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEffects } from '../../base/effects.ts';
import { namesIn } from '../../testing/files-in.ts';
import { REQUEST, startTestEngine, type TestEngine } from '../testing/test-engine.ts';
import type { Failpoint } from './failpoints.ts';

let folder: string;
let dock: TestEngine;
let failing: Failpoint | null;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-settle-'));
  failing = null;
  dock = await startTestEngine({
    dataFolder: folder,
    failpoint: (step) => {
      if (step === failing) throw new Error(`broken at ${step}`);
    },
  });
  await dock.create('a');
  await dock.put('a', '/kept', 'the work');
});
afterEach(async () => {
  await dock.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a verb fail at a step while the registry takes no writes, as when the disk is full. */
async function interrupt(step: Failpoint, verb: () => Promise<unknown>): Promise<void> {
  const { abandon, commit } = dock.registry.instances;
  const full = () => {
    throw new Error('the disk is full');
  };
  failing = step;
  Object.assign(dock.registry.instances, { abandon: full, commit: full });
  await expect(verb()).rejects.toThrow();
  Object.assign(dock.registry.instances, { abandon, commit });
  failing = null;
  expect((await rowOf()).pending).not.toBeNull();
}

const rowOf = async () => (await dock.registry.instances.get('a')) ?? expect.fail('no row');

test('an interrupted suspension of an active sandbox leaves it suspended, with its work, and usable again', async () => {
  await interrupt('suspend.intent', () => dock.sandboxes.suspend('a', REQUEST));
  expect((await rowOf()).pending?.verb).toBe('suspend');
  expect(dock.sandboxes.live(await rowOf())).toMatchObject({ pending: 'suspend', isLocked: false });
  expect(await dock.sandboxes.settle('a', REQUEST)).toMatchObject({ state: 'suspended', pending: null, fault: null });
  expect(dock.pool.active).toBe(0);
  expect(await dock.run('a', 'cat kept')).toBe('the work');
});

test('an interrupted freeze is rolled back whether or not it had moved the file, and the ledger names the actor', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  await interrupt('freeze.intent', () => dock.sandboxes.freeze('a', REQUEST));
  expect(await dock.sandboxes.settle('a', REQUEST)).toMatchObject({ state: 'suspended', pending: null });
  await interrupt('freeze.moved', () => dock.sandboxes.freeze('a', REQUEST));
  expect(await dock.sandboxes.settle('a', REQUEST)).toMatchObject({ state: 'suspended', pending: null });
  expect(namesIn(join(folder, 'cold'))).toEqual([]);
  expect(await dock.get('a', '/kept')).toBe('the work');
  const { rows } = await dock.registry.ledger.page({ instance: 'a' }, 100);
  const settled = rows.filter(({ type }) => type.startsWith('reconcile.'));
  expect(settled.map(({ type, actor }) => [type, actor])).toEqual([
    ['reconcile.rolled_back', REQUEST.actor],
    ['reconcile.rolled_back', REQUEST.actor],
  ]);
});

test('an interrupted wake of a frozen sandbox is rolled back to the cold drawer', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  await dock.sandboxes.freeze('a', REQUEST);
  await interrupt('resume.brought', () => dock.sandboxes.resume('a', REQUEST));
  expect(await dock.sandboxes.settle('a', REQUEST)).toMatchObject({ state: 'frozen', pending: null });
  expect(namesIn(join(folder, 'cold'))).toEqual(['a.sqlite']);
  expect(await dock.run('a', 'cat kept')).toBe('the work');
});

test('the next request settles an interrupted sandbox and is served', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  await interrupt('freeze.moved', () => dock.sandboxes.freeze('a', REQUEST));
  expect(await dock.run('a', 'cat kept')).toBe('the work');
  await interrupt('suspend.intent', () => dock.sandboxes.suspend('a', REQUEST));
  expect(await dock.sandboxes.runPlan('a', 'archived', REQUEST)).toMatchObject({ state: 'archived', pending: null });
  expect(await dock.get('a', '/kept')).toBe('the work');
});

test('without a request, the next round of the ladder settles it', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  await interrupt('resume.brought', () => dock.sandboxes.resume('a', REQUEST));
  await dock.sandboxes.tick();
  expect(await rowOf()).toMatchObject({ state: 'suspended', pending: null, fault: null });
  expect(await dock.get('a', '/kept')).toBe('the work');
});

test('an operation under way is left alone, and without an operation nothing changes', async () => {
  const idle = await rowOf();
  expect(await dock.sandboxes.settle('a', REQUEST)).toEqual(idle);
  const filing = dock.sandboxes.suspend('a', REQUEST);
  await expect(dock.sandboxes.settle('a', REQUEST)).rejects.toMatchObject({ code: 'conflict' });
  expect(await filing).toMatchObject({ state: 'suspended' });
});

test('a freeze on a disk that takes neither a commit nor a folder still returns its file', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  observeEffects({
    before: ({ kind, path }) => {
      if (kind === 'commit' || (kind === 'make_folder' && !existsSync(path)))
        throw Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', syscall: 'write' });
    },
  });
  try {
    await expect(dock.sandboxes.freeze('a', REQUEST)).rejects.toThrow();
    expect(existsSync(join(folder, 'live', 'a', 'vfs.sqlite'))).toBe(true);
    expect(await dock.get('a', '/kept')).toBe('the work');
  } finally {
    observeEffects(null);
  }
  await dock.sandboxes.tick();
  expect(await dock.registry.instances.get('a')).toMatchObject({ state: 'suspended', pending: null, fault: null });
  await dock.sandboxes.freeze('a', REQUEST);
  expect(existsSync(join(folder, 'live', 'a'))).toBe(false);
  expect(await dock.get('a', '/kept')).toBe('the work');
});

test('a client that hears of a move and looks at once finds no operation under way', async () => {
  await dock.sandboxes.suspend('a', REQUEST);
  const seen: Promise<string | null>[] = [];
  const look = async (id: string) => {
    const row = await dock.registry.instances.get(id);
    return row === null ? 'no row' : dock.sandboxes.live(row).pending;
  };
  const leave = dock.registry.commitEvents.onLedgerAppend(({ lines }) => {
    for (const { type, instance } of lines) if (type === 'transition' && instance !== null) seen.push(look(instance));
  });
  for (const verb of ['resume', 'suspend', 'freeze', 'resume', 'archive', 'revive'] as const) {
    await dock.sandboxes[verb]('a', REQUEST);
    // Before the next one, which would be under way.
    await Promise.all(seen);
  }
  leave();
  expect(await Promise.all(seen)).toEqual([null, null, null, null, null, null]);
});

test('whoever follows a sandbox is told when a verb begins and ends in it, whether it moves, fails or is refused', async () => {
  const told: (string | null)[] = [];
  const reads: Promise<unknown>[] = [];
  const leave = dock.sandboxes.onOperationChange((id) => {
    if (id === 'a') reads.push(rowOf().then((row) => told.push(dock.sandboxes.live(row).pending)));
  });
  /** What was told from the first to the last word. */
  const during = async (work: () => Promise<unknown>) => {
    told.length = 0;
    await work();
    await Promise.all(reads.splice(0));
    return { told: told.length, last: told.at(-1) };
  };
  const { sandboxes } = dock;
  const moves = {
    suspend: () => sandboxes.suspend('a', REQUEST),
    freeze: () => sandboxes.freeze('a', REQUEST),
    prefetch: () => sandboxes.prefetch('a', REQUEST),
    resume: () => sandboxes.resume('a', REQUEST),
    archive: () => sandboxes.archive('a', REQUEST),
    revive: () => sandboxes.revive('a', REQUEST),
  };
  for (const [verb, move] of Object.entries(moves))
    expect([verb, await during(move)]).toEqual([verb, { told: 2, last: null }]);

  failing = 'suspend.intent';
  expect(await during(() => expect(moves.suspend()).rejects.toThrow('broken'))).toEqual({ told: 2, last: null });
  failing = null;
  expect(await during(moves.resume)).toEqual({ told: 2, last: null });
  const call = sandboxes.exec('a', { command: 'sleep 20', timeoutMs: 20_000 }, REQUEST);
  const ended = expect(call).resolves.toBeDefined();
  await expect.poll(async () => sandboxes.live(await rowOf()).calls).toBe(1);
  expect(await during(() => expect(moves.archive()).rejects.toThrow('A call is running'))).toEqual({
    told: 2,
    last: null,
  });
  expect(await during(() => sandboxes.archive('a', REQUEST, { force: true }))).toEqual({ told: 2, last: null });
  await ended;
  expect(await during(() => sandboxes.delete('a', REQUEST))).toEqual({ told: 2, last: null });

  leave();
});
