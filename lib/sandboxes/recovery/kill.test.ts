import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { State } from '../../lifecycle/state-map.ts';
import type { InstanceRow } from '../../registry/types.ts';
import { stampOf } from '../../storage/files.ts';
import { filesIn } from '../../testing/files-in.ts';
import { processesOf } from '../../testing/leftovers.ts';
import { instanceId } from '../../testing/plain-ids.ts';
import { programOf } from '../../testing/program.ts';
import { livePath } from '../engine.ts';
import { fileRecord } from '../files/file-verification.ts';
import { liveFile, REQUEST, startTestEngine } from '../testing/test-engine.ts';
import { ALL_FAILPOINTS, FAILPOINTS } from './failpoints.ts';

const VICTIM = join(dirname(fileURLToPath(import.meta.url)), '..', 'testing', 'victim.ts');

const WORK = 'the work';
const MEMORY = 'the memory';

/**
 * Brings sandboxes to a state, each with a file in two volumes that must survive. One of them has run; the others begin
 * with copies of its file, as imports do.
 */
async function prepare(dataFolder: string, state: State, ids: readonly string[]): Promise<void> {
  const dock = await startTestEngine({ dataFolder });
  if (state === 'created') {
    for (const id of ids) await dock.create(id);
  } else {
    await dock.create('first');
    await dock.put('first', '/kept', WORK);
    await dock.put('first', '/kept', MEMORY, 'memory');
    await dock.sandboxes.suspend('first', REQUEST);
    for (const id of ids) {
      const file = liveFile(dock, id);
      mkdirSync(dirname(file));
      copyFileSync(liveFile(dock, 'first'), file);
      const stamp = stampOf(file);
      if (stamp === null) throw new Error('The copy is not there.');
      await dock.create(id, { vfsPath: livePath(instanceId(id)), file: fileRecord(stamp), bytes: stamp.size });
      await dock.sandboxes.runPlan(id, 'suspended', REQUEST);
      if (state === 'frozen' || state === 'archived') await dock.sandboxes.freeze(id, REQUEST);
      if (state === 'archived') await dock.sandboxes.archive(id, REQUEST);
    }
  }
  await dock.stop();
}

