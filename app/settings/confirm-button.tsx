'use client';
/** A button that changes something, with its outcome. `ask` adds a step: the button is in a disclosure. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export type ConfirmAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function ConfirmButton({
  action,
  button,
  doing,
  label,
  ask,
  row = false,
}: {
  action: ConfirmAction;
  button: string;
  doing: string;
  /** The object of the action, for screen readers: `the key deploy`. */
  label: string;
  /** The label of the disclosure, and the text beside the button. */
  ask?: { open: string; says: string };
  /** It stands in a row of buttons, which stay side by side: its outcome is below the row. */
  row?: boolean;
}) {
  const [outcome, submit] = useActionState(action, null);
  const form = (
    <form action={submit}>
      <Submit className={`button button-quiet ${ask === undefined ? '' : 'button-fault'}`} doing={doing}>
        {button}
        <span className="sr-only"> {label}</span>
      </Submit>
    </form>
  );
  return (
    <div className={row ? 'contents' : 'inline-grid justify-items-start gap-2 text-left'}>
      {ask === undefined ? (
        form
      ) : (
        <details>
          <summary className="button button-quiet">
            {ask.open}
            <span className="sr-only"> {label}</span>
          </summary>
          <div className="mt-2 grid justify-items-start gap-2">
            <p className="text-small text-ink-2">{ask.says}</p>
            {form}
          </div>
        </details>
      )}
      <div className={row ? 'order-last basis-full empty:hidden' : 'contents'}>
        <Outcome outcome={outcome} />
      </div>
    </div>
  );
}
