/**
 * Which lines of the ledger make a page wrong, and how soon it should be read again. What leaves patch by themselves
 * can wait; what the server has to arrange anew cannot. Pure.
 */
import type { Event, Job } from '#lib/contract/schema.ts';

/** `now`: something on it is wrong; `later`: only its order or its edges may be; null: it is as it was. */
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
const COPIES = /^(?:snapshot|blueprint|start|bundle|checkout|import)\./;
const JOB = /^job\./;
const RIGHTS = /^(?:settings|tenant|person|invitation|password|session|key|ledger|registry|signin|access)\./;

const filters = ['tenant', 'instance', 'type', 'actor', 'trigger'] as const;
/** What an address of the list says that no change of a row makes it enter or leave; a state only a transition does. */
const FIXED: readonly string[] = ['tenant', 'state', 'sort', 'limit', 'cursor'];

const overview: Rule = ({ type, instance }) => {
  if (TROUBLE.test(type) || JOB.test(type)) return 'now';
  return instance !== null || LADDER.test(type) ? 'later' : null;
};

const sandboxes: Rule = (event, { search, shows }) => {
  const { type, instance, tenant, from, to } = event;
  if (instance === null) return LADDER.test(type) ? 'later' : null;
  const asked = search.get('tenant');
  if (asked !== null && asked !== tenant) return null;
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
  const asked = search.get('tenant');
  if (asked !== null && asked !== tenant) return null;
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

const only =
  (pattern: RegExp): Rule =>
  ({ type, instance }, { shows }) =>
    pattern.test(type) ? 'now' : instance !== null && shows(instance) ? 'later' : null;

/** The first that fits the address. A page without a rule is read again for every line. */
const RULES: readonly (readonly [RegExp, Rule])[] = [
  [/^\/$/, overview],
  [/^\/sandboxes$/, sandboxes],
  [/^\/(?:sandboxes|archive)\/[^/]+/, sandbox],
  [/^\/archive$/, archive],
  [/^\/tenants$/, tenants],
  [/^\/tenants\/[^/]+$/, tenantPage],
  [/^\/audit$/, audit],
  [/^\/(?:snapshots|blueprints|shares)(?:\/|$)/, only(COPIES)],
  // What it shows is asked of every sandbox, and decided on, not watched.
  [/^\/jobs\/new$/, () => null],
  [/^\/jobs(?:\/|$)/, only(JOB)],
  [/^\/settings(?:\/|$)/, only(RIGHTS)],
  [/^\/explorer$/, () => null],
];

/** How soon a page should be read again because of a line. */
export function urgencyOf(event: Event, page: OpenPage): Urgency {
  // Rendering a page that shows private files is itself such a line: it would ask for the next one for ever.
  if (event.type === 'private.read' && !page.pathname.startsWith('/audit')) return null;
  const rule = RULES.find(([pattern]) => pattern.test(page.pathname))?.[1];
  return rule === undefined ? 'now' : rule(event, page);
}

/**
 * How soon a page should be read again because a job came further. `before`: what was told of it last. The bars and
 * numbers follow by themselves; results are listed by the server, and so is which jobs there are.
 */
export function jobUrgency(job: Job, before: Job | undefined, { pathname }: OpenPage): Urgency {
  if (pathname === `/jobs/${job.id}`) return 'now';
  return (pathname === '/' || pathname === '/jobs') && job.state !== before?.state ? 'now' : null;
}
