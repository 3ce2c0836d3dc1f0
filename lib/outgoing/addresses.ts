/** Which addresses of the internet requests may go to. Pure. */
import ipaddr from 'ipaddr.js';

/** What is handed out for global unicast; other IPv6 addresses that name no special range are not routed. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
/** Looks public, and is Azure's to its machines: names, certificates and settings of the machine. */
const OF_CLOUDS: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Why an address (as a resolver or a URL has it) is not a public one, as a noun: `loopback`, `private`, …; null for a
 * public one. An IPv4 address inside an IPv6 one (mapped) counts as itself.
 */
export function specialRange(address: string): string | null {
  if (!ipaddr.isValid(address)) return 'malformed';
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range !== 'unicast') return range;
  if (OF_CLOUDS.has(parsed.toString())) return 'metadata';
  return parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_UNICAST) ? 'unassigned' : null;
}

/** Whether a list has an address, however either is written. */
export function hasAddress(addresses: readonly string[], address: string): boolean {
  const normal = (text: string) => (ipaddr.isValid(text) ? ipaddr.process(text).toString() : text);
  const sought = normal(address);
  return addresses.some((one) => normal(one) === sought);
}
