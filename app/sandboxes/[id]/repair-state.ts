/** The results of the repair forms. Safe for the browser. */
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { SalvageAnswer } from '#lib/contract/schema.ts';

export interface SalvageState {
  name: string;
  outcome: ActionOutcome | null;
  /** The new sandbox, and what was lost. */
  made?: { id: string; lost: SalvageAnswer['lost']; lostCount: number; list: string | null };
}

export type SalvageAction = (previous: SalvageState, form: FormData) => Promise<SalvageState>;

/** A snapshot to choose: its id and its label. */
export interface SnapshotChoice {
  id: string;
  label: string;
}
