'use client';
/** Trying once more what a fault stopped: one button, and what became of it. */
import { type ActionOutcome, Outcome } from './outcome.tsx';
import { Submit } from './submit.tsx';
import { useActionMessage } from './use-action-message.ts';

export type RetryAction = (previous: ActionOutcome | null) => Promise<ActionOutcome>;

/** `name`: of the sandbox, for who hears the button and for the message: a sandbox without a fault leaves the list. */
export function RetryForm({ label, name, action }: { label: string; name: string; action: RetryAction }) {
  const [outcome, submit] = useActionMessage(action, name);
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
