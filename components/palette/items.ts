/** What the palette offers: its pages, and what may be done with one sandbox, as lists of things to choose. Pure. */
import type { Instance } from '#lib/contract/schema.ts';
import type { Offer } from '../sandbox/moves.tsx';
import { numberInWords, VERB_WORDS } from '../sandbox/state-words.ts';
import { PAGES, PLACES, SETTINGS, TOOLS } from '../ui/nav-items.ts';

/** A sandbox as the palette shows it. */
export type Shown = Pick<
  Instance,
  'id' | 'name' | 'tenant' | 'state' | 'fault' | 'fault_reason' | 'state_since' | 'pending' | 'interrupted'
>;

/** A sandbox with what may be done to it now. */
export interface Chosen {
  sandbox: Shown;
  /** Its parts, which are looked at. */
  parts: readonly { name: string; href: string }[];
  offers: readonly Offer[];
}

/** A sandbox that was looked at in this browser. */
export interface Recent {
  id: string;
  name: string | null;
}

export type Deed =
  | { kind: 'go'; href: string }
  | { kind: 'choose'; id: string }
  | { kind: 'move'; offer: Offer }
  | { kind: 'reason'; offer: Offer }
  | { kind: 'more' }
  | { kind: 'sheet' };

export interface Item {
  /** Its own in the whole list. */
  value: string;
  name: string;
  /** In smaller words beside it. */
  detail?: string;
  /** Drawn before it. */
  sandbox?: Shown;
  /** What choosing it does; null: it cannot be chosen, and `detail` says why. */
  deed: Deed | null;
}

export interface Group {
  name: string;
  items: readonly Item[];
}

/** Whether each typed word begins a word of `text`. */
export function matches(typed: string, text: string): boolean {
  const words = text.toLowerCase().split(/[\s/_.:-]+/);
  const wanted = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return wanted.every((want) => words.some((word) => word.startsWith(want)) || text.toLowerCase().includes(want));
}

function goes(href: string, name: string, detail?: string): Item {
  return { value: `go ${href}`, name, detail, deed: { kind: 'go', href } };
}

/** The pages that match, and what else can be done from anywhere. */
export function pageItems(typed: string): Item[] {
  const pages = [...PLACES, ...PAGES, ...TOOLS, ...SETTINGS.filter(({ exact }) => exact !== true)].map(
    ({ href, name }) => goes(href, name, href),
  );
  const deeds: Item[] = [
    goes('/sandboxes#new', 'New sandbox'),
    { value: 'sheet', name: 'Shortcuts', detail: '?', deed: { kind: 'sheet' } },
  ];
  return [...pages, ...deeds].filter(({ name, detail }) => matches(typed, `${name} ${detail ?? ''}`));
}

/** Sandboxes found, and at the end more of them where there are. */
export function sandboxItems(found: readonly Shown[], more: boolean): Item[] {
  const items: Item[] = found.map((sandbox) => ({
    value: `sandbox ${sandbox.id}`,
    name: sandbox.name ?? sandbox.id,
    detail: [...(sandbox.name === null ? [] : [sandbox.id]), sandbox.tenant].join(' · '),
    sandbox,
    deed: { kind: 'choose', id: sandbox.id },
  }));
  return more ? [...items, { value: 'more', name: 'More of them', deed: { kind: 'more' } }] : items;
}

/** Sandboxes looked at before that match. */
export function recentItems(recent: readonly Recent[], typed: string): Item[] {
  return recent
    .filter(({ id, name }) => matches(typed, `${name ?? ''} ${id}`))
    .map(({ id, name }) => ({
      value: `recent ${id}`,
      name: name ?? id,
      detail: name === null ? undefined : id,
      deed: { kind: 'choose', id },
    }));
}

/** Where a wish that is no single move, or needs more than a press, is granted. */
function wayTo(id: string, offer: Offer): Item {
  const { verb, hops, whyNot } = offer;
  const { label, does } = VERB_WORDS[verb];
  const value = `move ${verb}`;
  if (hops !== null) {
    return {
      value,
      name: `${label} in ${numberInWords(hops.length)} steps…`,
      detail: whyNot ?? undefined,
      deed: { kind: 'go', href: `/sandboxes/${id}/plan?to=${hops.at(-1)}` },
    };
  }
  if (whyNot !== null) return { value, name: label, detail: whyNot, deed: null };
  // What is for good or against a fault is confirmed where everything about it can be seen.
  if (verb === 'delete' || offer.force !== null)
    return {
      value,
      name: `${label}…`,
      detail: offer.force ?? does,
      deed: { kind: 'go', href: `/sandboxes/${id}#moves` },
    };
  if (verb === 'revive') return { value, name: `${label}…`, detail: does, deed: { kind: 'reason', offer } };
  return { value, name: label, detail: does, deed: { kind: 'move', offer } };
}

/** What may be done with a sandbox: look at it first, then its moves, those that may not be made last. */
export function moveGroups({ sandbox: { id }, parts, offers }: Chosen, typed: string): Group[] {
  const looks = [goes(`/sandboxes/${id}`, 'Open', 'Its page'), ...parts.map(({ name, href }) => goes(href, name))];
  const moves = offers.map((offer) => wayTo(id, offer));
  const fits = ({ name }: Item) => matches(typed, name);
  return [
    { name: 'Look', items: looks.filter(fits) },
    { name: 'Move', items: moves.filter((item) => item.deed !== null && fits(item)) },
    { name: 'Not now', items: moves.filter((item) => item.deed === null && fits(item)) },
  ].filter(({ items }) => items.length > 0);
}
