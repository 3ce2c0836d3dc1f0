/** What every registry guarantees of the ledger and of due rows. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nextMove } from '../../lifecycle/ladder.ts';
import { STATES } from '../../lifecycle/state-map.ts';
import { FAULTS, isBlocking } from '../../lifecycle/words.ts';
import { instanceId, type PlainIds } from '../../testing/plain-ids.ts';
import { CHAIN_START, canonicalLine, chainHash } from '../chain.ts';
import type { LedgerFilter } from '../ledger.ts';
import type { Registry } from '../registry.ts';
import type { InstanceRow, LedgerLine, Thresholds } from '../types.ts';
import {
  entry,
  instance,
  intent,
  makeInstance,
  type RegistryUnderTest,
  START,
  THRESHOLDS,
  transitionTo,
} from './fixtures.ts';

const NEVER = 9_000_000_000;

export function ledgerSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  describe('the ledger', () => {
    test('a text of a line is kept within bounds, whoever wrote it, and the chain holds', async () => {
      const long = `${'x'.repeat(4094)}\u{1d11e}${'y'.repeat(10_000_000)}`;
      const line = entry({ reason: long, error: `\ud800${long}`, actor: 'user:1', address: 'z'.repeat(5000) });
      await registry.ledger.append([line, entry({ reason: 'r'.repeat(4096) })]);
      const [whole, cut] = (await registry.ledger.page({}, 10)).rows;
      expect(whole?.reason).toBe('r'.repeat(4096));
      expect(cut?.reason).toBe(`${'x'.repeat(4094)}\ufffd…`);
      expect(cut?.error).toMatch(/^\ufffdx+…$/);
      expect([cut?.error?.length, cut?.address?.length, cut?.actor]).toEqual([4096, 4096, 'user:1']);
      const [first, second] = await registry.ledger.chain(0, 10);
      expect(first?.hash).toBe(chainHash(CHAIN_START.hash, canonicalLine(cut as LedgerLine)));
      expect(second?.hash).toBe(chainHash(first?.hash ?? '', canonicalLine(whole as LedgerLine)));
    });

    test('lines read back complete, newest first, in pages, by any filter', async () => {
      const written: LedgerLine[] = [];
      for (let n = 0; n < 60; n += 1) {
        const line = entry({
          timeMs: START * 1000 + Math.floor(n / 3) * 500,
          instance: n % 4 === 0 ? null : `i${n % 3}`,
          tenant: ['acme', 'globex', null][n % 3],
          type: n % 5 === 0 ? 'fault.raised' : 'transition',
          from: n % 2 === 0 ? 'active' : null,
          to: n % 2 === 0 ? 'suspended' : null,
          trigger: n % 7 === 0 ? 'idle' : 'request',
          actor: `user:${n % 2}`,
          via: 'console',
          source: n % 2 === 0 ? 'cold' : null,
          tookMs: n / 8,
          reason: `because ${n}`,
          error: n % 5 === 0 ? 'broken' : null,
          requestId: `req-${n}`,
          address: n % 2 === 0 ? '192.0.2.7' : null,
        });
        await registry.ledger.append([line]);
        written.push({ ...line, seq: n + 1 });
      }
      const filters: LedgerFilter[] = [
        {},
        { tenant: 'acme' },
        { instance: instanceId('i1') },
        { type: 'fault.raised' },
        { actor: 'user:1' },
        { trigger: 'idle' },
        { since: START + 3 },
        { until: START + 3 },
        { since: START + 2, until: START + 4, tenant: 'globex', actor: 'user:0' },
        { instance: instanceId('i2'), type: 'transition', trigger: 'request' },
        { instance: instanceId('nobody') },
      ];
      for (const filter of filters) {
        const second = (line: LedgerLine) => Math.floor(line.timeMs / 1000);
        const expected = written
          .filter((line) =>
            (['tenant', 'instance', 'type', 'actor', 'trigger'] as const).every(
              (key) => filter[key] === undefined || line[key] === filter[key],
            ),
          )
          .filter((line) => second(line) >= (filter.since ?? 0) && second(line) <= (filter.until ?? NEVER))
          .reverse();
        const found: LedgerLine[] = [];
        let cursor: string | undefined;
        do {
          const page = await registry.ledger.page(filter, 7, cursor);
          found.push(...page.rows);
          cursor = page.next ?? undefined;
          await registry.ledger.append([
            entry({
              timeMs: (START + 60) * 1000,
              type: 'late',
              actor: 'nobody',
              instance: 'late',
              tenant: 'late',
              trigger: 'boot',
            }),
          ]);
        } while (cursor !== undefined);
        expect(
          found.filter((line) => line.type !== 'late'),
          JSON.stringify(filter),
        ).toEqual(expected);
      }
    });

    test('a malformed cursor is refused', async () => {
      for (let n = 0; n < 3; n += 1) await registry.ledger.append([entry()]);
      const { next } = await registry.ledger.page({}, 2);
      expect((await registry.ledger.page({}, 2, next ?? '')).rows).toHaveLength(1);
      for (const cursor of ['', '*', 'W10', `${next}x!`, Buffer.from('["a",1]').toString('base64url')]) {
        await expect(async () => registry.ledger.page({}, 2, cursor)).rejects.toMatchObject({ code: 'validation' });
      }
    });

    test('a stream that reconnects gets the lines that it missed, oldest first', async () => {
      expect(await registry.ledger.lastSeq()).toBe(0);
      for (let n = 0; n < 5; n += 1) await registry.ledger.append([entry({ type: `t${n}` })]);
      expect(await registry.ledger.lastSeq()).toBe(5);
      expect((await registry.ledger.after(2, 2)).map((line) => line.type)).toEqual(['t2', 't3']);
      expect(await registry.ledger.after(5, 10)).toEqual([]);
    });

    test('some tenants get their lines between two numbers, without other tenants’ and those of no tenant', async () => {
      for (const tenant of ['acme', 'other', null, 'acme', 'third', 'acme'])
        await registry.ledger.append([entry({ tenant })]);
      const among = async (tenants: string[], from: number, to: number, limit = 10) =>
        (await registry.ledger.ofTenants(tenants, { from, to }, limit)).map(({ seq }) => seq);
      expect(await among(['acme', 'third'], 1, 6)).toEqual([4, 5, 6]);
      expect(await among(['acme', 'third'], 0, 5, 2)).toEqual([1, 4]);
      expect([await among([], 0, 6), await among(['nobody'], 0, 6), await among(['acme'], 6, 100)]).toEqual([
        [],
        [],
        [],
      ]);
    });

    test('listeners get committed lines, in order, until they unsubscribe', async () => {
      const other = await driver.again();
      const received: LedgerLine[] = [];
      const visible: Promise<boolean>[] = [];
      const leave = registry.commitEvents.onLedgerAppend(({ lines }) => {
        received.push(...lines);
        visible.push(other.ledger.lastSeq().then((last) => last >= (lines.at(-1)?.seq ?? 0)));
      });
      const row = await makeInstance(registry, 'a', 'active');
      await registry.ledger.append([entry({ type: 'one' }), entry({ type: 'two' })]);
      await registry.instances.commit(transitionTo(row, 'suspended'));
      leave();
      await registry.ledger.append([entry({ type: 'unheard' })]);
      expect(received.map((line) => line.type)).toEqual(['instance.created', 'transition', 'one', 'two', 'transition']);
      expect(received.map((line) => line.seq)).toEqual([1, 2, 3, 4, 5]);
      expect(await Promise.all(visible)).toEqual([true, true, true, true]);
      expect(received.slice(2, 4)).toEqual(await registry.ledger.after(2, 2));
      await other.close();
    });

    test('lines of another process are heard once, in order, before the next own ones, and say that they are not', async () => {
      await registry.ledger.append([entry({ type: 'before' })]);
      const other = await driver.again();
      const heard: { own: boolean; position: number; types: string[] }[] = [];
      const listen = (to: typeof registry, into: typeof heard) =>
        to.commitEvents.onLedgerAppend(({ origin, position, lines }) =>
          into.push({ own: origin === to.commitEvents.origin, position, types: lines.map(({ type }) => type) }),
        );
      const theirs: typeof heard = [];
      listen(registry, heard);
      listen(other, theirs);
      await other.ledger.append([entry({ type: 'theirs' }), entry({ type: 'theirs too' })]);
      await registry.ledger.append([entry({ type: 'own' })]);
      expect(heard).toEqual([
        { own: false, position: 3, types: ['theirs', 'theirs too'] },
        { own: true, position: 4, types: ['own'] },
      ]);
      // Where nothing is appended the sums of refusals, which are due now and then, look for them.
      await other.ledger.appendRepeatCounts(START * 1000);
      await other.ledger.appendRepeatCounts(START * 1000);
      expect(theirs).toEqual([
        { own: true, position: 3, types: ['theirs', 'theirs too'] },
        { own: false, position: 4, types: ['own'] },
      ]);
      expect(registry.commitEvents.origin).not.toBe(other.commitEvents.origin);
      await other.close();
    });

    test('what a listener appends is heard by all after what it answers to', async () => {
      const heard: string[] = [];
      let answers: Promise<void> | null = null;
      registry.commitEvents.onLedgerAppend(({ lines }) => {
        if (lines.some(({ type }) => type === 'question'))
          answers = registry.ledger.append([entry({ type: 'answer' })]);
      });
      registry.commitEvents.onLedgerAppend(({ lines }) => heard.push(...lines.map(({ type }) => type)));
      await registry.ledger.append([entry({ type: 'question' })]);
      await answers;
      expect(heard).toEqual(['question', 'answer']);
    });
  });

  const dueIds = async (now: number, limit = 100) =>
    (await registry.instances.due(now, limit)).map(({ row }) => row.id);

  describe('what falls due', () => {
    test('the due time of every kind of row is the one that the ladder names', async () => {
      const subjects: InstanceRow[] = [];
      let n = 0;
      for (const state of STATES) {
        for (const ephemeral of [false, true]) {
          for (const keepHot of [false, true]) {
            for (const holdUntil of [null, START + 10, START + 500_000]) {
              for (const fault of [null, ...FAULTS]) {
                const id = `r-${n++}`;
                const own =
                  n % 2 === 0
                    ? { idleToSuspendSeconds: 100 + n }
                    : { hotToWarmSeconds: n, idleToFreezeSeconds: 200 + n };
                await makeInstance(registry, id, state, { ephemeral, keepHot, ...own }, START + (n % 50));
                if (state !== 'deleted') {
                  if (holdUntil !== null) await registry.instances.patch(id, { holdUntil }, START, entry());
                  if (fault !== null) await registry.instances.setFault(id, { fault, reason: 'r' }, entry());
                }
                const row = await registry.instances.get(id);
                if (row !== null) subjects.push(row);
              }
            }
          }
        }
      }
      const expected = subjects.flatMap((row) => {
        const policy: Thresholds = {
          hotToWarmSeconds: row.hotToWarmSeconds ?? THRESHOLDS.hotToWarmSeconds,
          idleToSuspendSeconds: row.idleToSuspendSeconds ?? THRESHOLDS.idleToSuspendSeconds,
          idleToFreezeSeconds: row.idleToFreezeSeconds ?? THRESHOLDS.idleToFreezeSeconds,
        };
        const move = nextMove({ ...row, blocked: isBlocking(row.fault), attached: 0 }, policy);
        return move === null ? [] : [{ id: row.id, at: move.at, policy }];
      });
      expect(expected.length).toBeGreaterThan(30);
      const found = await registry.instances.due(NEVER, 10_000);
      expect(found.map(({ row }) => row.id).sort()).toEqual(expected.map(({ id }) => id).sort());
      for (const { id, at, policy } of expected) {
        expect(found.find(({ row }) => row.id === id)?.thresholds).toEqual(policy);
        expect((await dueIds(at, 10_000)).includes(id), `${id} at ${at}`).toBe(true);
        expect((await dueIds(at - 1, 10_000)).includes(id), `${id} before ${at}`).toBe(false);
      }
      expect(await registry.instances.dueUntil(NEVER, 10_000)).toEqual(found);
    });

    test('the soonest come first, up to a limit', async () => {
      for (const [id, idle] of [
        ['late', 30],
        ['soon', 10],
        ['mid', 20],
      ] as const) {
        await makeInstance(registry, id, 'active', { idleToSuspendSeconds: idle });
      }
      expect(await dueIds(START + 100)).toEqual(['soon', 'mid', 'late']);
      expect(await dueIds(START + 100, 2)).toEqual(['soon', 'mid']);
      expect(await dueIds(START + 20)).toEqual(['soon', 'mid']);
    });

    test('an intent suspends a row’s due time, abandoning it restores the time, activity postpones it', async () => {
      const row = await makeInstance(registry, 'a', 'active');
      expect(await dueIds(START + 900)).toEqual(['a']);
      await registry.instances.begin('a', intent(row));
      expect(await dueIds(START + 900)).toEqual([]);
      await registry.instances.abandon('a', {}, []);
      expect(await dueIds(START + 900)).toEqual(['a']);
      await registry.instances.touch([{ id: 'a', updated: START + 600 }]);
      expect(await dueIds(START + 1499)).toEqual([]);
      expect(await dueIds(START + 1500)).toEqual(['a']);
    });

    test('changed thresholds move rows without thresholds of their own, and no others', async () => {
      await makeInstance(registry, 'plain', 'active');
      await makeInstance(registry, 'own', 'active', { idleToSuspendSeconds: 900, idleToFreezeSeconds: 900 });
      await makeInstance(registry, 'half', 'active', { idleToSuspendSeconds: 900 });
      await makeInstance(registry, 'other', 'active', { tenant: 'globex' });
      await makeInstance(registry, 'asleep', 'suspended');
      const line = entry({ type: 'settings.changed' });
      expect(await registry.thresholds.setGlobal({ idleToSuspendSeconds: 10 }, line)).toEqual({
        ...THRESHOLDS,
        idleToSuspendSeconds: 10,
      });
      expect((await dueIds(START + 10)).sort()).toEqual(['other', 'plain']);
      expect(await registry.thresholds.setOfTenant('globex', { idleToSuspendSeconds: 50 }, line)).toEqual({
        ...THRESHOLDS,
        idleToSuspendSeconds: 50,
      });
      expect(await registry.thresholds.ofTenant('globex')).toEqual({ ...THRESHOLDS, idleToSuspendSeconds: 50 });
      expect(await registry.thresholds.ofTenant('acme')).toEqual({ ...THRESHOLDS, idleToSuspendSeconds: 10 });
      expect(await dueIds(START + 49)).toEqual(['plain']);
      expect((await registry.instances.due(START + 50, 10)).at(-1)).toMatchObject({
        row: { id: 'other' },
        thresholds: { idleToSuspendSeconds: 50 },
      });
      await registry.thresholds.setGlobal({ idleToFreezeSeconds: 60 }, line);
      expect((await dueIds(START + 60)).sort()).toEqual(['asleep', 'other', 'plain']);
      await registry.thresholds.setOfTenant('globex', { idleToSuspendSeconds: null }, line);
      expect((await dueIds(START + 10)).sort()).toEqual(['other', 'plain']);
      expect(await dueIds(START + 900)).toHaveLength(5);
      expect((await registry.ledger.page({ type: 'settings.changed' }, 10)).rows).toHaveLength(4);
    });

    test('when a process is paused falls back from sandbox to tenant to all, 0 is kept, and no due time moves', async () => {
      await makeInstance(registry, 'a', 'active', { hotToWarmSeconds: 0 });
      await makeInstance(registry, 'b', 'active');
      await makeInstance(registry, 'c', 'active', { tenant: 'globex' });
      const line = entry({ type: 'settings.changed' });
      expect(await registry.thresholds.setGlobal({ hotToWarmSeconds: 60 }, line)).toEqual({
        ...THRESHOLDS,
        hotToWarmSeconds: 60,
      });
      await registry.thresholds.setOfTenant('globex', { hotToWarmSeconds: 5 }, line);
      const due = await registry.instances.due(START + THRESHOLDS.idleToSuspendSeconds, 10);
      expect(due.map(({ row, thresholds }) => [row.id, thresholds.hotToWarmSeconds]).sort()).toEqual([
        ['a', 0],
        ['b', 60],
        ['c', 5],
      ]);
      expect(await dueIds(START + THRESHOLDS.idleToSuspendSeconds - 1)).toEqual([]);
      await registry.thresholds.setOfTenant('globex', { hotToWarmSeconds: null }, line);
      expect(await registry.thresholds.ofTenant('globex')).toMatchObject({ hotToWarmSeconds: 60 });
    });

    test('a start with other thresholds than the last one applies them to existing rows, unless they were set', async () => {
      await makeInstance(registry, 'a', 'active');
      await makeInstance(registry, 'b', 'suspended');
      const later = await driver.again({ hotToWarmSeconds: 2, idleToSuspendSeconds: 5, idleToFreezeSeconds: 7 });
      expect((await later.instances.due(START + 5, 10)).map(({ row }) => row.id)).toEqual(['a']);
      expect((await later.instances.due(START + 7, 10)).map(({ row }) => row.id)).toEqual(['a', 'b']);
      await later.thresholds.setGlobal({ idleToSuspendSeconds: 100 }, entry());
      await later.close();
      const again = await driver.again({ hotToWarmSeconds: 0, idleToSuspendSeconds: 3, idleToFreezeSeconds: 3 });
      expect(await again.thresholds.global()).toEqual({
        hotToWarmSeconds: 0,
        idleToSuspendSeconds: 100,
        idleToFreezeSeconds: 3,
      });
      expect((await again.instances.due(START + 99, 10)).map(({ row }) => row.id)).toEqual(['b']);
      await again.close();
    });

    test('an ephemeral sandbox falls due at every step on its way to deleted', async () => {
      let row = await registry.instances.create(instance('e', { ephemeral: true }), START, entry());
      expect(await dueIds(NEVER)).toEqual([]);
      row = await registry.instances.commit(transitionTo(row, 'active'));
      expect(await dueIds(START + 899)).toEqual([]);
      expect(await dueIds(START + 900)).toEqual(['e']);
      row = await registry.instances.commit(transitionTo(row, 'archived', { now: START + 100 }));
      expect(await dueIds(START + 999)).toEqual([]);
      expect(await dueIds(START + 1000)).toEqual(['e']);
      await registry.instances.commit(transitionTo(row, 'deleted', { now: START + 900 }));
      expect(await dueIds(NEVER)).toEqual([]);
    });
  });
}
