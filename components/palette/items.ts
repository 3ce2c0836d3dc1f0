/** The palette's items: pages and sandboxes. Pure. */
import type { Instance } from '#lib/contract/schema.ts';
import type { MoveOffer } from '../sandbox/moves.tsx';
import { MAIN_NAV, OTHER_PAGES, SETTINGS_NAV, SETTINGS_PARTS, TOOL_NAV } from '../ui/nav-items.ts';
import type { ActRefusals, SandboxAct } from './acts.ts';

/** A sandbox as the palette shows it. */
export type PaletteSandbox = { id: string } & Pick<
  Instance,
  | 'name'
  | 'tenant'
  | 'state'
  | 'fault'
  | 'fault_reason'
  | 'state_since'
  | 'warm_since'
  | 'pending'
  | 'interrupted'
  | 'unreachable'
>;

/** A sandbox with the moves that are open to it now. */
export interface SandboxChoice {
  sandbox: PaletteSandbox & {
    keep_hot: boolean;
    /** It makes no move by itself now. */
    held: boolean;
  };
  refusals: ActRefusals;
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
  /** `typed`: an act that is chosen at once; `item`: one of what can be done with it, likewise. */
  | { kind: 'choose'; id: string; typed?: string; item?: string }
  | { kind: 'move'; offer: MoveOffer }
  /** `reason`: one that was typed already. */
  | { kind: 'reason'; offer: MoveOffer; reason?: string }
  | { kind: 'act'; act: SandboxAct }
  /** Runs a command in the sandbox, or asks for one when it is empty. */
  | { kind: 'run'; command: string }
  | { kind: 'calls' }
  /** Presses the footer's button of that name. */
  | { kind: 'theme'; theme: string }
  /** Goes to a button of the open page, by its name. */
  | { kind: 'button'; button: string }
  /** Opens a terminal over the page. */
  | { kind: 'terminal' }
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

/** An item that leads to a page. */
export function pageItem(href: string, name: string, detail?: string): PaletteItem {
  return { value: `go ${href}`, name, detail, action: { kind: 'go', href } };
}

/** By the values of the footer's buttons. */
const THEMES = [
  { theme: 'light', name: 'Look: Paper' },
  { theme: 'dark', name: 'Look: Night' },
  { theme: 'system', name: 'Look: as the system' },
] as const;

/** An address of a sandbox's page that was pasted, of whichever server: its id, and where it leads. */
export function pastedSandbox(typed: string): { id: string; href: string } | null {
  const text = typed.trim();
  const path = /^https?:\/\/[^/\s]+(\/\S*)$/i.exec(text)?.[1] ?? (/^\/\S+$/.test(text) ? text : null);
  const id = path === null ? undefined : /^\/sandboxes\/([A-Za-z0-9_-]{1,63})(?=[/?#]|$)/.exec(path)?.[1];
  return id === undefined || path === null ? null : { id, href: path };
}

/** What can be done with the sandbox of the open page: each is chosen there and then. */
export function itemsHere(id: string, groups: readonly PaletteGroup[]): PaletteItem[] {
  return groups.flatMap(({ items }) =>
    items.flatMap((item): PaletteItem[] => {
      const { action, value } = item;
      if (action === null) return [];
      const isWhole = action.kind === 'go' || action.kind === 'terminal';
      return [{ ...item, value: `here ${value}`, action: isWhole ? action : { kind: 'choose', id, item: value } }];
    }),
  );
}

/** The buttons of the open page that match. `buttons`: their names. */
export function buttonItems(typed: string, buttons: readonly string[]): PaletteItem[] {
  return buttons
    .filter((name) => matches(typed, name))
    .map((name) => ({
      value: `button ${name}`,
      name,
      detail: 'on this page',
      action: { kind: 'button', button: name },
    }));
}

/** The pages that match, and the actions that work on every page. `here`: the sandbox of the open one. */
export function pageItems(typed: string, here: string | null = null): PaletteItem[] {
  const settings = [...SETTINGS_NAV.filter(({ exact }) => exact !== true), ...SETTINGS_PARTS];
  const pages = [...MAIN_NAV, ...OTHER_PAGES, ...TOOL_NAV, ...settings].map(({ href, name }) =>
    pageItem(href, name, href),
  );
  const actions: PaletteItem[] = [
    pageItem('/sandboxes#new', 'New sandbox'),
    {
      value: 'terminal',
      name: here === null ? 'Terminal' : `Terminal of ${here}`,
      detail: 'Ctrl `, over this page',
      action: { kind: 'terminal' },
    },
    { value: 'sheet', name: 'Shortcuts', detail: '?', action: { kind: 'sheet' } },
    { value: 'calls', name: 'Show the calls that buttons make', detail: 'c', action: { kind: 'calls' } },
    ...THEMES.map(
      ({ theme, name }): PaletteItem => ({
        value: `theme ${theme}`,
        name,
        detail: 'theme, in this browser',
        action: { kind: 'theme', theme },
      }),
    ),
  ];
  return [...pages, ...actions].filter(({ name, detail }) => matches(typed, `${name} ${detail ?? ''}`));
}

/** Deleted sandboxes that match: what is left of each is its ledger. */
export function tombstoneItems(found: readonly PaletteSandbox[]): PaletteItem[] {
  return found.map((sandbox) => ({
    value: `deleted ${sandbox.id}`,
    name: sandbox.name ?? sandbox.id,
    detail: [...(sandbox.name === null ? [] : [sandbox.id]), sandbox.tenant].join(' · '),
    sandbox,
    action: { kind: 'go', href: `/sandboxes/${sandbox.id}` },
  }));
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
