'use client';
/** The forms of one row of the inbox. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { ACKNOWLEDGED_FOR, USUAL_SPAN } from './acknowledged-for.ts';

type RowAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

/** `name`: what it is about. */
export function AcknowledgeForm({ action, name }: { action: RowAction; name: string }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="flex flex-wrap items-center gap-2">
      <Submit className="button" doing="Acknowledging…">
        Acknowledge<span className="sr-only">: {name}</span>
      </Submit>
      <select
        name="for"
        className="input !w-auto"
        aria-label={`How long ${name} is acknowledged`}
        defaultValue={USUAL_SPAN}
      >
        {Object.entries(ACKNOWLEDGED_FOR).map(([seconds, says]) => (
          <option key={seconds} value={seconds}>
            {says}
          </option>
        ))}
      </select>
      <Outcome outcome={outcome} />
    </form>
  );
}

export function ReopenForm({ action, name }: { action: RowAction; name: string }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="flex flex-wrap items-center gap-2">
      <Submit className="button button-quiet" doing="Taking it back…">
        Take it back<span className="sr-only">: {name}</span>
      </Submit>
      <Outcome outcome={outcome} />
    </form>
  );
}
