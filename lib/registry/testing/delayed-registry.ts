/**
 * A registry with slow answers, as one on another machine has: every method waits before it calls the registry behind
 * it. Code that relies on an answer within the same tick fails with it.
 */
import { setTimeout } from 'node:timers/promises';
import type { Registry } from '../registry.ts';

/** Milliseconds that each method waits: long enough for everything that was due before it to run first. */
const DELAY_MS = 1;

/** Delays every method of a registry except `commitEvents`: its listeners are called as usual. */
export function delayedRegistry<R extends Registry>(registry: R): R {
  const subjects = Object.entries(registry).map(([name, subject]) => {
    if (name === 'commitEvents' || name === 'database') return [name, subject];
    if (name === 'carrying') return [name, (writeId: string) => delayedRegistry(registry.carrying(writeId))];
    return [name, typeof subject === 'function' ? delayed(registry, subject) : withDelayedMethods(subject)];
  });
  return Object.fromEntries(subjects) as R;
}

/** The registry, delayed when the test run is started with `WB_TEST_REGISTRY=late`. */
export function registryOfTestRun<R extends Registry>(registry: R): R {
  return process.env.WB_TEST_REGISTRY === 'late' ? delayedRegistry(registry) : registry;
}

function withDelayedMethods<T extends object>(subject: T): T {
  const names = new Set<string>();
  for (let from: object = subject; from !== Object.prototype; from = Object.getPrototypeOf(from)) {
    for (const name of Object.getOwnPropertyNames(from)) names.add(name);
  }
  names.delete('constructor');
  const methods = [...names].map((name) => [name, delayed(subject, (subject as Record<string, unknown>)[name])]);
  return Object.fromEntries(methods) as T;
}

function delayed(subject: object, method: unknown) {
  return async (...args: unknown[]): Promise<unknown> => {
    await setTimeout(DELAY_MS);
    return (method as (...all: unknown[]) => unknown).apply(subject, args);
  };
}
