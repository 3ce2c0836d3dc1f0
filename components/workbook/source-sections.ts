/** Splits a source into sections, each from a heading to the next. Pure. */

export interface SourceSection {
  /** The number of its first line, from 1. */
  firstLine: number;
  /** Without the line end before the next section. */
  text: string;
}

const HEADING = /^\*+ /;

export function sectionsOf(source: string): SourceSection[] {
  const sections: { firstLine: number; lines: string[] }[] = [];
  for (const [index, line] of source.split('\n').entries()) {
    const open = sections.at(-1);
    if (open === undefined || HEADING.test(line)) sections.push({ firstLine: index + 1, lines: [line] });
    else open.lines.push(line);
  }
  return sections.map(({ firstLine, lines }) => ({ firstLine, text: lines.join('\n') }));
}
