/**
 * A request that is kept under a key of its sender: it goes on when the sender is told that it is late, and its answer
 * is there when the sender asks again. The layers below learn here whether theirs is one.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

/** Tells the sender why there is no answer yet. */
type TellLate = (why: unknown) => void;

const current = new AsyncLocalStorage<TellLate>();

/** Runs the work of a request that is kept; `tell` is what it calls when it is late. */
export function asKeptRequest<T>(tell: TellLate, work: () => T): T {
  return current.run(tell, work);
}

/**
 * Tells the sender of the current request why it is late. Returns whether it is kept: then it should go on, since its
 * answer will be asked for.
 */
export function tellLate(why: unknown): boolean {
  const tell = current.getStore();
  tell?.(why);
  return tell !== undefined;
}
