'use client';
/** The button that tries an example. */
import { useActionState } from 'react';
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';

export function ExampleForm({
  title,
  action,
  label = 'Try this example',
  ink = false,
}: {
  title: string;
  /** Of the button. */
  label?: string;
  /** The first thing to do on its page. */
  ink?: boolean;
  action: (previous: ActionOutcome | null) => Promise<ActionOutcome | null>;
}) {
  const [outcome, submit] = useActionState(action, null);
  return (
    <form action={submit} className="grid gap-2">
      <div>
        <Submit doing="Making its sandbox…" className={ink ? 'button button-ink' : 'button'}>
          {label}
          <span className="sr-only">: {title}</span>
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
