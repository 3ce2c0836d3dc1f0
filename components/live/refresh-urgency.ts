/**
 * Which ledger lines make a page stale, and how soon the server should render it again. Values that components patch
 * themselves can wait; lists that the server has to sort or filter again cannot. Pure.
 */
import type { Event, Job } from '#lib/contract/schema.ts';

/** `now`: something on the page is stale. `later`: only its order or its edges may be. null: nothing is. */
export type Urgency = 'now' | 'later' | null;

export interface OpenPage {
  pathname: string;
  search: URLSearchParams;
  /** Whether the page shows this row. */
  shows(id: string): boolean;
}

type Rule = (event: Event, page: OpenPage) => Urgency;

const BEGINS = /^(?:instance\.(?:created|imported)|snapshot\.restored|blueprint\.cloned|bundle\.imported)$/;
const TROUBLE = /^fault\.|^reconcile\.|^orphan\.|\.failed$/;
const LADDER = /^(?:settings|tenant)\.changed$/;
const WORKBOOKS = /^workbook\./;
const COPIES = /^(?:snapshot|blueprint|start|bundle|checkout|import)\./;
const JOB = /^job\./;
const ATTENTION = /^attention\./;
const RIGHTS = /^(?:settings|tenant|person|invitation|password|session|key|webhook|ledger|registry|signin|access)\./;

const filters = ['tenant', 'instance', 'type', 'actor', 'trigger'] as const;
/** Filters of the list that no change of a row affects. (A state changes only by a transition.) */
const FIXED: readonly string[] = ['tenant', 'state', 'sort', 'limit', 'cursor'];

const overview: Rule = ({ type, instance }) => {
  if (TROUBLE.test(type) || JOB.test(type) || ATTENTION.test(type)) return 'now';
  return instance !== null || LADDER.test(type) ? 'later' : null;
};

const sandboxes: Rule = (event, { search, shows }) => {
  const { type, instance, tenant, from, to } = event;
  if (instance === null) return LADDER.test(type) ? 'later' : null;
  const shownTenant = search.get('tenant');
  if (shownTenant !== null && shownTenant !== tenant) return null;
  const state = search.get('state');
  const changeable = [...search.keys()].some((name) => !FIXED.includes(name));
  if (shows(instance))
    return type === 'transition' && state === null && !changeable && to !== 'deleted' ? 'later' : 'now';
  if (BEGINS.test(type)) return state === null || state === 'created' ? 'now' : null;
  if (type !== 'transition') return changeable ? 'later' : null;
  if (state !== null) return state === from || state === to ? 'now' : null;
  return to === 'deleted' ? 'now' : search.has('cursor') && !changeable ? null : 'later';
};

const sandbox: Rule = ({ instance, type }, { pathname }) => {
  if (instance === pathname.split('/')[2]) return 'now';
  return LADDER.test(type) ? 'later' : null;
};

const archive: Rule = ({ instance, tenant, from, to }, { search, shows }) => {
  if (instance === null) return null;
  const shownTenant = search.get('tenant');
  if (shownTenant !== null && shownTenant !== tenant) return null;
  if (from === 'archived' || to === 'archived') return 'now';
  return shows(instance) ? 'now' : null;
};

const tenants: Rule = ({ type, instance }) => {
  if (LADDER.test(type)) return 'now';
  return instance === null ? null : 'later';
};

const tenantPage: Rule = ({ type, tenant }, { pathname }) => {
  if (tenant !== pathname.split('/')[2]) return type === 'settings.changed' ? 'now' : null;
  return type === 'transition' ? 'later' : 'now';
};

const audit: Rule = (event, { search }) => {
  if (search.has('cursor')) return null;
  return filters.every((name) => !search.has(name) || search.get(name) === event[name]) ? 'now' : null;
};

/** What has begun or ended of what needs a person may be any line. */
const inbox: Rule = ({ type }) => (TROUBLE.test(type) || ATTENTION.test(type) ? 'now' : 'later');

const only =
  (pattern: RegExp): Rule =>
  ({ type, instance }, { shows }) =>
    pattern.test(type) ? 'now' : instance !== null && shows(instance) ? 'later' : null;

/** The first rule that matches the address applies. A page without a rule is refreshed at every line. */
const RULES: readonly (readonly [RegExp, Rule])[] = [
  [/^\/$/, overview],
  [/^\/attention$/, inbox],
  [/^\/sandboxes$/, sandboxes],
  [/^\/sandboxes\/[^/]+/, sandbox],
  [/^\/archive$/, archive],
  [/^\/tenants$/, tenants],
  [/^\/tenants\/[^/]+$/, tenantPage],
  // It follows what is printed by itself.
  [/^\/tenants\/[^/]+\/logs$/, () => null],
  [/^\/audit$/, audit],
  [/^\/(?:snapshots|blueprints|shares)(?:\/|$)/, only(COPIES)],
  [/^\/workbooks(?:\/|$)/, only(WORKBOOKS)],
  // The page shows a dry run over all sandboxes: a person decides on it, so it does not change under them.
  [/^\/jobs\/new$/, () => null],
  [/^\/jobs(?:\/|$)/, only(JOB)],
  [/^\/settings(?:\/|$)/, only(RIGHTS)],
  [/^\/explorer$/, () => null],
];

/** Lines of reading alone. */
const READ = /^(?:private|logs)\.read$/;

/** Pages that do not change under their reader. */
const STILL = /^\/(?:jobs\/new|explorer)$/;

/** How soon the page should be refreshed because of a line. The masthead of each counts what needs a person. */
export function urgencyOf(event: Event, page: OpenPage): Urgency {
  // Showing private files, or logs to support, writes such a line itself: refreshing on it would never end.
  if (READ.test(event.type) && !page.pathname.startsWith('/audit')) return null;
  const rule = RULES.find(([pattern]) => pattern.test(page.pathname))?.[1];
  const urgency = rule === undefined ? 'now' : rule(event, page);
  if (urgency !== null || STILL.test(page.pathname)) return urgency;
  return TROUBLE.test(event.type) || ATTENTION.test(event.type) ? 'later' : null;
}

/**
 * How soon the page should be refreshed because a job progressed. `before`: its last known state. Bars and numbers
 * update themselves; the server lists the results and the jobs.
 */
export function jobUrgency(job: Job, before: Job | undefined, { pathname }: OpenPage): Urgency {
  if (pathname === `/jobs/${job.id}`) return 'now';
  return (pathname === '/' || pathname === '/jobs') && job.state !== before?.state ? 'now' : null;
}

/**
 * How soon the page should be refreshed because runs began, started or ended in these sandboxes: the terminal's tab of
 * one lists its runs.
 */
export function runUrgency(instances: readonly string[], { pathname, search }: OpenPage): Urgency {
  const id = /^\/sandboxes\/([^/]+)$/.exec(pathname)?.[1];
  return id !== undefined && search.get('tab') === 'terminal' && instances.includes(id) ? 'now' : null;
}
