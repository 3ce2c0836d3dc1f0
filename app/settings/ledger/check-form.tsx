'use client';
/** The button that proves the ledger, and what it found. */
import { useActionState } from 'react';
import { Outcome } from '#components/outcome.tsx';
import { Submit } from '#components/submit.tsx';
import type { SureAction } from '../sure.tsx';

export function CheckForm({ action }: { action: SureAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid justify-items-start gap-4">
      <Submit className="button button-ink" doing="Walking the ledger…">
        Check the ledger
      </Submit>
      <Outcome outcome={outcome} />
    </form>
  );
}
