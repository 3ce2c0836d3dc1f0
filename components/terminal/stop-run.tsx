'use client';
/** The button that stops one run, and what came of it. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export type StopRunAction = (previous: ActionOutcome | null) => Promise<ActionOutcome>;

/** `command`: its beginning, for screen readers. `isUnderWay`: false leaves the outcome alone. */
export function StopRun({
  command,
  isUnderWay,
  action,
}: {
  command: string;
  isUnderWay: boolean;
  action: StopRunAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-2">
      {isUnderWay && (
        <Submit className="button button-quiet w-fit" doing="Stopping…">
          Stop <span className="sr-only">{command}</span>
        </Submit>
      )}
      <Outcome outcome={outcome} />
    </form>
  );
}
