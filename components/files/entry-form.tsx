'use client';
/** A file action with one text field: the name of something new, or a target path. */
import { type ReactNode, useActionState } from 'react';
import { Field } from '../ui/field.tsx';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export interface EntryState {
  value: string;
  problem: ActionOutcome | null;
}

export type EntryAction = (previous: EntryState, form: FormData) => Promise<EntryState>;

export function EntryForm({
  id,
  name,
  field,
  value,
  note,
  button,
  doing,
  action,
  group,
}: {
  id: string;
  /** The label of the disclosure. */
  name: string;
  /** The label of the field. */
  field: string;
  value: string;
  note: ReactNode;
  button: string;
  doing: string;
  action: EntryAction;
  /** Only one disclosure of a group is open at a time. */
  group: string;
}) {
  const [state, submit] = useActionState(action, { value, problem: null });
  return (
    <details className="unfold act" name={group} open={state.problem !== null || undefined}>
      <summary>{name}</summary>
      <form action={submit} className="my-3 grid max-w-2xl gap-3" noValidate>
        <Field form={id} name="value" title={field} note={note}>
          {(props) => (
            <input
              {...props}
              className="input font-mono text-[0.875rem]"
              defaultValue={state.value}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
        <div>
          <Submit className="button button-ink" doing={doing}>
            {button}
          </Submit>
        </div>
        <Outcome outcome={state.problem} />
      </form>
    </details>
  );
}
