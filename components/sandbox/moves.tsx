'use client';
/**
 * The moves of a sandbox: those that may be made are buttons in plain forms; the others stand under More with their
 * reasons. Deleting and reviving ask before they act. The server decides which are open; this only renders them.
 */
import Link from 'next/link';
import { type ReactNode, useActionState, useEffect, useRef } from 'react';
import type { State, Verb } from '#lib/lifecycle/state-map.ts';
import { WithCall } from '../calls/with-call.tsx';
import { ConfirmField } from '../ui/confirm-field.tsx';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';
import { numberInWords } from './count-words.ts';
import type { RevivalFacts } from './revival-words.ts';
import { ReviveCard } from './revive-card.tsx';
import { VERB_WORDS } from './state-words.ts';

export interface MoveOffer {
  verb: Verb;
  /** Null when the move is open, otherwise the reason. */
  whyNot: string | null;
  /** What forcing the move would do, where that is offered. */
  force: string | null;
  /** The hops of a plan that reaches what this move alone cannot, where there is one. */
  hops: readonly State[] | null;
}

export interface MoveOutcome extends ActionOutcome {
  verb: Verb;
  /** The reason that was typed, so that it is not lost. */
  reason: string;
  /** What forcing it would do, after a refusal that force overcomes. */
  force: string | null;
}

export type MoveAction = (previous: MoveOutcome | null, form: FormData) => Promise<MoveOutcome | null>;

/** The label of a move while it runs. */
export const MOVES_IN_PROGRESS: Readonly<Record<Verb, string>> = {
  resume: 'Waking…',
  suspend: 'Suspending…',
  freeze: 'Freezing…',
  archive: 'Archiving…',
  revive: 'Reviving…',
  delete: 'Deleting…',
};

/** What forcing a move would do, where that is offered: by the offer, or after a refusal. */
function forceOf(offer: MoveOffer, outcome: MoveOutcome | null): string | null {
  return offer.force ?? (outcome?.verb === offer.verb && !outcome.ok ? outcome.force : null);
}

function ForceBox({ does, className = '' }: { does: string | null; className?: string }) {
  if (does === null) return null;
  return (
    <label className={`flex items-baseline gap-2 text-small ${className}`}>
      <input type="checkbox" name="force" value="1" className="size-4 flex-none accent-ink translate-y-0.5" />
      <span>
        <span className="font-[520]">Force.</span> {does}
      </span>
    </label>
  );
}

/** A move that one press makes. */
function MoveForm({
  offer,
  outcome,
  action,
}: {
  offer: MoveOffer;
  outcome: MoveOutcome | null;
  action: (form: FormData) => void;
}) {
  const { label, does } = VERB_WORDS[offer.verb];
  const note = `${offer.verb}-note`;
  const force = forceOf(offer, outcome);
  return (
    // What forces it stands below the whole row, so that the buttons stay side by side.
    <form action={action} className={force === null ? 'grid' : 'contents'}>
      <input type="hidden" name="verb" value={offer.verb} />
      <span title={does}>
        <Submit
          className={`button ${offer.verb === 'resume' ? 'button-ink' : ''}`}
          doing={MOVES_IN_PROGRESS[offer.verb]}
          describedBy={note}
        >
          {label}
        </Submit>
      </span>
      <span className="sr-only" id={note}>
        {does}
      </span>
      <ForceBox does={force} className="order-last basis-full lg:justify-end" />
    </form>
  );
}

/** A disclosure that opens over what is below it, so that nothing moves; one is open at a time. */
function Disclosure({
  label,
  look = '',
  open = false,
  quiet = false,
  children,
}: {
  label: string;
  look?: string;
  open?: boolean;
  /** Small, where it stands below something more important. */
  quiet?: boolean;
  children: ReactNode;
}) {
  return (
    <details name="moves" data-cover="" className="group" open={open || undefined}>
      <summary className={`button group-open:bg-wash ${look} ${quiet ? 'button-quiet' : ''}`}>{label}</summary>
      <div className="absolute inset-x-0 top-full z-20 mt-2 grid gap-3 rounded border border-ink bg-sheet p-4">
        {children}
      </div>
    </details>
  );
}

