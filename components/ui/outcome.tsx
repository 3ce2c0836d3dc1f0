/** The outcome of a person's last action, in words. */

export interface ActionOutcome {
  ok: boolean;
  says: string;
  hint?: string;
}

export function Outcome({ outcome }: { outcome: ActionOutcome | null }) {
  if (outcome === null) return null;
  return (
    <div className={outcome.ok ? 'outcome' : 'outcome outcome-bad'} role={outcome.ok ? 'status' : 'alert'}>
      <p>{outcome.says}</p>
      {outcome.hint !== undefined && <p className="text-small text-ink-2">{outcome.hint}</p>}
    </div>
  );
}
