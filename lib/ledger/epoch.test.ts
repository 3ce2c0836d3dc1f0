import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { observeEffects } from '../base/effects.ts';
import { createDiskDrawers } from '../storage/disk.ts';
import { beginEpoch } from './epoch.ts';
import { readHead } from './head-file.ts';
import { isSigned } from './sign.ts';
import { findStartRefusal } from './start-check.ts';
import { openTestLedger, type TestLedger } from './testing/test-ledger.ts';
import { verifyLedger } from './verify.ts';

let book: TestLedger;
let headPath: string;
beforeEach(async () => {
  book = await openTestLedger();
  headPath = book.driver.headPath ?? '';
});
afterEach(() => book.discard());

/** Eighty lines, saved as a backup would; then forty more, and the older file in their place. */
async function goBack(): Promise<void> {
  await book.write(80);
  await book.close();
  copyFileSync(book.path, `${book.path}.backup`);
  await book.reopen();
  await book.write(40);
  await book.close();
  copyFileSync(`${book.path}.backup`, book.path);
}

const begin = () =>
  beginEpoch({
    driver: book.driver,
    keysFolder: book.folder,
    clock: book.clock,
    reason: 'restored from Monday',
    actor: 'restore',
  });

async function prove() {
  const file = await book.driver.readLedger();
  const kept = readHead(headPath);
  try {
    return await verifyLedger(file, { heads: kept === null ? [] : [kept], issuers: [book.signer.issuer] });
  } finally {
    await file.close();
  }
}

test('an epoch keeps the old head, names both in the ledger and signs a head that the older registry contains', async () => {
  await goBack();
  const old = readHead(headPath);
  expect(old).toMatchObject({ seq: 120 });
  expect((await prove()).flaw?.why).toMatch(/its end was removed/);

  const begun = await begin();
  expect(begun).toMatchObject({ epoch: 2, before: old, keptAs: `registry.sqlite.head.120-${old?.hash.slice(0, 8)}` });
  expect(readHead(`${book.folder}/${begun.keptAs}`)).toEqual(old);
  const head = readHead(headPath);
  expect(head).toMatchObject({ seq: 81, epoch: 2 });
  expect(head !== null && isSigned(head, [book.signer.issuer])).toBe(true);
  expect(head !== null && isSigned({ ...head, epoch: 3 }, [book.signer.issuer])).toBe(false);

  await book.reopen();
  const [line] = (await book.registry.ledger.page({ type: 'ledger.epoch_begun' }, 10)).rows;
  expect(line).toMatchObject({ seq: 81, actor: 'restore', trigger: 'operator' });
  expect(line?.reason).toMatch(/^epoch 2 begins after line 80 \([0-9a-f]{64}\); .*restored from Monday$/);
  expect(line?.reason).toContain(`of epoch 1, was line 120 (${old?.hash}) and is kept as ${begun.keptAs}`);
  await book.write(60);
  await book.close();
  expect(readHead(headPath)).toMatchObject({ seq: 141, epoch: 2 });
  expect(await prove()).toMatchObject({ flaw: null, signedTo: 141, epochs: [{ epoch: 2, seq: 81, actor: 'restore' }] });
});

test('a head that was kept elsewhere reveals the lines that an epoch gave up, and is told of the epoch', async () => {
  await goBack();
  const elsewhere = readHead(headPath);
  await begin();
  await book.reopen();
  await book.write(60);
  await book.close();
  const file = await book.driver.readLedger();
  try {
    const heads = elsewhere === null ? [] : [elsewhere];
    const { flaw } = await verifyLedger(file, { heads, issuers: [book.signer.issuer] });
    expect(flaw?.why).toMatch(/line 120 is not the one .*epoch 2 was begun at line 81/);
  } finally {
    await file.close();
  }
});

test('an epoch that was interrupted before its head was written is begun again as the same one', async () => {
  await goBack();
  const old = readFileSync(headPath, 'utf8');
  await begin();
  writeFileSync(headPath, old);
  const again = await begin();
  expect(again).toMatchObject({ epoch: 2, head: { seq: 81, epoch: 2 } });
  expect(readdirSync(book.folder).filter((name) => name.includes('.head.'))).toHaveLength(1);
  expect((await prove()).epochs).toHaveLength(1);
});

test('each epoch has the next number, also without a head and after one that cannot be read', async () => {
  await goBack();
  await begin();
  rmSync(headPath);
  expect(await begin()).toMatchObject({ epoch: 3, before: null, keptAs: null });
  writeFileSync(headPath, 'not a head');
  const third = await begin();
  expect(third).toMatchObject({
    epoch: 4,
    before: null,
    keptAs: expect.stringMatching(/\.head\.unreadable-[0-9a-f]{8}$/),
  });
  expect((await prove()).epochs.map(({ epoch }) => epoch)).toEqual([2, 3, 4]);
  expect((await prove()).flaw).toBeNull();
});

test('an epoch that fails at any of its effects leaves the old head valid, and is begun again as the same one', async () => {
  await goBack();
  const kept = readHead(headPath);
  const before = readFileSync(book.path);
  const headText = readFileSync(headPath, 'utf8');
  const location = {
    dataFolder: book.folder,
    keysFolder: book.folder,
    driver: book.driver,
    drawers: createDiskDrawers(book.folder),
  };
  for (let at = 0; ; at += 1) {
    let seen = 0;
    observeEffects({
      before: ({ path }) => {
        if (!path.startsWith(book.path)) return;
        seen += 1;
        if (seen > at) throw Object.assign(new Error('no room'), { code: 'ENOSPC' });
      },
    });
    const failed = await begin().then(
      () => false,
      () => true,
    );
    observeEffects(null);
    if (!failed) {
      expect(at).toBeGreaterThan(6);
      break;
    }
    // The last effect of all, the folder's fsync, may be the one that fails.
    if (readHead(headPath)?.epoch === undefined) {
      expect(readHead(headPath)).toEqual(kept);
      expect((await findStartRefusal(location))?.disagreement.kind).toBe('behind');
      expect(await begin()).toMatchObject({ epoch: 2, head: { seq: 81 } });
    }
    expect(await findStartRefusal(location)).toBeNull();
    expect((await prove()).epochs.map(({ epoch }) => epoch)).toEqual([2]);
    writeFileSync(book.path, before);
    writeFileSync(headPath, headText);
  }
});
