'use client';
/** The form that adds a schedule: what runs, when, and what happens to missed times. It shows the next times. */
import { type FormEvent, startTransition, useActionState, useState } from 'react';
import { Field } from '../ui/field.tsx';
import { LocalTime } from '../ui/local-time.tsx';
import { Outcome } from '../ui/outcome.tsx';
import { MONO_INPUT, RhythmFields } from './rhythm-fields.tsx';
import { BLANK_SCHEDULE, type ScheduleState, TIMING_FIELDS } from './schedule-fields.ts';
import { MISSED_CHOICES } from './schedule-words.ts';

export type ScheduleAction = (previous: ScheduleState, form: FormData) => Promise<ScheduleState>;

function NextTimes({ next }: { next: readonly number[] }) {
  if (next.length === 0) return <p className="text-ink-2">It is never due.</p>;
  return (
    <div>
      <p className="field-name">It is due next, in your time zone:</p>
      <ol className="flex flex-wrap gap-x-5 gap-y-1">
        {next.map((at) => (
          <li key={at}>
            <LocalTime at={at} />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** `components`: paths to choose from; none where no workbook is docked. `look`: tells the next times, adds nothing. */
export function ScheduleForm({
  components,
  zones,
  action,
  look,
}: {
  components: readonly string[];
  zones: readonly string[];
  action: ScheduleAction;
  look: ScheduleAction;
}) {
  const [added, add, adding] = useActionState(action, BLANK_SCHEDULE);
  const [looked, lookAt] = useActionState(look, BLANK_SCHEDULE);
  const [last, setLast] = useState<'add' | 'look' | null>(null);
  const isLook = last === 'look' || (last === null && looked !== BLANK_SCHEDULE && looked.next !== null);
  const { values, errors, outcome, next } = isLook || Object.keys(looked.errors).length > 0 ? looked : added;

  const send = (form: HTMLFormElement, which: 'add' | 'look') => {
    const data = new FormData(form);
    setLast(which);
    startTransition(() => (which === 'look' ? lookAt(data) : add(data)));
  };
  /** The next times follow what was chosen. */
  const follow = ({ target, currentTarget }: FormEvent<HTMLFormElement>) => {
    const field = target as Partial<HTMLInputElement>;
    if (TIMING_FIELDS.includes(field.name ?? '')) send(currentTarget, 'look');
  };
  return (
    <form
      action={add}
      onSubmit={(event) => {
        // React empties a form that it submits itself, also after a refusal.
        event.preventDefault();
        const { submitter } = event.nativeEvent as SubmitEvent;
        if (!adding) send(event.currentTarget, submitter?.getAttribute('value') === 'look' ? 'look' : 'add');
      }}
      onBlur={follow}
      className="grid gap-4"
      noValidate
    >
      <div className="grid items-start gap-x-6 gap-y-4 sm:grid-cols-2">
        {components.length > 0 && (
          <Field form="schedule" name="what" title="What runs" error={errors.what} note="A component, or a command">
            {(props) => (
              <select {...props} key={values.what} className="input" defaultValue={values.what ?? components[0]}>
                {components.map((path) => (
                  <option key={path} value={path}>
                    {path}
                  </option>
                ))}
                <option value="">the command below</option>
              </select>
            )}
          </Field>
        )}
        <Field
          form="schedule"
          name="command"
          title="Command"
          error={errors.command}
          note="Run by the shell in /workspace"
        >
          {(props) => <input {...props} {...MONO_INPUT} defaultValue={values.command} placeholder="rm -rf cache/*" />}
        </Field>
        <RhythmFields values={values} errors={errors} zones={zones} />
        <Field form="schedule" name="missed" title="Times missed while the server was down" error={errors.missed}>
          {(props) => (
            <select {...props} key={values.missed} className="input" defaultValue={values.missed ?? 'once'}>
              {MISSED_CHOICES.map(({ name, says }) => (
                <option key={name} value={name}>
                  {says}
                </option>
              ))}
            </select>
          )}
        </Field>
        {components.length > 0 && (
          <Field
            form="schedule"
            name="input"
            title="Input of the component"
            error={errors.input}
            note="An object as JSON; may stay empty"
          >
            {(props) => <input {...props} {...MONO_INPUT} defaultValue={values.input} placeholder="{}" />}
          </Field>
        )}
      </div>
      <div aria-live="polite">{next !== null && <NextTimes next={next} />}</div>
      <div className="flex flex-wrap gap-2">
        <button type="submit" className="button button-ink" aria-busy={adding}>
          {adding ? 'Adding it…' : 'Add the schedule'}
        </button>
        <button type="submit" className="button" formAction={lookAt} value="look">
          Show the next five times
        </button>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
