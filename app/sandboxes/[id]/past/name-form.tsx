'use client';
/** Gives the moment that is open a name, by which it is kept. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../../../settings/form-fields.tsx';

export interface NameState {
  name: string;
  complaint: string | null;
  outcome: ActionOutcome | null;
}

const BLANK: NameState = { name: '', complaint: null, outcome: null };

export function NameForm({ action }: { action: (previous: NameState, form: FormData) => Promise<NameState> }) {
  const [{ name, complaint, outcome }, submit] = useActionState(action, BLANK);
  return (
    <details className="unfold act" name="past-move" open={outcome !== null || complaint !== null || undefined}>
      <summary>Name this moment</summary>
      <form action={submit} className="my-3 grid max-w-xl gap-3">
        <InputField
          id="past-moment-name"
          label="Name of the moment"
          name="name"
          maxLength={200}
          placeholder="before the migration"
          note="It is kept until the name is removed, whatever becomes of the moments around it."
          defaultValue={name}
          error={complaint ?? undefined}
        />
        <div>
          <Submit className="button button-ink" doing="Keeping it…">
            Keep it
          </Submit>
        </div>
        <Outcome outcome={outcome} />
      </form>
    </details>
  );
}
