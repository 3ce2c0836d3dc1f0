'use client';
/** The button that verifies the ledger, and its result. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

type ProveAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function ProveForm({ action }: { action: ProveAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid justify-items-start gap-4">
      <Submit className="button button-ink" doing="Checking the ledger…">
        Check the ledger
      </Submit>
      <Outcome outcome={outcome} />
    </form>
  );
}
