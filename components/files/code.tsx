/** Highlighted code, line by line, rendered on the server. Nothing in the file becomes markup. */
import { toJsxRuntime } from 'hast-util-to-jsx-runtime';
import { Fragment, jsx, jsxs } from 'react/jsx-runtime';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { codeLines } from './code-lines.ts';

/** `firstLine`: the number of its first line, or null when it is unknown. */
export function Code({
  text,
  language,
  firstLine,
  marked,
}: {
  text: string;
  language: string | null;
  firstLine: number | null;
  marked: number | null;
}) {
  return (
    <pre className="code max-h-[44rem] overflow-auto py-3 text-[0.8125rem] leading-[1.55]" {...SCROLLABLE}>
      <code>{toJsxRuntime(codeLines(text, language, { firstLine, marked }), { Fragment, jsx, jsxs })}</code>
    </pre>
  );
}
