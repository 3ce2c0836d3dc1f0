/** The lines that differ between two versions. A sign says what happened to a line, not its colour alone. */
import { SCROLLABLE } from '../ui/scrollable.ts';
import type { DiffHunk, DiffLine } from './source-diff.ts';

const SIGNS: Readonly<Record<DiffLine['kind'], { sign: string; says: string; look: string }>> = {
  same: { sign: ' ', says: '', look: 'diff-same' },
  removed: { sign: '−', says: 'removed: ', look: 'diff-removed' },
  added: { sign: '+', says: 'added: ', look: 'diff-added' },
};

/** At most this many lines are shown. */
const SHOWN = 2000;

export function DiffView({ hunks }: { hunks: readonly DiffHunk[] | null }) {
  if (hunks === null) return <p className="text-ink-2">They differ in so much that no comparison would be readable.</p>;
  if (hunks.length === 0) return <p className="text-ink-2">They are the same.</p>;
  const total = hunks.reduce((sum, { length }) => sum + length, 0);
  let left = SHOWN;
  return (
    <div className="rounded border border-rule-2 bg-sheet">
      <div className="diff max-h-[44rem] overflow-auto py-2" {...SCROLLABLE}>
        {hunks.map((hunk, index) => {
          const lines = hunk.slice(0, Math.max(0, left));
          left -= hunk.length;
          return (
            <div
              key={`${hunk[0]?.kind} ${hunk[0]?.line}`}
              className={index === 0 ? '' : 'mt-2 border-t border-rule pt-2'}
            >
              {lines.map(({ kind, text, line }) => {
                const { sign, says, look } = SIGNS[kind];
                return (
                  <div key={`${kind} ${line}`} className={`diff-line ${look}`} data-line={line} data-sign={sign}>
                    {says !== '' && <span className="sr-only">{says}</span>}
                    {text}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
      {total > SHOWN && (
        <p className="border-t border-rule px-4 py-2 text-small text-ink-3">
          and {(total - SHOWN).toLocaleString('en')} more lines
        </p>
      )}
    </div>
  );
}
