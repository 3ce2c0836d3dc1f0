/** Highlighted code line by line, as a syntax tree of spans with class names only. Pure. */
import { common, createLowlight } from 'lowlight';
import { org } from './org-grammar.ts';
import { type HighlightedElement, type HighlightedNode, splitLines } from './split-lines.ts';

const lowlight = createLowlight({ ...common, org });

type Root = ReturnType<typeof lowlight.highlight>;

/** Longer lines are not highlighted: they are data, and would become thousands of spans. */
const MAX_LINE = 5000;

/**
 * A text as one element per line, numbered from `firstLine` (null: unnumbered). `marked`: the number of the line to
 * highlight. An unknown language is plain text.
 */
export function codeLines(
  text: string,
  language: string | null,
  options: { firstLine: number | null; marked: number | null },
): Root {
  const plain =
    language === null || !lowlight.registered(language) || text.split('\n').some((line) => line.length > MAX_LINE);
  const tree: HighlightedNode[] = plain ? [{ type: 'text', value: text }] : lowlight.highlight(language, text).children;
  const lines = splitLines(tree);
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  const children = lines.map((line, index): HighlightedElement => {
    const number = options.firstLine === null ? null : options.firstLine + index;
    const found = number !== null && number === options.marked;
    return {
      type: 'element',
      tagName: 'span',
      properties: {
        className: found ? ['line', 'line-found'] : ['line'],
        ...(number === null ? {} : { id: `L${number}`, dataLine: String(number) }),
      },
      children: [...(line as HighlightedElement['children']), { type: 'text', value: '\n' }],
    };
  });
  return { type: 'root', children };
}
