'use client';
/** The form of the time zone in which the console shows times. */
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from './form-fields.tsx';
import { blank, type FormAction } from './form-state.ts';
import { SettingsForm, Wide } from './settings-form.tsx';

/** `chosen`: that of the profile; null: none. `shown`: in which this page is. `zones`: all that there are. */
export function ZoneForm({
  action,
  chosen,
  shown,
  zones,
}: {
  action: FormAction<'zone'>;
  chosen: string | null;
  shown: string;
  zones: readonly string[];
}) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank<'zone'>({ zone: chosen ?? '' }));
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      <InputField
        id="own-zone"
        label="Time zone"
        name="zone"
        list="own-zones"
        maxLength={100}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        placeholder={shown}
        note="Type a part of its name, such as Berlin. Your browser’s when it is empty."
        defaultValue={values.zone}
        error={errors.zone}
      />
      <datalist id="own-zones">
        {zones.map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <Wide>
        <Submit className="button" doing="Saving…">
          Save
        </Submit>
      </Wide>
    </SettingsForm>
  );
}
