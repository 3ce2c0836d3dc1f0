import { describe, expect, test } from 'vitest';
import { KeptOutputs } from './kept-output.ts';
import { OutputRing } from './output-ring.ts';

const bytes = (text: string) => Buffer.from(text);
const textOf = (pieces: { bytes: Uint8Array }[]) => pieces.map((piece) => Buffer.from(piece.bytes).toString()).join('');

describe('a ring', () => {
  test('keeps both streams in order, at offsets of both together', () => {
    const ring = new OutputRing(1000);
    ring.push('stdout', bytes('abc'));
    ring.push('stderr', bytes('é'));
    ring.push('stdout', bytes('d'));
    expect(ring.read(0, 1000)).toEqual({
      pieces: [
        { stream: 'stdout', offset: 0, bytes: bytes('abc') },
        { stream: 'stderr', offset: 3, bytes: bytes('é') },
        { stream: 'stdout', offset: 5, bytes: bytes('d') },
      ],
      next: 6,
    });
    for (let at = 0; at <= 6; at += 1) expect(textOf(ring.read(at, 1000).pieces).length).toBeLessThanOrEqual(6 - at);
    expect(ring.read(1, 1)).toMatchObject({ pieces: [{ offset: 1, bytes: bytes('bc') }], next: 3 });
    expect(ring.read(99, 10)).toEqual({ pieces: [], next: 99 });
  });

  test('drops the oldest over its limit, and counts what was left out before it came', () => {
    const ring = new OutputRing(40_000);
    for (let n = 0; n < 10_000; n += 1) ring.push('stdout', bytes(`line ${n}\n`));
    const { pieces, next } = ring.read(0, 1_000_000);
    expect([ring.start > 0, ring.end, next]).toEqual([true, 98_890, 98_890]);
    expect(textOf(pieces)).toBe(
      Array.from({ length: 10_000 }, (_, n) => `line ${n}\n`)
        .join('')
        .slice(ring.start),
    );
    ring.push('stdout', bytes('later'), 500);
    expect(ring.end).toBe(98_890 + 505);
    expect(ring.read(98_890, 100).pieces).toEqual([{ stream: 'stdout', offset: 99_390, bytes: bytes('later') }]);
  });

  test('counts what a piece costs, so that one byte at a time takes no more memory than the limit', () => {
    const ring = new OutputRing(10_000);
    for (let n = 0; n < 50_000; n += 1) ring.push(n % 2 === 0 ? 'stdout' : 'stderr', bytes('x'));
    expect(ring.cost).toBeLessThan(11_000);
    expect(ring.end).toBe(50_000);
  });

  test('splits what was written at once between characters', () => {
    const ring = new OutputRing(200_000);
    ring.push('stdout', bytes('é漢🙂'.repeat(10_000)));
    const { pieces } = ring.read(0, 1_000_000);
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) expect(Buffer.from(piece.bytes).toString()).not.toContain('\ufffd');
    expect(textOf(pieces)).toBe('é漢🙂'.repeat(10_000));
  });
});

test('over the limits of a tenant and of all, the output of what ended longest ago goes first', () => {
  const kept = new KeptOutputs({ runOutputBytes: 8000, runOutputBytesPerTenant: 20_000, runOutputBytesTotal: 30_000 });
  const fill = (run: string, tenant: string) => {
    kept.open(run, tenant);
    kept.push(run, 'stdout', Buffer.alloc(7000, 'x'));
    kept.ended(run);
  };
  for (const run of ['a', 'b', 'c']) fill(run, 'acme');
  expect(['a', 'b', 'c'].map((run) => kept.get(run) !== null)).toEqual([false, true, true]);
  fill('d', 'globex');
  fill('e', 'globex');
  expect(['b', 'c', 'd', 'e'].map((run) => kept.get(run) !== null)).toEqual([false, true, true, true]);
  expect(kept.bytes).toBeLessThanOrEqual(30_000);
  // What runs loses the oldest of its own when nothing that ended is left.
  for (const run of ['r1', 'r2', 'r3', 'r4']) {
    kept.open(run, 'acme');
    kept.push(run, 'stdout', Buffer.alloc(7000, 'y'));
  }
  expect(kept.get('r1')?.end).toBe(7000);
  expect(kept.bytes).toBeLessThanOrEqual(30_000);
  for (const run of ['r1', 'r2', 'r3', 'r4', 'c', 'd', 'e']) kept.remove(run);
  expect(kept.bytes).toBe(0);
});
