'use client';
/** The form that signs a person in with e-mail address and password. */
import { useActionState, useEffect, useRef } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { FIRST_FIELD } from './first-field.ts';
import type { EnterAction } from './key-form.tsx';

export function SignInPasswordForm({ action, to }: { action: EnterAction; to: string }) {
  const [outcome, submit] = useActionState(action, null);
  const password = useRef<HTMLInputElement>(null);
  const email = outcome?.email ?? '';
  useEffect(() => {
    if (outcome !== null && email !== '') password.current?.focus();
  }, [outcome, email]);
  return (
    <form action={submit} className="mt-6 grid gap-4">
      <Outcome outcome={outcome} />
      <input type="hidden" name="to" value={to} />
      <label className="block min-w-0">
        <span className="field-name">E-mail</span>
        <input
          key={email}
          className="input"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          defaultValue={email}
          {...(email === '' ? FIRST_FIELD : {})}
        />
      </label>
      <label className="block min-w-0">
        <span className="field-name">Password</span>
        <input
          ref={password}
          className="input"
          name="password"
          type="password"
          autoComplete="current-password"
          required
          maxLength={128}
          {...(email === '' ? {} : FIRST_FIELD)}
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
