'use client';
/** The settings form. It carries the values it was shown with, so that nobody's change is lost. */
import { useActionState, useState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import {
  SETTING_NAMES,
  type Setting,
  type SettingsAction,
  type SettingsState,
  type SettingsText,
} from './settings-state.ts';

type Input = React.ComponentProps<'input'>;

const BLANK: SettingsState = { values: {}, base: null, errors: {}, outcome: null };
const NO_HELP: Input = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false };

export function SandboxSettingsForm({
  present,
  ephemeral,
  policies,
  placeholders,
  action,
}: {
  /** The present values as text. */
  present: SettingsText;
  ephemeral: boolean;
  policies: readonly { name: string; says: string }[];
  placeholders: Readonly<Partial<Record<Setting, string>>>;
  action: SettingsAction;
}) {
  const [state, submit] = useActionState(action, BLANK);
  const [answered, answer] = useState(state);
  // The page follows others' changes; a form that somebody is typing in stays as it began.
  const [begun, begin] = useState<SettingsText | null>(null);
  if (answered !== state) {
    answer(state);
    if (state.base === null) begin(null);
  }
  const { values, base, errors, outcome } = state;
  const initial = begun ?? present;
  const shownValue = (name: Setting) => values[name] ?? initial[name];
  const text = (name: Setting, note: string, more: Input = {}) => (
    <Field form="settings" name={name} title={SETTING_NAMES[name]} note={note} error={errors[name]}>
      {(props) => (
        <input
          {...props}
          {...NO_HELP}
          key={shownValue(name)}
          className="input"
          defaultValue={shownValue(name)}
          placeholder={placeholders[name]}
          {...more}
        />
      )}
    </Field>
  );
  return (
    <form
      action={submit}
      className="grid max-w-3xl gap-5"
      noValidate
      onInput={() => {
        if (begun === null) begin(present);
      }}
    >
      <input type="hidden" name="base" value={JSON.stringify(base ?? initial)} />
      <div className="grid items-start gap-x-6 gap-y-4 sm:grid-cols-2">
        {text('name', 'For people; once per tenant. Empty: none.')}
        <Field
          form="settings"
          name="policy"
          title={SETTING_NAMES.policy}
          note="Applies from the next start of its process."
          error={errors.policy}
        >
          {(props) => (
            <select {...props} key={shownValue('policy')} className="input" defaultValue={shownValue('policy')}>
              {policies.map(({ name, says }) => (
                <option key={name} value={name}>
                  {name}: {says}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field
          form="settings"
          name="labels"
          title={SETTING_NAMES.labels}
          note="One a line, as key: value. Removing a line removes its label."
          error={errors.labels}
          className="sm:col-span-2"
        >
          {(props) => (
            <textarea
              {...props}
              key={shownValue('labels')}
              className="input font-mono text-[0.875rem]"
              rows={Math.max(3, shownValue('labels').split('\n').length + 1)}
              defaultValue={shownValue('labels')}
              placeholder="env: test"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
        {text(
          'hot_to_warm_s',
          'After this idle time its process is paused in memory, until the next request; never: not at all. Empty: as for its tenant.',
        )}
        {text(
          'idle_to_suspend_s',
          ephemeral
            ? 'After this idle time it is archived and deleted. Empty: as for its tenant.'
            : 'After this idle time its process ends. Empty: as for its tenant.',
        )}
        {text(
          'idle_to_freeze_s',
          ephemeral
            ? 'Without effect: an ephemeral one is never frozen.'
            : 'After this time suspended it is frozen. Empty: as for its tenant.',
        )}
        {text('hold_until', 'No automatic move before this time. Empty: no hold.', {
          type: 'datetime-local',
        })}
        {text(
          'replicate',
          'off, filed, seconds such as 1s (so much later at most, all it commits is in the replica), or sync (before it is answered). Empty: as for its tenant.',
        )}
        <label className="flex items-baseline gap-2 sm:pt-7">
          <input
            key={shownValue('keep_hot')}
            type="checkbox"
            className="size-4 flex-none accent-ink translate-y-0.5"
            name="keep_hot"
            value="1"
            defaultChecked={shownValue('keep_hot') === '1'}
          />
          <span>
            Keep hot. <span className="text-small text-ink-3">It is never paused or put to sleep by itself.</span>
          </span>
        </label>
      </div>
      <div className="flex flex-wrap items-center gap-x-5 gap-y-3">
        <Submit className="button button-ink" doing="Saving…">
          Save
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
