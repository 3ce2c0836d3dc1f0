'use client';
/**
 * The form that makes sandboxes from a snapshot or a blueprint: how many, their name, their tenant, and whether they
 * start at once.
 */
import { useActionState } from 'react';
import { Field } from '../ui/field.tsx';
import { Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export type SeedField = 'count' | 'name' | 'tenant' | 'policy' | 'start';

export interface SeedState {
  values: Partial<Record<SeedField, string>>;
  errors: Partial<Record<SeedField, string>>;
  problem: { says: string; hint?: string } | null;
}

export type SeedAction = (previous: SeedState, form: FormData) => Promise<SeedState>;

export function SeedForm({
  verb,
  action,
  start,
  policies,
}: {
  verb: 'Restore' | 'Clone';
  action: SeedAction;
  start: SeedState;
  /** Policies to choose from; none when the policy is given. */
  policies: readonly string[];
}) {
  const [{ values, errors, problem }, submit] = useActionState(action, start);
  return (
    <form action={submit} className="grid gap-5" noValidate>
      {problem !== null && <Outcome outcome={{ ok: false, ...problem }} />}
      <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2 xl:grid-cols-4">
        <Field form="seed" name="count" title="How many" error={errors.count} note="1 to 1,000, all or none">
          {(props) => (
            <input
              {...props}
              className="input"
              type="number"
              min={1}
              max={1000}
              step={1}
              defaultValue={values.count ?? '1'}
              inputMode="numeric"
            />
          )}
        </Field>
        <Field
          form="seed"
          name="name"
          title="Name"
          error={errors.name}
          note="Optional; of several each gets -1, -2 and so on"
        >
          {(props) => <input {...props} className="input" defaultValue={values.name} autoComplete="off" />}
        </Field>
        <Field form="seed" name="tenant" title="Tenant" error={errors.tenant} note="Whose they will be">
          {(props) => (
            <input
              {...props}
              className="input font-mono"
              defaultValue={values.tenant}
              placeholder="acme"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
        {policies.length > 0 && (
          <Field form="seed" name="policy" title="Policy" error={errors.policy} note="What they may do">
            {(props) => (
              <select {...props} key={values.policy} className="input" defaultValue={values.policy ?? ''}>
                <option value="">as its source has</option>
                {policies.map((policy) => (
                  <option key={policy} value={policy}>
                    {policy}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Submit className="button button-ink" doing={verb === 'Restore' ? 'Restoring…' : 'Cloning…'}>
          {verb}
        </Submit>
        <label className="flex items-baseline gap-2.5">
          <input
            type="checkbox"
            className="size-4 flex-none accent-ink translate-y-0.5"
            name="start"
            value="1"
            defaultChecked={values.start === '1'}
          />
          <span>
            Start them at once.{' '}
            <span className="text-small text-ink-3">Otherwise each starts at its first request.</span>
          </span>
        </label>
      </div>
    </form>
  );
}
