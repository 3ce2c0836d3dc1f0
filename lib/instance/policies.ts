/**
 * Capability profiles: what an Instance may do and how much of it. Closed: an unknown name runs as `compute`. A profile
 * whose purpose is not there yet is not offered: whatever has it keeps what it gives. Pure, and safe for the browser.
 */

const POLICIES = ['compute', 'minimal', 'posix', 'network'] as const;
export type PolicyName = (typeof POLICIES)[number];

const CAPABILITIES = ['vfs', 'shell', 'js', 'python', 'archives', 'fetch'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface PolicyProfile {
  /** Bytes that guest code may use. */
  memoryBytes: number;
  /** Longest run of one call, by the clock. */
  timeMs: number;
  capabilities: readonly Capability[];
}

const MIB = 1024 * 1024;

const PROFILES: Readonly<Record<PolicyName, PolicyProfile>> = {
  compute: { memoryBytes: 64 * MIB, timeMs: 5_000, capabilities: ['vfs'] },
  minimal: { memoryBytes: 64 * MIB, timeMs: 5_000, capabilities: ['vfs', 'shell', 'js'] },
  posix: { memoryBytes: 256 * MIB, timeMs: 60_000, capabilities: ['vfs', 'shell', 'js', 'python', 'archives'] },
  // There is no broker that would fetch for it: it holds what `minimal` holds and no way out.
  network: { memoryBytes: 128 * MIB, timeMs: 30_000, capabilities: ['vfs', 'shell', 'js'] },
};

export const DEFAULT_POLICY = 'posix' satisfies PolicyName;

/** The policies that a sandbox may be given, the default first. */
export const OFFERED_POLICIES = ['posix', 'minimal'] as const;

/** What is missing of those that are not offered. */
const MISSING: Readonly<Partial<Record<string, string>>> = {
  compute: 'there are no components that it could run',
  network: 'it reaches no network',
};

/** Why a policy is not offered, as the rest of a sentence that begins with its name; null for one that is. */
export function whyNotOffered(name: string): string | null {
  if ((OFFERED_POLICIES as readonly string[]).includes(name)) return null;
  const missing = Object.hasOwn(MISSING, name) ? MISSING[name] : undefined;
  return missing === undefined ? 'is not known here' : `is not offered: ${missing}`;
}

/** The profile of a policy name; `compute` for a name that the engine does not know. */
export function profileOf(name: string): PolicyProfile & { name: PolicyName } {
  const known = (POLICIES as readonly string[]).includes(name) ? (name as PolicyName) : 'compute';
  return { name: known, ...PROFILES[known] };
}

/** The offered policies that have a capability, the least first. */
export function policiesWith(capability: Capability): PolicyName[] {
  return OFFERED_POLICIES.toReversed().filter((name) => PROFILES[name].capabilities.includes(capability));
}
