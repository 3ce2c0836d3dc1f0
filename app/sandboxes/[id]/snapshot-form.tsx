'use client';
/** The form that takes a snapshot, with an optional tag. */
import Link from 'next/link';
import { useActionState } from 'react';
import { Field } from '#components/ui/field.tsx';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export interface SnapshotState {
  tag: string;
  /** The complaint about the tag. */
  error?: string;
  outcome: ActionOutcome | null;
  /** The id of the snapshot that was taken. */
  made?: string;
}

export type SnapshotAction = (previous: SnapshotState, form: FormData) => Promise<SnapshotState>;

export function SnapshotForm({ action }: { action: SnapshotAction }) {
  const [{ tag, error, outcome, made }, submit] = useActionState(action, { tag: '', outcome: null });
  return (
    <form action={submit} className="grid max-w-2xl gap-3" noValidate>
      <div className="grid items-start gap-x-4 gap-y-3 sm:grid-cols-[minmax(0,1fr)_auto]">
        <Field form="take" name="tag" title="Tag" error={error} note="Optional: what you will look for it by">
          {(props) => (
            <input
              {...props}
              className="input"
              defaultValue={tag}
              placeholder="before the migration"
              autoComplete="off"
            />
          )}
        </Field>
        <div className="sm:beside-fields">
          <Submit className="button button-ink" doing="Taking it…">
            Take a snapshot
          </Submit>
        </div>
      </div>
      <Outcome outcome={outcome} />
      {made !== undefined && (
        <p className="text-small">
          <Link href={`/snapshots/${made}`} prefetch={false}>
            Restore it, or see what it holds
          </Link>
        </p>
      )}
    </form>
  );
}
