/** What every registry promises of single rows: created, patched, intended, committed, faulted, touched. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { STATES, TRANSITIONS, transition } from '../../lifecycle/states.ts';
import type { Registry } from '../registry.ts';
import type { FileRecord, LedgerLine } from '../types.ts';
import { type Driver, entry, HOSTILE, hop, instance, intent, make, START, THRESHOLDS } from './make.ts';

const FILE: FileRecord = {
  size: 4096,
  inode: '9007199254740993',
  mtimeNs: '1765500000123456789',
  ctimeNs: '1765500000123456790',
  sha256: null,
  quickCheck: null,
};

export function rowSuite(driver: Driver): void {
  let registry: Registry;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  const types = async () => (await registry.ledger.after(0, 100)).map((line) => line.type);
  const seen = async (id: string) => {
    const row = await registry.instances.get(id);
    if (row === null) throw new Error(`no ${id}`);
    return row;
  };

  describe('creating', () => {
    test('a new instance reads back as it was given, in state created, with its ledger line', async () => {
      const given = instance('a', {
        tenant: 'globex',
        name: 'The first',
        vfsPath: ':memory:',
        ephemeral: true,
        policy: 'minimal',
        keepHot: true,
        idleToSuspendSeconds: 60,
        idleToFreezeSeconds: 120,
        labels: { env: 'prod', 'odd key': '' },
        workbook: 'wb',
        lineageBlueprint: 'blue',
        lineageSnapshot: 'snap',
        lineageParent: 'parent',
      });
      const row = await registry.instances.create(given, START, entry({ instance: 'a', type: 'instance.created' }));
      expect(row).toEqual({
        ...given,
        state: 'created',
        updated: START,
        created: START,
        stateSince: START,
        generation: 0,
        fault: null,
        faultReason: null,
        pending: null,
        holdUntil: null,
        bytes: null,
        file: null,
        failures: 0,
      });
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await types()).toEqual(['instance.created']);
    });

    test('a taken id is a conflict, for ever, and never resets the row that has it', async () => {
      const active = await make(registry, 'a', 'active', { name: 'kept' });
      await make(registry, 'b', 'deleted');
      for (const id of ['a', 'b']) {
        await expect(async () => registry.instances.create(instance(id), START + 5, entry())).rejects.toMatchObject({
          code: 'conflict',
        });
      }
      expect(await registry.instances.get('a')).toEqual(active);
      expect((await registry.instances.get('b'))?.state).toBe('deleted');
      expect(await types()).not.toContain('test.line');
    });

    test('a name is unique within its tenant among what is not deleted', async () => {
      await make(registry, 'a', 'archived', { name: 'desk' });
      const again = (tenant: string, id: string) => async () =>
        registry.instances.create(instance(id, { tenant, name: 'desk' }), START, entry());
      await expect(again('acme', 'b')).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringContaining('desk'),
      });
      expect(await registry.instances.get('b')).toBeNull();
      await again('globex', 'c')();
      await registry.instances.commit(hop(await seen('a'), 'deleted'));
      await again('acme', 'd')();
      await make(registry, 'e');
      await make(registry, 'f');
      await expect(async () => registry.instances.patch('e', { name: 'desk' }, START, entry())).rejects.toMatchObject({
        code: 'conflict',
      });
      expect((await seen('e')).name).toBeNull();
      expect((await registry.instances.patch('d', { name: 'desk' }, START, entry()))?.name).toBe('desk');
    });

    test('hostile text in every string field comes back as it went in', async () => {
      for (const [n, text] of HOSTILE.entries()) {
        const id = `${n}:${text}`;
        const given = instance(id, {
          tenant: text,
          name: text,
          vfsPath: text,
          policy: text,
          labels: { [text]: text, other: text },
          workbook: text,
          lineageBlueprint: text,
          lineageSnapshot: text,
          lineageParent: text,
        });
        const line = entry({
          instance: id,
          tenant: text,
          type: text,
          actor: text,
          reason: text,
          error: text,
          requestId: text,
        });
        await registry.instances.create(given, START, line);
        expect(await registry.instances.get(id)).toMatchObject(given);
        expect(await registry.ledger.after((await registry.ledger.lastSeq()) - 1, 1)).toEqual([
          { ...line, seq: n + 1 },
        ]);
        const page = await registry.instances.list({
          tenant: text,
          name: text,
          label: { key: text, value: text },
          sort: 'name',
          reverse: false,
          limit: 10,
        });
        expect(page.rows.map((row) => row.id)).toEqual([id]);
        expect(await registry.instances.count({ label: { key: text, value: text } }, 10)).toBe(1);
        expect(await registry.instances.countsByState([text])).toMatchObject({ created: 1 });
        expect(
          (await registry.ledger.page({ tenant: text, instance: id, type: text, actor: text }, 10)).rows,
        ).toHaveLength(1);
      }
      expect(await registry.instances.countsByState()).toMatchObject({ created: HOSTILE.length });
    });
  });

  describe('patching', () => {
    test('what is given changes, what is absent stays, and the idle clock does not move', async () => {
      const before = await make(registry, 'a', 'active', { name: 'one', labels: { a: '1' } });
      const given = {
        name: 'two',
        labels: { b: '2' },
        keepHot: true,
        holdUntil: START + 10,
        idleToSuspendSeconds: 1,
        idleToFreezeSeconds: 2,
        policy: 'compute',
        workbook: 'wb',
      };
      const after = await registry.instances.patch('a', given, START + 99, entry({ type: 'instance.patched' }));
      expect(after).toEqual({ ...before, ...given });
      const bare = { ...after, name: null };
      expect(await registry.instances.patch('a', { name: null, labels: undefined }, START, entry())).toEqual(bare);
      const relabel = (labels: Record<string, string | null>, most = 9) =>
        registry.instances.relabel('a', labels, most, entry({ type: 'instance.relabelled' }));
      expect(await relabel({ c: '3', a: null })).toBe('changed');
      expect(await relabel({ c: '3', z: null })).toBe('same');
      expect(await relabel({ d: '4' }, 2)).toBe('too_many');
      expect(await registry.instances.relabel('nobody', {}, 9, entry())).toBeNull();
      expect(await registry.instances.get('a')).toEqual({ ...bare, labels: { b: '2', c: '3' } });
      const told = await types();
      expect(
        ['instance.patched', 'instance.relabelled'].map((one) => told.filter((type) => type === one).length),
      ).toEqual([1, 1]);
    });

    test('a patch of what was changed since it was read is refused, and changes nothing', async () => {
      const asRead = await make(registry, 'a', 'suspended', { labels: { b: '2', a: '1' } });
      await registry.instances.touch([{ id: 'a', updated: START + 5 }]);
      expect((await registry.instances.patch('a', { name: 'mine' }, START, entry(), asRead))?.name).toBe('mine');
      const late = registry.instances.patch('a', { keepHot: true }, START, entry(), asRead);
      await expect(late).rejects.toMatchObject({ code: 'precondition_failed' });
      expect(await registry.instances.get('a')).toMatchObject({ name: 'mine', keepHot: false });
    });

    test('an unknown instance is null without a ledger line, a deleted one is gone', async () => {
      expect(await registry.instances.patch('nobody', { keepHot: true }, START, entry())).toBeNull();
      await make(registry, 'a', 'deleted');
      await expect(async () => registry.instances.patch('a', { keepHot: true }, START, entry())).rejects.toMatchObject({
        code: 'gone',
      });
      expect(await types()).not.toContain('test.line');
    });
  });

  describe('intents', () => {
    test('an intent is written once, for the state and generation it was made for', async () => {
      const row = await make(registry, 'a', 'suspended');
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

    test('what was abandoned did not happen: the state and generation stay, the lines tell', async () => {
      const row = await make(registry, 'a', 'suspended');
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

    test('what a boot has to look at: rows with an intent and rows that are active', async () => {
      await make(registry, 'active', 'active');
      const both = await make(registry, 'both', 'active');
      const frozen = await make(registry, 'frozen', 'frozen');
      await make(registry, 'rest', 'suspended');
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
          const row = await make(registry, `r${n++}`, from);
          const commit = async () => registry.instances.commit(hop(row, to));
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

    test('a hop writes the place, the file, the clocks and the ledger line, and settles intent and failures', async () => {
      const row = await make(registry, 'a', 'suspended');
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
      const after = await registry.instances.commit(hop(row, 'frozen', { ...change, fault: null }));
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
      const woken = await registry.instances.commit(hop(after, 'active'));
      expect(woken).toMatchObject({ bytes: 4096, policy: 'compute', file: null });
      expect(await registry.instances.commit(hop(woken, 'suspended', { bytes: null }))).toMatchObject({ bytes: null });
    });

    test('a return to the same state is a new generation and leaves the clocks alone; deleted has none', async () => {
      const row = await make(registry, 'a', 'frozen');
      const refiled = await registry.instances.commit(
        hop(row, 'frozen', { vfsPath: 'live/a', file: FILE, now: START + 500 }),
      );
      expect(refiled).toEqual({ ...row, generation: row.generation + 1, vfsPath: 'live/a', file: FILE });
      expect(await registry.instances.get('a')).toEqual(refiled);
      const gone = await make(registry, 'b', 'deleted');
      await expect(async () => registry.instances.commit(hop(gone, 'deleted'))).rejects.toMatchObject({
        code: 'invalid_transition',
      });
    });

    test('a row that has moved on is a conflict, an unknown one is not found, and nothing is written', async () => {
      const row = await make(registry, 'a', 'active');
      const before = await registry.ledger.lastSeq();
      const stale = { ...row, generation: row.generation - 1 };
      await expect(async () => registry.instances.commit(hop(stale, 'suspended'))).rejects.toMatchObject({
        code: 'conflict',
      });
      const elsewhere = { ...row, state: 'frozen' as const };
      await expect(async () => registry.instances.commit(hop(elsewhere, 'archived'))).rejects.toMatchObject({
        code: 'conflict',
      });
      await expect(async () => registry.instances.commit(hop({ ...row, id: 'x' }, 'suspended'))).rejects.toMatchObject({
        code: 'not_found',
      });
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await registry.ledger.lastSeq()).toBe(before);
    });

    test('of two connections that commit the same generation exactly one wins, every time', async () => {
      const other = await driver.again();
      for (let n = 0; n < 20; n += 1) {
        const row = await make(registry, `r${n}`, 'active');
        const attempts = [registry, other].map(async (one, k) =>
          one.instances.commit(hop(row, k === 0 ? 'suspended' : 'archived')),
        );
        const outcomes = await Promise.allSettled(attempts);
        expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected']);
        const lost = outcomes.find((outcome) => outcome.status === 'rejected');
        expect(lost).toMatchObject({ reason: { code: 'conflict' } });
        expect((await other.instances.get(row.id))?.generation).toBe(row.generation + 1);
      }
      await other.close();
    });

    test('a write whose ledger line fails did not happen, and nobody is told of it', async () => {
      const row = await make(registry, 'a', 'active', { name: 'one', labels: { a: '1' } });
      const told: LedgerLine[] = [];
      registry.commitEvents.onLedgerAppend((lines) => told.push(...lines));
      const broken = { ...entry(), type: null as unknown as string };
      const before = await registry.ledger.lastSeq();
      const attempts = [
        async () => registry.instances.commit(hop(row, 'suspended', { ledger: [entry(), broken] })),
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
      expect(told).toEqual([]);
      await registry.instances.create(instance('c', { name: 'two' }), START, entry());
    });
  });

  describe('faults, checks and touches', () => {
    test('a fault is raised with its reason and cleared, without a transition', async () => {
      const row = await make(registry, 'a', 'frozen');
      await registry.instances.setFault('a', { fault: 'missing', reason: 'no file' }, entry({ type: 'fault.raised' }));
      expect(await registry.instances.get('a')).toEqual({ ...row, fault: 'missing', faultReason: 'no file' });
      expect(await registry.instances.countsByFault()).toEqual({ error: 0, unknown: 0, corrupt: 0, missing: 1 });
      await registry.instances.setFault('a', null, entry({ type: 'fault.cleared' }));
      expect(await registry.instances.get('a')).toEqual(row);
      expect(await registry.instances.countsByFault()).toEqual({ error: 0, unknown: 0, corrupt: 0, missing: 0 });
      await expect(async () => registry.instances.setFault('x', null, entry())).rejects.toMatchObject({
        code: 'not_found',
      });
    });

    test('the check of a file is recorded only while the row is of the generation that was checked', async () => {
      const row = await registry.instances.commit(
        hop(await make(registry, 'a', 'suspended'), 'frozen', { file: FILE }),
      );
      const check = { sha256: 'ab'.repeat(32), quickCheck: 'ok' };
      await registry.instances.recordCheck('a', row.generation - 1, check);
      expect((await seen('a')).file).toEqual(FILE);
      // Whatever else is known of what was read, its mark above all, is not of what was filed.
      const found = { ...check, identity: 'of another', size: 1 };
      await registry.instances.recordCheck('a', row.generation, found);
      expect((await seen('a')).file).toEqual({ ...FILE, ...check });
      const active = await registry.instances.commit(hop(row, 'active'));
      await registry.instances.recordCheck('a', active.generation, check);
      expect((await seen('a')).file).toBeNull();
    });

    test('the volumes of what was checked are summed by tenant, each as last weighed, until it is deleted', async () => {
      const sums = async (tenant = 'acme') => (await registry.quotas.tenant(tenant))?.volumes;
      const check = { sha256: 'ab'.repeat(32), quickCheck: 'ok' };
      const a = await registry.instances.commit(hop(await make(registry, 'a', 'suspended'), 'frozen', { file: FILE }));
      const b = await registry.instances.commit(hop(await make(registry, 'b', 'suspended'), 'frozen', { file: FILE }));
      await make(registry, 'c', 'frozen', { tenant: 'globex' });
      expect(await sums()).toEqual({ instances: 0, workspace: 0, memory: 0, tmp: 0 });
      await registry.instances.recordCheck('a', a.generation, check, { workspace: 100, memory: 10, tmp: 1 });
      await registry.instances.recordCheck('b', b.generation - 1, check, { workspace: 999, memory: 999, tmp: 999 });
      await registry.instances.recordCheck('b', b.generation, check, { workspace: 200, memory: 0, tmp: 2 });
      expect(await sums()).toEqual({ instances: 2, workspace: 300, memory: 10, tmp: 3 });
      await registry.instances.recordCheck('a', a.generation, check, { workspace: 50, memory: 20, tmp: 0 });
      expect(await sums()).toEqual({ instances: 2, workspace: 250, memory: 20, tmp: 2 });
      const archived = await registry.instances.commit(hop((await registry.instances.get('a')) ?? a, 'archived'));
      expect(await sums()).toEqual({ instances: 2, workspace: 250, memory: 20, tmp: 2 });
      await registry.instances.commit(hop(archived, 'deleted'));
      expect(await sums()).toEqual({ instances: 1, workspace: 200, memory: 0, tmp: 2 });
      expect(await sums('globex')).toEqual({ instances: 0, workspace: 0, memory: 0, tmp: 0 });
    });

    test('touches stamp many rows at once, never backwards, and pass over what is not there', async () => {
      const a = await make(registry, 'a', 'active');
      const b = await make(registry, 'b', 'active');
      const gone = await make(registry, 'gone', 'deleted');
      await registry.instances.touch([
        { id: 'a', updated: START + 50, bytes: 10 },
        { id: 'b', updated: START - 50 },
        { id: 'gone', updated: START + 50 },
        { id: 'nobody', updated: START + 50 },
      ]);
      expect(await registry.instances.get('a')).toEqual({ ...a, updated: START + 50, bytes: 10 });
      expect(await registry.instances.get('b')).toEqual(b);
      expect(await registry.instances.get('gone')).toEqual(gone);
      await registry.instances.touch([{ id: 'a', updated: START + 40, bytes: null }]);
      expect(await registry.instances.get('a')).toEqual({ ...a, updated: START + 50, bytes: null });
      await registry.instances.touch([]);
    });

    test('what is later than now is set back to it, a few at a time, and falls due anew', async () => {
      const DAYS = 40 * 86_400;
      for (const id of ['a', 'b', 'c']) await make(registry, id, 'active');
      await make(registry, 'near', 'active');
      const gone = await make(registry, 'gone', 'deleted');
      await registry.instances.touch(['a', 'b', 'c'].map((id) => ({ id, updated: START + DAYS })));
      await registry.instances.touch([{ id: 'near', updated: START + 30 }]);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(2);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(1);
      expect(await registry.instances.clampUpdated(START, 60, 2)).toBe(0);
      for (const id of ['a', 'b', 'c']) expect((await registry.instances.get(id))?.updated).toBe(START);
      expect((await registry.instances.get('near'))?.updated).toBe(START + 30);
      expect(await registry.instances.get('gone')).toEqual(gone);
      expect(
        (await registry.instances.due(START + THRESHOLDS.idleToSuspendSeconds, 10)).map(({ row }) => row.id).sort(),
      ).toEqual(['a', 'b', 'c']);
    });

    test('every row that has a file is found in the order of ids, from any id on', async () => {
      for (const id of ['d', 'b', 'a', 'c']) await make(registry, id, 'frozen');
      await make(registry, 'aa', 'deleted');
      await make(registry, 'bb');
      await registry.instances.create(instance('cc', { vfsPath: ':memory:' }), START, entry());
      expect((await registry.instances.withFile('', 10)).map((row) => row.id)).toEqual(['a', 'b', 'c', 'd']);
      expect((await registry.instances.withFile('a', 2)).map((row) => row.id)).toEqual(['b', 'c']);
      expect(await registry.instances.withFile('d', 10)).toEqual([]);
    });

    test('what it is kept in is whole, and nobody has to wait to hear that', async () => {
      const stop = new AbortController();
      expect(await registry.maintenance.check(stop.signal)).toBe('ok');
      stop.abort();
      await expect(registry.maintenance.check(stop.signal)).rejects.toThrow();
    });

    test('a ping writes, and a closed registry may be closed again', async () => {
      await registry.maintenance.ping();
      await registry.close();
      await registry.close();
      await expect(async () => registry.maintenance.ping()).rejects.toThrow();
    });
  });
}
