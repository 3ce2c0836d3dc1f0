'use client';
/** The repair forms: which snapshot to restore, and how to name the sandbox with the salvaged files. */
import Link from 'next/link';
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { useActionMessage } from '#components/ui/use-action-message.ts';
import type { SalvageAction, SalvageState, SnapshotChoice } from './repair-state.ts';

type RestoreAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome>;

/** `name`: of the sandbox, for the toast: the notice is gone once the sandbox is restored. */
export function RestoreForm({
  action,
  name,
  snapshots,
}: {
  action: RestoreAction;
  name: string;
  snapshots: readonly SnapshotChoice[];
}) {
  const [outcome, submit] = useActionMessage(action, name);
  return (
    <form action={submit} className="grid gap-2">
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,27rem)_auto]">
        <Field form="restore" name="snapshot" title="Snapshot">
          {(props) => (
            <select {...props} className="input" defaultValue={snapshots[0]?.id}>
              {snapshots.map(({ id, label }) => (
                <option key={id} value={id}>
                  {label}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button button-ink" doing="Restoring…">
            Restore in place
          </Submit>
        </div>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}

/** `name`: of the sandbox, for the toast: the notice is gone once it is awake. */
export function FromStoredForm({ action, name }: { action: RestoreAction; name: string }) {
  const [outcome, submit] = useActionMessage(action, name);
  return (
    <form action={submit} className="grid gap-2">
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,27rem)_auto]">
        <Field form="stored" name="reason" title="Reason">
          {(props) => <input {...props} className="input" required maxLength={1000} autoComplete="off" />}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button button-ink" doing="Bringing it…">
            Take it from the store
          </Submit>
        </div>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}

/** The lost items, as far as the page names them. */
function LostList({ made }: { made: NonNullable<SalvageState['made']> }) {
  if (made.lostCount === 0) return null;
  const more = made.lostCount - made.lost.length;
  return (
    <div className="text-small">
      <p className="text-ink-2">Not readable:</p>
      <ul className="mt-1 grid gap-0.5">
        {made.lost.map(({ volume, path, why }) => (
          <li key={`${volume}${path}${why}`} className="[overflow-wrap:anywhere]">
            {path !== null && <code>/{`${volume}${path}`}</code>} <span className="text-ink-2">{why}</span>
          </li>
        ))}
      </ul>
      {more > 0 && made.list !== null && (
        <p className="mt-1 text-ink-2">
          And {more.toLocaleString('en')} more: all of them are listed in its{' '}
          <Link href={`/sandboxes/${made.id}?volume=memory&path=${encodeURIComponent(made.list)}`} prefetch={false}>
            /memory{made.list}
          </Link>
          .
        </p>
      )}
    </div>
  );
}

export function SalvageForm({ action }: { action: SalvageAction }) {
  const [{ name, outcome, made }, submit] = useActionState(action, { name: '', outcome: null });
  return (
    <form action={submit} className="grid gap-2" noValidate>
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,27rem)_auto]">
        <Field form="salvage" name="name" title="Name of the new sandbox">
          {(props) => (
            <input
              {...props}
              className="input"
              defaultValue={name}
              placeholder="It may stay empty"
              autoComplete="off"
            />
          )}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button" doing="Reading it…">
            Salvage
          </Submit>
        </div>
      </div>
      <Outcome outcome={outcome} />
      {made !== undefined && (
        <>
          <p>
            <Link href={`/sandboxes/${made.id}`} prefetch={false}>
              Open the new sandbox
            </Link>
          </p>
          <LostList made={made} />
        </>
      )}
    </form>
  );
}
