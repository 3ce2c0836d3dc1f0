'use client';
/** The form that signs in with the admin key. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export type EnterAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function SignInKeyForm({ action, to }: { action: EnterAction; to: string }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="mt-4 grid gap-3">
      <Outcome outcome={outcome} />
      <input type="hidden" name="to" value={to} />
      <label className="field">
        <span className="field-name">Admin key</span>
        <input className="input font-mono" name="key" type="password" autoComplete="off" required />
      </label>
      <div>
        <Submit className="button" doing="Signing in…">
          Sign in with the key
        </Submit>
      </div>
    </form>
  );
}
