/** Capability profiles: what an Instance may do and how much of it. Closed: an unknown name runs as `compute`. Pure. */

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
  // Its fetch broker is not built yet, so it holds what `minimal` holds and no way out.
  network: { memoryBytes: 128 * MIB, timeMs: 30_000, capabilities: ['vfs', 'shell', 'js'] },
};

export const DEFAULT_POLICY: PolicyName = 'posix';

/** The profile of a policy name; `compute` for a name that the engine does not know. */
export function profileOf(name: string): PolicyProfile & { name: PolicyName } {
  const known = (POLICIES as readonly string[]).includes(name) ? (name as PolicyName) : 'compute';
  return { name: known, ...PROFILES[known] };
}

/** The policies that have a capability, the least first. */
export function policiesWith(capability: Capability): PolicyName[] {
  return POLICIES.filter((name) => PROFILES[name].capabilities.includes(capability));
}
