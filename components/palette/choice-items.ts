/** The palette's items for one sandbox: its tabs, acts and moves. Pure. */

import { numberInWords } from '../sandbox/count-words.ts';
import type { MoveOffer } from '../sandbox/moves.tsx';
import { VERB_WORDS } from '../sandbox/state-words.ts';
import { lengthInWords } from '../ui/durations.ts';
import { type ActRefusals, parseAct, type SandboxAct, type TypedAct } from './acts.ts';
import { matches, type PaletteGroup, type PaletteItem, pageItem, type SandboxChoice } from './items.ts';

/** How long a hold lasts when nobody says so. */
const HOLD_SECONDS = 2 * 3600;

function actItem(name: string, act: SandboxAct, refusal: string | null, detail?: string): PaletteItem {
  return {
    value: `act ${act.kind}`,
    name,
    detail: refusal ?? detail,
    action: refusal === null ? { kind: 'act', act } : null,
  };
}

function snapshotName(tag: string): string {
  return tag === '' ? 'Take a snapshot' : `Take a snapshot as “${tag}”`;
}

/** The item of a typed act; null for a revival, which is a move. */
function typedActItem(act: TypedAct, refusals: ActRefusals): PaletteItem | null {
  switch (act.kind) {
    case 'run':
      return {
        value: 'act run',
        name: act.command === '' ? 'Run a command…' : `Run ${act.command}`,
        detail: refusals.run ?? 'Its answer appears here',
        action: refusals.run === null ? { kind: 'run', command: act.command } : null,
      };
    case 'hold':
      return actItem(`Hold for ${lengthInWords(act.seconds)}`, act, refusals.change, 'No move by itself until then');
    case 'keep-hot':
      return actItem(act.keep ? 'Keep hot' : 'Stop keeping hot', act, refusals.change);
    case 'snapshot':
      return actItem(snapshotName(act.tag), act, refusals.snapshot);
    case 'copy':
      return actItem('Copy its id', act, null);
    case 'release':
      return actItem('Let the clock run', act, refusals.change);
    case 'revive':
      return null;
  }
}

/** All acts of a sandbox. */
function actItems({ sandbox, refusals }: Pick<SandboxChoice, 'sandbox' | 'refusals'>): PaletteItem[] {
  const { change, snapshot } = refusals;
  const run = typedActItem({ kind: 'run', command: '' }, refusals);
  const held = sandbox.held;
  return [
    {
      value: 'act terminal',
      name: `Terminal of ${sandbox.name ?? sandbox.id}`,
      detail: refusals.run ?? 'Over this page',
      action: refusals.run === null ? { kind: 'terminal' } : null,
    },
    actItem('Copy its id', { kind: 'copy' }, null, sandbox.id),
    ...(run === null ? [] : [run]),
    actItem('Hold for 2 hours', { kind: 'hold', seconds: HOLD_SECONDS }, change, 'or type another length: hold 3d'),
    ...(held ? [actItem('Let the clock run', { kind: 'release' }, change, 'It is held now')] : []),
    actItem(
      sandbox.keep_hot ? 'Stop keeping hot' : 'Keep hot',
      { kind: 'keep-hot', keep: !sandbox.keep_hot },
      change,
      sandbox.keep_hot ? undefined : 'It is never suspended by itself',
    ),
    actItem('Take a snapshot', { kind: 'snapshot', tag: '' }, snapshot, 'with a tag: snapshot as before-upgrade'),
  ];
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

/** What can be done with a sandbox: a typed act first, then its tabs, acts and moves, the forbidden ones last. */
export function moveGroups(choice: SandboxChoice, typed: string): PaletteGroup[] {
  const {
    sandbox: { id, tenant },
    parts,
    offers,
    refusals,
  } = choice;
  const wanted = parseAct(typed);
  const typedItem = wanted === null ? null : typedActItem(wanted, refusals);
  const revive = wanted?.kind === 'revive' ? offers.find(({ verb }) => verb === 'revive') : undefined;
  const revived = revive === undefined ? null : wayTo(id, revive);
  const asTyped: PaletteItem[] = [
    ...(typedItem === null ? [] : [typedItem]),
    ...(revived === null || wanted?.kind !== 'revive'
      ? []
      : [
          {
            ...revived,
            name: `Revive: ${wanted.reason}`,
            action: revived.action?.kind === 'reason' ? { ...revived.action, reason: wanted.reason } : revived.action,
          },
        ]),
  ];
  const looks = [
    pageItem(`/sandboxes/${id}`, 'Open', 'Its page'),
    ...parts.map(({ name, href }) => pageItem(href, name)),
    pageItem(`/tenants/${tenant}`, 'Go to its tenant', tenant),
  ];
  const acts = actItems(choice);
  const moves = offers.map((offer) => wayTo(id, offer));
  const shown = (item: PaletteItem) => matches(typed, item.name) && !asTyped.some(({ value }) => value === item.value);
  const open = (item: PaletteItem) => item.action !== null && shown(item);
  return [
    { name: 'As typed', items: asTyped },
    { name: 'Look', items: looks.filter(shown) },
    { name: 'Do', items: acts.filter(open) },
    { name: 'Move', items: moves.filter(open) },
    { name: 'Not now', items: [...acts, ...moves].filter((item) => item.action === null && shown(item)) },
  ].filter(({ items }) => items.length > 0);
}