/** The files in the drawers, and in `orphans/`. */
function inDrawers(folder: string): string[] {
  return filesIn(folder).filter((path) => /^(live|cold|archive|orphans)\//.test(path));
}

/**
 * The expected files of a row: one file, and a listing beside an archived one. `laid`: it was not packed, because it is
 * to be deleted.
 */
function filesOf({ id, state, vfsPath }: InstanceRow, laid: boolean): string[] {
  const packed = state === 'archived' && !laid ? [`archive/${id}.json`, `archive/${id}.sqlite.zst`] : [];
  return [...packed, ...(vfsPath === null ? [] : [vfsPath])];
}

interface Scenario {
  operation: keyof typeof FAILPOINTS;
  /** State before; the victim itself reaches `active`, after another answered write. */
  from: State;
  /** The target state when the operation is part of a plan. */
  target?: State;
  /** Allowed states after the restart, whatever the step. */
  ends: State[];
  /** Steps that it never reaches. */
  without?: readonly string[];
}

const PASSING = ['closed'];

const SCENARIOS: Scenario[] = [
  { operation: 'suspend', from: 'active', ends: ['suspended'], without: ['brought'] },
  { operation: 'freeze', from: 'suspended', ends: ['suspended', 'frozen'] },
  { operation: 'resume', from: 'created', ends: ['created', 'suspended'] },
  { operation: 'resume', from: 'suspended', ends: ['suspended'] },
  { operation: 'resume', from: 'frozen', ends: ['frozen', 'suspended'] },
  { operation: 'resume', from: 'archived', ends: ['archived', 'suspended'] },
  { operation: 'archive', from: 'active', ends: ['suspended', 'archived'], without: ['brought'] },
  { operation: 'archive', from: 'frozen', ends: ['frozen', 'archived'], without: ['closed', 'brought'] },
  { operation: 'delete', from: 'archived', ends: ['archived', 'deleted'] },
  { operation: 'prefetch', from: 'frozen', ends: ['frozen'] },
  { operation: 'prefetch', from: 'archived', ends: ['archived'] },
  { operation: 'suspend', from: 'created', target: 'suspended', ends: ['created', 'suspended'], without: PASSING },
  { operation: 'suspend', from: 'frozen', target: 'suspended', ends: ['frozen', 'suspended'], without: PASSING },
  { operation: 'suspend', from: 'archived', target: 'suspended', ends: ['archived', 'suspended'], without: PASSING },
  { operation: 'archive', from: 'created', target: 'archived', ends: ['created', 'archived'], without: PASSING },
  {
    operation: 'archive',
    from: 'suspended',
    target: 'archived',
    ends: ['suspended', 'archived'],
    without: ['closed', 'brought'],
  },
  ...(['suspended', 'frozen'] as const).flatMap((from): Scenario[] => [
    {
      operation: 'archive',
      from,
      target: 'deleted',
      ends: [from, 'archived'],
      without: ['closed', 'brought', 'packed', 'removed'],
    },
    { operation: 'delete', from, target: 'deleted', ends: ['archived', 'deleted'] },
  ]),
  { operation: 'delete', from: 'created', target: 'deleted', ends: ['created', 'deleted'] },
];

test('every listed step has a scenario that kills the server there', () => {
  const covered = SCENARIOS.flatMap(({ operation }) => FAILPOINTS[operation].map((step) => `${operation}.${step}`));
  expect(new Set(covered)).toEqual(new Set(ALL_FAILPOINTS));
});

for (const { operation, from, target, ends, without = [] } of SCENARIOS) {
  const inPlan = target === undefined ? '' : `, on its way to ${target}`;
  describe(`a server killed while ${operation} runs on a sandbox that is ${from}${inPlan}`, () => {
    const steps = FAILPOINTS[operation].filter((step) => !without.includes(step));
    let folder: string;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'winterdock-kill-'));
      await prepare(folder, from === 'active' ? 'suspended' : from, steps);
    });
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    // Each step has a sandbox of its own, named like the step.
    test.each(steps)('loses nothing at the step "%s"', async (step) => {
      const doing = target === undefined ? operation : `plan:${target}`;
      const victim = spawnSync(
        process.execPath,
        ['--no-warnings', programOf(VICTIM), folder, step, doing, `${operation}.${step}`],
        { encoding: 'utf8' },
      );
      expect(victim.signal, victim.stderr).toBe('SIGKILL');
      await expect.poll(() => processesOf(folder)).toEqual([]);

      const dock = await startTestEngine({ dataFolder: folder });
      const row = await dock.registry.instances.get(step);
      expect(ends).toContain(row?.state);
      expect(row?.pending).toBeNull();
      expect(row?.fault).toBeNull();
      const types = (await dock.registry.ledger.page({ instance: step }, 100)).rows.map(
        (entry) => `${entry.type} ${entry.trigger}`,
      );
      if (step !== 'committed' && step !== 'removed') {
        expect(types.some((type) => /^reconcile\.|^transition (reconcile|boot)$/.test(type))).toBe(true);
      }
      dock.sandboxes.start();
      const { rows } = await dock.registry.instances.list({ sort: 'name', reverse: false, limit: 100 });
      const wanted = rows.flatMap((one) => filesOf(one, one.id === step && target === 'deleted'));
      await expect.poll(() => inDrawers(folder)).toEqual([...new Set(wanted)].sort());
      if (row?.state !== 'deleted') {
        if (from !== 'created') {
          expect(await dock.get(step, '/kept')).toBe(WORK);
          expect(await dock.get(step, '/kept', 'memory')).toBe(MEMORY);
          if (from === 'active') expect(await dock.get(step, '/answered')).toBe('a moment before');
        }
        await dock.sandboxes.resume(step, REQUEST);
        if (from !== 'created') expect(await dock.run(step, 'cat kept')).toBe(WORK);
        await dock.sandboxes.suspend(step, REQUEST);
        await dock.sandboxes.freeze(step, REQUEST);
        await dock.sandboxes.archive(step, REQUEST);
        if (from !== 'created') expect(await dock.get(step, '/kept')).toBe(WORK);
      }
      expect(existsSync(join(folder, 'staging')) ? readdirSync(join(folder, 'staging')) : []).toEqual([]);
      await dock.stop();
    });
  });
}
