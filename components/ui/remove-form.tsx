'use client';
/** Removes something for good, once its id is typed. */
import { useActionState } from 'react';
import { ConfirmField } from './confirm-field.tsx';
import { Field } from './field.tsx';
import { type ActionOutcome, Outcome } from './outcome.tsx';
import { Submit } from './submit.tsx';

export type RemoveAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

/**
 * `what`: the noun on the button (`snapshot`). `id`: what must be typed. `keeps`: what stays, in a sentence. `order`:
 * the verb. `reason`: asks for a reason too.
 */
export function RemoveForm({
  what,
  id,
  keeps,
  order = ['Delete', 'Deleting…'],
  reason = false,
  action,
}: {
  what: string;
  id: string;
  keeps: string;
  /** The button's label, and its label while the form runs. */
  order?: readonly [string, string];
  reason?: boolean;
  action: RemoveAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid max-w-md gap-3">
      <p className="text-ink-2">{keeps}</p>
      {reason && (
        <Field form="remove" name="reason" title="Why it goes, for the ledger (it may stay empty)">
          {(props) => <input {...props} className="input" maxLength={1000} autoComplete="off" />}
        </Field>
      )}
      <ConfirmField form="remove" word={id} />
      <div>
        <Submit className="button button-fault" doing={order[1]}>
          {order[0]} the {what}
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
