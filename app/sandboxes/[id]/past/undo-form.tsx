'use client';
/** One button that undoes a restore. What it did is told in a message, because the button goes with what it undid. */
import { type ActionOutcome, Outcome } from '#components/ui/outcome.tsx';
import { Submit } from '#components/ui/submit.tsx';
import { useActionMessage } from '#components/ui/use-action-message.ts';

/** `sandbox`: its id, for the message. `moment`: the name of what comes back, for screen readers. */
export function UndoForm({
  sandbox,
  moment,
  action,
}: {
  sandbox: string;
  moment: string;
  action: (previous: ActionOutcome | null) => Promise<ActionOutcome>;
}) {
  const [outcome, submit] = useActionMessage(action, sandbox);
  return (
    <form action={submit} className="grid gap-2">
      <div>
        <Submit className="button button-quiet" doing="Undoing it…">
          Undo that restore <span className="sr-only">{moment}</span>
        </Submit>
      </div>
      <Outcome outcome={outcome} />
    </form>
  );
}
