/**
 * Allow-lists of addresses: what one entry means, and whether a request is covered. Scheme, host and port must be
 * equal, a path is compared by whole segments. Pure, and safe for the browser. Knows nothing of who asks.
 */

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

/** Everything on public addresses, but for ports at which other protocols are spoken. */
export const WILDCARD = '*';

/**
 * Ports of mail, shells, chats and the like, whose servers may take lines of a request for commands of theirs: those
 * that browsers refuse (the list of the Fetch standard).
 */
const OTHER_PROTOCOLS: ReadonlySet<number> = new Set([
  ...[1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109],
  ...[110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530],
  ...[531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190],
  ...[5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080],
]);

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
  if (rule === WILDCARD) return !OTHER_PROTOCOLS.has(Number(url.port));
  const { origin, pathname } = new URL(rule);
  if (url.origin !== origin) return false;
  if (pathname === '/') return true;
  if (isAmbiguousPath(url.pathname)) return false;
  if (pathname.endsWith('/')) return url.pathname.startsWith(pathname);
  return url.pathname === pathname || url.pathname.startsWith(`${pathname}/`);
}

/**
 * Whether a server could take a path for another one than is written there: a separator or a dot segment that appears
 * when it is decoded, once or several times, or with what follows a semicolon left out; and escapes that decoders read
 * differently, which are none or no UTF-8 in its shortest form. Plain dot segments are gone once a URL is parsed.
 */
function isAmbiguousPath(path: string): boolean {
  // Decoded by the byte: what is not UTF-8 hides no escape beside it.
  let decoded = path;
  for (let times = 0; times <= MOST_DECODINGS; times += 1) {
    if (/[\\\p{Cc}]/u.test(decoded.replace(/[\x80-\x9f]/g, '')) || /%(?:2f|5c|0|1|7f)/i.test(decoded)) return true;
    if (/%(?![\da-f]{2})/i.test(decoded) && times === 0) return true;
    if (OVERLONG.test(decoded)) return true;
    if (decoded.split('/').some((segment) => /^\.{1,2}(?:;.*)?$/.test(segment))) return true;
    const next = decoded.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
    if (next === decoded) return false;
    decoded = next;
  }
  return true;
}

/** The bytes of an ASCII character in more than one, which some decoders take for it. */
const OVERLONG = /[\xc0\xc1][\x80-\xbf]|\xe0[\x80-\x9f][\x80-\xbf]|\xf0[\x80-\x8f][\x80-\xbf]{2}/;
