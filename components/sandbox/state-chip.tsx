/** The head of a sandbox's page: how its name is set, and its state as a chip. */
import type { ReactNode } from 'react';
import type { State } from '#lib/lifecycle/state-map.ts';
import type { Fault } from '#lib/lifecycle/words.ts';
import { StateMark } from './state-mark.tsx';

/** How the name of a sandbox is set where it is the headline. */
export const TITLE =
  'text-[clamp(1.375rem,1.1rem+1.1vw,1.875rem)] leading-[1.2] font-[580] tracking-[-0.025em] [overflow-wrap:anywhere]';

/** The mark of a state with its words. A long name beside it is cut before the chip is. */
export function StateChip({
  state,
  fault,
  away = false,
  warm,
  children,
}: {
  state: State;
  fault: Fault | null;
  /** Its host does not answer. */
  away?: boolean;
  warm: boolean;
  children: ReactNode;
}) {
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-2xl border px-2.5 py-0.5 text-[0.9375rem] leading-[1.4] font-[520] tracking-normal tabular-nums lg:flex-none ${
        fault === null && !away ? 'border-ink bg-sheet' : 'border-fault bg-fault-wash text-fault-ink'
      }`}
    >
      <StateMark state={state} fault={fault} warm={warm} size={16} className="flex-none text-ink" />
      <span>{children}</span>
    </span>
  );
}
