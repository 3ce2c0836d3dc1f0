'use client';
/** The buttons of one schedule: pause or go on, run now, delete. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';

export type ScheduleButtonAction = (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome | null>;

/** `name`: what it runs, for screen readers. `deletable`: false for one that the workbook declares. */
export function ScheduleButtons({
  name,
  paused,
  deletable,
  action,
}: {
  name: string;
  paused: boolean;
  deletable: boolean;
  action: ScheduleButtonAction;
}) {
  const [outcome, submit] = useActionState(action, null);
  const button = (act: string, label: string, doing: string, look = '') => (
    <Submit className={`button button-quiet ${look}`} name="act" value={act} doing={doing}>
      {label} <span className="sr-only">{name}</span>
    </Submit>
  );
  return (
    <form action={submit} className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        {button('run', 'Run now', 'Running…')}
        {paused ? button('go-on', 'Go on', 'Going on…') : button('pause', 'Pause', 'Pausing…')}
        {deletable && button('delete', 'Delete', 'Deleting…', 'button-fault')}
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
