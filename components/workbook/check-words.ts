/** What a check of a source found, in words. Pure. */

export function checkInWords({ problems, components }: { problems: readonly unknown[]; components: number }): string {
  if (problems.length > 0) {
    return problems.length === 1 ? 'One problem.' : `${problems.length.toLocaleString('en')} problems.`;
  }
  return `No problems. ${components === 1 ? 'One component' : `${components.toLocaleString('en')} components`}.`;
}
