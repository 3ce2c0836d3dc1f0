/** The trailers of a commit's message: `Signed-off-by: …` and its like, in its last paragraph. Pure. */

interface Trailer {
  /** As it stands there; continued lines too. */
  raw: string;
  /** Null: it is no trailer. */
  key: string | null;
  value: string;
}

const LINE = /^([A-Za-z0-9-]+)[ \t]*:[ \t]*(.*)$/s;
/** Lines that git itself writes: beside them others may stand. */
const OF_GIT = /^(?:Signed-off-by: |\(cherry picked from commit )/;

function trailersIn(message: string): Trailer[] {
  const paragraphs = message.replace(/\s+$/, '').split(/\n[ \t]*\n/);
  // The first one is the subject.
  const last = paragraphs.length > 1 ? (paragraphs.at(-1) ?? '') : '';
  const found: Trailer[] = [];
  for (const line of last.replace(/^\n+/, '').split('\n')) {
    const before = found.at(-1);
    if (/^[ \t]/.test(line) && before !== undefined) {
      before.raw += `\n${line}`;
      before.value += `\n${line}`;
      continue;
    }
    const [, key = null, value = ''] = LINE.exec(line) ?? [];
    if (line !== '') found.push({ raw: line, key, value });
  }
  const others = found.filter(({ key }) => key === null).length;
  const trailers = found.length - others;
  const isBlock =
    trailers > 0 && (others === 0 || (found.some(({ raw }) => OF_GIT.test(raw)) && trailers * 3 >= others));
  return isBlock ? found : [];
}

/** What `%(trailers:OPTIONS)` prints; null for an option that is not known. */
export function trailersOf(message: string, options: string): string | null {
  const given = options === '' ? [] : options.split(',');
  const values = new Map<string, string>();
  const keys: string[] = [];
  for (const option of given) {
    const [, name = '', value = null] = /^(\w+)(?:=(.*))?$/s.exec(option) ?? [];
    if (name === 'key') keys.push((value ?? '').replace(/:$/, '').toLowerCase());
    else if (['only', 'unfold', 'keyonly', 'valueonly'].includes(name)) {
      if (value !== null && !/^(?:true|yes|on|false|no|off|[01])$/i.test(value)) return null;
      values.set(name, /^(?:false|no|off|0)$/i.test(value ?? '') ? '' : 'yes');
    } else if (name === 'separator' || name === 'key_value_separator') values.set(name, expanded(value ?? ''));
    else return null;
  }
  const is = (name: string) => (values.get(name) ?? '') !== '';
  const only = values.has('only') ? is('only') : keys.length > 0;
  const shown = trailersIn(message)
    .filter(({ key }) => (key === null ? !only : keys.length === 0 || keys.includes(key.toLowerCase())))
    .map(({ raw, key, value }) => {
      const unfolded = is('unfold') ? value.replace(/\n[ \t]*/g, ' ') : value;
      if (key === null || given.length === 0) return raw;
      if (is('valueonly')) return unfolded;
      return is('keyonly') ? key : `${key}${values.get('key_value_separator') ?? ': '}${unfolded}`;
    });
  const separator = values.get('separator');
  return separator === undefined ? shown.map((line) => `${line}\n`).join('') : shown.join(separator);
}

function expanded(text: string): string {
  return text
    .replace(/%x([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll('%n', '\n');
}
