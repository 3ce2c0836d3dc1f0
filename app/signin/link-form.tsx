'use client';
/** The printed link's button. A button and not a visit signs in, so that a preview of the link does not use it up. */
import { useActionState } from 'react';
import { Outcome } from '#components/outcome.tsx';
import { Submit } from '#components/submit.tsx';
import type { EnterAction } from './key-form.tsx';

export function LinkForm({ action, token, to }: { action: EnterAction; token: string; to: string }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="mt-6 grid gap-4">
      <p className="text-ink-2">You followed the link that the server printed.</p>
      <Outcome outcome={outcome} />
      <input type="hidden" name="token" value={token} />
      <input type="hidden" name="to" value={to} />
      <div>
        <Submit className="button button-ink" doing="Signing in…">
          Sign in as the admin
        </Submit>
      </div>
    </form>
  );
}
