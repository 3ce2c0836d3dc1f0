import { existsSync, readdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openSigner } from '../base/signing.ts';
import { entry } from '../registry/testing/fixtures.ts';
import { signedText } from './documents.ts';
import { readHead } from './head-file.ts';
import { isDropped, isSealed, isSigned, segmentHeadOf } from './sign.ts';
import { DAY_SECONDS, JUNE, openTestLedger, type TestLedger } from './testing/test-ledger.ts';
import { exportedLine, verifySegmentFile } from './verify-file.ts';

let book: TestLedger;
beforeEach(async () => {
  book = await openTestLedger();
});
afterEach(() => book.discard());

const MONTH = 31 * DAY_SECONDS;
const ids = async () => (await book.registry.segments.list()).map(({ id }) => id);
const types = async () => (await book.registry.ledger.after(0, 10_000)).map(({ type }) => type);
/** To the first of a month of 2026, at noon. */
const goTo = (month: number) => book.clock.advance((Date.UTC(2026, month - 1, 1, 12) - book.clock.now()) / 1000);

/** The file that an export of a segment is, as lines. */
async function exported(id: string): Promise<string[]> {
  const segment = await book.registry.segments.get(id);
  if (segment === null) throw new Error(`there is no ${id}`);
  const lines = await book.registry.ledger.chain(segment.firstSeq - 1, segment.lines);
  return [...lines.map(exportedLine), JSON.stringify(segmentHeadOf(segment))];
}
async function* textsOf(texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

test('the head beside the file follows appends, is valid and private, and is the last one after a stop', async () => {
  const path = book.driver.headPath ?? '';
  expect(readHead(path)).toMatchObject({ seq: 0 });
  await book.write(3);
  await vi.waitFor(() => expect(readHead(path)).toMatchObject({ seq: 3 }), { timeout: 240_000 });
  await book.write(2);
  await book.close();
  const head = readHead(path);
  expect(head).toMatchObject({ seq: 5, time_ms: JUNE + 5000, issuer: book.signer.issuer });
  expect(head !== null && isSigned(head, [book.signer.issuer])).toBe(true);
  expect(head !== null && isSigned(head, [openSigner(`${book.folder}/other`).issuer])).toBe(false);
  expect(head !== null && isSigned({ ...head, seq: 4 }, [book.signer.issuer])).toBe(false);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(book.folder).filter((name) => name.includes('.head'))).toEqual(['registry.sqlite.head']);
});

test('the signed text of a document has its members in a fixed order, the kind first', async () => {
  await book.write(1);
  const head = await book.keeper.head();
  expect(signedText(head)).toBe(
    `{"kind":"winterdock.ledger.head/1","seq":1,"hash":"${head.hash}","time_ms":${head.time_ms},"issuer":"${head.issuer}"}`,
  );
});

test('a month is sealed once it is over, and the months of an absence one by one', async () => {
  await book.write(10);
  expect(await book.keeper.tick()).toEqual({ sealed: [], dropped: [] });
  book.clock.advance(30 * DAY_SECONDS - 12);
  await book.write(1);
  expect((await book.keeper.tick()).sealed).toEqual([]);
  goTo(7);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-06']);
  expect((await book.keeper.tick()).sealed).toEqual([]);
  expect(await book.registry.segments.get('2026-06')).toMatchObject({
    firstSeq: 1,
    lastSeq: 11,
    lines: 11,
    previousHash: '0'.repeat(64),
    sealedMs: book.clock.now(),
    exportedMs: null,
    droppedMs: null,
  });
  await book.write(4);
  goTo(9);
  await book.write(5);
  goTo(12);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-07', '2026-09']);
  const segments = await book.registry.segments.list();
  expect(segments.map(({ id, firstSeq, lastSeq }) => [id, firstSeq, lastSeq])).toEqual([
    ['2026-06', 1, 11],
    ['2026-07', 12, 16],
    ['2026-09', 17, 21],
  ]);
  for (const segment of segments) expect(isSealed(segment, [book.signer.issuer])).toBe(true);
  expect((await types()).filter((type) => type === 'ledger.sealed')).toHaveLength(3);
  expect((await book.keeper.verify()).flaw).toBeNull();
});

test('a clock that is set back into a sealed month breaks nothing', async () => {
  await book.write(3);
  goTo(7);
  await book.keeper.tick();
  book.clock.advance(-20 * DAY_SECONDS);
  await book.write(2);
  expect((await book.keeper.tick()).sealed).toEqual([]);
  goTo(8);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-07']);
  expect(await ids()).toEqual(['2026-06', '2026-07']);
  expect((await book.keeper.verify()).flaw).toBeNull();
});

test('two rounds at once seal a month once', async () => {
  await book.write(500);
  goTo(7);
  const rounds = await Promise.all([book.keeper.tick(), book.keeper.tick(), book.keeper.tick()]);
  expect(new Set(rounds).size).toBe(1);
  expect(await ids()).toEqual(['2026-06']);
});

