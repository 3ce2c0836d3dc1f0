/**
 * Sends everything that is written to `console` to the log, with the id of the request. Next takes no logger: it writes
 * to `console`, also when a page or an action throws.
 */
import { format, stripVTControlCharacters } from 'node:util';
import { isWinterdockError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { currentRequest, type RequestContext } from '../host/request-context.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

const LEVELS: Readonly<Record<'debug' | 'trace' | 'log' | 'info' | 'warn' | 'error', Level>> = {
  debug: 'debug',
  trace: 'debug',
  log: 'info',
  info: 'info',
  warn: 'warn',
  error: 'error',
};

/** The symbols that Next puts before its lines. */
const SYMBOLS = /^[\s○⨯⚠▲✓»]+/u;

/** Sends the process's console output and Node's warnings to `log`. Returns a function that undoes it. */
export function redirectConsole(log: Logger): () => void {
  const original = { ...console };
  for (const [name, level] of Object.entries(LEVELS)) {
    Object.assign(console, { [name]: (...values: unknown[]) => writeLine(log, level, values) });
  }
  const listeners = process.listeners('warning');
  const warn = (warning: Error) => log.warn({ err: warning }, 'Node warns');
  process.removeAllListeners('warning');
  process.on('warning', warn);
  return () => {
    Object.assign(console, original);
    process.off('warning', warn);
    for (const listener of listeners) process.on('warning', listener);
  };
}

function writeLine(log: Logger, level: Level, values: unknown[]): void {
  const request = currentRequest();
  const error = values.find((value) => value instanceof Error);
  const rest = values.filter((value) => value !== error);
  const text = stripVTControlCharacters(format(...rest))
    .replace(SYMBOLS, '')
    .trim();
  const requestId = request?.requestId;
  if (error === undefined) {
    if (text !== '') log[level]({ requestId }, text);
    return;
  }
  // Next reports an error again when it renders the error page; by then it is in the log.
  if (request !== null && request.firstError !== null && digestOf(error) === request.requestId) return;
  if (request !== null && level === 'error') attachError(error, request);
  const { as, message } = classify(error, level, request);
  log[as]({ err: error, requestId }, text === '' ? message : text);
}

function digestOf(error: Error): unknown {
  return 'digest' in error ? error.digest : undefined;
}

/**
 * Keeps an error in the context of its request. Next shows the error's digest on the page, so the digest becomes the
 * request's id: the log can be searched for it.
 */
function attachError(error: Error, request: RequestContext): void {
  request.keepError(error);
  if (typeof digestOf(error) === 'string') Object.assign(error, { digest: request.requestId });
}

function classify(error: Error, level: Level, request: RequestContext | null): { as: Level; message: string } {
  if (request?.isUnreadable) return { as: 'info', message: 'what was sent to the console cannot be read' };
  if (isWinterdockError(error) && error.code !== 'internal')
    return { as: 'info', message: 'the console refused a request' };
  return { as: level, message: 'the console failed' };
}
