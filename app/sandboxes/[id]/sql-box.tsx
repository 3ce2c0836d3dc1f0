'use client';
/**
 * A form for read-only SQL over the three volumes, with the answer as a table. Without JavaScript the answer is on the
 * next page.
 */
import { type KeyboardEvent, useActionState } from 'react';
import type { SqlAnswer } from '#lib/contract/schema.ts';
import { tookInWords } from '../../../components/ui/durations.ts';
import { Outcome } from '../../../components/ui/outcome.tsx';
import { SCROLLABLE } from '../../../components/ui/scrollable.ts';
import { Submit } from '../../../components/ui/submit.tsx';
import { sqlTable } from './sql-table.ts';

export interface SqlState {
  sql: string;
  answer: SqlAnswer | null;
  /** Milliseconds that the query took. */
  tookMs: number;
  problem: { says: string; hint?: string } | null;
}

export type SqlAction = (previous: SqlState, form: FormData) => Promise<SqlState>;

const START: SqlState = {
  sql: 'SELECT volume, count(*) AS files, sum(length(content)) AS bytes\nFROM vfs GROUP BY volume',
  answer: null,
  tookMs: 0,
  problem: null,
};

const CELL_LOOKS = {
  text: 'whitespace-pre-wrap [overflow-wrap:anywhere]',
  number: 'text-right',
  quiet: 'text-ink-3',
} as const;

function Result({ answer, tookMs }: { answer: SqlAnswer; tookMs: number }) {
  const { columns, rows } = sqlTable(answer);
  const count = `${rows.length.toLocaleString('en')} ${rows.length === 1 ? 'row' : 'rows'}`;
  return (
    <div className="mt-5" role="status">
      <p className="mb-2 text-small text-ink-2">
        {count} in {tookInWords(tookMs)}
        {answer.truncated && <span className="text-fault-ink">, and there are more: the answer was cut here</span>}
      </p>
      {rows.length > 0 && (
        <div className="max-h-[34rem] overflow-auto rounded border border-rule-2 bg-sheet px-4 py-3" {...SCROLLABLE}>
          <table className="ledger !w-auto">
            <thead>
              <tr>
                {columns.map(({ key, name, isNumeric }) => (
                  <th key={key} scope="col" className={`font-mono ${isNumeric ? '!text-right' : ''}`}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ key, cells }) => (
                <tr key={key}>
                  {cells.map((cell) => (
                    <td key={cell.key} className={`max-w-md font-mono text-[0.8125rem] ${CELL_LOOKS[cell.kind]}`}>
                      {cell.text}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

export function SqlBox({ action }: { action: SqlAction }) {
  const [{ sql, answer, tookMs, problem }, submit] = useActionState(action, START);
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.currentTarget.form?.requestSubmit();
  };
  return (
    <div>
      <form action={submit} className="grid gap-2">
        <label className="block min-w-0">
          <span className="field-name">
            One SELECT over <code>vfs(volume, path, content, mtime)</code>
          </span>
          <textarea
            key={sql}
            className="input max-h-96 min-h-16 font-mono text-[0.875rem] [field-sizing:content]"
            name="sql"
            rows={2}
            required
            maxLength={100_000}
            defaultValue={sql}
            spellCheck={false}
            autoCapitalize="none"
            autoComplete="off"
            onKeyDown={onKeyDown}
            aria-invalid={problem === null ? undefined : true}
            aria-describedby="sql-note"
          />
        </label>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Submit className="button" doing="Asking…">
            Ask
          </Submit>
          <p className="text-small text-ink-3" id="sql-note">
            It only reads, and wakes nothing. Ctrl + Enter runs it.
          </p>
        </div>
      </form>
      {problem !== null && (
        <div className="mt-4">
          <Outcome outcome={{ ok: false, ...problem }} />
        </div>
      )}
      {answer !== null && <Result answer={answer} tookMs={tookMs} />}
    </div>
  );
}
