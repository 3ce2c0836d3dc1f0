/** Links between the pages of a list. Pure. */
import type { AnswerHeaders } from './answer.ts';

/** The `Link` header to the page after, from the path and query that were asked; nothing at the end. */
export function nextLink(path: string, search: string, cursor: string | null): AnswerHeaders {
  if (cursor === null) return {};
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  return { link: `<${path}?${query}>; rel="next"` };
}
