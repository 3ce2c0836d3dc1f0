/** The client's address. What a proxy says of it counts only when `WB_TRUST_PROXY` is set. Pure. */
import { type AnyHeaders, headerOf } from './header.ts';

/** The peer's address, which the front sets on requests to pages, whatever the client sent. */
export const PEER_HEADER = 'x-winterdock-peer';

/** `::ffff:192.0.2.1`, as IPv6 sockets show IPv4 addresses, becomes `192.0.2.1`. */
function withoutIpv4Prefix(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address;
}

/**
 * The client's address: the peer's, or with a trusted proxy the last one in `X-Forwarded-For`, which the nearest proxy
 * added. Entries further left may come from the client itself and are ignored.
 */
export function clientAddress(headers: AnyHeaders, peer: string | null, trustProxy: boolean): string | null {
  const forwarded = trustProxy ? headerOf(headers, 'x-forwarded-for')?.split(',').at(-1)?.trim() : undefined;
  const address = forwarded === undefined || forwarded === '' ? peer : forwarded.slice(0, 64);
  return address === null ? null : withoutIpv4Prefix(address);
}

/** The key under which a client's requests are counted: an IPv4 address, or the /64 network of an IPv6 address. */
export function clientKey(address: string | null): string {
  if (address === null) return 'unknown';
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%', 1)[0]?.split('::') ?? [];
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  return [...before, ...Array.from({ length: gap }, () => '0'), ...after].slice(0, 4).join(':');
}
