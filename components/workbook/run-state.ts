/** What the form that runs something got back. */
import type { ComponentCallAnswer, WorkflowCallAnswer } from '#lib/contract/schema.ts';
import type { ActionOutcome } from '../ui/outcome.tsx';

export interface RunState {
  values: Record<string, string>;
  /** Complaints by the names of inputs. */
  errors: Record<string, string>;
  problem: ActionOutcome | null;
  result: { component: ComponentCallAnswer } | { workflow: WorkflowCallAnswer } | null;
}
