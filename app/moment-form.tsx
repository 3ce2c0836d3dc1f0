'use client';
/** The form that brings a sandbox back from the replica: which one, to which moment, as itself or as a new one. */
import Link from 'next/link';
import { useActionState } from 'react';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from './settings/form-fields.tsx';
import { blank, type FormState } from './settings/form-state.ts';
import { SettingsForm, Wide } from './settings/settings-form.tsx';

export type MomentField = 'instance' | 'time' | 'name' | 'reason';
/** `made`: the id of the new sandbox. */
export type MomentState = FormState<MomentField> & { made?: string };

export function MomentForm({ action }: { action: (previous: MomentState, form: FormData) => Promise<MomentState> }) {
  const [{ values, errors, outcome, made }, submit] = useActionState<MomentState, FormData>(
    action,
    blank<MomentField>(),
  );
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      {made !== undefined && (
        <Wide>
          <Link href={`/sandboxes/${made}`} prefetch={false}>
            Open it
          </Link>
        </Wide>
      )}
      <InputField
        id="moment-instance"
        label="Sandbox"
        name="instance"
        maxLength={63}
        autoCapitalize="none"
        spellCheck={false}
        placeholder="sess-841"
        defaultValue={values.instance}
        error={errors.instance}
      />
      <InputField
        id="moment-time"
        label="Up to"
        name="time"
        maxLength={40}
        autoCapitalize="none"
        spellCheck={false}
        placeholder="2026-11-21T18:00:00Z"
        note="The newest moment up to then is taken."
        defaultValue={values.time}
        error={errors.time}
      />
      <InputField
        id="moment-name"
        label="Name of a new one"
        name="name"
        maxLength={200}
        note="Optional."
        defaultValue={values.name}
        error={errors.name}
      />
      <Wide>
        <InputField
          id="moment-reason"
          label="Reason"
          name="reason"
          maxLength={1000}
          note="For the ledger."
          defaultValue={values.reason}
          error={errors.reason}
        />
      </Wide>
      <Wide>
        <div className="flex flex-wrap gap-3">
          <Submit className="button button-ink" doing="Making it…" name="intent" value="new">
            As a new sandbox
          </Submit>
          <Submit className="button" doing="Bringing it back…" name="intent" value="itself">
            As itself
          </Submit>
        </div>
        <p className="mt-2 text-small text-ink-3">
          As itself it must be asleep; what it has is kept aside, and said how to come back to.
        </p>
      </Wide>
    </SettingsForm>
  );
}
