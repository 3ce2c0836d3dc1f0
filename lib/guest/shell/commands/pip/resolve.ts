/**
 * Which versions are installed together: the newest that everybody who asks allows. One that turns out too new is
 * chosen again with what was found out meanwhile. Knows no files.
 */
import { parse as parseVersion, rcompare, satisfies } from '@renovatebot/pep440';
import { parseRequirement, type Requirement } from './requirements.ts';
import type { Candidates, IndexedWheel } from './simple-index.ts';

/** How often it begins anew, each time with one requirement more. */
const MOST_ROUNDS = 50;
const MOST_PACKAGES = 500;

export class ResolutionError extends Error {}

/** A package that is there: an installed one, or a wheel. */
export interface Package {
  name: string;
  version: string;
  requires: readonly string[];
}

export interface Sources<P extends Package> {
  /** An installed package that may stay, or a wheel of the sandbox; null to look in the index. */
  given(name: string): P | null;
  candidates(name: string): Promise<Candidates>;
  fetched(wheel: IndexedWheel): Promise<P>;
  prereleases: boolean;
  withoutDependencies: boolean;
  constraints: readonly Requirement[];
}

interface Chosen<P> {
  found: P;
  extras: Set<string>;
}

/** Chooses a package for each name that is asked for. Throws `ResolutionError` with who asks for what. */
export async function resolve<P extends Package>(
  wanted: readonly Requirement[],
  sources: Sources<P>,
): Promise<Map<string, P>> {
  /** What earlier rounds have found out: it holds for the name from the begin. */
  const known: Requirement[] = [];
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const result = await attempt(wanted, known, sources);
    if (result instanceof Map) return new Map([...result].map(([name, { found }]) => [name, found]));
    known.push(result);
  }
  throw new ResolutionError('no set of versions was found that everybody allows');
}

/** One round. A requirement that came too late for what was chosen ends it, and is returned. */
async function attempt<P extends Package>(
  wanted: readonly Requirement[],
  known: readonly Requirement[],
  sources: Sources<P>,
): Promise<Map<string, Chosen<P>> | Requirement> {
  const chosen = new Map<string, Chosen<P>>();
  const asked = [...sources.constraints, ...known];
  const queue = [...wanted];
  asked.push(...wanted);
  for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
    const { name, extras } = next;
    const before = chosen.get(name);
    const all = asked.filter((one) => one.name === name);
    if (before !== undefined && !allowed(before.found.version, next.versions)) return next;
    const entry = before ?? { found: await choose(name, all, sources), extras: new Set<string>() };
    const added = extras.filter((extra) => !entry.extras.has(extra));
    chosen.set(name, entry);
    if (chosen.size > MOST_PACKAGES)
      throw new ResolutionError(`more than ${MOST_PACKAGES} packages would be installed`);
    for (const extra of added) entry.extras.add(extra);
    if ((before !== undefined && added.length === 0) || sources.withoutDependencies) continue;
    const { found } = entry;
    for (const line of found.requires) {
      const requirement = parseRequirement(line, { by: `${found.name} ${found.version}`, extras: [...entry.extras] });
      if (requirement === null) continue;
      asked.push(requirement);
      queue.push(requirement);
    }
  }
  return chosen;
}

function allowed(version: string, versions: string): boolean {
  try {
    // Whether a prerelease may be chosen is decided where it is chosen.
    return versions === '' || satisfies(version, versions, { prereleases: true });
  } catch {
    throw new ResolutionError(`"${versions}" is no list of versions`);
  }
}

async function choose<P extends Package>(name: string, asked: readonly Requirement[], sources: Sources<P>): Promise<P> {
  const isAllowed = (version: string) => asked.every(({ versions }) => allowed(version, versions));
  const given = sources.given(name);
  if (given !== null && isAllowed(given.version)) return given;
  const { wheels, others } = await sources.candidates(name);
  const pinned = asked.some(({ versions }) => versions.includes('=='));
  const fitting = wheels.filter(({ version, isYanked }) => isAllowed(version) && (!isYanked || pinned));
  const named = asked.some(({ versions }) => /\d(?:a|b|rc|\.dev)\d/.test(versions));
  const released = fitting.filter(({ version }) => !isPrerelease(version));
  const pool = sources.prereleases || named || released.length === 0 ? fitting : released;
  const [best] = pool.toSorted((a, b) => rcompare(a.version, b.version));
  if (best !== undefined) return sources.fetched(best);
  throw new ResolutionError(whyNone(name, asked, wheels, others));
}

function isPrerelease(version: string): boolean {
  const { pre, dev } = (parseVersion(version) ?? {}) as { pre?: unknown; dev?: unknown };
  return (Array.isArray(pre) && pre.length > 0) || (Array.isArray(dev) && dev.length > 0);
}

function whyNone(name: string, asked: readonly Requirement[], wheels: readonly IndexedWheel[], others: number): string {
  if (wheels.length === 0) {
    const why = others === 0 ? 'it has no files' : `its ${others} files are sources, or for another machine or Python`;
    return `there is no wheel of pure Python of "${name}" for this Python: ${why}. Nothing is built here`;
  }
  const versions = [...new Set(wheels.map(({ version }) => version))].toSorted(rcompare);
  const shown = `${versions.slice(0, 8).join(', ')}${versions.length > 8 ? ', …' : ''}`;
  const who = asked
    .filter(({ versions: spec }) => spec !== '')
    .map(({ versions: spec, by }) => `${name}${spec}${by === null ? '' : ` (of ${by})`}`);
  return `no version of "${name}" is allowed by everybody who asks: ${who.join(', ')}. There are ${shown}`;
}
