/**
 * A workbook's source as HTML, for the page of a bundle: headings, paragraphs, lists, tables and code, made from the
 * tree of the org parser, one heading at a time. No URL, no attribute and no markup of the source gets into it. Runs in
 * a bundle process.
 */
import type { OrgNode } from 'uniorg';
import { parse } from 'uniorg-parse/lib/parser.js';
import { outlineOf } from '../workbooks/outline.ts';
import { escaped } from './html.ts';

/** Bytes of the source that are shown, and of one heading's text that is parsed; longer texts are shown as they are. */
const SHOWN_LENGTH = 256 * 1024;
const PARSED_LENGTH = 32 * 1024;
/** Characters of a heading that stand for its text. */
const SUMMARY_LENGTH = 200;
/** Headings of the page that the workbook's are below. */
const FIRST_HEADING = 3;
const LAST_HEADING = 6;

/** The source in pieces of HTML. */
export function* orgHtml(source: string): Generator<string> {
  const text = source.replaceAll('\r\n', '\n');
  const { headings } = outlineOf(text);
  yield partOf(text.slice(0, headings[0]?.start ?? text.length));
  for (const { start, end } of headings) {
    if (end > SHOWN_LENGTH) {
      yield '<p class="quiet">The rest is in <code>workbook.org</code>.</p>\n';
      return;
    }
    yield partOf(text.slice(start, end));
  }
}

/** One heading with its own text. */
function partOf(text: string): string {
  if (text.trim() === '') return '';
  if (text.length > PARSED_LENGTH) return folded(text.slice(0, text.indexOf('\n')).slice(0, SUMMARY_LENGTH), text);
  try {
    return blocks(parse(text).children as OrgNode[]);
  } catch {
    // Deeper than the stack, or something that the parser has no rule for: the text itself says all of it.
    return plain(text);
  }
}

function plain(text: string): string {
  return `<pre dir="auto">${escaped(text)}</pre>\n`;
}

/** What hardly anybody reads: it opens by a click, and without script. */
function folded(summary: string, text: string): string {
  return `<details><summary>${escaped(summary)}</summary>${plain(text)}</details>\n`;
}

function blocks(nodes: readonly OrgNode[]): string {
  return nodes.map(block).join('');
}

function block(node: OrgNode): string {
  switch (node.type) {
    case 'section':
      return blocks(node.children as OrgNode[]);
    case 'headline': {
      const level = Math.min(FIRST_HEADING + node.level - 1, LAST_HEADING);
      const tags = node.tags.map((tag) => ` <span class="quiet">:${escaped(tag)}:</span>`).join('');
      return `<h${level}><bdi>${inline(node.children as OrgNode[])}</bdi>${tags}</h${level}>\n`;
    }
    case 'paragraph':
      return `<p dir="auto">${inline(node.children as OrgNode[])}</p>\n`;
    case 'src-block': {
      const { parameters } = node as { parameters?: string | null };
      const words = [node.language, parameters].filter((word) => typeof word === 'string' && word !== '').join(' ');
      const head = words === '' ? '' : `<p class="quiet"><code>${escaped(words)}</code></p>\n`;
      if (node.language !== 'wasm') return `${head}${plain(node.value)}`;
      return head + folded(`A WebAssembly module in base64, ${node.value.length} characters`, node.value);
    }
    case 'example-block':
    case 'fixed-width':
    case 'latex-environment':
    case 'export-block':
      return plain(node.value);
    case 'plain-list': {
      const tag = node.listType === 'ordered' ? 'ol' : 'ul';
      return `<${tag}>\n${blocks(node.children as OrgNode[])}</${tag}>\n`;
    }
    case 'list-item':
      return `<li>${blocks(node.children as OrgNode[])}</li>\n`;
    case 'list-item-tag':
      return `<strong>${inline(node.children as OrgNode[])}</strong> `;
    case 'quote-block':
    case 'verse-block':
      return `<blockquote>${'contentsBegin' in node ? blocks(node.children as OrgNode[]) : ''}</blockquote>\n`;
    case 'center-block':
    case 'special-block':
    case 'drawer':
    case 'footnote-definition':
      return blocks(node.children as OrgNode[]);
    case 'property-drawer':
      return `<dl>\n${blocks(node.children as OrgNode[])}</dl>\n`;
    case 'node-property':
      return `<dt>${escaped(node.key)}</dt><dd>${escaped(node.value)}</dd>\n`;
    case 'table':
      return 'value' in node ? plain(node.value) : `<table>\n${blocks(node.children as OrgNode[])}</table>\n`;
    case 'table-row':
      return node.rowType === 'rule' ? '' : `<tr>${blocks(node.children as OrgNode[])}</tr>\n`;
    case 'table-cell':
      return `<td>${inline(node.children as OrgNode[])}</td>`;
    case 'keyword':
      return `<p class="quiet">${escaped(node.key)}: ${escaped(node.value)}</p>\n`;
    case 'planning': {
      const times = [node.scheduled, node.deadline, node.closed].flatMap((time) => (time ? [time.rawValue] : []));
      return `<p class="quiet">${escaped(times.join(' '))}</p>\n`;
    }
    case 'horizontal-rule':
      return '<hr>\n';
    case 'comment':
    case 'comment-block':
      return '';
    default:
      return inline([node]);
  }
}

function inline(nodes: readonly OrgNode[]): string {
  return nodes.map(inlineOne).join('');
}

const INLINE_TAGS: Readonly<Record<string, string>> = {
  bold: 'strong',
  italic: 'em',
  underline: 'u',
  'strike-through': 's',
  subscript: 'sub',
  superscript: 'sup',
};

function inlineOne(node: OrgNode): string {
  const tag = INLINE_TAGS[node.type];
  if (tag !== undefined && 'children' in node) return `<${tag}>${inline(node.children as OrgNode[])}</${tag}>`;
  switch (node.type) {
    case 'text':
      return escaped(node.value);
    case 'code':
    case 'verbatim':
    case 'latex-fragment':
      return `<code>${escaped(node.value)}</code>`;
    case 'link': {
      const words = node.children.length === 0 ? '' : `${inline(node.children as OrgNode[])} `;
      return `${words}<code>${escaped(node.rawLink)}</code>`;
    }
    case 'timestamp':
      return escaped(node.rawValue);
    case 'entity':
      return escaped(node.utf8);
    case 'line-break':
      return '<br>';
    case 'statistics-cookie':
      return escaped(node.value);
    default:
      if ('children' in node) return inline(node.children as OrgNode[]);
      return 'value' in node && typeof node.value === 'string' ? escaped(node.value) : '';
  }
}
