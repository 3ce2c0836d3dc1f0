/**
 * Allow-lists of addresses: what one entry means, and whether a request is covered. Scheme, host and port must be
 * equal, a path is compared by whole segments. Pure, and safe for the browser. Knows nothing of who asks.
 */

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

/** Everything on public addresses. */
export const WILDCARD = '*';

export interface UrlRule {
  /** `https://api.example.com/v1/`: this and all below it; without the last slash also the path itself. Or `*`. */
  url: string;
  methods: readonly Method[];
  /** The name may have an address that is not public. */
  private: boolean;
}

/** Longest address of a request, in characters: what common servers accept. */
export const LONGEST_URL = 8192;
const LONGEST_RULE = 2000;
/** How often a path may be encoded in itself before it counts as ambiguous. */
const MOST_DECODINGS = 3;

/**
 * An entry's address as it is compared: parsed, the host in lower case and Punycode, a default port left out. Otherwise
 * a sentence's rest that says what is wrong with it.
 */
export function normalRuleUrl(text: string): { url: string } | { wrong: string } {
  if (text === WILDCARD) return { url: text };
  if (text.length > LONGEST_RULE) return { wrong: `must have at most ${LONGEST_RULE} characters` };
  const parsed = parseOutgoingUrl(text);
  if ('wrong' in parsed) return parsed;
  const { url } = parsed;
  if (url.search !== '' || text.includes('?')) return { wrong: 'must have no query' };
  if (text.includes('#')) return { wrong: 'must have no fragment' };
  if (text.includes('*')) return { wrong: 'must name a host and a path: "*" stands alone' };
  if (isAmbiguousPath(url.pathname)) return { wrong: 'must have a plain path, without encoded separators' };
  return { url: url.href };
}

/** The address of a request, parsed strictly: what parsers read differently is refused. The fragment is dropped. */
export function parseOutgoingUrl(text: string): { url: URL } | { wrong: string } {
  if (text.length > LONGEST_URL) return { wrong: `must have at most ${LONGEST_URL} characters` };
  // URL parsers drop tabs and line breaks, and take a backslash for a slash: others do not.
  if (/[\p{Cc}\p{Cs}\\]/u.test(text) || text !== text.trim()) {
    return { wrong: 'must have no control characters, backslashes or outer spaces' };
  }
  if (!/^https?:\/\/[^/]/i.test(text)) return { wrong: 'must begin with https:// or http:// and a host' };
  if (!URL.canParse(text)) return { wrong: 'must be a URL' };
  const url = new URL(text);
  if (url.username !== '' || url.password !== '' || /^https?:\/\/[^/?#]*@/i.test(text)) {
    return { wrong: 'must not contain a user or a password' };
  }
  if (url.hostname.endsWith('.')) return { wrong: 'must have a host without a dot at its end' };
  url.hash = '';
  return { url };
}

/** The entries that cover a request. */
export function rulesFor<Rule extends UrlRule>(rules: readonly Rule[], url: URL, method: string): Rule[] {
  return rules.filter((rule) => (rule.methods as readonly string[]).includes(method) && covers(rule.url, url));
}

/** Whether an address is within an entry's, whatever the method. */
export function covers(rule: string, url: URL): boolean {
  if (rule === WILDCARD) return true;
  const { origin, pathname } = new URL(rule);
  if (url.origin !== origin) return false;
  if (pathname === '/') return true;
  if (isAmbiguousPath(url.pathname)) return false;
  if (pathname.endsWith('/')) return url.pathname.startsWith(pathname);
  return url.pathname === pathname || url.pathname.startsWith(`${pathname}/`);
}

/**
 * Whether a server could take a path for another one than is written there: a separator or a dot segment that appears
 * when it is decoded, once or several times, or with what follows a semicolon left out. Plain dot segments are gone
 * once a URL is parsed.
 */
function isAmbiguousPath(path: string): boolean {
  let decoded = path;
  for (let times = 0; times <= MOST_DECODINGS; times += 1) {
    if (/[\\\p{Cc}]/u.test(decoded) || (times > 0 && /%(?:2f|5c|00)/i.test(decoded))) return true;
    if (decoded.split('/').some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment))) return true;
    if (times === 0 && /%(?:2f|5c|0|1|7f)/i.test(decoded)) return true;
    let next: string;
    try {
      next = decodeURIComponent(decoded);
    } catch {
      // Not UTF-8, or a lone "%": its bytes are what they are, and nothing in them is a separator but an escape above.
      return /%25/i.test(decoded);
    }
    if (next === decoded) return false;
    if (next.split('/').length !== decoded.split('/').length) return true;
    decoded = next;
  }
  return true;
}
