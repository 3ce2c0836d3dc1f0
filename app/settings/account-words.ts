/** Roles, tenants and browsers in words. Pure. */
import type { PersonRole, Role } from '#lib/auth/roles.ts';

/** What each role may do, in one line. */
export const ROLE_MEANS: Readonly<Record<Role, string>> = {
  admin: 'everything, people and keys included',
  operator: 'moves, runs, files and copies sandboxes',
  support: 'sees all, reads workspace, revives with a reason',
  viewer: 'sees states and the ledger, no contents',
  tenant: 'a program: everything of its one tenant, nothing else',
};

/** A role and its tenants: `operator of acme, northwind`. */
export function rightsInWords({
  role,
  tenants,
}: {
  role: Role | PersonRole;
  tenants: readonly string[] | null;
}): string {
  if (role === 'admin') return 'admin';
  return `${role} of ${tenants === null ? 'all tenants' : tenants.join(', ')}`;
}

/** Parses tenants, separated by spaces or commas; null, which means all of them, when there are none. */
export function tenantsOf(text: string): string[] | null {
  const names = [...new Set(text.split(/[\s,]+/).filter((name) => name !== ''))];
  return names.length === 0 ? null : names;
}

const BROWSERS: readonly [pattern: RegExp, name: string][] = [
  [/\bEdg\//, 'Edge'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Chrome|Chromium|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly [pattern: RegExp, name: string][] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** A browser by its `User-Agent`, approximately: `Firefox on Linux`. */
export function browserInWords(agent: string | null): string {
  if (agent === null) return 'unknown';
  const named = (list: typeof BROWSERS) => list.find(([pattern]) => pattern.test(agent))?.[1];
  const browser = named(BROWSERS);
  const system = named(SYSTEMS);
  if (browser === undefined) return agent.slice(0, 60);
  return system === undefined ? browser : `${browser} on ${system}`;
}
