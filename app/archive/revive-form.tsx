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
    <details open={outcome !== null || undefined}>
      <summary className="button button-quiet">
        Revive…<span className="sr-only"> {name}</span>
      </summary>
      <form action={submit} className="mt-2 grid min-w-56 gap-2 text-left">
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
