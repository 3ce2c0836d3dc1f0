/** What every registry guarantees of state: intents, and commits by compare-and-set. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STATES, TRANSITIONS, transition } from '../../lifecycle/state-map.ts';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { LedgerLine } from '../types.ts';
import {
  entry,
  FILE,
  HOSTILE,
  instance,
  intent,
  makeInstance,
  type RegistryUnderTest,
  START,
  transitionTo,
} from './fixtures.ts';

export function transitionSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const types = async () => (await registry.ledger.after(0, 100)).map((line) => line.type);

  describe('intents', () => {
    test('an intent is written once, for exactly one state and generation', async () => {
      const row = await makeInstance(registry, 'a', 'suspended');
      expect(await registry.instances.begin('a', intent(row, { from: 'active' }))).toBe(false);
      expect(await registry.instances.begin('a', intent(row, { generation: row.generation + 1 }))).toBe(false);
      expect(await registry.instances.begin('nobody', intent(row))).toBe(false);
      expect(await registry.instances.begin('a', intent(row, { reason: HOSTILE.join(' ') }))).toBe(true);
      expect(await registry.instances.begin('a', intent(row))).toBe(false);
      expect(await registry.instances.get('a')).toEqual({
        ...row,
        pending: intent(row, { reason: HOSTILE.join(' ') }),
      });
    });

    test('an abandoned operation did not happen: the state and generation stay, the lines record it', async () => {
      const row = await makeInstance(registry, 'a', 'suspended');
      await registry.instances.begin('a', intent(row));
      await registry.instances.abandon('a', { failures: 2 }, [
        entry({ type: 'wake.failed' }),
        entry({ type: 'other' }),
      ]);
      expect(await registry.instances.get('a')).toEqual({ ...row, failures: 2 });
      await registry.instances.begin('a', intent(row));
      await registry.instances.abandon('a', { fault: { fault: 'unknown', reason: 'three times' } }, [
        entry({ type: 'fault.raised' }),
      ]);
      expect(await registry.instances.get('a')).toEqual({
        ...row,
        failures: 2,
        fault: 'unknown',
        faultReason: 'three times',
      });
      await registry.instances.abandon('a', { fault: null }, []);
      expect(await registry.instances.get('a')).toEqual({ ...row, failures: 2 });
      expect((await types()).slice(-3)).toEqual(['wake.failed', 'other', 'fault.raised']);
    });

    test('a start has to check rows with an intent and active rows', async () => {
      await makeInstance(registry, 'active', 'active');
      const both = await makeInstance(registry, 'both', 'active');
      const frozen = await makeInstance(registry, 'frozen', 'frozen');
      await makeInstance(registry, 'rest', 'suspended');
      await registry.instances.begin('both', intent(both));
      await registry.instances.begin('frozen', intent(frozen));
      expect((await registry.instances.unsettled()).map((row) => row.id).sort()).toEqual(['active', 'both', 'frozen']);
    });
  });

  describe('committing', () => {
    test('every pair of states is a hop exactly when the map has it', async () => {
      let n = 0;
      for (const from of STATES) {
        for (const to of STATES.filter((state) => state !== from)) {
          const row = await makeInstance(registry, `r${n++}`, from);
          const commit = async () => registry.instances.commit(transitionTo(row, to));
          if (transition(from, to) === 'ok') {
            expect(await commit()).toMatchObject({ state: to, generation: row.generation + 1 });
            expect((await registry.instances.get(row.id))?.state).toBe(to);
          } else {
            const extra = { from, to, allowed: TRANSITIONS[from] };
            await expect(commit).rejects.toMatchObject({ code: 'invalid_transition', extra });
            expect(await registry.instances.get(row.id)).toEqual(row);
          }
        }
      }
    });

    test('a hop writes the path, the file, the clocks and the ledger line, and clears intent and failures', async () => {
      const row = await makeInstance(registry, 'a', 'suspended');
      await registry.instances.abandon('a', { failures: 2, fault: { fault: 'error', reason: 'crashed' } }, []);
      await registry.instances.begin('a', intent(row));
      const line = entry({
        type: 'transition',
        from: 'suspended',
        to: 'frozen',
        source: 'local',
        tookMs: 1.5,
        reason: 'why',
      });
      const change = {
        vfsPath: 'cold/a.sqlite',
        file: FILE,
        bytes: 4096,
        policy: 'compute',
        now: START + 7,
        ledger: [line],
      };
      const after = await registry.instances.commit(transitionTo(row, 'frozen', { ...change, fault: null }));
      expect(after).toEqual({
        ...row,
        state: 'frozen',
        generation: row.generation + 1,
        vfsPath: 'cold/a.sqlite',
        file: FILE,
        bytes: 4096,
        policy: 'compute',
        updated: START + 7,
        stateSince: START + 7,
      });
      expect(await registry.instances.get('a')).toEqual(after);
      expect((await registry.ledger.page({ type: 'transition' }, 1)).rows).toMatchObject([line]);
      const woken = await registry.instances.commit(transitionTo(after, 'active'));
      expect(woken).toMatchObject({ bytes: 4096, policy: 'compute', file: null });
      expect(await registry.instances.commit(transitionTo(woken, 'suspended', { bytes: null }))).toMatchObject({
        bytes: null,
      });
    });

    test('a return to the same state is a new generation and leaves the clocks unchanged; deleted has none', async () => {
      const row = await makeInstance(registry, 'a', 'frozen');
      const refiled = await registry.instances.commit(
        transitionTo(row, 'frozen', { vfsPath: 'live/a', file: FILE, now: START + 500 }),
      );
      expect(refiled).toEqual({ ...row, generation: row.generation + 1, vfsPath: 'live/a', file: FILE });
      expect(await registry.instances.get('a')).toEqual(refiled);
      const gone = await makeInstance(registry, 'b', 'deleted');
      await expect(async () => registry.instances.commit(transitionTo(gone, 'deleted'))).rejects.toMatchObject({
        code: 'invalid_transition',
      });
    });

    test('a row that has changed is a conflict, an unknown one is not found, and nothing is written', async () => {
      const row = await makeInstance(registry, 'a', 'active');
      const before = await registry.ledger.lastSeq();
      const stale = { ...row, generation: row.generation - 1 };
      await expect(async () => registry.instances.commit(transitionTo(stale, 'suspended'))).rejects.toMatchObject({
        code: 'conflict',
      });
      const elsewhere = { ...row, state: 'frozen' as const };
      await expect(async () => registry.instances.commit(transitionTo(elsewhere, 'archived'))).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(async () =>
        registry.instances.commit(transitionTo({ ...row, id: 'x' }, 'suspended')),
      ).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await registry.ledger.lastSeq()).toBe(before);
    });

    test('when two connections commit the same generation, exactly one wins, every time', async () => {
      const other = await driver.again();
      for (let n = 0; n < 20; n += 1) {
        const row = await makeInstance(registry, `r${n}`, 'active');
        const attempts = [registry, other].map(async (one, k) =>
          one.instances.commit(transitionTo(row, k === 0 ? 'suspended' : 'archived')),
        );
        const outcomes = await Promise.allSettled(attempts);
        expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
        const lost = outcomes.find((outcome) => outcome.status === 'rejected');
        expect(lost).toMatchObject({ reason: { code: 'conflict' } });
        expect((await other.instances.get(row.id))?.generation).toBe(row.generation + 1);
      }
      await other.close();
    });

    test('a write whose ledger line fails did not happen, and no listener is called', async () => {
      const row = await makeInstance(registry, 'a', 'active', { name: 'one', labels: { a: '1' } });
      const received: LedgerLine[] = [];
      registry.commitEvents.onLedgerAppend(({ lines }) => received.push(...lines));
      const broken = { ...entry(), type: null as unknown as string };
      const before = await registry.ledger.lastSeq();
      const attempts = [
        async () => registry.instances.commit(transitionTo(row, 'suspended', { ledger: [entry(), broken] })),
        async () => registry.instances.create(instance('b', { name: 'two' }), START, broken),
        async () => registry.instances.patch('a', { name: 'three', labels: {} }, START, broken),
        async () => registry.instances.setFault('a', { fault: 'corrupt', reason: 'x' }, broken),
        async () => registry.instances.abandon('a', { failures: 9 }, [broken]),
        async () => registry.ledger.append([entry(), broken]),
        async () => registry.thresholds.setGlobal({ idleToSuspendSeconds: 5 }, broken),
      ];
      for (const attempt of attempts) await expect(attempt).rejects.toThrow();
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await registry.instances.get('b')).toBeNull();
      expect(await registry.instances.countsByState()).toMatchObject({ created: 0, active: 1 });
      expect((await registry.thresholds.global()).idleToSuspendSeconds).toBe(900);
      expect(await registry.ledger.lastSeq()).toBe(before);
      expect(received).toEqual([]);
      await registry.instances.create(instance('c', { name: 'two' }), START, entry());
    });
  });
}
