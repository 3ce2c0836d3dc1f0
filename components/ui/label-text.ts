/** Labels as text: `key: value`, one a line. Pure. */

/** Parses labels. A line without a colon is a key without a value, which the schema then judges. */
export function parseLabels(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const cut = line.indexOf(':');
      return cut < 0 ? [line.trim(), ''] : [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

/** The text that `parseLabels` reads back. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n');
}
