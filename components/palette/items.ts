/** The palette's items: pages, sandboxes, and what can be done with one sandbox. Pure. */
import type { Instance } from '#lib/contract/schema.ts';
import type { MoveOffer } from '../sandbox/moves.tsx';
import { numberInWords, VERB_WORDS } from '../sandbox/state-words.ts';
import { MAIN_NAV, OTHER_PAGES, SETTINGS_NAV, TOOL_NAV } from '../ui/nav-items.ts';

/** A sandbox as the palette shows it. */
export type PaletteSandbox = { id: string } & Pick<
  Instance,
  'name' | 'tenant' | 'state' | 'fault' | 'fault_reason' | 'state_since' | 'warm_since' | 'pending' | 'interrupted'
>;

/** A sandbox with the moves that are open to it now. */
export interface SandboxChoice {
  sandbox: PaletteSandbox;
  /** The tabs of its page. */
  parts: readonly { name: string; href: string }[];
  offers: readonly MoveOffer[];
}

/** A sandbox that was visited in this browser. */
export interface RecentSandbox {
  id: string;
  name: string | null;
}

export type PaletteAction =
  | { kind: 'go'; href: string }
  | { kind: 'choose'; id: string }
  | { kind: 'move'; offer: MoveOffer }
  | { kind: 'reason'; offer: MoveOffer }
  | { kind: 'more' }
  | { kind: 'sheet' };

export interface PaletteItem {
  /** Unique in the list. */
  value: string;
  name: string;
  /** Smaller text beside the name. */
  detail?: string;
  /** Its state mark is drawn before the name. */
  sandbox?: PaletteSandbox;
  /** What choosing it does. null: it cannot be chosen, and `detail` says why. */
  action: PaletteAction | null;
}

export interface PaletteGroup {
  name: string;
  items: readonly PaletteItem[];
}

/** Whether each typed word is the beginning of a word of `text`. */
export function matches(typed: string, text: string): boolean {
  const words = text.toLowerCase().split(/[\s/_.:-]+/);
  const wanted = typed
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return wanted.every((want) => words.some((word) => word.startsWith(want)) || text.toLowerCase().includes(want));
}

function goes(href: string, name: string, detail?: string): PaletteItem {
  return { value: `go ${href}`, name, detail, action: { kind: 'go', href } };
}

/** The pages that match, and the actions that work on every page. */
export function pageItems(typed: string): PaletteItem[] {
  const pages = [...MAIN_NAV, ...OTHER_PAGES, ...TOOL_NAV, ...SETTINGS_NAV.filter(({ exact }) => exact !== true)].map(
    ({ href, name }) => goes(href, name, href),
  );
  const actions: PaletteItem[] = [
    goes('/sandboxes#new', 'New sandbox'),
    { value: 'sheet', name: 'Shortcuts', detail: '?', action: { kind: 'sheet' } },
  ];
  return [...pages, ...actions].filter(({ name, detail }) => matches(typed, `${name} ${detail ?? ''}`));
}

/** The sandboxes found, and an item that loads more where there are more. */
export function sandboxItems(found: readonly PaletteSandbox[], more: boolean): PaletteItem[] {
  const items: PaletteItem[] = found.map((sandbox) => ({
    value: `sandbox ${sandbox.id}`,
    name: sandbox.name ?? sandbox.id,
    detail: [...(sandbox.name === null ? [] : [sandbox.id]), sandbox.tenant].join(' · '),
    sandbox,
    action: { kind: 'choose', id: sandbox.id },
  }));
  return more ? [...items, { value: 'more', name: 'More of them', action: { kind: 'more' } }] : items;
}

/** Recently visited sandboxes that match. */
export function recentItems(recent: readonly RecentSandbox[], typed: string): PaletteItem[] {
  return recent
    .filter(({ id, name }) => matches(typed, `${name ?? ''} ${id}`))
    .map(({ id, name }) => ({
      value: `recent ${id}`,
      name: name ?? id,
      detail: name === null ? undefined : id,
      action: { kind: 'choose', id },
    }));
}

/** An item for an offer that needs more than one press: a plan, a reason, a confirmation. */
function wayTo(id: string, offer: MoveOffer): PaletteItem {
  const { verb, hops, whyNot } = offer;
  const { label, does } = VERB_WORDS[verb];
  const value = `move ${verb}`;
  if (hops !== null) {
    return {
      value,
      name: `${label} in ${numberInWords(hops.length)} steps…`,
      detail: whyNot ?? undefined,
      action: { kind: 'go', href: `/sandboxes/${id}/plan?to=${hops.at(-1)}` },
    };
  }
  if (whyNot !== null) return { value, name: label, detail: whyNot, action: null };
  // A move that is final or forced is confirmed on the page, where everything about it is visible.
  if (verb === 'delete' || offer.force !== null)
    return {
      value,
      name: `${label}…`,
      detail: offer.force ?? does,
      action: { kind: 'go', href: `/sandboxes/${id}#moves` },
    };
  if (verb === 'revive') return { value, name: `${label}…`, detail: does, action: { kind: 'reason', offer } };
  return { value, name: label, detail: does, action: { kind: 'move', offer } };
}

/** What can be done with a sandbox: its tabs first, then its moves, the forbidden ones last. */
export function moveGroups({ sandbox: { id }, parts, offers }: SandboxChoice, typed: string): PaletteGroup[] {
  const looks = [goes(`/sandboxes/${id}`, 'Open', 'Its page'), ...parts.map(({ name, href }) => goes(href, name))];
  const moves = offers.map((offer) => wayTo(id, offer));
  const fits = ({ name }: PaletteItem) => matches(typed, name);
  return [
    { name: 'Look', items: looks.filter(fits) },
    { name: 'Move', items: moves.filter((item) => item.action !== null && fits(item)) },
    { name: 'Not now', items: moves.filter((item) => item.action === null && fits(item)) },
  ].filter(({ items }) => items.length > 0);
}
