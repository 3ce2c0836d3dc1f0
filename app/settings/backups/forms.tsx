'use client';
/** The forms of backups: make one now, bring a sandbox back, and when and where they are made. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { InputField } from '../form-fields.tsx';
import { blank, type FormAction } from '../form-state.ts';
import { SettingsForm, Wide } from '../settings-form.tsx';
import type { BackupField, RestoreField } from './actions.ts';

type SimpleAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function BackUpNowForm({ action }: { action: SimpleAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid max-w-2xl gap-3">
      <div className="grid items-end gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,1fr)_auto]">
        <InputField id="backup-reason" label="Reason" name="reason" maxLength={1000} placeholder="before the upgrade" />
        <Submit className="button button-ink" doing="Asking…">
          Back up now
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}

export function RestoreOneForm({ action }: { action: FormAction<RestoreField> }) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank<RestoreField>());
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      <InputField
        id="restore-instance"
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
        id="restore-as"
        label="As a new one"
        name="as"
        maxLength={63}
        autoCapitalize="none"
        spellCheck={false}
        placeholder="sess-841-before"
        note="Empty: as itself. It must be asleep then."
        defaultValue={values.as}
        error={errors.as}
      />
      <Wide>
        <InputField
          id="restore-reason"
          label="Reason"
          name="reason"
          maxLength={1000}
          note="For the ledger. It is needed to bring it back."
          defaultValue={values.reason}
          error={errors.reason}
        />
      </Wide>
      <Wide>
        <div className="flex flex-wrap gap-3">
          <Submit className="button" doing="Looking…" name="intent" value="preview">
            Say what it would do
          </Submit>
          <Submit className="button button-ink" doing="Bringing it back…" name="intent" value="restore">
            Bring it back
          </Submit>
        </div>
      </Wide>
    </SettingsForm>
  );
}

function Checkbox({ name, label, checked }: { name: BackupField; label: string; checked: boolean }) {
  return (
    <label className="flex items-baseline gap-2">
      <input
        key={String(checked)}
        type="checkbox"
        name={name}
        value="on"
        defaultChecked={checked}
        className="size-4 flex-none translate-y-0.5 accent-ink"
      />
      <span>{label}</span>
    </label>
  );
}

/** `begin`: the settings as they are, as texts of the fields. */
export function BackupSettingsForm({
  action,
  begin,
  canEncrypt,
}: {
  action: FormAction<BackupField>;
  begin: Partial<Record<BackupField, string>>;
  canEncrypt: boolean;
}) {
  const [{ values, errors, outcome }, submit] = useActionState(action, blank<BackupField>(begin));
  const keep = (name: 'hourly' | 'daily' | 'weekly' | 'monthly', label: string) => (
    <InputField
      id={`backup-${name}`}
      label={label}
      name={name}
      inputMode="numeric"
      maxLength={4}
      defaultValue={values[name]}
      error={errors[name]}
    />
  );
  return (
    <SettingsForm submit={submit} outcome={outcome}>
      <Wide>
        <InputField
          id="backup-target"
          label="Where"
          name="target"
          maxLength={2000}
          autoCapitalize="none"
          spellCheck={false}
          placeholder="/mnt/elsewhere/winterdock"
          note={
            <>
              A folder of this machine outside the data folder, best on another disk, or <code>s3://BUCKET/PREFIX</code>
              . Credentials of a store come from the environment.
            </>
          }
          defaultValue={values.target}
          error={errors.target}
        />
      </Wide>
      <InputField
        id="backup-cron"
        label="When"
        name="cron"
        maxLength={200}
        spellCheck={false}
        note="Minute, hour, day, month, weekday."
        defaultValue={values.cron}
        error={errors.cron}
      />
      <InputField
        id="backup-timezone"
        label="Time zone"
        name="timezone"
        maxLength={100}
        spellCheck={false}
        placeholder="Europe/Berlin"
        defaultValue={values.timezone}
        error={errors.timezone}
      />
      <Wide>
        <Checkbox name="enabled" label="Make one at each of these times" checked={values.enabled === 'on'} />
      </Wide>
      <Wide>
        <fieldset>
          <legend className="field-name">Kept: the newest of each of the last</legend>
          <div className="grid grid-cols-2 gap-4 sm:grid-cols-4">
            {keep('hourly', 'Hours')}
            {keep('daily', 'Days')}
            {keep('weekly', 'Weeks')}
            {keep('monthly', 'Months')}
          </div>
          {errors.keep !== undefined && <p className="complaint mt-1">Whole numbers from 0 to 1000.</p>}
        </fieldset>
      </Wide>
      <InputField
        id="backup-trial"
        label="Tried"
        name="trial_cron"
        maxLength={200}
        spellCheck={false}
        note="When one drawn sandbox is restored to a folder that is removed again. Empty: never."
        defaultValue={values.trial_cron}
        error={errors.trial_cron}
      />
      <div className="self-center">
        {canEncrypt ? (
          <Checkbox name="with_keys" label="The key files go with it, encrypted" checked={values.with_keys === 'on'} />
        ) : (
          <p className="text-small text-ink-2">
            The key files stay here: the server has no passphrase (<code>WB_BACKUP_PASSPHRASE</code>).
          </p>
        )}
        {errors.with_keys !== undefined && <p className="complaint mt-1">{errors.with_keys}</p>}
      </div>
      <Wide>
        <Submit className="button button-ink" doing="Trying the place…">
          Change it
        </Submit>
      </Wide>
    </SettingsForm>
  );
}
