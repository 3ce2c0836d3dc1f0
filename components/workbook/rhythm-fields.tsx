'use client';
/** The fields that say when something runs: how often, and what that needs. A style hides what it does not need. */
import { type ReactNode, useEffect, useState } from 'react';
import { Field } from '../ui/field.tsx';
import { EVERY_MINUTES, RHYTHMS, type RhythmField, WEEKDAYS } from './rhythm.ts';
import type { ScheduleState } from './schedule-fields.ts';

export const MONO_INPUT = {
  className: 'input font-mono',
  autoCapitalize: 'none',
  spellCheck: false,
  autoComplete: 'off',
} as const;

const FORM = 'schedule';

/**
 * A field that some choices of how often take. The style of `data-of` hides it for the others, without a script too.
 */
function Taken({ field, children }: { field: RhythmField; children: ReactNode }) {
  const rhythms = RHYTHMS.filter(({ takes }) => (takes as readonly string[]).includes(field));
  return <div data-of={rhythms.map(({ name }) => name).join(' ')}>{children}</div>;
}

/** `zones`: every time zone that there is. */
export function RhythmFields({
  values,
  errors,
  zones,
}: Pick<ScheduleState, 'values' | 'errors'> & { zones: readonly string[] }) {
  const [here, setHere] = useState<string | undefined>(undefined);
  useEffect(() => {
    setHere(Intl.DateTimeFormat().resolvedOptions().timeZone);
  }, []);
  return (
    <>
      <Field form={FORM} name="rhythm" title="How often" error={errors.rhythm}>
        {(props) => (
          <select {...props} className="input" defaultValue={values.rhythm ?? 'day'}>
            {RHYTHMS.map(({ name, says }) => (
              <option key={name} value={name}>
                {says}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Taken field="weekday">
        <Field form={FORM} name="weekday" title="On" error={errors.weekday}>
          {(props) => (
            <select {...props} className="input" defaultValue={values.weekday ?? '1'}>
              {WEEKDAYS.map(({ name, says }) => (
                <option key={name} value={name}>
                  {says}
                </option>
              ))}
            </select>
          )}
        </Field>
      </Taken>
      <Taken field="day">
        <Field form={FORM} name="day" title="On day" error={errors.day} note="1 to 31, or L for the last">
          {(props) => <input {...props} {...MONO_INPUT} defaultValue={values.day ?? '1'} maxLength={2} />}
        </Field>
      </Taken>
      <Taken field="time">
        <Field form={FORM} name="time" title="At" error={errors.time}>
          {(props) => <input {...props} type="time" className="input" defaultValue={values.time ?? '03:00'} />}
        </Field>
      </Taken>
      <Taken field="minute">
        <Field form={FORM} name="minute" title="At minute" error={errors.minute}>
          {(props) => (
            <input {...props} {...MONO_INPUT} inputMode="numeric" defaultValue={values.minute ?? '0'} maxLength={2} />
          )}
        </Field>
      </Taken>
      <Taken field="every">
        <Field form={FORM} name="every" title="Every so many minutes" error={errors.every}>
          {(props) => (
            <select {...props} className="input" defaultValue={values.every ?? '15'}>
              {EVERY_MINUTES.map((length) => (
                <option key={length}>{length}</option>
              ))}
            </select>
          )}
        </Field>
      </Taken>
      <Taken field="cron">
        <Field
          form={FORM}
          name="cron"
          title="As cron"
          error={errors.cron}
          note="minute hour day month weekday; six fields begin with the second"
        >
          {(props) => <input {...props} {...MONO_INPUT} defaultValue={values.cron} placeholder="0 3 * * *" />}
        </Field>
      </Taken>
      <Field
        form={FORM}
        name="timezone"
        title="Time zone"
        error={errors.timezone}
        note={`Type a part of its name, such as Berlin. UTC when it is empty${here === undefined ? '' : `; yours is ${here}`}.`}
      >
        {(props) => (
          <>
            <input {...props} {...MONO_INPUT} list="schedule-zones" defaultValue={values.timezone} placeholder="UTC" />
            <datalist id="schedule-zones">
              {zones.map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </>
        )}
      </Field>
    </>
  );
}
