/** Makes the address of a call from its line and its arguments. Pure. */
import type { CallLine } from './call.ts';
import { ApiError } from './error.ts';

/** Names of a path's parameters in their order; the path of a file is `path`. */
export function parametersOf(path: string): string[] {
  return path
    .split('/')
    .filter((segment) => segment.startsWith(':') || segment === '*')
    .map((segment) => (segment === '*' ? 'path' : segment.slice(1)));
}

/** Addresses are resolved on their way: `.` and `..` would name something else, and nothing would name the list. */
function encodeSegment(segment: string, name: string): string {
  if (segment === '' || segment === '.' || segment === '..') {
    throw new ApiError('validation', `${name} must not be "${segment}".`, {
      hint: 'Nothing was sent.',
    });
  }
  return encodeURIComponent(segment);
}

/** The path of a call. Throws `validation` for a parameter that would lead elsewhere. */
export function pathOf(line: CallLine, parameters: readonly string[]): string {
  let index = 0;
  return line.path
    .split('/')
    .map((segment) => {
      if (segment !== '*' && !segment.startsWith(':')) return segment;
      const value = String(parameters[index++] ?? '');
      if (segment !== '*') return encodeSegment(value, segment.slice(1));
      return value
        .replace(/^\//, '')
        .split('/')
        .map((part) => encodeSegment(part, 'A segment of the path'))
        .join('/');
    })
    .join('/');
}

/** The query of a call with its `?`; what is undefined is left out. */
export function searchOf(query: object | undefined): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null) search.append(name, String(value));
  }
  return search.size === 0 ? '' : `?${search}`;
}
