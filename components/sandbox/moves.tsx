'use client';
/**
 * The moves of a sandbox: open ones are buttons in plain forms, forbidden ones are disabled with the reason. The server
 * decides which are open; this only renders them.
 */
import Link from 'next/link';
import { useActionState } from 'react';
import type { State, Verb } from '#lib/lifecycle/states.ts';
import { type ActionOutcome, Outcome } from '../ui/outcome.tsx';
import { Submit } from '../ui/submit.tsx';
import { numberInWords, VERB_WORDS } from './state-words.ts';

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

function Extra({ verb, id, outcome }: { verb: Verb; id: string; outcome: MoveOutcome | null }) {
  if (verb === 'revive') {
    return (
      <label className="field max-w-md">
        <span className="field-name">Reason, for the ledger</span>
        <input
          className="input"
          name="reason"
          required
          maxLength={1000}
          defaultValue={outcome?.verb === 'revive' ? outcome.reason : ''}
          placeholder="Who needs it again, and for what"
          autoComplete="off"
        />
      </label>
    );
  }
  if (verb === 'delete') {
    return (
      <div className="grid max-w-md gap-2">
        <label className="field">
          <span className="field-name">
            Type <code>{id}</code> to confirm
          </span>
          <input
            className="input font-mono"
            name="confirm"
            required
            autoComplete="off"
            spellCheck={false}
            autoCapitalize="none"
          />
        </label>
        <label className="field">
          <span className="field-name">Why it goes, for the ledger (it may stay empty)</span>
          <input
            className="input"
            name="reason"
            maxLength={1000}
            defaultValue={outcome?.verb === 'delete' ? outcome.reason : ''}
            autoComplete="off"
          />
        </label>
      </div>
    );
  }
  return null;
}

function Allowed({ offer, id, outcome }: { offer: MoveOffer; id: string; outcome: MoveOutcome | null }) {
  const words = VERB_WORDS[offer.verb];
  const force = offer.force ?? (outcome?.verb === offer.verb && !outcome.ok ? outcome.force : null);
  const look =
    offer.verb === 'delete' ? 'button-fault' : offer.verb === 'resume' || offer.verb === 'revive' ? 'button-ink' : '';
  const note = `${offer.verb}-note`;
  return (
    <div className="grid gap-x-5 gap-y-2 sm:grid-cols-[7.5rem_minmax(0,1fr)]">
      <input type="hidden" name="verb" value={offer.verb} />
      <div className="grid gap-2">
        <p className="text-ink-2 sm:pt-[0.4375rem]" id={note}>
          {words.does}
        </p>
        <Extra verb={offer.verb} id={id} outcome={outcome} />
        {force !== null && (
          <label className="flex items-baseline gap-2 text-small">
            <input type="checkbox" name="force" value="1" className="check translate-y-0.5" />
            <span>
              <span className="font-[520]">Force.</span> {force}
            </span>
          </label>
        )}
      </div>
      <div className="sm:order-first">
        <Submit className={`button w-full ${look}`} doing={MOVES_IN_PROGRESS[offer.verb]} describedBy={note}>
          {words.label}
        </Submit>
      </div>
    </div>
  );
}

/** Several moves forbidden for the same reason, which is shown once. */
function AllForbidden({ offers, whyNot }: { offers: readonly MoveOffer[]; whyNot: string }) {
  return (
    <div className="grid gap-2">
      <p className="text-ink-2" id="moves-why-not">
        {whyNot}
      </p>
      <div className="flex flex-wrap gap-2">
        {offers.map(({ verb }) => (
          <button
            key={verb}
            type="button"
            className="button !min-h-7 text-small"
            disabled
            aria-describedby="moves-why-not"
          >
            {VERB_WORDS[verb].label}
          </button>
        ))}
      </div>
    </div>
  );
}

function Forbidden({ offer, id }: { offer: MoveOffer; id: string }) {
  const note = `${offer.verb}-why-not`;
  return (
    <div className="grid items-baseline gap-x-5 gap-y-1 sm:grid-cols-[7.5rem_minmax(0,1fr)]">
      <button type="button" className="button w-full !min-h-7 text-small" disabled aria-describedby={note}>
        {VERB_WORDS[offer.verb].label}
      </button>
      <p className="text-small text-ink-3" id={note}>
        {offer.whyNot}
        {offer.hops !== null && (
          <>
            {' '}
            <Link
              href={`/sandboxes/${id}/plan?to=${offer.hops.at(-1)}`}
              prefetch={false}
              className="whitespace-nowrap text-ink-2"
            >
              {VERB_WORDS[offer.verb].label} in {numberInWords(offer.hops.length)} steps
            </Link>
          </>
        )}
      </p>
    </div>
  );
}

export function Moves({ id, offers, action }: { id: string; offers: readonly MoveOffer[]; action: MoveAction }) {
  const [outcome, submit] = useActionState(action, null);
  const allowed = offers.filter((offer) => offer.whyNot === null);
  const forbidden = offers.filter((offer) => offer.whyNot !== null);
  const reasons = new Set(forbidden.map(({ whyNot }) => whyNot));
  const [reason] = reasons;
  const alike = allowed.length === 0 && reasons.size === 1 && forbidden.every(({ hops }) => hops === null);
  return (
    <div className="grid gap-4">
      <Outcome outcome={outcome} />
      {allowed.map((offer) => (
        <form key={offer.verb} action={submit}>
          <Allowed offer={offer} id={id} outcome={outcome} />
        </form>
      ))}
      {alike && typeof reason === 'string' && <AllForbidden offers={forbidden} whyNot={reason} />}
      {forbidden.length > 0 && !alike && (
        <div className="mt-1 grid gap-2">
          {forbidden.map((offer) => (
            <Forbidden key={offer.verb} offer={offer} id={id} />
          ))}
        </div>
      )}
    </div>
  );
}
