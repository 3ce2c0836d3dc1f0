/** Labels as a person types them: `key: value`, one a line. Pure. */

/** A line without a colon is a key without a value, which the schema judges. */
export function parseLabels(text: string): Record<string, string> {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  return Object.fromEntries(
    lines.map((line): [string, string] => {
      const cut = line.indexOf(':');
      return cut < 0 ? [line.trim(), ''] : [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

/** Labels so that `labelsOf` reads them back. */
export function formatLabels(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}: ${value}`)
    .join('\n');
}