test('months are kept for ever by default, and never dropped before they were exported', async () => {
  await book.write(300);
  goTo(7);
  await book.keeper.tick();
  await book.registry.segments.markExported('2026-06', book.clock.now());
  book.clock.advance(3000 * DAY_SECONDS);
  expect((await book.keeper.tick()).dropped).toEqual([]);
  await book.reopen({ keepDays: 90 });
  expect((await book.keeper.tick()).dropped).toEqual(['2026-06']);
  expect((await book.registry.segments.list()).find(({ id }) => id === '2026-07')?.exportedMs).toBeNull();
  expect((await book.keeper.tick()).dropped).toEqual([]);
});

test('a dropped month is removed, oldest first, and the chain is proved across the gap', async () => {
  await book.reopen({ keepDays: 90 });
  await book.write(450);
  goTo(7);
  await book.write(20);
  goTo(8);
  expect((await book.keeper.tick()).sealed).toEqual(['2026-06', '2026-07']);
  await book.registry.segments.markExported('2026-07', book.clock.now());
  book.clock.advance(89 * DAY_SECONDS);
  await book.registry.segments.markExported('2026-06', book.clock.now());
  expect((await book.keeper.tick()).dropped).toEqual([]);
  const before = (await book.registry.ledger.after(0, 10_000)).length;
  book.clock.advance(DAY_SECONDS);
  expect((await book.keeper.tick()).dropped).toEqual(['2026-06', '2026-07']);
  const [first] = await book.registry.ledger.after(0, 1);
  expect(first?.seq).toBe(471);
  for (const id of ['2026-06', '2026-07']) {
    const segment = await book.registry.segments.get(id);
    expect(segment !== null && isDropped(segment, [book.signer.issuer])).toBe(true);
  }
  const proof = await book.keeper.verify();
  expect(proof).toMatchObject({ flaw: null, dropped: 470, lines: before - 470 + 2 });
  await book.reopen({ keepDays: 90 });
  await book.write(5);
  expect((await book.keeper.verify()).flaw).toBeNull();
  expect((await book.keeper.head()).seq).toBe((await book.registry.ledger.lastSeq()) ?? 0);
});

test('a drop that a kill interrupted is finished by the next round, and is proved meanwhile', async () => {
  await book.write(450);
  goTo(7);
  await book.keeper.tick();
  await book.registry.segments.markExported('2026-06', book.clock.now());
  await book.reopen({ keepDays: 1 });
  book.clock.advance(2 * DAY_SECONDS);
  const { deleteDropped } = book.registry.segments;
  let left = 1;
  book.registry.segments.deleteDropped = (limit) => {
    if (left-- === 0) throw new Error('killed');
    return deleteDropped.call(book.registry.segments, limit);
  };
  await expect(book.keeper.tick()).rejects.toThrow('killed');
  expect((await book.registry.ledger.after(0, 1))[0]?.seq).toBe(201);
  expect((await book.keeper.verify()).flaw).toBeNull();
  await book.reopen({ keepDays: 1 });
  await book.keeper.tick();
  expect((await book.registry.ledger.after(0, 1))[0]?.seq).toBe(451);
  expect((await book.keeper.verify()).flaw).toBeNull();
});

test('an exported segment proves itself, and any change to it is found', async () => {
  await book.write(60);
  await book.registry.ledger.append([entry({ timeMs: book.clock.now(), reason: 'with ,"hash":"x"} in it \u2028 ü' })]);
  goTo(7);
  await book.keeper.tick();
  await book.write(30);
  book.clock.advance(MONTH);
  await book.keeper.tick();
  const { issuer } = book.signer;
  for (const id of await ids()) {
    const file = await exported(id);
    expect(await verifySegmentFile(textsOf(file), [issuer])).toMatchObject({ flaw: null, lines: file.length - 1 });
    expect((await verifySegmentFile(textsOf(file), [])).flaw).toMatch(/trusted/);
    const flawed: string[][] = [
      file.slice(1),
      file.slice(0, -1),
      file.slice(0, 3),
      [file.at(-1) ?? ''],
      [],
      file.toSpliced(5, 1),
      file.toSpliced(file.length - 2, 1),
      file.toSpliced(5, 2, file[6] ?? '', file[5] ?? ''),
      file.toSpliced(5, 0, file[5] ?? ''),
      file.with(5, (file[5] ?? '').replace('"actor":"', '"actor":"x')),
      file.with(0, (file[0] ?? '').replace('"actor":"', '"actor":"x')),
      file.with(-2, (file.at(-2) ?? '').replace(/[0-9a-f]{4}"\}$/, '0000"}')),
      file.with(-1, (file.at(-1) ?? '').replace('"lines":', '"lines":1')),
      file.with(5, 'not JSON'),
      [...file, file[5] ?? ''],
    ];
    for (const [at, texts] of flawed.entries()) {
      expect((await verifySegmentFile(textsOf(texts), [issuer])).flaw, `${id}, change ${at}`).not.toBeNull();
    }
  }
  const [june = [], july = []] = [await exported('2026-06'), await exported('2026-07')];
  const exchanged = [...june.slice(0, -1), july.at(-1) ?? ''];
  expect((await verifySegmentFile(textsOf(exchanged), [issuer])).flaw).not.toBeNull();
});

test('verification leaves nothing beside the file', async () => {
  await book.write(5);
  await book.keeper.verify();
  await book.close();
  for (const suffix of ['-wal', '-shm']) expect(existsSync(`${book.path}${suffix}`)).toBe(false);
});
