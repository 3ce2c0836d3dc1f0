'use client';
/** Holds the idle clock: keeps a sandbox hot, or allows no move before a given time. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '../../../components/ui/outcome.tsx';
import { Submit } from '../../../components/ui/submit.tsx';

export type HoldAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

export function HoldForm({ keepHot, isHeld, action }: { keepHot: boolean; isHeld: boolean; action: HoldAction }) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-2">
      <div className="flex flex-wrap gap-1.5">
        {keepHot ? (
          <Submit name="hold" value="let-go" className="button button-quiet" doing="Letting go…">
            Stop keeping hot
          </Submit>
        ) : (
          <Submit name="hold" value="keep-hot" className="button button-quiet" doing="Holding…">
            Keep hot
          </Submit>
        )}
        <Submit name="hold" value="hour" className="button button-quiet" doing="Holding…">
          {isHeld ? 'Hold one more hour' : 'Hold for one hour'}
        </Submit>
        {isHeld && (
          <Submit name="hold" value="release" className="button button-quiet" doing="Letting go…">
            Let the clock run
          </Submit>
        )}
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
