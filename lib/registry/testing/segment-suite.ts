/** What every registry guarantees of the sealed months of the ledger. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PlainIds } from '../../testing/plain-ids.ts';
import type { Registry } from '../registry.ts';
import type { Segment } from '../segments.ts';
import { entry, type RegistryUnderTest, START } from './fixtures.ts';

const START_MS = START * 1000;

export function segmentSuite(driver: RegistryUnderTest): void {
  let registry: PlainIds<Registry>;
  beforeEach(async () => {
    registry = await driver.open();
  });
  afterEach(() => driver.discard());

  /** The segment of lines `firstSeq` to `lastSeq`, as the chain has them. */
  async function segment(id: string, firstSeq: number, lastSeq: number, over: Partial<Segment> = {}) {
    const lines = await registry.ledger.chain(firstSeq - 1, lastSeq - firstSeq + 1);
    const before = firstSeq === 1 ? '0'.repeat(64) : ((await registry.ledger.chain(firstSeq - 2, 1))[0]?.hash ?? '');
    return {
      id,
      firstSeq,
      lastSeq,
      lines: lines.length,
      previousHash: before,
      firstHash: lines[0]?.hash ?? '',
      lastHash: lines.at(-1)?.hash ?? '',
      sealedMs: START_MS,
      issuer: 'did:key:z6Mk',
      signature: 's',
      ...over,
    };
  }
  const fill = (count: number) =>
    registry.ledger.append(Array.from({ length: count }, (_, n) => entry({ timeMs: START_MS + n })));

  test('segments are kept as they were sealed, in order, each with its line', async () => {
    await fill(10);
    expect(await registry.segments.list()).toEqual([]);
    expect(await registry.segments.get('2025-12')).toBeNull();
    const first = await segment('2025-12', 1, 4);
    const second = await segment('2026-01', 5, 9);
    await registry.segments.seal(first, entry({ type: 'ledger.sealed', reason: 'first' }));
    await registry.segments.seal(second, entry({ type: 'ledger.sealed' }));
    const unmarked = { exportedMs: null, droppedMs: null, dropSignature: null };
    expect(await registry.segments.list()).toEqual([
      { ...first, ...unmarked },
      { ...second, ...unmarked },
    ]);
    expect(await registry.segments.get('2026-01')).toEqual({ ...second, ...unmarked });
    expect((await registry.ledger.after(10, 9)).map((line) => line.type)).toEqual(['ledger.sealed', 'ledger.sealed']);
  });

  test('a segment that leaves a gap, overlaps or exists already is refused, and its line with it', async () => {
    await fill(10);
    await registry.segments.seal(await segment('2025-12', 1, 4), entry());
    const wrong = [
      await segment('2026-01', 6, 9),
      await segment('2026-01', 4, 9),
      await segment('2025-12', 5, 9),
      await segment('2026-01', 5, 9, { lines: 4 }),
    ];
    for (const one of wrong) {
      await expect(async () => registry.segments.seal(one, entry())).rejects.toMatchObject({ code: 'conflict' });
    }
    expect(await registry.segments.list()).toHaveLength(1);
    expect(await registry.ledger.lastSeq()).toBe(11);
  });

  test('the end of a month is found by time among the lines after a number', async () => {
    await fill(10);
    expect(await registry.segments.firstSince(0, START_MS + 4)).toBe(5);
    expect(await registry.segments.firstSince(7, START_MS + 4)).toBe(8);
    expect(await registry.segments.firstSince(0, START_MS + 10)).toBeNull();
    expect(await registry.segments.firstSince(10, 0)).toBeNull();
  });

  test('only an exported segment can be dropped, once, and then exactly its lines are removed, in batches', async () => {
    await fill(10);
    await registry.segments.seal(await segment('2025-12', 1, 5), entry());
    await registry.segments.seal(await segment('2026-01', 6, 8), entry());
    const mark = { timeMs: START_MS + 2, signature: 'd' };
    const drop = (id: string) => async () => registry.segments.markDropped(id, mark, entry({ type: 'ledger.dropped' }));
    await expect(drop('2025-12')).rejects.toMatchObject({ code: 'conflict' });
    await expect(drop('1999-01')).rejects.toMatchObject({ code: 'conflict' });
    expect(await registry.segments.deleteDropped(100)).toBe(0);
    await registry.segments.markExported('1999-01', START_MS);
    await registry.segments.markExported('2025-12', START_MS + 1);
    await registry.segments.markExported('2025-12', START_MS + 9);
    await drop('2025-12')();
    await expect(drop('2025-12')).rejects.toMatchObject({ code: 'conflict' });
    expect(await registry.segments.get('2025-12')).toMatchObject({
      exportedMs: START_MS + 1,
      droppedMs: START_MS + 2,
      dropSignature: 'd',
    });
    expect(await registry.segments.deleteDropped(3)).toBe(3);
    expect((await registry.ledger.after(0, 1))[0]?.seq).toBe(4);
    expect(await registry.segments.deleteDropped(100)).toBe(2);
    expect(await registry.segments.deleteDropped(100)).toBe(0);
    expect((await registry.ledger.after(0, 100)).map((line) => line.seq)).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
    expect(await registry.segments.list()).toHaveLength(2);
  });

  test('numbers and hashes continue after lines were dropped', async () => {
    await fill(3);
    await registry.segments.seal(await segment('2025-12', 1, 3), entry());
    await registry.segments.markExported('2025-12', START_MS);
    await registry.segments.markDropped('2025-12', { timeMs: START_MS, signature: 'd' }, entry());
    await registry.segments.seal(await segment('2026-01', 4, 5), entry());
    await registry.segments.markExported('2026-01', START_MS);
    await registry.segments.markDropped('2026-01', { timeMs: START_MS, signature: 'd' }, entry());
    await registry.segments.seal(await segment('2026-02', 6, 7), entry());
    expect(await registry.segments.deleteDropped(100)).toBe(5);
    const [next] = await registry.ledger.chain(0, 1);
    expect(next?.seq).toBe(6);
    const { seq } = await registry.ledger.head();
    await registry.ledger.append([entry()]);
    expect(await registry.ledger.lastSeq()).toBe(seq + 1);
  });
}
