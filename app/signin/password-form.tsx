'use client';
/** The form that signs a person in with e-mail address and password. */
import { useActionState } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { EnterAction } from './key-form.tsx';

export function SignInPasswordForm({ action, to }: { action: EnterAction; to: string }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="mt-6 grid gap-4">
      <Outcome outcome={outcome} />
      <input type="hidden" name="to" value={to} />
      <label className="field">
        <span className="field-name">E-mail</span>
        <input className="input" name="email" type="email" autoComplete="username" required maxLength={254} />
      </label>
      <label className="field">
        <span className="field-name">Password</span>
        <input
          className="input"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={128}
        />
      </label>
      <div>
        <Submit className="button button-ink" doing="Signing in…">
          Sign in
        </Submit>
      </div>
    </form>
  );
}
