import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { instanceId, type PlainIds, withPlainIds } from '../testing/plain-ids.ts';
import type { Registry } from './registry.ts';
import { LINES_AN_HOUR, RepeatThrottle } from './repeat-throttle.ts';
import { entry, START } from './testing/fixtures.ts';
import { openTestRegistry } from './testing/open-test-registry.ts';
import type { LedgerEntry } from './types.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const BEGAN = START * 1000;

let folder: string;
let registry: PlainIds<Registry>;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'winterdock-repeats-'));
  registry = withPlainIds(await openTestRegistry(join(folder, 'registry.sqlite')));
});
afterEach(async () => {
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

const refused = (afterMs: number, over: Partial<LedgerEntry> = {}) =>
  entry({
    timeMs: BEGAN + afterMs,
    type: 'wake.refused',
    instance: 'a',
    tenant: 'acme',
    error: 'The sandbox "a" is corrupt.',
    ...over,
  });
/** All lines, oldest first. */
const lines = async () => registry.ledger.after(0, 100_000);
const iso = (afterMs: number) => new Date(BEGAN + afterMs).toISOString();

test('a refusal is written at once, and its repeats become one line with their number, actor and last time', async () => {
  for (let n = 0; n < 25; n += 1) {
    await registry.ledger.append([refused(n * 1000, { requestId: `req-${n}`, address: `192.0.2.${n}` })]);
  }
  expect((await lines()).map(({ requestId }) => requestId)).toEqual(['req-0']);
  await registry.ledger.appendRepeatCounts(BEGAN + 59_000);
  expect(await lines()).toHaveLength(1);
  await registry.ledger.appendRepeatCounts(BEGAN + 61_000);
  const [, sum, ...more] = await lines();
  expect(more).toEqual([]);
  expect(sum).toMatchObject({
    type: 'wake.refused',
    instance: 'a',
    tenant: 'acme',
    actor: 'key:test',
    requestId: 'req-24',
    address: '192.0.2.24',
    error: 'The sandbox "a" is corrupt.',
    reason: `24 more times since ${iso(0)}, the last at ${iso(24_000)}`,
  });
  // Summaries are lines of the chain like all others.
  expect(await registry.ledger.head()).toMatchObject({ seq: 2 });
});

test('refused twice a minute for thirty days, a caller leaves a line an hour, and every refusal is counted', async () => {
  const STEP = 30_000;
  for (let at = 0; at < 30 * DAY; at += STEP) {
    await registry.ledger.append([refused(at)]);
    if (at % MINUTE === 0) await registry.ledger.appendRepeatCounts(BEGAN + at);
  }
  await registry.ledger.appendRepeatCounts(BEGAN + 30 * DAY, { all: true });
  const written = await lines();
  expect(written.length).toBeLessThan(30 * 24 + 10);
  const counted = written.map(({ reason }) => (reason === null ? 1 : Number(/^\d+/.exec(reason)?.[0] ?? 1)));
  expect(counted.reduce((sum, n) => sum + n, 0)).toBe((30 * DAY) / STEP);
});

test('another caller, sandbox, kind or cause counts separately, and another number in the cause does not', async () => {
  const others: Partial<LedgerEntry>[] = [
    {},
    { actor: 'key:other' },
    { instance: instanceId('b') },
    { type: 'suspend.refused' },
    { error: 'All 8 places are taken.' },
  ];
  for (const over of others) await registry.ledger.append([refused(0, over), refused(0, over)]);
  await registry.ledger.append([refused(1, { error: 'All 9 places are taken.' })]);
  expect((await lines()).filter(({ error }) => error === 'All 9 places are taken.')).toEqual([]);
  for (const over of others) {
    const matching = (await lines()).filter((line) =>
      Object.entries({ ...refused(0), ...over }).every(([key, value]) => line[key as keyof LedgerEntry] === value),
    );
    expect(matching.length, JSON.stringify(over)).toBeGreaterThan(0);
  }
});

test('after a quiet window a refusal gets a line again', async () => {
  await registry.ledger.append([refused(0)]);
  await registry.ledger.appendRepeatCounts(BEGAN + 2 * MINUTE);
  await registry.ledger.append([refused(2 * MINUTE)]);
  expect((await lines()).map(({ reason }) => reason)).toEqual([null, null]);
});

test('changes are always written, and so are exports and reads', async () => {
  for (const type of ['transition', 'fault.raised', 'private.read', 'bundle.shipped', 'person.signed_in']) {
    for (let n = 0; n < 5; n += 1) await registry.ledger.append([refused(n, { type })]);
  }
  expect(await lines()).toHaveLength(25);
});

test('a caller that is refused for ever new sandboxes gets a limited number of lines an hour, and the rest is counted by kind', async () => {
  const ASKED = 20_000;
  for (let n = 0; n < ASKED; n += 1) {
    await registry.ledger.append([
      refused(n, { instance: instanceId(`s${n}`), tenant: n % 2 === 0 ? 'acme' : 'globex', requestId: `req-${n}` }),
    ]);
  }
  expect((await lines()).length).toBe(LINES_AN_HOUR + 1);
  // No other caller loses a line by that.
  await registry.ledger.append([refused(ASKED, { actor: 'key:other' })]);
  expect((await lines()).at(-1)).toMatchObject({ actor: 'key:other', instance: 'a' });
  await registry.ledger.appendRepeatCounts(BEGAN + 2 * MINUTE);
  const [sum, ...more] = (await lines()).slice(LINES_AN_HOUR + 2);
  expect(more).toEqual([]);
  expect(sum).toMatchObject({
    actor: 'key:test',
    instance: null,
    tenant: null,
    error: null,
    requestId: `req-${ASKED - 1}`,
  });
  expect(sum?.reason).toContain(`${ASKED - LINES_AN_HOUR - 1} more of this caller, not told one by one,`);
  // An hour later there is room again.
  await registry.ledger.append([refused(HOUR + ASKED, { instance: instanceId('late') })]);
  expect((await lines()).at(-1)).toMatchObject({ instance: 'late' });
});

test('sign-ins that fail from ever new addresses share a limited number of lines an hour', async () => {
  for (let n = 0; n < 5000; n += 1) {
    const address = `10.0.${n >> 8}.${n & 255}`;
    const failed = { type: 'signin.failed', actor: 'nobody', instance: null, tenant: null, error: null };
    await registry.ledger.append([refused(n, { ...failed, reason: 'link', address })]);
  }
  expect((await lines()).length).toBe(LINES_AN_HOUR + 1);
});

test('a line whose transaction was rolled back does not count as written', () => {
  const repeats = new RepeatThrottle();
  const sifted = () => repeats.admit([refused(0)]);
  expect(sifted()).toHaveLength(1);
  const [again] = sifted();
  expect(again).toBeDefined();
  again?.written();
  expect(sifted()).toEqual([]);
});

test('a clock that is set back hides nothing', async () => {
  await registry.ledger.append([refused(HOUR)]);
  await registry.ledger.append([refused(0)]);
  expect(await lines()).toHaveLength(2);
});
