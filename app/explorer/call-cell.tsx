'use client';
/** One call that folds open: its facts, and once scripts run a form in their place. */
import { type ReactNode, useEffect, useState } from 'react';
import { CallFacts } from './call-facts.tsx';
import { CallForm } from './call-form.tsx';
import { type CallValues, exampleValues } from './call-values.ts';
import type { ListedOperation } from './document.ts';
import { Prose } from './prose.tsx';

const METHOD_LOOK: Readonly<Record<string, string>> = {
  GET: 'border-ink bg-sheet text-ink',
  DELETE: 'border-fault-ink bg-sheet text-fault-ink',
};

export function CallCell({
  operation,
  origin,
  values,
  opened = false,
  tools,
  onValues,
  onKeep,
}: {
  operation: ListedOperation;
  origin: string;
  /** Of a kept call. Without them the call begins with its example, and keeps its values while the page is open. */
  values?: CallValues;
  opened?: boolean;
  /** Buttons above the form. */
  tools?: ReactNode;
  onValues?: (values: CallValues) => void;
  onKeep?: (values: CallValues) => void;
}) {
  const { name, method, path, summary } = operation;
  const [open, setOpen] = useState(opened);
  const [ready, setReady] = useState(false);
  const [own, setOwn] = useState<CallValues | null>(null);
  const now = values ?? own ?? exampleValues(operation);
  useEffect(() => setReady(true), []);
  return (
    <details
      className={`border-b ${open ? 'border-ink' : 'border-rule'}`}
      data-call-name={name}
      open={open}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary className="grid cursor-pointer grid-cols-[4.5rem_minmax(0,1fr)] items-baseline gap-x-5 gap-y-1 py-2 hover:bg-wash md:grid-cols-[4.5rem_minmax(0,5fr)_minmax(0,6fr)]">
        <span
          className={`min-w-15 justify-self-start rounded-[3px] border px-1.5 text-center font-mono text-[0.75rem] leading-[1.375rem] font-[560] ${METHOD_LOOK[method] ?? 'border-ink bg-ink text-paper'}`}
        >
          {method}
        </span>
        <code className="font-mono text-[0.8125rem] font-[520] [overflow-wrap:anywhere]">{path}</code>
        <span className="col-span-full text-small text-ink-2 md:col-span-1">
          <Prose text={summary} />
        </span>
      </summary>
      <div className="min-w-0 lg:pl-[5.75rem]">
        {tools}
        {ready && open && (
          <CallForm
            operation={operation}
            values={now}
            origin={origin}
            onValues={onValues ?? setOwn}
            onKeep={onKeep === undefined ? undefined : () => onKeep(now)}
          />
        )}
        {!ready && <CallFacts operation={operation} origin={origin} />}
      </div>
    </details>
  );
}
