/** What a call came to: outputs, errors, what each component did, and what was logged. */
import type { ComponentCallAnswer, WorkflowCallAnswer } from '#lib/contract/schema.ts';
import { tookInWords } from '../ui/durations.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';

type Log = ComponentCallAnswer['logs'][number];

/** Longer outputs are cut: a page is not the place for them. */
const SHOWN = 20_000;

const STATES = { done: 'done', failed: 'failed', skipped: 'skipped' } as const;

function jsonText(value: unknown): string {
  const text = JSON.stringify(value, null, 2) ?? 'nothing';
  return text.length > SHOWN
    ? `${text.slice(0, SHOWN)}\n… and ${(text.length - SHOWN).toLocaleString('en')} more`
    : text;
}

function Value({ value, label }: { value: unknown; label: string }) {
  return (
    <div>
      <p className="mb-1 text-small text-ink-3">{label}</p>
      <pre
        className="max-h-96 overflow-auto rounded border border-rule-2 bg-sheet px-3 py-2 text-[0.8125rem] leading-[1.55]"
        {...SCROLLABLE}
      >
        {jsonText(value)}
      </pre>
    </div>
  );
}

/** `isOne`: of one component, which needs no name in each line. */
export function LogView({ logs, isOne }: { logs: readonly Log[]; isOne: boolean }) {
  if (logs.length === 0) return null;
  return (
    <div>
      <p className="mb-1 text-small text-ink-3">Log</p>
      <pre
        className="max-h-72 overflow-auto rounded border border-rule-2 bg-sheet px-3 py-2 text-[0.8125rem] leading-[1.55] whitespace-pre-wrap [overflow-wrap:anywhere]"
        {...SCROLLABLE}
      >
        {logs.map(({ stream, text, component }, index) => (
          <span key={`${index} ${stream}`} className={stream === 'stderr' ? 'text-fault-ink' : undefined}>
            {!isOne && component !== undefined && <span className="text-ink-3">{component} </span>}
            {text.endsWith('\n') ? text : `${text}\n`}
          </span>
        ))}
      </pre>
    </div>
  );
}

function End({ ok, says, tookMs }: { ok: boolean; says: string; tookMs: number }) {
  return (
    <div className={ok ? 'outcome' : 'outcome outcome-bad'} role={ok ? 'status' : 'alert'}>
      <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">{says}</p>
      <p className="text-small text-ink-2">It took {tookInWords(tookMs)}.</p>
    </div>
  );
}

export function ComponentCallView({ path, answer }: { path: string; answer: ComponentCallAnswer }) {
  const { output, error, logs, took_ms } = answer;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <End ok={error === undefined} says={error === undefined ? `${path} is done.` : error.message} tookMs={took_ms} />
      {output !== undefined && <Value label="Output" value={output} />}
      <LogView logs={logs} isOne />
    </div>
  );
}

function workflowInWords({ components }: WorkflowCallAnswer): string {
  const failed = components.filter(({ state }) => state === 'failed').length;
  const skipped = components.filter(({ state }) => state === 'skipped').length;
  if (failed === 0 && skipped === 0)
    return components.length === 1 ? 'Its component is done.' : 'All components are done.';
  return `${failed.toLocaleString('en')} failed, ${skipped.toLocaleString('en')} skipped, of ${components.length.toLocaleString('en')}.`;
}

export function WorkflowCallView({ answer }: { answer: WorkflowCallAnswer }) {
  const { outputs, components, logs, took_ms } = answer;
  const ok = components.every(({ state }) => state === 'done');
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <End ok={ok} says={workflowInWords(answer)} tookMs={took_ms} />
      <table className="ledger">
        <thead>
          <tr>
            <th scope="col">Component</th>
            <th scope="col">State</th>
            <th scope="col" className="text-right whitespace-nowrap">
              Took
            </th>
          </tr>
        </thead>
        <tbody>
          {components.map(({ path, state, error, because, took_ms: each }) => (
            <tr key={path}>
              <td className="[overflow-wrap:anywhere]">
                <code className="text-[0.8125rem]">{path}</code>
              </td>
              <td className={`[overflow-wrap:anywhere] ${state === 'failed' ? 'text-fault-ink' : 'text-ink-2'}`}>
                {STATES[state]}
                {error !== undefined && `: ${error.message}`}
                {because !== undefined && `: ${because}`}
              </td>
              <td className="text-right whitespace-nowrap text-ink-2">
                {state === 'skipped' ? '' : tookInWords(each)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Value label="Outputs" value={outputs} />
      <LogView logs={logs} isOne={false} />
    </div>
  );
}
