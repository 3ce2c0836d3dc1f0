import { expect, test } from 'vitest';
import { BodyBudget } from './body-budget.ts';

const KIB = 1024;
const never = new AbortController().signal;

/** Whether a promise is settled by now. */
async function isThere(promise: Promise<unknown>): Promise<boolean> {
  const late = Symbol('late');
  await new Promise((resolve) => setImmediate(resolve));
  return (await Promise.race([promise, Promise.resolve(late)])) !== late;
}

test('a caller that holds all it may waits for itself, and others do not wait for it', async () => {
  const budget = new BodyBudget({ total: 1000 * KIB, each: 400 * KIB });
  const take = (caller: string, kib: number) => budget.take(caller, kib * KIB, () => never);
  const first = await take('one', 300);
  const second = take('one', 300);
  expect(await isThere(second)).toBe(false);
  expect(await isThere(take('two', 400))).toBe(true);
  const third = take('three', 400);
  expect(await isThere(third)).toBe(false);
  first();
  expect([await isThere(second), await isThere(third)]).toEqual([true, false]);
  (await second)();
  expect(await isThere(third)).toBe(true);
});

test('small bodies never wait, and who goes away while it waits is out of the line', async () => {
  const budget = new BodyBudget({ total: 100 * KIB, each: 100 * KIB });
  const release = await budget.take('one', 100 * KIB, () => never);
  expect(await isThere(budget.take('one', 64 * KIB, () => never))).toBe(true);
  const gone = new AbortController();
  const left = budget.take('two', 100 * KIB, () => gone.signal);
  const next = budget.take('three', 100 * KIB, () => never);
  gone.abort();
  await expect(left).rejects.toMatchObject({ code: 'bad_json' });
  await expect(budget.take('four', 100 * KIB, () => gone.signal)).rejects.toMatchObject({ code: 'bad_json' });
  release();
  expect(await isThere(next)).toBe(true);
});

test('a body that is released twice gives back what it held, and nothing of another', async () => {
  const budget = new BodyBudget({ total: 200 * KIB, each: 200 * KIB });
  const release = await budget.take('one', 100 * KIB, () => never);
  await budget.take('one', 100 * KIB, () => never);
  release();
  release();
  await budget.take('one', 100 * KIB, () => never);
  expect(await isThere(budget.take('one', 100 * KIB, () => never))).toBe(false);
});
