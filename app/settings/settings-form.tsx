/** The shared frame of the forms of people and keys: two columns, the outcome, the choice of a role. */
import type { ReactNode } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { SelectField } from './form-fields.tsx';

/** A field of the form over both columns. */
export function Wide({ children }: { children: ReactNode }) {
  return <div className="sm:col-span-2">{children}</div>;
}

/** The form. `made`: stands above it, for a secret that is shown once. */
export function SettingsForm({
  submit,
  outcome,
  made,
  children,
}: {
  submit: (form: FormData) => void;
  outcome: ActionOutcome | null;
  made?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="grid max-w-2xl gap-4">
      {made}
      <form action={submit} className="grid gap-4 sm:grid-cols-2">
        {outcome !== null && (
          <Wide>
            <Outcome outcome={outcome} />
          </Wide>
        )}
        {children}
      </form>
    </div>
  );
}

/** `value`: the last choice. It is the key too, because a select keeps its first default. */
export function RoleChoice({
  id,
  roles,
  value,
  begin,
  error,
}: {
  id: string;
  roles: readonly { value: string; label: string }[];
  value: string | undefined;
  /** The first choice. */
  begin?: string;
  error: string | undefined;
}) {
  return (
    <Wide>
      <SelectField
        key={value}
        id={id}
        label="Role"
        name="role"
        options={roles}
        defaultValue={value ?? begin}
        error={error}
      />
    </Wide>
  );
}
