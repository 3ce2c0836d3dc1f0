/** Highlighted code line by line, as a syntax tree of spans with class names only. Pure. */
import { common, createLowlight } from 'lowlight';

const lowlight = createLowlight(common);

type Root = ReturnType<typeof lowlight.highlight>;
type Content = Root['children'][number];
type Element = Extract<Content, { type: 'element' }>;

/** Longer lines are not highlighted: they are data, and would become thousands of spans. */
const MAX_LINE = 5000;

function splitLines(nodes: readonly Content[]): Content[][] {
  const lines: Content[][] = [[]];
  const add = (node: Content) => lines.at(-1)?.push(node);
  for (const node of nodes) {
    if (node.type === 'text') {
      for (const [index, value] of node.value.split('\n').entries()) {
        if (index > 0) lines.push([]);
        if (value !== '') add({ type: 'text', value });
      }
    } else if (node.type === 'element') {
      for (const [index, children] of splitLines(node.children as Content[]).entries()) {
        if (index > 0) lines.push([]);
        if (children.length > 0) add({ ...node, children: children as Element['children'] });
      }
    }
  }
  return lines;
}

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
  const tree: Content[] = plain ? [{ type: 'text', value: text }] : lowlight.highlight(language, text).children;
  const lines = splitLines(tree);
  if (lines.length > 1 && lines.at(-1)?.length === 0) lines.pop();
  const children = lines.map((line, index): Element => {
    const number = options.firstLine === null ? null : options.firstLine + index;
    const found = number !== null && number === options.marked;
    return {
      type: 'element',
      tagName: 'span',
      properties: {
        className: found ? ['line', 'line-found'] : ['line'],
        ...(number === null ? {} : { id: `L${number}`, dataLine: String(number) }),
      },
      children: [...(line as Element['children']), { type: 'text', value: '\n' }],
    };
  });
  return { type: 'root', children };
}
