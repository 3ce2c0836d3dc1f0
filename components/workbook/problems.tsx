/** What is wrong with a source: each problem with its line, and what would mend it. */
import type { PlanProblem } from '#lib/contract/schema.ts';

/** Only the first are listed: whoever mends those sees the rest. */
const SHOWN = 100;

const LINE_SHOWN = 160;

/** `hrefOf`: where a line of the source is. `onLine`: moves there instead. `source`: shows the lines themselves. */
export function Problems({
  problems,
  hrefOf,
  onLine,
  source,
}: {
  problems: readonly PlanProblem[];
  hrefOf(line: number): string;
  onLine?: (line: number, column: number) => void;
  source?: string;
}) {
  if (problems.length === 0) return null;
  const lines = source?.split('\n');
  return (
    <div>
      <ol className="grid gap-3">
        {problems.slice(0, SHOWN).map(({ code, message, mend, line, column }) => (
          <li key={`${line} ${column} ${code} ${message}`} className="border-l-[3px] border-fault pl-3">
            <p className="[overflow-wrap:anywhere]">
              <a
                href={hrefOf(line)}
                onClick={
                  onLine &&
                  ((event) => {
                    event.preventDefault();
                    onLine(line, column);
                  })
                }
              >
                Line {line}
              </a>
              : {message}
            </p>
            {lines?.[line - 1] && (
              <p className="mt-0.5 [overflow-wrap:anywhere]">
                <code className="text-[0.8125rem]">{lines[line - 1]?.slice(0, LINE_SHOWN)}</code>
              </p>
            )}
            <p className="text-small text-ink-2 [overflow-wrap:anywhere]">{mend}</p>
          </li>
        ))}
      </ol>
      {problems.length > SHOWN && (
        <p className="mt-3 text-small text-ink-3">and {(problems.length - SHOWN).toLocaleString('en')} more</p>
      )}
    </div>
  );
}
