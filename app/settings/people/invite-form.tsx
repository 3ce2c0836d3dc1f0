'use client';
/** The form that creates an invitation and shows its link once. */
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../form-fields.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { SecretOnce } from '../secret-once.tsx';
import { RoleChoice, SettingsForm } from '../settings-form.tsx';
import type { InviteField } from './actions.ts';

export function InviteForm({
  action,
  roles,
}: {
  action: FormAction<InviteField>;
  roles: readonly { value: string; label: string }[];
}) {
  const [{ values, errors, outcome, secret }, submit] = useActionState(action, blank<InviteField>());
  return (
    <SettingsForm
      submit={submit}
      outcome={outcome}
      made={
        secret !== null && (
          <SecretOnce
            secret={secret}
            name="link"
            says="Send them this link yourself. It is shown only once, works once, and expires after a week."
          />
        )
      }
    >
      <RoleChoice id="invite-role" roles={roles} value={values.role} begin="viewer" error={errors.role} />
      <InputField
        id="invite-tenants"
        label="Tenants"
        name="tenants"
        defaultValue={values.tenants}
        placeholder="acme, northwind"
        note="Empty: all of them."
        error={errors.tenants}
      />
      <InputField
        id="invite-email"
        label="E-mail, if the link is for one address only"
        name="email"
        type="email"
        autoComplete="off"
        maxLength={254}
        defaultValue={values.email}
        error={errors.email}
      />
      <div className="self-end pb-0.5">
        <Submit className="button button-ink" doing="Making the link…">
          Make an invitation link
        </Submit>
      </div>
    </SettingsForm>
  );
}
