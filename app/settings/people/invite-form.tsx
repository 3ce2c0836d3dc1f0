'use client';
/** Inviting someone: the link is shown here, once, and taken along by hand. */
import { useActionState } from 'react';
import { Outcome } from '#components/outcome.tsx';
import { Submit } from '#components/submit.tsx';
import { Choice, Field } from '../field.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { SecretOnce } from '../secret-once.tsx';
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
    <div className="grid max-w-2xl gap-4">
      {secret !== null && (
        <SecretOnce
          secret={secret}
          name="link"
          says="Send them this link yourself. It is shown this once, works once, and is over after a week."
        />
      )}
      <form action={submit} className="grid gap-4 sm:grid-cols-2">
        {outcome !== null && (
          <div className="sm:col-span-2">
            <Outcome outcome={outcome} />
          </div>
        )}
        <div className="sm:col-span-2">
          <Choice
            key={values.role}
            id="invite-role"
            label="Role"
            name="role"
            options={roles}
            defaultValue={values.role ?? 'viewer'}
            error={errors.role}
          />
        </div>
        <Field
          id="invite-tenants"
          label="Tenants"
          name="tenants"
          defaultValue={values.tenants}
          placeholder="acme, northwind"
          note="Empty: all of them."
          error={errors.tenants}
        />
        <Field
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
      </form>
    </div>
  );
}
