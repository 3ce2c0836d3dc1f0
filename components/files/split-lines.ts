/** Splits highlighted code into its lines. Pure; knows no language. */
import type { createLowlight } from 'lowlight';

type Root = ReturnType<ReturnType<typeof createLowlight>['highlight']>;

export type HighlightedNode = Root['children'][number];
export type HighlightedElement = Extract<HighlightedNode, { type: 'element' }>;

/** The nodes of each line: an element that spans lines is closed at the end of each and opened again. */
export function splitLines(nodes: readonly HighlightedNode[]): HighlightedNode[][] {
  const lines: HighlightedNode[][] = [[]];
  const add = (node: HighlightedNode) => lines.at(-1)?.push(node);
  for (const node of nodes) {
    if (node.type === 'text') {
      for (const [index, value] of node.value.split('\n').entries()) {
        if (index > 0) lines.push([]);
        if (value !== '') add({ type: 'text', value });
      }
    } else if (node.type === 'element') {
      for (const [index, children] of splitLines(node.children as HighlightedNode[]).entries()) {
        if (index > 0) lines.push([]);
        if (children.length > 0) add({ ...node, children: children as HighlightedElement['children'] });
      }
    }
  }
  return lines;
}
