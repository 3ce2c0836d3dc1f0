'use client';
/** The form of a tenant's quotas. An empty field means no limit. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { Limit, LimitsAction, LimitsState } from './limits.ts';

const FIELDS: readonly [name: Limit, title: string, placeholder: string][] = [
  ['max_sandboxes', 'Sandboxes at most', 'no limit'],
  ['max_active', 'Awake at once at most', 'no limit'],
  ['max_bytes', 'On disk at most', 'no limit'],
  ['max_daily_cpu_s', 'Processor time a day', 'no limit'],
  ['max_run_s', 'Time of a run at most', 'as for all'],
  ['max_call_s', 'Time of a call at most', 'as its policy'],
];

/** `present`: the present limits as text. */
export function LimitsForm({ present, action }: { present: LimitsState['values']; action: LimitsAction }) {
  const [{ values, errors, outcome }, submit] = useActionState(action, { values: {}, errors: {}, outcome: null });
  return (
    <form action={submit} className="grid gap-4" noValidate>
      <div className="grid items-start gap-x-10 gap-y-4 sm:grid-cols-2 lg:grid-cols-3 2xl:grid-cols-6">
        {FIELDS.map(([name, title, placeholder]) => {
          const value = values[name] ?? present[name] ?? '';
          return (
            <Field key={name} form="limits" name={name} title={title} error={errors[name]}>
              {(props) => (
                <input
                  {...props}
                  key={value}
                  className="input"
                  defaultValue={value}
                  placeholder={placeholder}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                />
              )}
            </Field>
          );
        })}
      </div>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <Submit className="button" doing="Setting…">
          Set the limits
        </Submit>
        <p className="text-small text-ink-3">
          Amounts like 50, 500 MB or 2 h. Days begin at midnight UTC. An empty field takes a limit away.
        </p>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
