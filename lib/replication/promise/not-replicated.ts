/** The errors of answers that a `sync` sandbox does not give: `not_replicated`. */
import { WinterdockError } from '../../base/errors.ts';

/** The store is asked again within a second once somebody waits for it. */
const RETRY_SECONDS = 2;

/** What keeps a commit from the replica: its store, or the folder on this machine in which it would wait for that. */
export type WhyNothing = 'store' | 'spool';

const WHY: Record<WhyNothing, string> = { store: 'store is away', spool: 'spool on this machine has no room' };

/** Before anything was done. `what` names it, as `The sandbox "a"`. */
export function refusedUnreplicated(what: string, why: WhyNothing): WinterdockError {
  return new WinterdockError('not_replicated', `${what} answers only what its replica has, whose ${WHY[why]}.`, {
    hint: 'Nothing was done. Try again: what the replica has is read meanwhile.',
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** What was done, or is to be read, is on this machine alone. */
export function committedUnreplicated(what: string): WinterdockError {
  return new WinterdockError('not_replicated', `What was committed last of ${what} is not in its replica yet.`, {
    hint: 'It is kept on this machine and shipped as soon as it can be. Look before you send it again.',
    extra: { committed: 'local' },
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** What was done is in the store, and may not be in what the next owner of a sandbox goes on with. */
export function notProvenOwn(what: string, why: 'taken' | 'unknown'): WinterdockError {
  const message =
    why === 'taken'
      ? `Another host has taken over ${what}: whether it has what was committed last is not known.`
      : `The registry does not say whose ${what} is now.`;
  return new WinterdockError('not_replicated', message, {
    hint: 'Look before you send it again.',
    extra: { committed: 'local' },
    retryAfterSeconds: RETRY_SECONDS,
  });
}

/** Before anything was done: a sandbox has committed what its replica lacks. `isNever`: it does not get that now. */
export function notShippedInTime(id: string, isNever: boolean): WinterdockError {
  return new WinterdockError('not_replicated', `The replica does not have all of the sandbox "${id}" yet.`, {
    hint: isNever
      ? 'Nothing was done. It is not shipped as it is now: suspend it, or have its `replicate` changed.'
      : 'Nothing was done. Try again: it is shipped as soon as the store takes it.',
    retryAfterSeconds: RETRY_SECONDS,
  });
}
