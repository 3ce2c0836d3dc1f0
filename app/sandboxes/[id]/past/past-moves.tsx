'use client';
/** What can be made of the moment that is open: a new sandbox, or this one as it was. */
import Link from 'next/link';
import { useActionState } from 'react';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { MomentField, MomentState } from '../../../moment-form.tsx';
import { InputField } from '../../../settings/form-fields.tsx';
import { blank } from '../../../settings/form-state.ts';

type MomentAction = (previous: MomentState, form: FormData) => Promise<MomentState>;

function Answer({ state: { outcome, errors, made } }: { state: MomentState }) {
  const complaint = errors.time ?? errors.instance;
  return (
    <>
      <Outcome outcome={complaint === undefined ? outcome : { ok: false, says: complaint }} />
      {made !== undefined && (
        <p>
          <Link href={`/sandboxes/${made}`} prefetch={false}>
            Open it
          </Link>
        </p>
      )}
    </>
  );
}

function ReasonField({ id, state }: { id: string; state: MomentState }) {
  return (
    <InputField
      id={id}
      label="Reason"
      name="reason"
      maxLength={1000}
      note="For the ledger."
      defaultValue={state.values.reason}
      error={state.errors.reason}
    />
  );
}

/** `time`: of the moment, as the action parses it. */
export function NewFromHere({ action, time }: { action: MomentAction; time: string }) {
  const [state, submit] = useActionState<MomentState, FormData>(action, blank<MomentField>());
  return (
    <details className="unfold act" name="past-move" open={state.outcome !== null || undefined}>
      <summary>New sandbox from here</summary>
      <form action={submit} className="my-3 grid max-w-xl gap-3">
        <input type="hidden" name="time" value={time} />
        <InputField
          id="past-new-name"
          label="Its name"
          name="name"
          maxLength={200}
          note="Optional."
          defaultValue={state.values.name}
          error={state.errors.name}
        />
        <ReasonField id="past-new-reason" state={state} />
        <div>
          <Submit className="button button-ink" doing="Making it…" name="intent" value="new">
            Make it
          </Submit>
        </div>
        <Answer state={state} />
      </form>
    </details>
  );
}

/** `when`: the moment in words. */
export function RestoreHere({ action, time, when }: { action: MomentAction; time: string; when: string }) {
  const [state, submit] = useActionState<MomentState, FormData>(action, blank<MomentField>());
  return (
    <details className="unfold act" name="past-move" open={state.outcome !== null || undefined}>
      <summary>Restore here</summary>
      <form action={submit} className="my-3 grid max-w-xl gap-3">
        <p>
          It becomes what it was at {when}: its workspace and its memory. What it has now is kept as a moment with a
          name, by which this can be undone.
        </p>
        <input type="hidden" name="time" value={time} />
        <ReasonField id="past-restore-reason" state={state} />
        <div>
          <Submit className="button button-fault" doing="Restoring it…" name="intent" value="itself">
            Restore it
          </Submit>
        </div>
        <Answer state={state} />
      </form>
    </details>
  );
}
