/**
 * One heading of a source with its own text, parsed by uniorg: title, tags, planning, properties, source blocks. Loaded
 * where sources are parsed only. Parsing one heading at a time is what org's syntax allows – a heading ends every other
 * element – and keeps the parser, whose time grows with the square of the text, to short texts.
 */
import type { OrgNode, SrcBlock } from 'uniorg';
import { parse } from 'uniorg-parse/lib/parser.js';
import type { OutlineHeading } from './outline.ts';
import type { SourcePlace } from './problems.ts';

export interface SourceBlock {
  language: string | null;
  value: string;
  /** Its header arguments as text, and where they begin. */
  parameters: string;
  place: SourcePlace;
  parametersPlace: SourcePlace;
}

export interface SectionProperty {
  value: string;
  /** Where the value begins. */
  place: SourcePlace;
}

export interface OrgSection {
  title: string;
  tags: readonly string[];
  /** Of the heading. */
  place: SourcePlace;
  /** The timestamp after `SCHEDULED:`, as it is written. */
  scheduled: { raw: string; place: SourcePlace } | null;
  /** By their names in upper case; the first of a name. */
  properties: ReadonlyMap<string, SectionProperty>;
  blocks: SourceBlock[];
  /** A `#+begin_src` that no `#+end_src` ends. */
  unended: SourcePlace | null;
}

/**
 * A plan needs nothing within a paragraph. The parser makes its expressions anew for every text, and those of all kinds
 * of links take most of the time of a short one.
 */
const OPTIONS = { trackPosition: true, linkTypes: ['https'], useSubSuperscripts: false };

const ONLY_TAGS = /^[ \t]*:([\p{L}\p{N}_@#%:]+):[ \t]*$/u;
const BEGIN = /^[ \t]*#\+begin_src\b/gim;

/** Parses one heading's text. */
export function sectionOf(text: string, heading: OutlineHeading): OrgSection {
  const own = text.slice(heading.start, heading.end);
  const tree = parse(own, OPTIONS);
  const at = (line: number, column: number): SourcePlace => ({ line: heading.line + line - 1, column });
  const placeOf = (node: OrgNode): SourcePlace => {
    const start = node.position?.start;
    return at(start?.line ?? 1, start?.column ?? 1);
  };
  const section: OrgSection & { properties: Map<string, SectionProperty> } = {
    title: '',
    tags: [],
    place: at(1, 1),
    scheduled: null,
    properties: new Map(),
    blocks: [],
    unended: null,
  };
  const waiting: OrgNode[] = [tree];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.type === 'headline') {
      // The parser takes tags without a title for the title.
      const [, onlyTags] = ONLY_TAGS.exec(node.rawValue) ?? [];
      section.title = onlyTags === undefined ? node.rawValue.trim() : '';
      section.tags = onlyTags === undefined ? node.tags : onlyTags.split(':');
      continue;
    }
    if (node.type === 'planning' && node.scheduled)
      section.scheduled = { raw: node.scheduled.rawValue, place: placeOf(node.scheduled) };
    if (node.type === 'node-property') {
      const key = node.key.toUpperCase();
      const { line, column } = placeOf(node);
      const value = node.value.trim();
      if (!section.properties.has(key))
        section.properties.set(key, { value, place: { line, column: column + node.key.length + 3 } });
    }
    if (node.type === 'src-block') section.blocks.push(blockOf(own, node, placeOf(node)));
    if ('children' in node) waiting.push(...(node.children as OrgNode[]).toReversed());
  }
  const begins = [...own.matchAll(BEGIN)];
  const parsed = new Set(section.blocks.map(({ place }) => place.line));
  if (begins.length > section.blocks.length) {
    const lost = begins.map(({ index }) => at(linesBefore(own, index), 1)).find(({ line }) => !parsed.has(line));
    section.unended = lost ?? null;
  }
  return section;
}

function blockOf(own: string, node: SrcBlock, place: SourcePlace): SourceBlock {
  const parameters = (node as SrcBlock & { parameters?: string | null }).parameters ?? '';
  const start = node.position?.start.offset ?? 0;
  const lineEnd = own.indexOf('\n', start);
  const header = own.slice(start, lineEnd < 0 ? own.length : lineEnd);
  const column = place.column + Math.max(0, header.lastIndexOf(parameters));
  return {
    language: node.language ?? null,
    value: node.value,
    parameters,
    place,
    parametersPlace: { line: place.line, column },
  };
}

/** The number of the line, from 1, that an offset is in. */
function linesBefore(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
