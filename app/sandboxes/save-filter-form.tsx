'use client';
/** The form that saves the filter shown under a name, in this browser. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '../../components/ui/outcome.tsx';
import { Submit } from '../../components/ui/submit.tsx';

export type SaveFilterAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function SaveFilterForm({ action }: { action: SaveFilterAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="flex flex-wrap items-center gap-2 pt-2">
      <label>
        <span className="sr-only">Name of the filter</span>
        <input
          className="input w-56"
          name="name"
          maxLength={40}
          required
          placeholder="a name for it"
          autoComplete="off"
        />
      </label>
      <Submit className="button button-quiet" doing="Saving…">
        Save
      </Submit>
      <span className="text-ink-3">It is kept in this browser.</span>
      <Outcome outcome={outcome} />
    </form>
  );
}
