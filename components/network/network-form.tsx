'use client';
/** The form of what a sandbox or a tenant's sandboxes may reach: a list, one entry a line, and two numbers. */
import { useActionState } from 'react';
import { Field } from '../ui/field.tsx';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export interface NetworkText {
  rules: string;
  requests_per_minute: string;
  bytes_per_day: string;
}

export interface NetworkState {
  /** What was typed, when the form is shown again; null: the present values. */
  values: NetworkText | null;
  errors: Partial<Record<keyof NetworkText, string>>;
  outcome: ActionOutcome | null;
}

export type NetworkAction = (previous: NetworkState, form: FormData) => Promise<NetworkState>;

/** `inherits`: it may have no list of its own. */
export function NetworkForm({
  present,
  inherits,
  notes,
  action,
}: {
  present: NetworkText;
  inherits: { now: boolean } | null;
  notes: NetworkText;
  action: NetworkAction;
}) {
  const [{ values, errors, outcome }, submit] = useActionState(action, { values: null, errors: {}, outcome: null });
  const shown = values ?? present;
  return (
    <form action={submit} className="grid max-w-3xl gap-4" noValidate>
      <Field form="network" name="rules" title="May reach" note={notes.rules} error={errors.rules}>
        {(props) => (
          <textarea
            {...props}
            key={shown.rules}
            className="input font-mono text-[0.875rem]"
            rows={Math.max(3, shown.rules.split('\n').length + 1)}
            defaultValue={shown.rules}
            placeholder="GET,POST https://api.example.com/v1/"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
      </Field>
      {inherits !== null && (
        <label className="flex items-baseline gap-2.5">
          <input
            type="checkbox"
            className="size-4 flex-none accent-ink translate-y-0.5"
            name="inherits"
            value="1"
            key={String(inherits.now)}
            defaultChecked={inherits.now}
          />
          <span>No list of its own, but that of its tenant.</span>
        </label>
      )}
      <div className="grid items-start gap-x-6 gap-y-4 sm:grid-cols-2">
        {(['requests_per_minute', 'bytes_per_day'] as const).map((name) => (
          <Field
            key={name}
            form="network"
            name={name}
            title={name === 'bytes_per_day' ? 'Bytes a day' : 'Requests a minute'}
            note={notes[name]}
            error={errors[name]}
          >
            {(props) => (
              <input
                {...props}
                key={shown[name]}
                className="input"
                defaultValue={shown[name]}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
              />
            )}
          </Field>
        ))}
      </div>
      <div>
        <Submit className="button" doing="Setting…">
          Set what it may reach
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
