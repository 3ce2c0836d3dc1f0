'use client';
/** The form for a person's name, role and tenants. */
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../form-fields.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { RoleChoice, SettingsForm } from '../settings-form.tsx';
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
    <SettingsForm submit={submit} outcome={outcome}>
      <RoleChoice id="person-role" roles={roles} value={values.role} error={errors.role} />
      <InputField
        id="person-tenants"
        label="Tenants"
        name="tenants"
        defaultValue={values.tenants}
        note="Empty: all tenants. An admin has all of them."
        error={errors.tenants}
      />
      <InputField
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
    </SettingsForm>
  );
}
