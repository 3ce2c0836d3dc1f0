'use client';
/** One button that tries again what a fault stopped, and its outcome. */
import { type ActionOutcome, Outcome } from './outcome.tsx';
import { Submit } from './submit.tsx';
import { useActionMessage } from './use-action-message.ts';

export type RetryAction = (previous: ActionOutcome | null) => Promise<ActionOutcome>;

/** `name`: the sandbox, for screen readers and for the toast: without its fault, the sandbox leaves the list. */
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
