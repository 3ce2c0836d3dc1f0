'use client';
/** The form that says what is promised of the replicas of a tenant's sandboxes. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export interface ReplicaState {
  /** What was typed, when the form is shown again. */
  value: string | null;
  error: string | null;
  outcome: ActionOutcome | null;
}

type ReplicaAction = (previous: ReplicaState, form: FormData) => Promise<ReplicaState>;

/** `present`: what is set for the tenant, or '' where nothing is. */
export function ReplicaForm({ present, action }: { present: string; action: ReplicaAction }) {
  const [{ value, error, outcome }, submit] = useActionState(action, { value: null, error: null, outcome: null });
  const shown = value ?? present;
  return (
    <form action={submit} className="grid max-w-xl gap-4" noValidate>
      <Field
        form="replica"
        name="replicate"
        title="Replicates"
        note="off, filed, seconds such as 1s, or sync. Empty: as for all."
        error={error ?? undefined}
      >
        {(props) => (
          <input
            {...props}
            key={shown}
            className="input"
            defaultValue={shown}
            placeholder="as for all"
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <Submit className="button" doing="Setting…">
          Set
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
