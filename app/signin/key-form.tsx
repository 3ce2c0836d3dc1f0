'use client';
/** The form that signs in with the admin key. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { FIRST_FIELD } from './first-field.ts';

/** `email`: what was typed, so that it is not lost. */
export type EnterOutcome = ActionOutcome & { email?: string };
export type EnterAction = (previous: EnterOutcome | null, form: FormData) => Promise<EnterOutcome | null>;

/** `first`: it is the page's first form, and its field has the focus. */
export function SignInKeyForm({ action, to, first }: { action: EnterAction; to: string; first: boolean }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="mt-4 grid gap-3">
      <Outcome outcome={outcome} />
      <input type="hidden" name="to" value={to} />
      <label className="block min-w-0">
        <span className="field-name">Admin key</span>
        <input
          className="input font-mono"
          name="key"
          type="password"
          autoComplete="off"
          required
          {...(first ? FIRST_FIELD : {})}
        />
      </label>
      <div>
        <Submit className="button" doing="Signing in…">
          Sign in with the key
        </Submit>
      </div>
    </form>
  );
}
