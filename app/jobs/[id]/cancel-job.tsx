'use client';
/** Cancels a running job: it begins nothing more. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '../../../components/ui/outcome.tsx';
import { Submit } from '../../../components/ui/submit.tsx';

export type CancelAction = (previous: ActionOutcome | null) => Promise<ActionOutcome | null>;

export function CancelJob({ action }: { action: CancelAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <Submit className="button button-fault" doing="Cancelling…" describedBy="cancel-note">
        Cancel the job
      </Submit>
      <p className="text-small text-ink-3" id="cancel-note">
        What is running ends, and nothing more begins. What is done stays done.
      </p>
      <Outcome outcome={outcome} />
    </form>
  );
}
