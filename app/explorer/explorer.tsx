'use client';
/** The explorer: a search over all calls, the notebook, and the calls by subject. Without JavaScript it is a list. */
import { useEffect, useMemo, useState } from 'react';
import { PageSection } from '#components/ui/page-section.tsx';
import { CallCell } from './call-cell.tsx';
import type { CallValues } from './call-values.ts';
import { type OperationGroup, searchOperations } from './document.ts';
import { isKeepable, type KeptCall, readNotebook, writeNotebook } from './notebook.ts';
import { NotebookSection } from './notebook-section.tsx';

export function Explorer({
  actor,
  groups: given,
  origin: configured,
  search: first,
}: {
  /** The visitor, as the ledger names them: the notebook is theirs. */
  actor: string;
  /** As they are first: later renderings of the page would change the sandbox in the examples. */
  groups: readonly OperationGroup[];
  /** The server's address as configured; once scripts run, the one that the browser uses. */
  origin: string;
  /** What the address asks for. */
  search: string;
}) {
  const [groups] = useState(given);
  const [origin, setOrigin] = useState(configured);
  const [search, setSearch] = useState(first);
  const [kept, setKept] = useState<readonly KeptCall[]>([]);
  const [announced, announce] = useState('');
  useEffect(() => setOrigin(window.location.origin), []);
  useEffect(() => setKept(readNotebook(actor, localStorage)), [actor]);
  const operations = useMemo(
    () => new Map(groups.flatMap((group) => group.operations).map((operation) => [operation.name, operation])),
    [groups],
  );
  const found = useMemo(() => searchOperations(groups, search), [groups, search]);
  const count = found.reduce((sum, group) => sum + group.operations.length, 0);

  const change = (calls: readonly KeptCall[]) => {
    setKept(calls);
    const written = writeNotebook(actor, calls, localStorage);
    if (!written) announce('This browser keeps nothing: the notebook lasts as long as the page is open.');
  };
  const keep = (name: string, values: CallValues) => {
    announce('Kept in the notebook, above the calls.');
    change([...kept, { key: crypto.randomUUID(), name, values }]);
  };

  return (
    <>
      <search>
        <form className="mb-8 flex max-w-xl items-end gap-3" onSubmit={(event) => event.preventDefault()}>
          <label className="block min-w-0 flex-1">
            <span className="field-name">Find a call by its name, path or purpose</span>
            <input
              className="input"
              name="q"
              type="search"
              autoComplete="off"
              value={search}
              onChange={({ target }) => {
                setSearch(target.value);
                const address =
                  target.value.trim() === ''
                    ? '/explorer'
                    : `/explorer?${new URLSearchParams({ q: target.value.trim() })}`;
                window.history.replaceState(null, '', address);
              }}
            />
          </label>
          <noscript>
            <button type="submit" className="button">
              Find
            </button>
          </noscript>
        </form>
      </search>
      <p className="sr-only" role="status">
        {announced}
      </p>
      <NotebookSection calls={kept} operations={operations} origin={origin} onChange={change} />
      <PageSection
        id="calls"
        name="Calls"
        note={`${count} ${count === 1 ? 'call' : 'calls'}${search.trim() === '' ? '' : ` with “${search.trim()}”`}`}
        margin={false}
      >
        {found.map(({ tag, operations: own }) => (
          <section key={tag} className="mb-9" aria-labelledby={`tag-${tag}`}>
            <h3 id={`tag-${tag}`} className="border-b border-rule-2 pb-1.5 font-[600]">
              {tag}
            </h3>
            {own.map((operation) => (
              <CallCell
                key={operation.name}
                operation={operation}
                origin={origin}
                onKeep={isKeepable(operation.name) ? (values) => keep(operation.name, values) : undefined}
              />
            ))}
          </section>
        ))}
        {count === 0 && (
          <p className="max-w-xl text-ink-2" role="status">
            No call has all of these words. Try one of them, a part of a path such as <code>snapshots</code>, or a verb
            such as <code>list</code>.
          </p>
        )}
      </PageSection>
    </>
  );
}
