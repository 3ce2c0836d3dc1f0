'use client';
/** The form that begins a workbook: whose it is and its id. Nothing is stored before its source is saved. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export interface NewState {
  values: { id: string; tenant: string };
  errors: { id?: string; tenant?: string };
  problem: { says: string; hint?: string } | null;
}

export type NewAction = (previous: NewState, form: FormData) => Promise<NewState>;

export function NewForm({
  action,
  start,
  tenants,
}: {
  action: NewAction;
  start: NewState;
  tenants: readonly string[] | null;
}) {
  const [{ values, errors, problem }, submit] = useActionState(action, start);
  const text = {
    className: 'input font-mono',
    autoCapitalize: 'none',
    spellCheck: false,
    autoComplete: 'off',
  } as const;
  return (
    <form action={submit} className="grid gap-3" noValidate>
      {problem !== null && <Outcome outcome={{ ok: false, ...problem }} />}
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[1fr_1fr_auto]">
        <Field form="new" name="tenant" title="Tenant" error={errors.tenant} note="Whose it will be">
          {(props) =>
            tenants === null ? (
              <input {...props} {...text} required defaultValue={values.tenant} placeholder="acme" />
            ) : (
              <select {...props} key={values.tenant} className="input font-mono" defaultValue={values.tenant}>
                {tenants.map((tenant) => (
                  <option key={tenant} value={tenant}>
                    {tenant}
                  </option>
                ))}
              </select>
            )
          }
        </Field>
        <Field form="new" name="id" title="Id" error={errors.id} note="The name to dock it by: a-z, 0-9, _ and -">
          {(props) => <input {...props} {...text} required defaultValue={values.id} placeholder="monthly-report" />}
        </Field>
        <div className="sm:beside-fields">
          <Submit doing="Opening it…">Write its source</Submit>
        </div>
      </div>
    </form>
  );
}
