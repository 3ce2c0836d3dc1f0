'use client';
/**
 * The form of the printed link. A button and not a visit signs in, so that a preview of the link does not use it up.
 */
import { useActionState } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { EnterAction } from './key-form.tsx';

export function LinkForm({
  action,
  token,
  to,
  shortest,
}: {
  action: EnterAction;
  token: string;
  to: string;
  /** The least length of a password. */
  shortest: number;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="mt-6 grid gap-4">
      <p className="text-ink-2">You followed the link that the server printed.</p>
      <Outcome outcome={outcome} />
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="to" value={to} />
      <details>
        <summary className="text-small">Set a new password</summary>
        <label className="block min-w-0 mt-3">
          <span className="field-name">New password</span>
          <input className="input" name="new-password" type="password" autoComplete="new-password" maxLength={128} />
        </label>
        <p className="mt-1 text-small text-ink-3">
          At least {shortest} characters. Left empty, the password stays as it is.
        </p>
      </details>
      <div>
        <Submit className="button button-ink" doing="Signing in…">
          Sign in as the admin
        </Submit>
      </div>
    </form>
  );
}
