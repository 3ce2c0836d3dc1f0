'use client';
/** The form that makes a sandbox that is docked to a workbook. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export interface DockState {
  values: { name: string; policy: string };
  /** The complaint about the name. */
  error?: string;
  problem: { says: string; hint?: string } | null;
}

export type DockAction = (previous: DockState, form: FormData) => Promise<DockState>;

export function DockForm({
  action,
  policies,
}: {
  action: DockAction;
  /** Policies by name, each with what it allows; the first is the default. */
  policies: readonly { name: string; says: string }[];
}) {
  const [{ values, error, problem }, submit] = useActionState(action, {
    values: { name: '', policy: policies[0]?.name ?? '' },
    problem: null,
  });
  return (
    <form action={submit} className="grid gap-3" noValidate>
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[1fr_1fr_auto]">
        <Field form="dock" name="name" title="Name" error={error} note="For people; optional, once per tenant">
          {(props) => <input {...props} className="input" defaultValue={values.name} autoComplete="off" />}
        </Field>
        <Field
          form="dock"
          name="policy"
          title="Policy"
          note={policies.map(({ name, says }) => `${name}: ${says}`).join(' · ')}
        >
          {(props) => (
            <select {...props} key={values.policy} className="input" defaultValue={values.policy}>
              {policies.map(({ name }) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button button-ink" doing="Making it…">
            Make a sandbox of it
          </Submit>
        </div>
      </div>
      {problem !== null && <Outcome outcome={{ ok: false, ...problem }} />}
    </form>
  );
}
