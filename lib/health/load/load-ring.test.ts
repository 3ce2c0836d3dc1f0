import { expect, test } from 'vitest';
import { LoadRing, type LoadSample, RING_BYTES, SAMPLES } from './load-ring.ts';

const sampleOf = (value: number): LoadSample => ({
  cpuMs: value,
  memoryBytes: value * 4096,
  calls: value,
  bytesIn: value * 3,
  bytesOut: value * 5,
});

test('an hour of a sandbox takes less than 4 kB', () => {
  expect(RING_BYTES).toBeLessThanOrEqual(4096);
  // Each field has its place in it: a ring that is full gives back all that it was given.
  const ring = new LoadRing();
  for (let number = 0; number < SAMPLES; number += 1) {
    ring.write(number, sampleOf(number));
    if (number % 6 === 0) ring.writeDisk(number * 1024);
  }
  for (let number = 0; number < SAMPLES; number += 1) {
    const read = ring.read(number);
    expect(read).toMatchObject({ cpuMs: number, calls: number });
    expect(Math.abs((read?.memoryBytes ?? 0) - number * 4096)).toBeLessThanOrEqual(number * 4096 * 0.0005);
    expect(read?.diskBytes).toBe(Math.floor(number / 6) * 6 * 1024);
  }
});

test.each([0, 1, 2047, 2048, 65_535, 123_456_789, 8 * 2 ** 30, 2 ** 40])(
  'a number of %i is kept, exactly below 2048 and else to a twentieth of a percent',
  (value) => {
    const ring = new LoadRing();
    ring.write(0, { cpuMs: value, memoryBytes: value, calls: value, bytesIn: value, bytesOut: value });
    const read = ring.read(0);
    for (const kept of [read?.cpuMs, read?.memoryBytes, read?.calls, read?.bytesIn, read?.bytesOut]) {
      expect(Math.abs((kept ?? Number.NaN) - value)).toBeLessThanOrEqual(value < 2048 ? 0 : value * 0.0005);
    }
  },
);

test('what can be no number of anything is nothing, and what is too large is the largest', () => {
  const ring = new LoadRing();
  ring.write(0, { cpuMs: -5, memoryBytes: Number.NaN, calls: 2 ** 60, bytesIn: Number.POSITIVE_INFINITY, bytesOut: 1 });
  expect(ring.read(0)).toMatchObject({ cpuMs: 0, memoryBytes: 0, bytesOut: 1 });
  expect(ring.read(0)?.calls).toBeGreaterThan(1e12);
  expect(ring.read(0)?.bytesIn).toBeGreaterThan(1e12);
});

test('a number without a sample is none, also where an older one was', () => {
  const ring = new LoadRing();
  for (let number = 0; number < SAMPLES; number += 1) ring.write(number, sampleOf(7));
  ring.writeDisk(99);
  ring.write(SAMPLES + 10, sampleOf(9));
  expect(ring.read(SAMPLES + 10)).toMatchObject({ cpuMs: 9 });
  for (let number = SAMPLES; number < SAMPLES + 10; number += 1) expect(ring.read(number)).toBeNull();
  expect(ring.read(10)).toBeNull();
  expect(ring.read(11)).toMatchObject({ cpuMs: 7 });
  ring.write(10 * SAMPLES, sampleOf(1));
  const left = Array.from({ length: 11 * SAMPLES }, (_, number) => ring.read(number)).filter((read) => read !== null);
  expect(left).toHaveLength(1);
});
