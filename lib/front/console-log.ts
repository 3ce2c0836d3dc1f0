/**
 * What Next writes to the console, as lines of the log under the request that it is about. Next has no logger of its
 * own to be given one: it calls `console`, also for what pages and actions throw.
 */
import { format, stripVTControlCharacters } from 'node:util';
import { isWinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { currentVisit, type Visit } from '../host/visit.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: Readonly<Record<'debug' | 'trace' | 'log' | 'info' | 'warn' | 'error', Level>> = {
  debug: 'debug',
  trace: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};

/** The marks that Next puts before its lines, and its colours. */
const MARKS = /^[\s○⨯⚠▲✓»]+/u;

/** Makes the process's console, and the warnings of Node, lines of the log. Returns the way back. */
export function takeConsole(log: Logger): () => void {
  const was = { ...console };
  for (const [name, level] of Object.entries(LEVELS)) {
    Object.assign(console, { [name]: (...said: unknown[]) => tell(log, level, said) });
  }
  const listeners = process.listeners('warning');
  const warn = (warning: Error) => log.warn({ err: warning }, 'Node warns');
  process.removeAllListeners('warning');
  process.on('warning', warn);
  return () => {
    Object.assign(console, was);
    process.off('warning', warn);
    for (const listener of listeners) process.on('warning', listener);
  };
}

function tell(log: Logger, level: Level, said: unknown[]): void {
  const visit = currentVisit();
  const error = said.find((one) => one instanceof Error);
  const rest = said.filter((one) => one !== error);
  const says = stripVTControlCharacters(format(...rest))
    .replace(MARKS, '')
    .trim();
  const requestId = visit?.requestId;
  if (error === undefined) {
    if (says !== '') log[level]({ requestId }, says);
    return;
  }
  // Rendered once more as markup: what was thrown is told already, and this names it without its words.
  if (visit !== null && visit.thrown !== null && digestOf(error) === visit.requestId) return;
  if (visit !== null && level === 'error') name(error, visit);
  const { as, words } = judge(error, level, visit);
  log[as]({ err: error, requestId }, says === '' ? words : says);
}

function digestOf(error: Error): unknown {
  return 'digest' in error ? error.digest : undefined;
}

/**
 * Keeps an error as the visit's. Next shows its digest on the page: there it is the request's id, under which the log
 * has it.
 */
function name(error: Error, visit: Visit): void {
  visit.keep(error);
  if (typeof digestOf(error) === 'string') Object.assign(error, { digest: visit.requestId });
}

function judge(error: Error, level: Level, visit: Visit | null): { as: Level; words: string } {
  if (visit?.isUnread) return { as: 'info', words: 'what was sent to the console cannot be read' };
  if (isWinterdockError(error) && error.code !== 'internal')
    return { as: 'info', words: 'the console refused a request' };
  return { as: level, words: 'the console failed' };
}
