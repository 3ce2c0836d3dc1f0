'use client';
/**
 * Says what became of an act whose answer was lost: it waits until the server is back, the ledger says whether it was
 * done, and only a person repeats what is not known to have happened. guarded-fetch.ts holds it.
 */
import { useEffect, useSyncExternalStore } from 'react';
import { toast } from '../ui/toasts.tsx';
import { heldAct, takeDone, watchHeldAct } from './held-act.ts';

export function HeldActNotice() {
  const held = useSyncExternalStore(watchHeldAct, heldAct, () => null);
  useEffect(() => {
    if (takeDone()) toast({ ok: true, says: 'It was done before the server went away: the ledger has it.' });
  }, []);
  if (held === null) return null;
  return (
    <div
      role="alert"
      className="fixed inset-x-0 bottom-0 z-20 border-t border-ink bg-sheet px-4 py-3 shadow-lg sm:inset-x-auto sm:right-4 sm:bottom-4 sm:max-w-md sm:rounded sm:border"
    >
      {held.is === 'waiting' ? (
        <p>The server does not answer. This page waits for it, and nothing on it is lost.</p>
      ) : (
        <div className="grid gap-2">
          <p>The server is back. The ledger has nothing of what you asked for, so it is not known to have happened.</p>
          <div className="flex flex-wrap gap-2">
            <button type="button" className="button button-ink" onClick={held.again}>
              Do it again
            </button>
            <button type="button" className="button" onClick={() => location.reload()}>
              Leave it
            </button>
          </div>
        </div>
      )}
    </div>
  );
}
