'use client';
/**
 * The form that creates a sandbox, in a disclosure. What was typed stays after a refusal; each complaint stands beside
 * its field.
 */
import { type ReactNode, useActionState, useEffect, useRef } from 'react';
import { Outcome } from '../../components/ui/outcome.tsx';
import { Submit } from '../../components/ui/submit.tsx';

export type CreateField = 'tenant' | 'name' | 'id' | 'policy' | 'labels' | 'ephemeral' | 'keep_hot';

export interface CreateState {
  values: Partial<Record<CreateField, string>>;
  errors: Partial<Record<CreateField, string>>;
  problem: { says: string; hint?: string } | null;
}

export type CreateAction = (previous: CreateState, form: FormData) => Promise<CreateState>;

function Field({
  name,
  title,
  note,
  error,
  className,
  children,
}: {
  name: CreateField;
  title: string;
  note?: string;
  error?: string;
  className?: string;
  children: (props: { id: string; name: string; 'aria-invalid': boolean; 'aria-describedby': string }) => ReactNode;
}) {
  const id = `create-${name}`;
  return (
    <div className={`block min-w-0 ${className ?? ''}`}>
      <label className="field-name" htmlFor={id}>
        {title}
      </label>
      {children({ id, name, 'aria-invalid': error !== undefined, 'aria-describedby': `${id}-note` })}
      <p id={`${id}-note`} className={error === undefined ? 'mt-1 text-small text-ink-3' : 'complaint mt-1'}>
        {error ?? note}
      </p>
    </div>
  );
}

function Tick({ name, checked, title, note }: { name: CreateField; checked: boolean; title: string; note: string }) {
  return (
    <label className="flex items-baseline gap-2.5">
      <input
        type="checkbox"
        className="size-4 flex-none accent-ink translate-y-0.5"
        name={name}
        value="1"
        defaultChecked={checked}
      />
      <span>
        {title} <span className="text-small text-ink-3">{note}</span>
      </span>
    </label>
  );
}

export function CreateForm({
  action,
  policies,
  start,
  open,
  tenants,
}: {
  action: CreateAction;
  /** Policies by name, each with what it allows; the first is the default. */
  policies: readonly { name: string; says: string }[];
  start: CreateState;
  open: boolean;
  /** The tenants that the visitor may act for; null: all. */
  tenants: readonly string[] | null;
}) {
  const [{ values, errors, problem }, submit] = useActionState(action, start);
  const complains = problem !== null || Object.keys(errors).length > 0;
  const fold = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (location.hash === '#new' && fold.current !== null) fold.current.open = true;
  }, []);
  return (
    <details
      ref={fold}
      className="group list-head-new"
      id="new"
      open={open || complains}
      onToggle={({ currentTarget }) => {
        // The visitor opens it, not the page.
        if (currentTarget.open && !open && !complains)
          currentTarget.querySelector<HTMLElement>('input, select')?.focus();
      }}
    >
      <summary className="button button-ink" data-create="">
        <span className="group-open:hidden">New sandbox</span>
        <span className="hidden group-open:inline">Close the form</span>
      </summary>
      <form action={submit} className="my-4 grid gap-5 border-y border-ink py-5" noValidate>
        {problem !== null && <Outcome outcome={{ ok: false, ...problem }} />}
        <div className="grid gap-x-6 gap-y-4 sm:grid-cols-2">
          <Field name="tenant" title="Tenant" error={errors.tenant} note="Whose it is: a-z, 0-9, _ and -">
            {(props) =>
              tenants === null ? (
                <input
                  {...props}
                  className="input font-mono"
                  required
                  defaultValue={values.tenant}
                  placeholder="acme"
                  autoCapitalize="none"
                  spellCheck={false}
                />
              ) : (
                <select {...props} key={values.tenant} className="input font-mono" defaultValue={values.tenant}>
                  {tenants.map((tenant) => (
                    <option key={tenant} value={tenant}>
                      {tenant}
                    </option>
                  ))}
                </select>
              )
            }
          </Field>
          <Field name="name" title="Name" error={errors.name} note="For people; optional, once per tenant">
            {(props) => <input {...props} className="input" defaultValue={values.name} autoComplete="off" />}
          </Field>
          <Field name="id" title="Id" error={errors.id} note="Optional: one is made when it is left empty">
            {(props) => (
              <input
                {...props}
                className="input font-mono"
                defaultValue={values.id}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
              />
            )}
          </Field>
          <Field
            name="policy"
            title="Policy"
            error={errors.policy}
            note={policies.map(({ name, says }) => `${name}: ${says}`).join(' · ')}
          >
            {(props) => (
              <select
                {...props}
                key={values.policy}
                className="input"
                defaultValue={values.policy ?? policies[0]?.name}
              >
                {policies.map(({ name }) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field
            name="labels"
            title="Labels"
            error={errors.labels}
            note="One a line, as key: value"
            className="sm:col-span-2"
          >
            {(props) => (
              <textarea
                {...props}
                className="input font-mono text-[0.875rem]"
                rows={2}
                defaultValue={values.labels}
                placeholder="env: test"
                autoCapitalize="none"
                spellCheck={false}
              />
            )}
          </Field>
        </div>
        <div className="grid gap-2">
          <Tick
            name="keep_hot"
            checked={values.keep_hot === '1'}
            title="Keep hot."
            note="It is never put to sleep by itself."
          />
          <Tick
            name="ephemeral"
            checked={values.ephemeral === '1'}
            title="Ephemeral."
            note="It is never suspended: once idle it is archived and deleted by itself."
          />
        </div>
        <div>
          <Submit className="button button-ink" doing="Creating…">
            Create sandbox
          </Submit>
        </div>
      </form>
    </details>
  );
}
