'use client';
/** What a person is called and may do. */
import { useActionState } from 'react';
import { Outcome } from '#components/outcome.tsx';
import { Submit } from '#components/submit.tsx';
import { Choice, Field } from '../field.tsx';
import { blank, type FormAction } from '../form-state.ts';
import type { PersonField } from './actions.ts';

export function PersonForm({
  action,
  roles,
  person,
}: {
  action: FormAction<PersonField>;
  roles: readonly { value: string; label: string }[];
  person: Record<PersonField, string>;
}) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank(person));
  return (
    <form action={submit} className="grid max-w-2xl gap-4 sm:grid-cols-2">
      {outcome !== null && (
        <div className="sm:col-span-2">
          <Outcome outcome={outcome} />
        </div>
      )}
      <div className="sm:col-span-2">
        <Choice
          key={values.role}
          id="person-role"
          label="Role"
          name="role"
          options={roles}
          defaultValue={values.role}
          error={errors.role}
        />
      </div>
      <Field
        id="person-tenants"
        label="Tenants"
        name="tenants"
        defaultValue={values.tenants}
        note="Empty: all of them. An admin is of all."
        error={errors.tenants}
      />
      <Field
        id="person-name"
        label="Name"
        name="name"
        required
        maxLength={200}
        defaultValue={values.name}
        error={errors.name}
      />
      <div className="self-end pb-0.5">
        <Submit className="button button-ink" doing="Changing it…">
          Change
        </Submit>
      </div>
    </form>
  );
}
