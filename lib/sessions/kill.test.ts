import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { State } from '../lifecycle/states.ts';
import type { InstanceRow } from '../registry/registry.ts';
import { filesIn } from '../testing/files-in.ts';
import { processesOf } from '../testing/leftovers.ts';
import { ALL_STEPS, STEPS } from './steps.ts';
import { REQUEST, startDock } from './testing/dock.ts';

const VICTIM = join(dirname(fileURLToPath(import.meta.url)), 'testing', 'victim.ts');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-kill-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Brings sandbox `a` to a state, with a file in each volume that a surviving sandbox must have. */
async function prepare(state: State): Promise<void> {
  const dock = await startDock({ dataFolder: folder });
  await dock.create('a');
  if (state !== 'created') {
    await dock.put('a', '/kept', 'the work');
    await dock.put('a', '/kept', 'the memory', 'memory');
    await dock.sessions.suspend('a', REQUEST);
    if (state === 'frozen' || state === 'archived') await dock.sessions.freeze('a', REQUEST);
    if (state === 'archived') await dock.sessions.archive('a', REQUEST);
  }
  await dock.stop();
}

/** What lies in the drawers, and what was set aside. */
function inDrawers(): string[] {
  return filesIn(folder).filter((path) => /^(live|cold|archive|orphans)\//.test(path));
}

/** What a row's sandbox has there: one file, and a listing beside an archived one. `laid`: it was not packed, as it is to be deleted. */
function filesOf(row: InstanceRow | null, laid: boolean): string[] {
  const packed = row?.state === 'archived' && !laid ? ['archive/a.json', 'archive/a.sqlite.zst'] : [];
  return [...new Set([...packed, ...(row?.vfsPath === null ? [] : [row?.vfsPath ?? 'no row'])])].sort();
}

interface Scenario {
  operation: keyof typeof STEPS;
  /** State before; `active` is reached by the victim itself, after another answered write. */
  from: State;
  /** Set when the operation is part of a walk: where to. */
  wish?: State;
  /** States that are right after the restart, whatever the step. */
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
  { operation: 'suspend', from: 'created', wish: 'suspended', ends: ['created', 'suspended'], without: PASSING },
  { operation: 'suspend', from: 'frozen', wish: 'suspended', ends: ['frozen', 'suspended'], without: PASSING },
  { operation: 'suspend', from: 'archived', wish: 'suspended', ends: ['archived', 'suspended'], without: PASSING },
  { operation: 'archive', from: 'created', wish: 'archived', ends: ['created', 'archived'], without: PASSING },
  {
    operation: 'archive',
    from: 'suspended',
    wish: 'archived',
    ends: ['suspended', 'archived'],
    without: ['closed', 'brought'],
  },
  ...(['suspended', 'frozen'] as const).flatMap((from): Scenario[] => [
    {
      operation: 'archive',
      from,
      wish: 'deleted',
      ends: [from, 'archived'],
      without: ['closed', 'brought', 'packed', 'removed'],
    },
    { operation: 'delete', from, wish: 'deleted', ends: ['archived', 'deleted'] },
  ]),
  { operation: 'delete', from: 'created', wish: 'deleted', ends: ['created', 'deleted'] },
];

test('every listed step is killed at by some scenario', () => {
  const covered = SCENARIOS.flatMap(({ operation }) => STEPS[operation].map((step) => `${operation}.${step}`));
  expect(new Set(covered)).toEqual(new Set(ALL_STEPS));
});

for (const { operation, from, wish, ends, without = [] } of SCENARIOS) {
  const walking = wish === undefined ? '' : `, on its way to ${wish}`;
  describe(`a server killed while ${operation} runs on a sandbox that is ${from}${walking}`, () => {
    const steps = STEPS[operation].filter((step) => !without.includes(step));
    test.each(steps)('loses nothing at the step "%s"', { timeout: 60_000 }, async (step) => {
      await prepare(from === 'active' ? 'suspended' : from);
      const doing = wish === undefined ? operation : `walk:${wish}`;
      const victim = spawnSync(process.execPath, ['--no-warnings', VICTIM, folder, doing, `${operation}.${step}`], {
        encoding: 'utf8',
      });
      expect(victim.signal, victim.stderr).toBe('SIGKILL');
      await expect.poll(() => processesOf(folder), { timeout: 5000 }).toEqual([]);

      const dock = await startDock({ dataFolder: folder });
      const row = await dock.registry.get('a');
      expect(ends).toContain(row?.state);
      expect(row?.pending).toBeNull();
      expect(row?.fault).toBeNull();
      const types = (await dock.registry.ledger({ instance: 'a' }, 100)).rows.map(
        (entry) => `${entry.type} ${entry.trigger}`,
      );
      if (step !== 'committed' && step !== 'removed') {
        expect(types.some((type) => /^reconcile\.|^transition (reconcile|boot)$/.test(type))).toBe(true);
      }
      dock.sessions.start();
      await expect.poll(inDrawers, { timeout: 10_000 }).toEqual(filesOf(row, wish === 'deleted'));
      if (row?.state !== 'deleted') {
        if (from !== 'created') {
          expect(await dock.get('a', '/kept')).toBe('the work');
          expect(await dock.get('a', '/kept', 'memory')).toBe('the memory');
          if (from === 'active') expect(await dock.get('a', '/answered')).toBe('a moment before');
        }
        await dock.sessions.resume('a', REQUEST);
        if (from !== 'created') expect(await dock.run('a', 'cat kept')).toBe('the work');
        await dock.sessions.suspend('a', REQUEST);
        await dock.sessions.freeze('a', REQUEST);
        await dock.sessions.archive('a', REQUEST);
        if (from !== 'created') expect(await dock.get('a', '/kept')).toBe('the work');
      }
      expect(readdirSync(folder).includes('staging') ? readdirSync(join(folder, 'staging')) : []).toEqual([]);
      await dock.stop();
    });
  });
}
