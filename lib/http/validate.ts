/** Turns what zod finds into the contract's `validation` problem, and query strings into objects. Pure. */
import type { z } from 'zod';
import { WinterdockError } from '../base/errors.ts';
import { invalid } from './target.ts';

const SHOWN_ISSUES = 20;
const SHOWN_LENGTH = 200;

/**
 * Parses `value` by `schema`. Throws `validation` with `errors: [{path, message}]`. `what` names the input for people.
 */
export function parse<S extends z.ZodType>(schema: S, value: unknown, what: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { issues } = parsed.error;
  const errors = issues
    .filter((issue, index) => !isRedundant(issue, issues[index + 1]))
    .flatMap(flatten)
    .slice(0, SHOWN_ISSUES);
  const first = errors[0] ?? { path: '', message: 'is not valid' };
  throw new WinterdockError(
    'validation',
    `The ${what} is not valid: ${first.path === '' ? '' : `${first.path}: `}${first.message}.`,
    {
      extra: { errors },
    },
  );
}

/** A number far out of range breaks two bounds: that of safe integers and its own. Only its own is reported. */
function isRedundant(issue: z.core.$ZodIssue, next: z.core.$ZodIssue | undefined): boolean {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return false;
  return next?.code === issue.code && next.path.join('.') === issue.path.join('.');
}

function flatten(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.map(String);
  const at = (keys: string[]) => keys.join('.').slice(0, SHOWN_LENGTH);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: at([...path, key]), message: 'is not known here' }));
  }
  return [{ path: at(path), message: issue.message.slice(0, SHOWN_LENGTH) }];
}

/** The query string as an object for a strict schema. A key given twice throws `validation`. */
export function queryObject(search: string): Record<string, string> {
  if (search === '') return {};
  const query: Record<string, string> = Object.create(null);
  for (const [key, value] of new URLSearchParams(search)) {
    if (key in query) throw invalid(key.slice(0, SHOWN_LENGTH), 'is given more than once', 'query');
    query[key] = value;
  }
  return query;
}
