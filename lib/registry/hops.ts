/** The hops of the ledger, newest first, read beside everything else: what the simulator walks. */
import type { State } from '../lifecycle/states.ts';
import type { Source, Trigger } from '../lifecycle/words.ts';

/** A transition in the ledger, as the simulator needs it. */
export interface Hop {
  timeMs: number;
  instance: string;
  from: State;
  to: State;
  trigger: Trigger;
  source: Source | null;
  reason: string | null;
}
