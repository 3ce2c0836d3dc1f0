/** Parses the address of a page with a log into the API's query. Pure. */
import { type LogsQuery, logsQuerySchema } from '#lib/contract/schema.ts';

/** Lines that the page has to begin with. */
const LINES = 200;

/** Lengths of the time that is shown, by seconds. */
export const LOG_TIMES: readonly (readonly [seconds: string, name: string])[] = [
  ['900', 'last 15 minutes'],
  ['3600', 'last hour'],
  ['86400', 'last 24 hours'],
  ['604800', 'last 7 days'],
];

const MOST_REASON = 1000;

const FILTERS = ['q', 'level', 'source', 'request_id', 'within'] as const;

export interface LogPageView {
  query: LogsQuery;
  /** The filters of the address that are valid, without the place in the log and the reason. */
  filters: Record<string, string>;
  /** The query of the API that follows the same lines. */
  followed: string;
}

/** `values`: of the address; what is not valid is ignored. `now`: epoch seconds. */
export function logViewOf(values: Readonly<Record<string, string>>, now: number): LogPageView {
  const given = Object.fromEntries(
    FILTERS.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  );
  const { shape } = logsQuerySchema;
  const filters = Object.fromEntries(
    Object.entries(given).filter(([name, value]) =>
      name === 'within'
        ? LOG_TIMES.some(([seconds]) => seconds === value)
        : shape[name as Exclude<(typeof FILTERS)[number], 'within'>].safeParse(value).success,
    ),
  );
  const { within, ...rest } = filters;
  const reason: Record<string, string> =
    values.reason === undefined ? {} : { reason: values.reason.slice(0, MOST_REASON) };
  const cursor = shape.cursor.safeParse(values.cursor);
  const since = within === undefined ? {} : { since: now - Number(within) };
  return {
    query: logsQuerySchema.parse({ ...rest, ...reason, ...since, cursor: cursor.data, limit: LINES }),
    filters,
    followed: new URLSearchParams({ ...rest, ...reason }).toString(),
  };
}
