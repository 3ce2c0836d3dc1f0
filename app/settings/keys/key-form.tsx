'use client';
/** The form that creates a key and shows it once. */
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField, SelectField } from '../form-fields.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { SecretOnce } from '../secret-once.tsx';
import { RoleChoice, SettingsForm, Wide } from '../settings-form.tsx';
import type { KeyField } from './actions.ts';

const LIVES = [
  { value: '30', label: 'in 30 days' },
  { value: '90', label: 'in 90 days' },
  { value: '365', label: 'in a year' },
  { value: '', label: 'never' },
] as const;

export function KeyForm({
  action,
  roles,
}: {
  action: FormAction<KeyField>;
  roles: readonly { value: string; label: string }[];
}) {
  const [{ values, errors, outcome, secret }, submit] = useActionState(action, blank<KeyField>());
  return (
    <SettingsForm
      submit={submit}
      outcome={outcome}
      made={
        secret !== null && (
          <SecretOnce
            secret={secret}
            name="key"
            says="Copy the key now: it is shown only once, and only its digest is kept."
          />
        )
      }
    >
      <Wide>
        <InputField
          id="key-name"
          label="Name"
          name="name"
          maxLength={200}
          placeholder="deploy, nightly backup"
          defaultValue={values.name}
          error={errors.name}
        />
      </Wide>
      <RoleChoice id="key-role" roles={roles} value={values.role} begin="tenant" error={errors.role} />
      <InputField
        id="key-tenant"
        label="Tenant"
        name="tenant"
        maxLength={63}
        placeholder="acme"
        note="Empty: all tenants. The role “tenant” needs at least one."
        defaultValue={values.tenant}
        error={errors.tenant}
      />
      <SelectField
        key={`over ${values.expires}`}
        id="key-expires"
        label="Ends"
        name="expires"
        options={LIVES}
        defaultValue={values.expires ?? '90'}
        error={errors.expires}
      />
      <Wide>
        <Submit className="button button-ink" doing="Making the key…">
          Make a key
        </Submit>
      </Wide>
    </SettingsForm>
  );
}
