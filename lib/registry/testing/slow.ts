/**
 * A registry that answers late, as one on another machine does: every method waits before it asks the one behind it.
 * Whatever leans on an answer that is there at once breaks on it.
 */
import { setTimeout } from 'node:timers/promises';
import type { Registry } from '../registry.ts';

/** Milliseconds that each method waits. */
const LATE_MS = 5;

/** The registry behind it, each of its methods late. What was committed is told when it is, as by any other. */
export function slowRegistry<R extends Registry>(registry: R): R {
  const subjects = Object.entries(registry).map(([name, subject]) => {
    if (name === 'feed' || name === 'database') return [name, subject];
    return [name, typeof subject === 'function' ? late(registry, subject) : lateAll(subject)];
  });
  return Object.fromEntries(subjects) as R;
}

/** The registry as the test run asks for it: late with `WB_TEST_REGISTRY=late`. */
export function asAsked<R extends Registry>(registry: R): R {
  return process.env.WB_TEST_REGISTRY === 'late' ? slowRegistry(registry) : registry;
}

function lateAll<T extends object>(subject: T): T {
  const names = new Set<string>();
  for (let from: object = subject; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from)) names.add(name);
  }
  names.delete('constructor');
  const methods = [...names].map((name) => [name, late(subject, (subject as Record<string, unknown>)[name])]);
  return Object.fromEntries(methods) as T;
}

function late(subject: object, method: unknown) {
  return async (...given: unknown[]): Promise<unknown> => {
    await setTimeout(LATE_MS);
    return (method as (...all: unknown[]) => unknown).apply(subject, given);
  };
}
