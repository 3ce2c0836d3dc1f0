'use client';
/** The form that runs the plan shown above it. Delete asks for the typed id. */
import { useActionState } from 'react';
import { ConfirmField } from '#components/ui/confirm-field.tsx';
import { Field } from '#components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { State } from '#lib/lifecycle/state-map.ts';

export type PlanAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome>;

/** `busy`: calls are running or terminals are attached; force would end them at once. */
export function PlanForm({
  id,
  to,
  steps,
  busy,
  action,
}: {
  id: string;
  to: State;
  steps: number;
  busy: boolean;
  action: PlanAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid max-w-xl gap-4">
      <Field form="plan" name="reason" title="Reason, for the ledger (it may stay empty)">
        {(props) => <input {...props} className="input" maxLength={1000} autoComplete="off" />}
      </Field>
      {to === 'deleted' && <ConfirmField form="plan" word={id} />}
      {busy && (
        <label className="flex items-baseline gap-2 text-small">
          <input type="checkbox" name="force" value="1" className="size-4 flex-none accent-ink translate-y-0.5" />
          <span>
            <span className="font-[520]">Force.</span> End the running calls at once.
          </span>
        </label>
      )}
      <div>
        <Submit className={`button ${to === 'deleted' ? 'button-fault' : 'button-ink'}`} doing="Running…">
          {steps === 1 ? 'Run the step' : `Run the ${steps} steps`}
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
