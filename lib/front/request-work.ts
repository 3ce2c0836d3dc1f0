/** A request as work that holds the event loop, and the name under which the log and the metrics tell of it. */
import type { IncomingMessage } from 'node:http';
import type { Arrival } from '../hosts/hop/hop-receiver.ts';
import type { Dispatcher } from '../http/dispatch.ts';

export interface RequestWork {
  readonly req: IncomingMessage;
  /** Who sent it on, when that was another host. */
  readonly arrival: Arrival | null;
  /** Control goes to it: it begins, or goes on after it has waited. */
  enter(): void;
}

/** A first segment that may be shown: the name of a page, as ours are written. */
const PAGE = /^\/(?:[a-z_-]{1,32}(?=\/|$))?/;

/**
 * Method and route of a request. Ids, names and whatever else may be in an address are not in it: of a page it has the
 * first segment.
 */
export function requestName({ method = 'GET', url = '/' }: IncomingMessage, dispatcher: Dispatcher): string {
  if (dispatcher.owns(url)) return `${method} ${dispatcher.routeOf(method, url) ?? '(no route)'}`;
  const path = url.split(/[?#]/, 1)[0] ?? '/';
  const [first = '/…'] = PAGE.exec(path) ?? [];
  return `${method} ${first}${path.length > first.length && first !== '/…' ? '/…' : ''}`.replace('//', '/');
}
