/** The hops of a plan: the first state, and every state after it in order. */
import { Fragment } from 'react';
import type { State } from '#lib/lifecycle/state-map.ts';
import { StateMark } from './state-mark.tsx';

export function Hops({ from, hops }: { from: State; hops: readonly State[] }) {
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2 gap-y-1">
      {[from, ...hops].map((state, at) => (
        <Fragment key={state}>
          {at > 0 && (
            <>
              <span aria-hidden="true" className="text-ink-3">
                →
              </span>
              <span className="sr-only">to</span>
            </>
          )}
          <span className="inline-flex items-baseline gap-1.5">
            <StateMark state={state} size={15} className="flex-none translate-y-[0.1875rem]" />
            {state}
          </span>
        </Fragment>
      ))}
    </span>
  );
}
