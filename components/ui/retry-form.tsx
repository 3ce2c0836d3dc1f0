'use client';
import { useSaidAction } from './action-message.ts';
/** Trying once more what a fault stopped: one button, and what became of it. */
import { Outcome, type OutcomeWords } from './outcome.tsx';
import { Submit } from './submit.tsx';

export type RetryAction = (previous: OutcomeWords | null) => Promise<OutcomeWords>;

/** `name`: of the sandbox, for who hears the button and for the message: a sandbox without a fault leaves the list. */
export function RetryForm({ label, name, action }: { label: string; name: string; action: RetryAction }) {
  const [outcome, submit] = useSaidAction(action, name);
  return (
    <form action={submit} className="grid gap-2">
      <div>
        <Submit className="button button-quiet" doing="Trying…">
          {label} <span className="sr-only">{name}</span>
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
