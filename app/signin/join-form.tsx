'use client';
/** The form that creates the account offered by a link: the first admin’s, or an invited person’s. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { FIRST_FIELD } from './first-field.ts';

export type JoinField = 'email' | 'name' | 'password';

export interface JoinState {
  values: { email: string; name: string };
  errors: Partial<Record<JoinField, string>>;
  problem: ActionOutcome | null;
}

export type JoinAction = (previous: JoinState, form: FormData) => Promise<JoinState>;

const START: JoinState = { values: { email: '', name: '' }, errors: {}, problem: null };

function Complaint({ id, says, note }: { id: string; says: string | undefined; note?: string }) {
  return (
    <p id={id} className={says === undefined ? 'mt-1 text-small text-ink-3' : 'complaint mt-1'}>
      {says ?? note}
    </p>
  );
}

export function JoinForm({
  action,
  token,
  email,
  button,
  shortest,
}: {
  action: JoinAction;
  token: string;
  /** The account's address; null: the form asks for it. */
  email: string | null;
  button: string;
  /** The least length of a password. */
  shortest: number;
}) {
  const [{ values, errors, problem }, submit] = useActionState(action, START);
  return (
    <form action={submit} className="mt-6 grid gap-4">
      <Outcome outcome={problem} />
      <input type="hidden" name="token" value={token} />
      <div className="block min-w-0">
        <label className="field-name" htmlFor="join-email">
          E-mail
        </label>
        <input
          id="join-email"
          className="input"
          name="email"
          type="email"
          autoComplete="username"
          required
          maxLength={254}
          readOnly={email !== null}
          defaultValue={email ?? values.email}
          aria-invalid={errors.email !== undefined}
          aria-describedby="join-email-note"
          {...(email === null ? FIRST_FIELD : {})}
        />
        <Complaint id="join-email-note" says={errors.email} note="What you sign in with. Nothing is sent there." />
      </div>
      <div className="block min-w-0">
        <label className="field-name" htmlFor="join-name">
          Name
        </label>
        <input
          id="join-name"
          className="input"
          name="name"
          autoComplete="name"
          required
          maxLength={200}
          defaultValue={values.name}
          aria-invalid={errors.name !== undefined}
          aria-describedby="join-name-note"
          {...(email === null ? {} : FIRST_FIELD)}
        />
        <Complaint id="join-name-note" says={errors.name} />
      </div>
      <div className="block min-w-0">
        <label className="field-name" htmlFor="join-password">
          Password
        </label>
        <input
          id="join-password"
          className="input"
          name="password"
          type="password"
          autoComplete="new-password"
          required
          maxLength={128}
          aria-invalid={errors.password !== undefined}
          aria-describedby="join-password-note"
        />
        <Complaint id="join-password-note" says={errors.password} note={`At least ${shortest} characters.`} />
      </div>
      <div>
        <Submit className="button button-ink" doing="Making the account…">
          {button}
        </Submit>
      </div>
    </form>
  );
}
