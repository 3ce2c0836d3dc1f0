'use client';
/** The palette's first step: find anything that has a name or an address, or act on the sandbox of the open page. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
import { parseAct } from './acts.ts';
import { moveGroups } from './choice-items.ts';
import { Chooser, KeyHints } from './chooser.tsx';
import { useNames, useSandboxes, useTombstones } from './data.ts';
import {
  buttonItems,
  itemsHere,
  type PaletteAction,
  type PaletteItem,
  pageItems,
  pastedSandbox,
  recentItems,
  sandboxItems,
  tombstoneItems,
} from './items.ts';
import type { LoadSandbox } from './move-step.tsx';
import { pageButtons } from './page-buttons.ts';
import { readRecent } from './recent.ts';

/** The tenant that `tenant acme` or `go to tenant acme` asks for. */
function tenantIn(typed: string): string | null {
  return /^(?:go\s+to\s+)?tenant\s+(\S.*)$/i.exec(typed.trim())?.[1] ?? null;
}

/** What was not found, in words; null when there is something of everything that was asked for. */
function missing(typed: string, tenant: string | null, shown: { names: number; sandboxes: number; all: number }) {
  const text = typed.trim();
  if (text === '') return null;
  if (tenant !== null) return shown.names === 0 ? `No tenant of yours is called “${tenant}”.` : null;
  if (shown.sandboxes > 0) return null;
  if (parseAct(text) !== null) {
    return shown.all > 0 ? null : `“${text}” is done to a sandbox: find it first, or type this on its page.`;
  }
  return shown.all > 0
    ? `No sandbox matches “${text}”.`
    : `Nothing matches “${text}”: no sandbox by id, name, tenant or label, no tenant, snapshot, blueprint or page.`;
}

export function FindStep({
  actor,
  here,
  ask,
  typed,
  entered,
  forTerminal,
  onType,
  onAction,
}: {
  /** The visitor, as the ledger names them. */
  actor: string;
  /** The sandbox of the open page. */
  here: string | null;
  /** Reads that one with its moves. */
  ask: LoadSandbox;
  typed: string;
  /** Enter was pressed before the list was there. */
  entered: boolean;
  /** A sandbox is chosen for its terminal. */
  forTerminal: boolean;
  onType: (typed: string) => void;
  onAction: (action: PaletteAction, directly: boolean) => void;
}) {
  const [recent] = useState(() => readRecent(actor));
  const [buttons] = useState(pageButtons);
  const pasted = pastedSandbox(typed);
  const wanted = pasted?.id ?? typed;
  const { found, more, readMore, fresh, failed } = useSandboxes(wanted);
  const deleted = useTombstones(forTerminal ? '' : wanted);
  const isHere = here !== null && !forTerminal;
  const { data: choice, isPending } = useQuery({
    queryKey: ['palette', 'here', here],
    queryFn: () => ask(here ?? ''),
    enabled: isHere,
    staleTime: 0,
  });
  const tenant = tenantIn(typed);
  const names = useNames(tenant ?? wanted).filter(
    ({ detail }) => !forTerminal && (tenant === null || detail === 'tenant'),
  );
  const recents = recentItems(recent, typed).map((item) => {
    const known = found.find(({ id }) => `recent ${id}` === item.value);
    return known === undefined ? item : { ...item, sandbox: known };
  });
  const others = found.filter(({ id }) => !recents.some(({ value }) => value === `recent ${id}`));
  const pages = forTerminal ? [] : pageItems(typed, here);
  const begun =
    typed.trim() !== '' && pages.some(({ name }) => name.toLowerCase().startsWith(typed.trim().toLowerCase()));
  const places = { name: 'Places', items: pages };
  const onPage = { name: 'On this page', items: forTerminal ? [] : buttonItems(typed, buttons) };
  // Beside a name that is searched for, a button comes first only when that is how it begins.
  const first = onPage.items.filter(({ name }) => name.toLowerCase().startsWith(typed.trim().toLowerCase()));
  const rest = { ...onPage, name: 'Also on this page', items: onPage.items.filter((item) => !first.includes(item)) };
  const acts: PaletteItem[] =
    forTerminal || here === null || parseAct(typed) === null
      ? []
      : [{ value: 'here', name: typed.trim(), detail: here, action: { kind: 'choose', id: here, typed } }];
  const own: PaletteItem[] =
    here === null || choice === undefined || choice === null || acts.length > 0
      ? []
      : itemsHere(here, moveGroups(choice, typed));
  const address: PaletteItem[] =
    pasted === null || forTerminal
      ? []
      : [{ value: 'address', name: pasted.id, detail: pasted.href, action: { kind: 'go', href: pasted.href } }];
  const groups = [
    { name: 'This address', items: address },
    { name: 'Do to this sandbox', items: acts },
    { name: 'This sandbox', items: own },
    ...(begun ? [places] : []),
    { ...onPage, items: first },
    { name: 'Looked at before', items: recents },
    { name: 'Sandboxes', items: sandboxItems(others, more) },
    { name: deleted.length === 1 ? '1 deleted matches' : 'Deleted ones that match', items: tombstoneItems(deleted) },
    {
      name: 'Names',
      items: names.map(({ name, detail, href }): PaletteItem => {
        return { value: `go ${href}`, name, detail, action: { kind: 'go', href } };
      }),
    },
    rest,
    ...(begun ? [] : [places]),
  ].filter(({ items }) => items.length > 0);
  const sandboxes = recents.length + found.length + deleted.length;
  const shown = { names: names.length, sandboxes, all: groups.length };
  const says = fresh && !failed ? missing(typed, tenant, shown) : null;
  return (
    <Chooser
      typed={typed}
      onType={onType}
      placeholder={forTerminal ? 'Find the sandbox whose terminal to open' : 'Find a sandbox, a tenant or a page'}
      groups={groups}
      // Enter chooses nothing that another item then stands before.
      fresh={fresh && !(isHere && isPending)}
      entered={entered}
      onChoose={(action, directly) => (action.kind === 'more' ? readMore() : onAction(action, directly))}
    >
      {!fresh && found.length === 0 && <Skeleton lines={3} says="Looking for sandboxes" />}
      {failed && (
        <p className="palette-says" role="alert">
          The search did not answer. You can also search in the list of sandboxes.
        </p>
      )}
      {says !== null && (
        <p className="palette-says" role="status">
          {says}
        </p>
      )}
      {here !== null && !forTerminal && typed === '' && (
        <KeyHints>
          On this sandbox, type: <code>hold 2h</code>, <code>keep hot</code>, <code>copy id</code>,{' '}
          <code>snapshot as …</code>, <code>exec …</code>
        </KeyHints>
      )}
      <KeyHints>
        <kbd className="key">↑</kbd> <kbd className="key">↓</kbd> to move · <kbd className="key">Enter</kbd> to choose ·{' '}
        <kbd className="key">Ctrl</kbd> <kbd className="key">Enter</kbd> opens a sandbox at once
      </KeyHints>
    </Chooser>
  );
}
