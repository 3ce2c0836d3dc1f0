'use client';
/** The form that changes the visitor's own password. */
import { useActionState } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { PasswordField } from './actions.ts';
import { InputField } from './form-fields.tsx';
import { blank, type FormAction } from './form-state.ts';

/** `email`: tells a password manager whose password it is. */
export function PasswordForm({
  action,
  email,
  shortest,
}: {
  action: FormAction<PasswordField>;
  email: string;
  shortest: number;
}) {
  const [{ errors, outcome }, submit] = useActionState(action, blank<PasswordField>());
  return (
    <form action={submit} className="grid max-w-md gap-4">
      <Outcome outcome={outcome} />
      <input type="text" name="email" value={email} autoComplete="username" readOnly hidden />
      <InputField
        id="password-current"
        label="Password now"
        name="current"
        type="password"
        autoComplete="current-password"
        required
        maxLength={128}
        error={errors.current}
      />
      <InputField
        id="password-next"
        label="New password"
        name="next"
        type="password"
        autoComplete="new-password"
        required
        maxLength={128}
        note={`At least ${shortest} characters.`}
        error={errors.next}
      />
      <div>
        <Submit className="button button-ink" doing="Changing it…">
          Change the password
        </Submit>
      </div>
    </form>
  );
}
