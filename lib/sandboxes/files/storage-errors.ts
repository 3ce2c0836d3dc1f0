/**
 * Errors of the disk, as callers of the sandboxes see them: `storage_unavailable`, whatever verb, call, read or copy
 * hit them.
 */
import { storageFailure } from '../../base/errors.ts';
import type { Sandboxes } from '../sandboxes.ts';

/** The same sandboxes, whose promises reject with `storage_unavailable` when a drawer could not be written or read. */
export function withStorageErrors(sandboxes: Sandboxes): Sandboxes {
  return new Proxy(sandboxes, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const result: unknown = Reflect.apply(value, target, args);
        return result instanceof Promise ? result.catch(rethrow) : result;
      };
    },
  });
}

function rethrow(error: unknown): never {
  throw storageFailure(error) ?? error;
}
