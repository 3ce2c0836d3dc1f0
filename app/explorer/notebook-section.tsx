'use client';
/** The kept calls, each to run again, change, copy or take out, and all of them as one script. */
import { CopyText } from '#components/calls/copy-text.tsx';
import { PageSection } from '#components/ui/page-section.tsx';
import { curlText } from '#lib/client/call-text.ts';
import { CallCell } from './call-cell.tsx';
import { sampleOf } from './call-values.ts';
import type { ListedOperation } from './document.ts';
import type { KeptCall } from './notebook.ts';

/** The calls as a shell script that stops at the first one that is refused. */
function scriptOf(calls: readonly KeptCall[], operations: ReadonlyMap<string, ListedOperation>, origin: string) {
  const lines = calls.flatMap(({ name, values }) => {
    const operation = operations.get(name);
    if (operation === undefined) return [];
    return [curlText(sampleOf(operation, values), origin).replace(/^curl /, 'curl --fail-with-body '), 'echo'];
  });
  return ['#!/bin/sh', 'set -eu', 'test -n "$WINTERDOCK_KEY"', ...lines, ''].join('\n');
}

export function NotebookSection({
  calls,
  operations,
  origin,
  onChange,
}: {
  calls: readonly KeptCall[];
  operations: ReadonlyMap<string, ListedOperation>;
  origin: string;
  onChange: (calls: readonly KeptCall[]) => void;
}) {
  if (calls.length === 0) return null;
  return (
    <PageSection
      id="notebook"
      name="Notebook"
      note="Kept in this browser until you sign out: the calls, not their answers."
      margin={false}
    >
      {calls.map(({ key, name, values }) => {
        const operation = operations.get(name);
        if (operation === undefined) return null;
        return (
          <CallCell
            key={key}
            operation={operation}
            origin={origin}
            values={values}
            onValues={(next) => onChange(calls.map((each) => (each.key === key ? { ...each, values: next } : each)))}
            tools={
              <button
                type="button"
                className="button button-quiet mb-3"
                onClick={() => onChange(calls.filter((each) => each.key !== key))}
              >
                Take out of the notebook
              </button>
            }
          />
        );
      })}
      <p className="mt-3 flex flex-wrap items-center gap-3 text-small text-ink-2">
        <CopyText text={scriptOf(calls, operations, origin)} label="Copy the notebook as a shell script" />
        All of them as one shell script, in their order.
      </p>
    </PageSection>
  );
}