function DeleteDisclosure({
  id,
  offer,
  outcome,
  action,
}: {
  id: string;
  offer: MoveOffer;
  outcome: MoveOutcome | null;
  action: (form: FormData) => void;
}) {
  return (
    <Disclosure label="Delete…" look="button-fault" open={outcome?.verb === 'delete'} quiet>
      <form action={action} className="grid gap-3">
        <input type="hidden" name="verb" value="delete" />
        <p className="text-ink-2" id="delete-note">
          {VERB_WORDS.delete.does}
        </p>
        <ConfirmField form="delete" word={id} />
        <label className="block min-w-0">
          <span className="field-name">Why it goes, for the ledger (it may stay empty)</span>
          <input
            className="input"
            name="reason"
            maxLength={1000}
            defaultValue={outcome?.verb === 'delete' ? outcome.reason : ''}
            autoComplete="off"
          />
        </label>
        <ForceBox does={forceOf(offer, outcome)} />
        <div>
          <Submit className="button button-fault" doing={MOVES_IN_PROGRESS.delete} describedBy="delete-note">
            Delete
          </Submit>
        </div>
      </form>
    </Disclosure>
  );
}

function Forbidden({ offer, id, reason }: { offer: MoveOffer; id: string; reason: boolean }) {
  const note = `${offer.verb}-why-not`;
  const { label } = VERB_WORDS[offer.verb];
  return (
    <li className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-baseline gap-x-3">
      <button
        type="button"
        className="button !min-h-7 w-full !px-2 text-small"
        disabled
        aria-describedby={reason ? note : 'moves-why-not'}
      >
        {label}
      </button>
      <p className="text-small text-ink-2" id={note}>
        {reason && offer.whyNot}
        {offer.hops !== null && (
          <>
            {' '}
            <Link
              href={`/sandboxes/${id}/plan?to=${offer.hops.at(-1)}`}
              prefetch={false}
              className="whitespace-nowrap text-ink"
            >
              {label} in {numberInWords(offer.hops.length)} steps
            </Link>
          </>
        )}
      </p>
    </li>
  );
}

/** `revival`: what a revival brings back, for an archived one. `next`: where to go once it is awake. */
export function Moves({
  id,
  offers,
  action,
  revival,
  next,
}: {
  id: string;
  offers: readonly MoveOffer[];
  action: MoveAction;
  revival: RevivalFacts | null;
  next: ReactNode;
}) {
  const [outcome, submit] = useActionState(action, null);
  const did = useRef<HTMLDivElement>(null);
  const answered = useRef<MoveOutcome | null>(null);
  useEffect(() => {
    if (outcome === null || offers.length === 0 || answered.current === outcome) return;
    // The button that was pressed went with the state: the keyboard goes on from what came of it.
    const focused = document.activeElement;
    if (focused !== document.body && focused?.matches('#moves [tabindex="-1"]') !== true) return;
    answered.current = outcome;
    did.current?.focus({ preventScroll: true });
  }, [outcome, offers]);
  const open = offers.filter((offer) => offer.whyNot === null);
  const forbidden = offers.filter((offer) => offer.whyNot !== null);
  const revive = open.find(({ verb }) => verb === 'revive');
  const remove = open.find(({ verb }) => verb === 'delete');
  const reasons = new Set(forbidden.map(({ whyNot }) => whyNot));
  // Several moves forbidden for the same reason, which is shown once, beside the row.
  const [shared] = open.length === 0 && reasons.size === 1 ? reasons : [];
  return (
    <div className="relative grid gap-2">
      {revive !== undefined && (
        <WithCall name="reviveInstance" path={{ id }} fields={{ reason: 'text', force: 'true' }}>
          <ReviveCard
            action={submit}
            reason={outcome?.verb === 'revive' ? outcome.reason : ''}
            force={<ForceBox does={forceOf(revive, outcome)} />}
            facts={revival}
          />
        </WithCall>
      )}
      {typeof shared === 'string' && (
        <p className="text-ink-2 lg:text-right" id="moves-why-not">
          {shared}
        </p>
      )}
      <div className="flex flex-wrap items-start gap-2 lg:justify-end">
        {open
          .filter((offer) => offer !== revive && offer !== remove)
          .map((offer) => (
            <WithCall key={offer.verb} name={`${offer.verb}Instance`} path={{ id }} fields={{ force: 'true' }}>
              <MoveForm offer={offer} outcome={outcome} action={submit} />
            </WithCall>
          ))}
        {remove !== undefined && (
          <WithCall name="deleteInstance" path={{ id }} fields={{ reason: 'text' }}>
            <DeleteDisclosure id={id} offer={remove} outcome={outcome} action={submit} />
          </WithCall>
        )}
        {forbidden.length > 0 && (
          <Disclosure label="More" quiet={revive !== undefined}>
            <ul className="grid gap-2">
              {forbidden.map((offer) => (
                <Forbidden key={offer.verb} offer={offer} id={id} reason={shared === undefined} />
              ))}
            </ul>
          </Disclosure>
        )}
      </div>
      {outcome !== null && (
        <div ref={did} tabIndex={-1}>
          <Outcome outcome={outcome} />
        </div>
      )}
      {outcome?.ok && (outcome.verb === 'revive' || outcome.verb === 'resume') && next}
    </div>
  );
}
