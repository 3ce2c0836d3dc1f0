'use client';
import { useActionState } from 'react';
/** The form that revives a sandbox from a row of the support desk. */
import { ReviveReason } from '#components/sandbox/revive-reason.tsx';
import { Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import type { DeskOutcome } from './actions.ts';

/** `name`: of the sandbox, for screen readers. `q`: what was searched for. */
export function ReviveForm({
  action,
  name,
  q,
}: {
  action: (previous: DeskOutcome | null, form: FormData) => Promise<DeskOutcome | null>;
  name: string;
  q: string;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <details
      name="revive"
      data-cover=""
      className="md:relative"
      open={outcome !== null || undefined}
      onToggle={({ currentTarget }) => {
        // The visitor opens it, not an answer.
        if (currentTarget.open && outcome === null)
          currentTarget.querySelector<HTMLInputElement>('input[name="reason"]')?.focus();
      }}
    >
      <summary className="button button-quiet">
        Revive…<span className="sr-only"> {name}</span>
      </summary>
      <form
        action={submit}
        className="mt-2 grid gap-2 text-left md:absolute md:top-full md:right-0 md:z-20 md:w-80 md:rounded md:border md:border-ink md:bg-sheet md:p-4"
      >
        <input type="hidden" name="q" value={q} />
        <ReviveReason reason={outcome?.reason ?? ''} />
        <div>
          <Submit className="button button-ink" doing="Reviving…">
            Revive<span className="sr-only"> {name}</span>
          </Submit>
        </div>
        <Outcome outcome={outcome} />
      </form>
    </details>
  );
}
