/**
 * Entries of the event log that a workspace carries: org, one heading an entry. Whatever text goes in, the file stays
 * valid org with one heading more. Pure; safe for workers. Knows nothing of who writes it.
 */

export const MAX_EVENT_LOG_BYTES = 1024 * 1024;

const TITLE_LENGTH = 300;
const VALUE_LENGTH = 1000;
const BODY_LENGTH = 16_384;
const KEY = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
/** Org's own way to keep two characters apart that would be markup together. */
const ZERO_WIDTH_SPACE = '\u200b';

export interface EventLogEntry {
  /** Epoch seconds. */
  at: number;
  title: string;
  /** By name: letters, digits, `_` and `-`. Others are left out. */
  properties: Readonly<Record<string, string | number>>;
  /** Any text, kept as it is up to 16 KiB. */
  body?: string;
}

/** One entry as org text that ends with a newline. */
export function eventEntry({ at, title, properties, body }: EventLogEntry): string {
  const line = oneLine(title, TITLE_LENGTH);
  // Words in colons at the end of a heading would be its tags.
  const heading = `* [${timestampOf(at)}] ${line.endsWith(':') ? `${line}${ZERO_WIDTH_SPACE}` : line}`;
  const drawer = Object.entries(properties)
    .filter(([key]) => KEY.test(key) && key.toUpperCase() !== 'END')
    .map(([key, value]) => `:${key.toUpperCase()}: ${oneLine(String(value), VALUE_LENGTH)}`);
  return [
    heading.trimEnd(),
    ...(drawer.length === 0 ? [] : [':PROPERTIES:', ...drawer, ':END:']),
    ...(body === undefined || body === '' ? [] : ['#+begin_example', escaped(body), '#+end_example']),
    '',
  ].join('\n');
}

/** As org has times that nothing is due at, in UTC. */
function timestampOf(at: number): string {
  const date = new Date(at * 1000);
  const iso = date.toISOString();
  return `${iso.slice(0, 10)} ${DAYS[date.getUTCDay()]} ${iso.slice(11, 16)}`;
}

function oneLine(text: string, length: number): string {
  const line = text
    .slice(0, length + 1)
    .toWellFormed()
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim();
  return line.length <= length ? line : `${line.slice(0, length).toWellFormed()}…`;
}

/** A text that cannot end its example block, nor begin a heading. */
function escaped(body: string): string {
  const cut =
    body.length > BODY_LENGTH
      ? `${body.slice(0, BODY_LENGTH)}\n… (${body.length - BODY_LENGTH} more characters)`
      : body;
  return cut
    .toWellFormed()
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll(/[^\P{Cc}\t\n]/gu, '\ufffd')
    .replaceAll(/^([ \t]*)(,*(?:\*|#\+))/gm, '$1,$2')
    .replace(/\n$/, '');
}
