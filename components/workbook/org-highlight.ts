/**
 * Highlighting of a source while it is typed: in sections from one heading to the next, so that a key press highlights
 * one section again and not all. Loaded by the editor after its page.
 */
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import python from 'highlight.js/lib/languages/python';
import typescript from 'highlight.js/lib/languages/typescript';
import { createLowlight } from 'lowlight';
import { org } from '../files/org-grammar.ts';
import { type HighlightedNode, splitLines } from '../files/split-lines.ts';

const lowlight = createLowlight({ bash, javascript, python, typescript, org });

/** A piece of a line: its classes, null for plain text, and what is in it. */
export type Piece = string | { look: string; pieces: Piece[] };

function pieceOf(node: HighlightedNode): Piece {
  if (node.type === 'text') return node.value;
  if (node.type !== 'element') return '';
  const names = node.properties.className;
  const look = Array.isArray(names) ? names.join(' ') : '';
  return { look, pieces: node.children.map((child) => pieceOf(child as HighlightedNode)) };
}

/** The lines of a section, each in pieces. */
export function highlightSection(text: string): Piece[][] {
  return splitLines(lowlight.highlight('org', text).children).map((line) => line.map(pieceOf));
}
