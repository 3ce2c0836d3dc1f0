'use client';
import type { ReactNode } from 'react';
import { Submit } from '../ui/submit.tsx';
import { type RevivalFacts, revivalInWords } from './revival-words.ts';
/** The card of an archived sandbox: what a revival brings back, what not, how long it takes, and the form for it. */
import { ReviveReason } from './revive-reason.tsx';

/** `reason`: what was typed before a refusal. */
export function ReviveCard({
  action,
  reason,
  force,
  facts,
}: {
  action: (form: FormData) => void;
  reason: string;
  force: ReactNode;
  facts: RevivalFacts | null;
}) {
  return (
    <form action={action} className="grid gap-1.5 rounded border border-ink bg-sheet p-2.5">
      <input type="hidden" name="verb" value="revive" />
      {facts !== null && (
        <p className="text-small text-ink-2" id="revive-note">
          {revivalInWords(facts).join(' ')}
        </p>
      )}
      <div className="flex items-end gap-2">
        <ReviveReason className="flex-1" reason={reason} />
        <Submit
          className="button button-ink"
          doing="Reviving…"
          describedBy={facts === null ? undefined : 'revive-note'}
        >
          Revive
        </Submit>
      </div>
      {force}
    </form>
  );
}
