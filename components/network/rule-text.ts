/** Lists of what may be reached as people type them: one entry a line. Pure. */

/** An entry of a list, as the API takes it. */
export interface TypedRule {
  url: string;
  methods?: string[];
  private?: boolean;
}

const METHODS = /^[A-Za-z]+(?:,[A-Za-z]+)*$/;

/** `GET,POST https://api.example.com/v1/`, methods first or last, `private` anywhere; empty lines are left out. */
export function rulesOfText(text: string): { rules: TypedRule[]; wrong: string | null } {
  const rules: TypedRule[] = [];
  for (const [at, line] of text.split('\n').entries()) {
    const words = line.trim().split(/\s+/).filter(Boolean);
    if (words.length === 0) continue;
    const isPrivate = words.includes('private');
    const urls = words.filter((word) => word === '*' || word.includes('://'));
    const others = words.filter((word) => word !== 'private' && !urls.includes(word));
    const [url, ...more] = urls;
    if (url === undefined || more.length > 0 || others.length > 1 || !others.every((word) => METHODS.test(word))) {
      return { rules, wrong: `Line ${at + 1} is no entry: write GET,POST https://api.example.com/v1/` };
    }
    const methods = others[0]?.toUpperCase().split(',');
    rules.push({ url, ...(methods && { methods }), ...(isPrivate && { private: true }) });
  }
  return { rules, wrong: null };
}

export function textOfRules(
  rules: readonly { url: string; methods: readonly string[]; private: boolean }[] | null,
): string {
  return (rules ?? []).map(lineOfRule).join('\n');
}

/** One entry. */
export function lineOfRule(rule: { url: string; methods: readonly string[]; private: boolean }): string {
  return `${rule.methods.join(',')} ${rule.url}${rule.private ? ' private' : ''}`;
}
