'use client';
/** The form that makes a blueprint of a sandbox's workspace. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export interface MakeState {
  values: { name: string; from_instance: string };
  errors: { name?: string; from_instance?: string };
  problem: { says: string; hint?: string } | null;
}

export type MakeAction = (previous: MakeState, form: FormData) => Promise<MakeState>;

export function MakeForm({ action, from }: { action: MakeAction; from: string }) {
  const [{ values, errors, problem }, submit] = useActionState(action, {
    values: { name: '', from_instance: from },
    errors: {},
    problem: null,
  });
  return (
    <form action={submit} className="grid gap-4" noValidate>
      <Field
        form="make"
        name="from_instance"
        title="Of the sandbox"
        error={errors.from_instance}
        note="Its id. It may sleep: nothing is woken"
      >
        {(props) => (
          <input
            {...props}
            className="input font-mono"
            defaultValue={values.from_instance}
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <Field form="make" name="name" title="Name" error={errors.name} note="The name to clone it by: a-z, 0-9, _ and -">
        {(props) => (
          <input
            {...props}
            className="input font-mono"
            defaultValue={values.name}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      <div>
        <Submit className="button button-ink" doing="Making it…">
          Make a blueprint
        </Submit>
      </div>
      {problem !== null && <Outcome outcome={{ ok: false, ...problem }} />}
    </form>
  );
}
