'use client';
/** The button that stores an earlier version again, as the newest. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export function NewestForm({ action }: { action: (previous: ActionOutcome | null) => Promise<ActionOutcome | null> }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-2">
      <div>
        <Submit doing="Saving it…">Make it the newest</Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
