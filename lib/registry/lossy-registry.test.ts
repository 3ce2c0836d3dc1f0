/**
 * The registry's contract over one that loses requests and answers: with certain writes, nobody notices. Which are lost
 * follows from a seed.
 */
import { expect, test } from 'vitest';
import type { InstanceStore } from './instances.ts';
import type { Registry } from './registry.ts';
import { registryContract } from './testing/contract-suite.ts';
import { lossyRegistry, seededLoss } from './testing/lossy-registry.ts';
import { openTestRegistry } from './testing/open-test-registry.ts';
import { sqliteDriver } from './testing/sqlite-driver.ts';
import { withAnswers } from './with-answers.ts';
import { WRITE_RULES } from './write-rules.ts';

/** Many: callers beside each other share what is lost in a row. */
const PAUSES = { pausesMs: Array.from({ length: 30 }, () => 0) };

/** Takes the ids of writes out of rows: the suite knows only those that it gives. */
function withoutIds(registry: Registry): Registry {
  const get = (of: object, key: string | symbol) => {
    const method = Reflect.get(of, key);
    return async (...args: unknown[]) => {
      const answer = await method.apply(of, args);
      const isRow = typeof answer === 'object' && answer !== null && 'writeId' in answer;
      return isRow && !/^w\d$/.test(String(answer.writeId)) ? { ...answer, writeId: null } : answer;
    };
  };
  return { ...registry, instances: new Proxy<InstanceStore>(registry.instances, { get }) };
}

registryContract(
  'a registry that loses answers',
  sqliteDriver((registry) => withoutIds(withAnswers(lossyRegistry(registry, seededLoss(1, 3)).registry, PAUSES))),
);

test('each method of each store has a rule, and each rule a method', async () => {
  const registry = await openTestRegistry(null);
  const methods = new Map<string, string[]>();
  for (const [name, store] of Object.entries(registry)) {
    if (typeof store !== 'object' || name === 'commitEvents') continue;
    const names = new Set<string>();
    for (let from: object = store; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
      for (const method of Object.getOwnPropertyNames(from)) if (method !== 'constructor') names.add(method);
    }
    methods.set(name, [...names].sort());
  }
  await registry.close();
  const ruled = Object.entries(WRITE_RULES).map(([name, rules]): [string, string[]] => [
    name,
    Object.keys(rules).sort(),
  ]);
  // Methods that one part of the driver has for the others.
  const quotas = methods.get('quotas')?.filter((name) => !name.startsWith('need')) ?? [];
  expect([...methods.set('quotas', quotas)].sort()).toEqual(ruled.sort());
});

test('a write that may happen twice says why', () => {
  const rules = Object.values(WRITE_RULES).flatMap((store) => Object.values(store) as unknown[]);
  const again = rules.filter(
    (rule): rule is { again: string } => typeof rule === 'object' && rule !== null && 'again' in rule,
  );
  expect(again.length).toBeGreaterThan(10);
  for (const { again: why } of again) expect(why).toMatch(/^[a-z].{10,}$/);
});
