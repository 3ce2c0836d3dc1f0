/** The examples that come along, each with a button that stores it, docks it and opens it. */
import type { Caller } from '#lib/auth/caller.ts';
import { mayDo } from '#lib/contract/access.ts';
import { getHost } from '#lib/host/host.ts';
import { tryExample } from './actions.ts';
import { ExampleForm } from './example-form.tsx';

/** Nothing for a caller who may not make sandboxes. */
export function Examples({ caller }: { caller: Caller }) {
  if (!mayDo(caller, 'createInstance') || !mayDo(caller, 'putWorkbook')) return null;
  return (
    <ul className="grid gap-x-10 gap-y-6 md:grid-cols-2">
      {getHost()
        .examples()
        .map(({ id, title, says }) => (
          <li key={id} className="border-t border-rule-2 pt-3">
            <p className="font-[560]">{title}</p>
            <p className="mt-1 mb-3 text-small text-ink-2">{says}</p>
            <ExampleForm title={title} action={tryExample.bind(null, id)} />
          </li>
        ))}
    </ul>
  );
}
