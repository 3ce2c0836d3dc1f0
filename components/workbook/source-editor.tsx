'use client';
/**
 * A text area for org text with its highlighting behind it. The text area is all there is without JavaScript; with it,
 * the same text in colours lies behind and the text area's own is transparent, so that typing stays the browser's.
 */
import { memo, type Ref, useEffect, useImperativeHandle, useMemo, useRef, useState } from 'react';
import type { Piece } from './org-highlight.ts';
import { sectionsOf } from './source-sections.ts';

/** Longer sources stay plain: their highlighting would take longer than a key press may. */
const MOST_HIGHLIGHTED = 150_000;

export interface SourceEditorHandle {
  /** Moves the caret, from 1, and scrolls to it. */
  goTo(line: number, column: number): void;
}

type Highlight = (text: string) => Piece[][];

function Pieces({ pieces }: { pieces: readonly Piece[] }) {
  return pieces.map((piece, index) => {
    const key = `${index}`;
    if (typeof piece === 'string') return piece;
    return (
      <span key={key} className={piece.look}>
        <Pieces pieces={piece.pieces} />
      </span>
    );
  });
}

/** `bad`: numbers of its lines with a problem, joined by spaces, so that equal ones compare equal. */
const Section = memo(function Section({
  text,
  firstLine,
  bad,
  highlight,
}: {
  text: string;
  firstLine: number;
  bad: string;
  highlight: Highlight;
}) {
  const wrong = new Set(bad.split(' ').map(Number));
  return highlight(text).map((pieces, index) => {
    const line = firstLine + index;
    return (
      <span key={line} className={wrong.has(line) ? 'ink-line ink-bad' : 'ink-line'} data-line={line}>
        <Pieces pieces={pieces} />
        {'\n'}
      </span>
    );
  });
});

function Ink({ text, badLines, highlight }: { text: string; badLines: readonly number[]; highlight: Highlight }) {
  const sections = useMemo(() => sectionsOf(text), [text]);
  return (
    <pre className="source-ink" aria-hidden="true">
      <code>
        {sections.map((section, index) => {
          const end = sections[index + 1]?.firstLine ?? Number.POSITIVE_INFINITY;
          const bad = badLines.filter((line) => line >= section.firstLine && line < end).join(' ');
          return <Section key={`${index}`} {...section} bad={bad} highlight={highlight} />;
        })}
      </code>
    </pre>
  );
}

export function SourceEditor({
  ref,
  id,
  name,
  text,
  defaultText,
  badLines,
  describedBy,
  onText,
}: {
  ref: Ref<SourceEditorHandle>;
  id: string;
  name: string;
  /** What is in the text area now. */
  text: string;
  defaultText: string;
  badLines: readonly number[];
  describedBy: string;
  onText: (text: string) => void;
}) {
  const [highlight, setHighlight] = useState<{ section: Highlight } | null>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let left = false;
    import('./org-highlight.ts').then(
      ({ highlightSection }) => {
        if (!left) setHighlight({ section: highlightSection });
      },
      // Without colours it is an editor still.
      () => {},
    );
    return () => {
      left = true;
    };
  }, []);
  // A browser may fill in what was typed before a reload.
  useEffect(() => {
    if (area.current !== null && area.current.value !== defaultText) onText(area.current.value);
  }, [defaultText, onText]);
  useImperativeHandle(ref, () => ({
    goTo(line, column) {
      const lines = text.split('\n');
      const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
      const at = start + Math.min(column - 1, lines[line - 1]?.length ?? 0);
      area.current?.focus({ preventScroll: true });
      area.current?.setSelectionRange(at, at);
      const shown = frame.current?.querySelector(`[data-line="${line}"]`);
      if (shown) shown.scrollIntoView({ block: 'center' });
      else area.current?.scrollTo({ top: (line / lines.length) * area.current.scrollHeight - 100 });
      area.current?.scrollIntoView({ block: 'nearest' });
    },
  }));
  const inked = highlight !== null && text.length <= MOST_HIGHLIGHTED;
  return (
    <div ref={frame} className={inked ? 'source source-inked' : 'source'}>
      {inked && <Ink text={text} badLines={badLines} highlight={highlight.section} />}
      <textarea
        ref={area}
        id={id}
        name={name}
        className="source-text"
        defaultValue={defaultText}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
        aria-invalid={badLines.length > 0 || undefined}
        aria-describedby={describedBy}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
    </div>
  );
}
