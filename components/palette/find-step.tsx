'use client';
import { useState } from 'react';
import { Skeleton } from '../ui/skeleton.tsx';
/** The palette's first step: find anything that has a name or an address. */
import { Chooser, KeyHints } from './chooser.tsx';
import { useNames, useSandboxes } from './data.ts';
import { type PaletteAction, type PaletteItem, pageItems, recentItems, sandboxItems } from './items.ts';
import { readRecent } from './recent.ts';

export function FindStep({
  actor,
  typed,
  entered,
  onType,
  onAction,
}: {
  /** The visitor, as the ledger names them. */
  actor: string;
  typed: string;
  /** Enter was pressed before the list was there. */
  entered: boolean;
  onType: (typed: string) => void;
  onAction: (action: PaletteAction, directly: boolean) => void;
}) {
  const [recent] = useState(() => readRecent(actor));
  const { found, more, readMore, fresh, failed } = useSandboxes(typed);
  const names = useNames(typed);
  const recents = recentItems(recent, typed).map((item) => {
    const known = found.find(({ id }) => `recent ${id}` === item.value);
    return known === undefined ? item : { ...item, sandbox: known };
  });
  const others = found.filter(({ id }) => !recents.some(({ value }) => value === `recent ${id}`));
  const pages = pageItems(typed);
  const begun =
    typed.trim() !== '' && pages.some(({ name }) => name.toLowerCase().startsWith(typed.trim().toLowerCase()));
  const places = { name: 'Places', items: pages };
  const groups = [
    ...(begun ? [places] : []),
    { name: 'Looked at before', items: recents },
    { name: 'Sandboxes', items: sandboxItems(others, more) },
    {
      name: 'Names',
      items: names.map(({ name, detail, href }): PaletteItem => {
        return { value: `go ${href}`, name, detail, action: { kind: 'go', href } };
      }),
    },
    ...(begun ? [] : [places]),
  ].filter(({ items }) => items.length > 0);
  return (
    <Chooser
      typed={typed}
      onType={onType}
      placeholder="Find a sandbox, a tenant or a page"
      groups={groups}
      fresh={fresh}
      entered={entered}
      onChoose={(action, directly) => (action.kind === 'more' ? readMore() : onAction(action, directly))}
    >
      {!fresh && found.length === 0 && <Skeleton lines={3} says="Looking for sandboxes" />}
      {failed && (
        <p className="palette-says" role="alert">
          The search did not answer. You can also search in the list of sandboxes.
        </p>
      )}
      {fresh && groups.length === 0 && (
        <p className="palette-says" role="status">
          Nothing matches “{typed.trim()}”. Ids, names, tenants and labels are searched by how their words begin.
        </p>
      )}
      <KeyHints>
        <kbd className="key">↑</kbd> <kbd className="key">↓</kbd> to move · <kbd className="key">Enter</kbd> to choose ·{' '}
        <kbd className="key">Ctrl</kbd> <kbd className="key">Enter</kbd> opens a sandbox at once
      </KeyHints>
    </Chooser>
  );
}
