'use client';
/** The form that has a host emptied, in a disclosure that says what that does. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../form-fields.tsx';

export function DrainForm({
  name,
  open,
  action,
}: {
  name: string;
  /** What the disclosure is called. */
  open: string;
  action: (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <details>
      <summary className="button button-quiet">
        {open}
        <span className="sr-only"> {name}</span>
      </summary>
      <form action={submit} className="mt-2 grid max-w-md gap-3">
        <p className="text-small text-ink-2">
          It takes nothing new, and suspends, files and stores what it has, so that the others wake it. A job does it
          and says what stays, and why.
        </p>
        <InputField id={`reason-${name}`} label="Reason" name="reason" maxLength={1000} placeholder="a new disk" />
        <label className="flex items-baseline gap-2 text-small">
          <input
            type="checkbox"
            name="include_held"
            value="1"
            className="size-4 flex-none translate-y-0.5 accent-ink"
          />
          <span>Also what is kept hot, held or shown in a terminal.</span>
        </label>
        <div>
          <Submit className="button" doing="Asking…">
            Drain
            <span className="sr-only"> {name}</span>
          </Submit>
        </div>
      </form>
      <Outcome outcome={outcome} />
    </details>
  );
}
