/**
 * Capability profiles: what an Instance may do, and how much of it. Fails closed: an unknown name runs as `compute`. A
 * profile whose purpose is not implemented is not offered; sandboxes that already have it keep it. Pure, and safe for
 * the browser.
 */

const POLICIES = ['compute', 'minimal', 'posix', 'network', 'native'] as const;
export type PolicyName = (typeof POLICIES)[number];

const CAPABILITIES = ['vfs', 'shell', 'js', 'python', 'archives', 'fetch'] as const;
export type Capability = (typeof CAPABILITIES)[number];

export interface PolicyProfile {
  /** Bytes that guest code may use. */
  memoryBytes: number;
  /** How long a call may take that asks for no time, in milliseconds. */
  timeMs: number;
  /** What it may ask for at most, in milliseconds; `WB_MAX_CALL_MS` may allow less. */
  longestMs: number;
  capabilities: readonly Capability[];
}

const MIB = 1024 * 1024;
const SHORT_MS = 60_000;
const LONG_MS = 3_600_000;

const PROFILES: Readonly<Record<PolicyName, PolicyProfile>> = {
  compute: { memoryBytes: 64 * MIB, timeMs: 5_000, longestMs: SHORT_MS, capabilities: ['vfs'] },
  minimal: { memoryBytes: 64 * MIB, timeMs: 5_000, longestMs: SHORT_MS, capabilities: ['vfs', 'shell', 'js'] },
  posix: {
    memoryBytes: 256 * MIB,
    timeMs: 60_000,
    longestMs: LONG_MS,
    capabilities: ['vfs', 'shell', 'js', 'python', 'archives'],
  },
  // What `posix` has, and requests that the server lets out.
  network: {
    memoryBytes: 256 * MIB,
    timeMs: 60_000,
    longestMs: LONG_MS,
    capabilities: ['vfs', 'shell', 'js', 'python', 'archives', 'fetch'],
  },
  // Real programs in a jail, without a network. Its memory is that of all of them together.
  native: { memoryBytes: 1024 * MIB, timeMs: 60_000, longestMs: LONG_MS, capabilities: ['vfs', 'shell'] },
};

/** Whether a policy runs real programs, which only a server with WB_NATIVE has. */
export function isNative(policy: string): boolean {
  return policy === 'native';
}

export const DEFAULT_POLICY = 'posix' satisfies PolicyName;

/** The policies that a sandbox can get, the default first. A server without real programs refuses `native` by name. */
export const OFFERED_POLICIES = ['posix', 'minimal', 'compute', 'network', 'native'] as const;

/** Why a policy is not offered, as the rest of a sentence that starts with its name; null for an offered one. */
export function whyNotOffered(name: string): string | null {
  if ((OFFERED_POLICIES as readonly string[]).includes(name)) return null;
  return 'is not known here';
}

/** The profile of a policy; `compute` for an unknown name. */
export function profileOf(name: string): PolicyProfile & { name: PolicyName } {
  const known = (POLICIES as readonly string[]).includes(name) ? (name as PolicyName) : 'compute';
  return { name: known, ...PROFILES[known] };
}

/** What a call may ask for under every policy, in milliseconds. */
export const LEAST_LONGEST_MS = SHORT_MS;

/** The policies of every server that have a capability, the most restricted first. */
export function policiesWith(capability: Capability): PolicyName[] {
  const wealth = (name: PolicyName) => PROFILES[name].capabilities.length;
  return OFFERED_POLICIES.toSorted((a, b) => wealth(a) - wealth(b)).filter(
    (name) => !isNative(name) && PROFILES[name].capabilities.includes(capability),
  );
}
