'use client';
/** The form for thresholds: it previews their effect on the present sandboxes, and then sets them. */
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { THRESHOLDS, type Threshold, type ThresholdsAction, type ThresholdsState } from './threshold-values.ts';

const TITLES: Readonly<Record<Threshold, string>> = {
  hot_to_warm_s: 'Pauses after',
  idle_to_suspend_s: 'Suspends after',
  idle_to_freeze_s: 'Freezes after',
};
const BLANK: ThresholdsState = { values: {}, errors: {}, outcome: null, preview: null };

/** `present`: the present values as text. `notes`: below the fields. `empty`: placeholders. */
export function ThresholdsForm({
  present,
  notes,
  empty,
  action,
}: {
  present: ThresholdsState['values'];
  notes: Readonly<Record<Threshold, string>>;
  empty: Readonly<Record<Threshold, string>>;
  action: ThresholdsAction;
}) {
  const [{ values, errors, outcome, preview }, submit] = useActionState(action, BLANK);
  return (
    <form action={submit} className="grid gap-4" noValidate>
      <div className="grid max-w-3xl items-start gap-x-6 gap-y-4 sm:grid-cols-3">
        {THRESHOLDS.map((name) => {
          const value = values[name] ?? present[name] ?? '';
          return (
            <Field
              key={name}
              form="thresholds"
              name={name}
              title={TITLES[name]}
              note={notes[name]}
              error={errors[name]}
            >
              {(props) => (
                <input
                  {...props}
                  key={value}
                  className="input"
                  defaultValue={value}
                  placeholder={empty[name]}
                  autoComplete="off"
                  autoCapitalize="none"
                  spellCheck={false}
                />
              )}
            </Field>
          );
        })}
      </div>
      {preview !== null && (
        <div className="outcome grid gap-1" role="status">
          {preview.says.map((says) => (
            <p key={says}>{says}</p>
          ))}
          <p className="text-small text-ink-2">
            Nothing is set yet. Sandboxes with thresholds of their own, kept hot or held stay as they are.
          </p>
          <input type="hidden" name="seen" value={preview.key} />
        </div>
      )}
      <div className="flex flex-wrap items-center gap-3">
        {preview !== null && (
          <Submit name="do" value="set" className="button button-ink" doing="Setting…">
            Set them
          </Submit>
        )}
        <Submit name="do" value="look" className="button" doing="Looking…">
          {preview === null ? 'See what it would do' : 'Look again'}
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
