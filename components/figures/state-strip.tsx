/**
 * The states that a sandbox lives in, in a row: where it is now, and where it may go from there. The folded form of the
 * state diagram. Decorative lines aside, it says everything in words.
 */
import { hopsFrom, STATES, type State } from '#lib/lifecycle/state-map.ts';
import type { Fault } from '#lib/lifecycle/words.ts';
import { StateMark } from '../sandbox/state-mark.tsx';

/** A deleted one has a page of its own. */
const LIVING = STATES.filter((state) => state !== 'deleted');

export function StateStrip({
  current,
  warm,
  fault,
  ephemeral,
}: {
  current: State;
  warm: boolean;
  fault: Fault | null;
  ephemeral: boolean;
}) {
  const open = hopsFrom(current, { ephemeral });
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 text-[0.75rem] sm:gap-x-2.5 sm:text-small">
      {LIVING.map((state, at) => {
        const here = state === current;
        return (
          <span key={state} className="inline-flex items-center gap-x-1.5 sm:gap-x-2.5">
            {at > 0 && <span aria-hidden="true" className="w-1.5 border-t border-rule-2 sm:w-5" />}
            <span
              className={`inline-flex items-center gap-1 sm:gap-1.5 ${
                here ? 'font-[580] text-ink' : open.includes(state) ? 'text-ink-2' : 'text-ink-3'
              }`}
            >
              <StateMark
                state={state}
                fault={here ? fault : null}
                warm={here && warm}
                size={14}
                className={`flex-none ${here ? '' : 'max-sm:hidden'} ${here || open.includes(state) ? '' : 'opacity-60'}`}
              />
              {state}
              {here && <span className="sr-only"> now</span>}
            </span>
          </span>
        );
      })}
    </span>
  );
}
